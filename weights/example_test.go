package weights_test

import (
	"bytes"
	"fmt"

	"github.com/averaged/imaging/weights"
)

func Example() {
	kernel, err := weights.NewTensor("conv.weight", weights.F32, []int{1, 1, 3, 3}, []float32{0, 1, 0, 1, -4, 1, 0, 1, 0})
	if err != nil {
		fmt.Println(err)
		return
	}
	file := weights.File{Tensors: []weights.Tensor{kernel}}
	err = file.SetCard(weights.Card{
		Name:         "laplacian",
		Architecture: weights.Architecture{Family: "convolution", Channels: 1, Width: 1, Blocks: 1, Kernel: 3, Activation: "identity", Slope: 1},
		Sigma:        0.1,
		Provenance:   weights.Provenance{Software: "none", Data: "none"},
		Licence:      "CC0-1.0",
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	var disk bytes.Buffer
	if err := file.Write(&disk); err != nil {
		fmt.Println(err)
		return
	}

	read, err := weights.Read(&disk)
	if err != nil {
		fmt.Println(err)
		return
	}
	card, err := read.Card() // refused if a weight has changed
	if err != nil {
		fmt.Println(err)
		return
	}
	tensor, err := read.Tensor("conv.weight")
	if err != nil {
		fmt.Println(err)
		return
	}
	values, err := tensor.Float32s()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(card.Name, tensor.DType, tensor.Shape, values)
	// Output: laplacian F32 [1 1 3 3] [0 1 0 1 -4 1 0 1 0]
}
