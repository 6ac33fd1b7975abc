package dncnn

import (
	"math"
	"testing"

	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/denoise/activation"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/weights"
	"github.com/stretchr/testify/require"
)

func TestDnCNNHasThePapersParameters(t *testing.T) {
	d, err := Random(1, 3, 64, 18)
	require.NoError(t, err)
	require.Equal(t, 670531, d.Parameters())
}

func TestDnCNNRefuses(t *testing.T) {
	dev := cputest.Open(t, cpu.Threads(1))
	defer dev.Close()
	for name, c := range map[string]struct {
		spoil func(d *Model)
		want  string
	}{
		"channels":   {func(d *Model) { d.Channels = 0 }, "images of 0"},
		"kernel":     {func(d *Model) { d.Kernel = 2 }, "odd"},
		"activation": {func(d *Model) { d.Activation = activation.HardTanh() }, "hardtanh"},
		"unknown":    {func(d *Model) { d.Activation.Name = "gelu" }, "gelu"},
		"lift":       {func(d *Model) { d.Lift.Filter = d.Lift.Filter[1:] }, "lift"},
		"bias":       {func(d *Model) { d.Project.Bias = []float32{1} }, "project: 1 biases"},
		"scale":      {func(d *Model) { d.Layers[1].Scale = nil }, "layer 1: 0 scales"},
		"variance":   {func(d *Model) { d.Layers[0].Variance[0] = -1 }, "variance 0"},
		"NaN":        {func(d *Model) { d.Layers[0].Mean[2] = float32(math.NaN()) }, "finite"},
		"weight":     {func(d *Model) { d.Layers[1].Filter[0] = float32(math.Inf(1)) }, "finite"},
		"layers":     {func(d *Model) { d.Layers = make([]NormalisedLayer, maxLayers+1) }, "layers"},
	} {
		d, err := Random(3, 2, 4, 2)
		require.NoError(t, err)
		c.spoil(&d)
		require.ErrorContains(t, d.Check(), c.want, name)
		_, err = New(dev, d)
		require.ErrorContains(t, err, c.want, name)
		_, err = d.File(testCard())
		require.ErrorContains(t, err, c.want, name)
	}
	_, err := Random(1, 3, 0, 1)
	require.Error(t, err)
	d, err := Random(1, 2, 4, 1)
	require.NoError(t, err)
	d.Layers = nil
	require.NoError(t, d.Check())
	_, err = d.File(testCard())
	require.ErrorContains(t, err, "without layers")

	// PyTorch's counters are passed over, other tensors are not.
	d, err = Random(1, 2, 4, 1)
	require.NoError(t, err)
	f, err := d.File(testCard())
	require.NoError(t, err)
	card, err := f.Card()
	require.NoError(t, err)
	f.Tensors = append(f.Tensors, weights.Tensor{Name: "norms.0.num_batches_tracked", DType: weights.I64, Shape: []int{}, Data: make([]byte, 8)})
	require.NoError(t, f.SetCard(card))
	_, err = FromFile(f)
	require.NoError(t, err)
	f.Tensors = append(f.Tensors, weights.Tensor{Name: "norms.1.num_batches_tracked", DType: weights.I64, Shape: []int{}, Data: make([]byte, 8)})
	require.NoError(t, f.SetCard(card))
	_, err = FromFile(f)
	require.ErrorContains(t, err, "not the network's")
}

// Of a DnCNN the filters are half as large, and nothing else changes.
func TestHalfPrecisionDnCNN(t *testing.T) {
	whole, err := Random(5, 3, 8, 2)
	require.NoError(t, err)
	whole.Layers[1].Variance[3] = 1e6 // beyond float16
	_, err = whole.File(testCard(), weights.HalfPrecision())
	require.ErrorContains(t, err, "lift.weight has numbers that are no float16: round the network")

	before := whole.Layers[0].Filter[1]
	d, err := whole.Rounded16()
	require.NoError(t, err)
	require.Equal(t, before, whole.Layers[0].Filter[1], "the network itself is left alone")
	require.NotEqual(t, before, d.Layers[0].Filter[1])
	require.InEpsilon(t, before, d.Layers[0].Filter[1], 0x1p-10)
	require.Equal(t, whole.Layers[1].Variance, d.Layers[1].Variance)
	require.Equal(t, whole.Lift.Bias, d.Lift.Bias)

	f, err := d.File(testCard(), weights.HalfPrecision())
	require.NoError(t, err)
	for _, tensor := range f.Tensors {
		want := weights.F32
		if len(tensor.Shape) == 4 {
			want = weights.F16
		}
		require.Equal(t, want, tensor.DType, tensor.Name)
	}
	encoded, err := f.Encode()
	require.NoError(t, err)
	read, err := weights.Decode(encoded)
	require.NoError(t, err)
	back, err := FromFile(read)
	require.NoError(t, err)
	require.Equal(t, d, back)

	whole.Project.Filter[7] = 1e5
	_, err = whole.Rounded16()
	require.ErrorContains(t, err, "project.weight 7 is 100000, beyond float16's range")
}

func testCard() weights.Card {
	return weights.Card{
		Name: "test", Sigma: 0.15, Licence: "CC0-1.0",
		Provenance: weights.Provenance{Software: "none", Data: "seeded random numbers"},
	}
}
