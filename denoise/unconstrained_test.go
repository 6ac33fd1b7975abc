package denoise

import (
	"math"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise/activation"
	"github.com/averaged/imaging/denoise/dncnn"
	"github.com/averaged/imaging/denoise/internal/plain"
	"github.com/stretchr/testify/require"
)

// noisePlain is the network without any folding, in float64.
func noisePlain(d dncnn.Model, x []float32, h, w int) []float64 {
	plane := h * w
	convolve := func(c dncnn.Convolution, z []float64, out, in int) []float64 {
		p := plain.Convolution{Shape: backend.Shape{N: out, C: in, H: d.Kernel, W: d.Kernel}, H: h, W: w, Pool: onePool}
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
	small, err := dncnn.Random(1, 2, 4, 1)
	require.NoError(t, err)
	_, err = NewDnCNN(nil, small)
	require.ErrorContains(t, err, "device")
	for _, sigma := range []activation.Function{activation.ReLU(), activation.LeakyReLU(0.01)} {
		d, err := dncnn.Random(3, 3, 8, 4)
		require.NoError(t, err)
		d.Activation = sigma
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
		read, err := dncnn.FromFile(f)
		require.NoError(t, err)
		require.Equal(t, d, read)
		loaded, err := Load(t.Context(), dev, f, Tile(4))
		require.NoError(t, err)
		require.Equal(t, denoised(t, n, s, x), denoised(t, loaded, s, x))
		_, err = FromFile(f)
		require.ErrorContains(t, err, `"dncnn", not "averaged"`)
	}
}
