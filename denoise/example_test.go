package denoise_test

import (
	"bytes"
	"context"
	"fmt"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/denoise/refute"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/averaged/imaging/weights"
)

// A network is certified once, stored with its certificate, and loaded from its file. Its
// weights are random here: it restores nothing, but all that is proven is true.
func Example() {
	ctx := context.Background()
	model, err := denoise.RandomModel(1, denoise.Architecture{Width: 8, Blocks: 2, Integrator: rungekutta.Heun()}, 1.5)
	if err != nil {
		fmt.Println(err)
		return
	}
	certificate, err := model.Certify(ctx, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	file, err := model.File(weights.Card{
		Name: "random", Sigma: 0.1, Licence: "CC0-1.0",
		Provenance: weights.Provenance{Software: "none", Data: "seeded random numbers"},
	}, certificate)
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
	dev, err := cpu.Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() {
		if err := dev.Close(); err != nil {
			fmt.Println(err)
		}
	}()
	network, err := denoise.Load(ctx, dev, read) // refused if a weight has changed
	if err != nil {
		fmt.Println(err)
		return
	}
	// Heun's method is only nonexpansive; relaxed, it is averaged.
	phi, err := denoise.Relax(network, 0.5)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer phi.Free()
	fmt.Println(network.Averagedness())
	fmt.Println(phi.Averagedness())

	report, err := refute.Attack(ctx, phi, backend.Image(3, 8, 8), refute.AttackOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("a pair that expands:", report.Expansive())
	// Output:
	// 1 true
	// 0.5 true
	// a pair that expands: false
}
