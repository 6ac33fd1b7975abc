package denoise

import (
	"math"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/backendtest/refdevice"
	"github.com/averaged/imaging/denoise/dncnn"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/stretchr/testify/require"
)

// ⟨Jᵀv, w⟩ = ⟨v, Jw⟩, with Jw from differences in float64.
func TestTransposedJacobian(t *testing.T) {
	dev := refdevice.New(refdevice.Options{})
	defer func() { require.NoError(t, dev.Close()) }()
	s := backend.Image(3, 6, 7)
	d, err := dncnn.Random(2, 3, 5, 3)
	require.NoError(t, err)
	free, err := NewDnCNN(dev, d)
	require.NoError(t, err)
	denoisers := map[string]Denoiser{"dncnn": free}
	for _, integrator := range []rungekutta.Tableau{rungekutta.ForwardEuler(), rungekutta.Heun(), rungekutta.RK4(), rungekutta.Kutta3(), rule38} {
		denoisers[integrator.Name] = uncertified(t, dev, smallModel(t, 3, Architecture{Integrator: integrator, Width: 5}, 1.5), 2)
	}
	relaxed, err := Relax(denoisers["rk4"], 0.3)
	require.NoError(t, err)
	denoisers["rescaled"], err = Rescale(relaxed, 0.5)
	require.NoError(t, err)
	for name, d := range denoisers {
		x, v, w := randomImage(1, s), randomImage(2, s), randomImage(3, s)
		require.Less(t, math.Abs(checkTranspose(t, d, s, x, v, w)), 2e-3, name)
	}
	grey, err := Grey(denoisers["rescaled"])
	require.NoError(t, err)
	one := backend.Image(1, 6, 7)
	require.Less(t, math.Abs(checkTranspose(t, grey, one, randomImage(1, one), randomImage(2, one), randomImage(3, one))), 2e-3)
}

// checkTranspose returns the relative difference of the two inner products.
func checkTranspose(t *testing.T, d Denoiser, s backend.Shape, x, v, w []float32) float64 {
	dev := d.Device()
	dst, err := dev.Alloc(s)
	require.NoError(t, err)
	ok, err := pullBack(t.Context(), d, dst, upload(t, dev, s, x), upload(t, dev, s, v))
	require.NoError(t, err)
	require.True(t, ok)
	back := download(t, dev, dst)
	const eps = 1e-3 // a power of 2 would not be better: units that change sides decide
	plus, minus := make([]float32, len(x)), make([]float32, len(x))
	for i := range x {
		plus[i], minus[i] = x[i]+eps*w[i], x[i]-eps*w[i]
	}
	fp, fm := denoised(t, d, s, plus), denoised(t, d, s, minus)
	left, right := 0.0, 0.0
	for i := range x {
		left += float64(back[i]) * float64(w[i])
		right += float64(v[i]) * (float64(fp[i]) - float64(fm[i])) / (2 * eps)
	}
	return (left - right) / (math.Abs(left) + math.Abs(right))
}
