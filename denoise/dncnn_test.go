package denoise

import (
	"math"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise/internal/plain"
	"github.com/averaged/imaging/weights"
	"github.com/stretchr/testify/require"
)

func TestDnCNNHasThePapersParameters(t *testing.T) {
	d, err := RandomDnCNN(1, 3, 64, 18)
	require.NoError(t, err)
	require.Equal(t, 670531, d.Parameters())
}

// noisePlain is the network without any folding, in float64.
func noisePlain(d DnCNN, x []float32, h, w int) []float64 {
	plane := h * w
	convolve := func(c Convolution, z []float64, out, in int) []float64 {
		p := plain.Convolution{Shape: d.shape(out, in), H: h, W: w, Pool: onePool}
		for _, v := range c.Filter {
			p.Weights = append(p.Weights, float64(v))
		}
		u := make([]float64, out*plane)
		p.Forward(u, z)
		if c.Bias != nil {
			for i := range u {
				u[i] += float64(c.Bias[i/plane])
			}
		}
		return u
	}
	relu := func(z []float64) {
		for i := range z {
			z[i] = math.Max(z[i], d.Activation.Slope*z[i])
		}
	}
	z := make([]float64, len(x))
	for i, v := range x {
		z[i] = float64(v)
	}
	z = convolve(d.Lift, z, d.Width, d.Channels)
	relu(z)
	for _, l := range d.Layers {
		z = convolve(l.Convolution, z, d.Width, d.Width)
		for i := range z {
			c := i / plane
			z[i] = (z[i]-float64(l.Mean[c]))/math.Sqrt(float64(l.Variance[c])+1e-5)*float64(l.Scale[c]) + float64(l.Shift[c])
		}
		relu(z)
	}
	return convolve(d.Project, z, d.Channels, d.Width)
}

func TestDnCNNIsItsDefinition(t *testing.T) {
	dev := newCPU(t)
	for _, activation := range []Activation{ReLU(), LeakyReLU(0.01)} {
		d, err := RandomDnCNN(3, 3, 8, 4)
		require.NoError(t, err)
		d.Activation = activation
		d.Layers[1].Bias, d.Lift.Bias = nil, nil
		d.Layers[2].Variance[3] = 0
		n, err := NewDnCNN(dev, d)
		require.NoError(t, err)
		s := backend.Image(3, 10, 12)
		x := randomImage(1, s)
		want := noisePlain(d, x, s.H, s.W)
		for i, v := range want {
			want[i] = float64(x[i]) - v
		}
		require.LessOrEqual(t, between(denoised(t, n, s, x), want), 1e-5*norm2(want))
		_, proven := n.Averagedness()
		require.False(t, proven)
		require.Contains(t, n.Certificate().String(), "nothing is proven")

		f, err := d.File(testCard())
		require.NoError(t, err)
		read, err := DnCNNFromFile(f)
		require.NoError(t, err)
		require.Equal(t, d, read)
		loaded, err := Load(t.Context(), dev, f, Tile(4))
		require.NoError(t, err)
		require.Equal(t, denoised(t, n, s, x), denoised(t, loaded, s, x))
		_, err = FromFile(f)
		require.ErrorContains(t, err, `"dncnn", not "averaged"`)
	}
}

func TestDnCNNRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		spoil func(d *DnCNN)
		want  string
	}{
		"channels":   {func(d *DnCNN) { d.Channels = 0 }, "images of 0"},
		"kernel":     {func(d *DnCNN) { d.Kernel = 2 }, "odd"},
		"activation": {func(d *DnCNN) { d.Activation = HardTanh() }, "hardtanh"},
		"unknown":    {func(d *DnCNN) { d.Activation.Name = "gelu" }, "gelu"},
		"lift":       {func(d *DnCNN) { d.Lift.Filter = d.Lift.Filter[1:] }, "lift"},
		"bias":       {func(d *DnCNN) { d.Project.Bias = []float32{1} }, "project: 1 biases"},
		"scale":      {func(d *DnCNN) { d.Layers[1].Scale = nil }, "layer 1: 0 scales"},
		"variance":   {func(d *DnCNN) { d.Layers[0].Variance[0] = -1 }, "variance 0"},
		"NaN":        {func(d *DnCNN) { d.Layers[0].Mean[2] = float32(math.NaN()) }, "finite"},
		"weight":     {func(d *DnCNN) { d.Layers[1].Filter[0] = float32(math.Inf(1)) }, "finite"},
		"layers":     {func(d *DnCNN) { d.Layers = make([]NormalisedLayer, maxBlocks+1) }, "layers"},
	} {
		d, err := RandomDnCNN(3, 2, 4, 2)
		require.NoError(t, err)
		c.spoil(&d)
		require.ErrorContains(t, d.Check(), c.want, name)
		_, err = NewDnCNN(newCPU(t), d)
		require.ErrorContains(t, err, c.want, name)
		_, err = d.File(testCard())
		require.ErrorContains(t, err, c.want, name)
	}
	_, err := RandomDnCNN(1, 3, 0, 1)
	require.Error(t, err)
	d, err := RandomDnCNN(1, 2, 4, 1)
	require.NoError(t, err)
	_, err = NewDnCNN(nil, d)
	require.ErrorContains(t, err, "device")
	d.Layers = nil
	require.NoError(t, d.Check())
	_, err = d.File(testCard())
	require.ErrorContains(t, err, "without layers")

	// PyTorch's counters are passed over, other tensors are not.
	d, err = RandomDnCNN(1, 2, 4, 1)
	require.NoError(t, err)
	f, err := d.File(testCard())
	require.NoError(t, err)
	card, err := f.Card()
	require.NoError(t, err)
	f.Tensors = append(f.Tensors, weights.Tensor{Name: "norms.0.num_batches_tracked", DType: weights.I64, Shape: []int{}, Data: make([]byte, 8)})
	require.NoError(t, f.SetCard(card))
	_, err = DnCNNFromFile(f)
	require.NoError(t, err)
	f.Tensors = append(f.Tensors, weights.Tensor{Name: "norms.1.num_batches_tracked", DType: weights.I64, Shape: []int{}, Data: make([]byte, 8)})
	require.NoError(t, f.SetCard(card))
	_, err = DnCNNFromFile(f)
	require.ErrorContains(t, err, "not the network's")
}
