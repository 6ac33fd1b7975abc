package denoise

import (
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/backendtest/refdevice"
	"github.com/averaged/imaging/denoise/activation"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/averaged/imaging/weights"
)

// testImages are a smooth one, noise, black and white, and a chessboard.
func testImages(s backend.Shape) [][]float32 {
	list := [][]float32{randomImage(1, s), randomImage(2, s), randomImage(3, s), randomImage(4, s)}
	for i := range s.Len() {
		y, x := i/s.W%s.H, i%s.W
		list[0][i] = float32(0.5 + 0.4*math.Sin(float64(y)/9)*math.Cos(float64(x)/7))
		list[2][i] = float32(math.Round(float64(list[2][i])))
		list[3][i] = float32((x + y) % 2)
	}
	return list
}

// What float32 does to the networks of the library is within the bound. How far below is
// logged, and in RATIONALE.md.
func TestRoundingOfTheLibrarysNetworks(t *testing.T) {
	for _, name := range []string{weights.Small, weights.General, weights.Heun, weights.RK4} {
		if !slices.Contains(weights.Embedded(), name) || testing.Short() && name != weights.Small {
			continue
		}
		t.Run(name, func(t *testing.T) {
			f, err := weights.Open(name)
			require.NoError(t, err)
			dev := newCPU(t)
			n, err := Load(t.Context(), dev, f)
			require.NoError(t, err)
			defer n.Free()
			if n.Levels() != nil {
				n, err = n.For(t.Context(), 0.1)
				require.NoError(t, err)
				defer n.Free()
			}
			shape := backend.Image(3, 11, 10)
			least, bound := math.Inf(1), 0.0
			for _, x := range testImages(shape)[1:3] {
				src := upload(t, dev, shape, x)
				off, err := n.MeasuredRounding(t.Context(), src)
				require.NoError(t, err)
				bound, err = n.Rounding(t.Context(), norm2(x), shape)
				require.NoError(t, err)
				require.Positive(t, off)
				require.LessOrEqual(t, off, bound)
				least = min(least, bound/off)
			}
			t.Logf("at most %.3g root mean square, %.3g times what is seen", bound/math.Sqrt(float64(shape.Len())), least)
		})
	}
}

// What MeasuredRounding takes for Φ(x) is the reference's, on devices that round and on one that
// does not, for every form of a network.
func TestMeasuredRounding(t *testing.T) {
	exact := refdevice.New(refdevice.Options{})
	defer func() { require.NoError(t, exact.Close()) }()
	s := backend.Image(3, 7, 9)
	for name, a := range map[string]Architecture{
		"leakyrelu": {}, "rk4": {Integrator: rungekutta.RK4(), Width: 5, Blocks: 2}, "hardtanh": {Activation: activation.HardTanh()},
		"balls": {Width: 8, Activation: activation.Balls(), Group: 4}, "shuffled": {Width: 12, Shuffle: 2}, "5×5": {Width: 4, Kernel: 5},
		"tiles": {Width: 16, Blocks: 2},
	} {
		m := smallModel(t, 4, a, 1.2)
		for _, dev := range []backend.Device{exact, newCPU(t)} {
			n := certified(t, dev, m)
			for k, x := range testImages(s) {
				src := upload(t, dev, s, x)
				off, err := n.MeasuredRounding(t.Context(), src)
				require.NoError(t, err, name)
				if dev == exact {
					require.Less(t, off, 2e-7*norm2(x), "%s: its results are float32", name)
					continue
				}
				bound, err := n.Rounding(t.Context(), norm2(x), s)
				require.NoError(t, err)
				require.LessOrEqual(t, off, bound, "%s, image %d", name, k)
				require.Positive(t, off)
			}
			bound, err := n.Rounding(t.Context(), 1, s)
			require.NoError(t, err)
			require.Equal(t, dev == exact, math.IsInf(bound, 1), "a device that does not say how it computes has no bound")
		}
	}
	implicit := certified(t, exact, smallModel(t, 3, Architecture{Integrator: rungekutta.BackwardEuler()}, 1))
	_, err := implicit.MeasuredRounding(t.Context(), upload(t, exact, s, randomImage(1, s)))
	require.ErrorIs(t, err, ErrNotMeasured)
}

// The wrappers' bounds hold for what they compute, against the same on a device that does not
// round.
func TestRoundingOfWrappers(t *testing.T) {
	exact := refdevice.New(refdevice.Options{})
	defer func() { require.NoError(t, exact.Close()) }()
	for _, a := range []Architecture{{}, {Width: 8, Activation: activation.Balls(), Group: 4}, {Activation: activation.HardTanh()}, {Integrator: rungekutta.BackwardEuler()}} {
		m := smallModel(t, 4, a, 1.1)
		wrapped := func(dev backend.Device, scale float64) Denoiser {
			rescaled, err := Rescale(certified(t, dev, m), scale)
			require.NoError(t, err)
			relaxed, err := Relax(rescaled, 0.7)
			require.NoError(t, err)
			grey, err := Grey(relaxed)
			require.NoError(t, err)
			return grey
		}
		s := backend.Image(1, 9, 8)
		for _, scale := range []float64{0.3, 1, 4} {
			here, there := wrapped(newCPU(t), scale), wrapped(exact, scale)
			for _, x := range testImages(s) {
				rounded, ok := here.(RoundedDenoiser)
				require.True(t, ok)
				bound, err := rounded.Rounding(t.Context(), norm2(x), s)
				require.NoError(t, err)
				inner := 0.0
				of := func(d Denoiser) []float32 {
					dev := d.Device()
					src, dst := upload(t, dev, s, x), upload(t, dev, s, x)
					e, err := d.(InexactDenoiser).ApplyWithin(t.Context(), dst, src, 1e-6)
					require.NoError(t, err)
					inner += e
					return download(t, dev, dst)
				}
				require.LessOrEqual(t, between(of(here), of(there)), bound+inner+1e-7*norm2(x))
				require.Less(t, bound, 1e-3*(1+norm2(x)))
			}
		}
	}
}

// Radii for every pixel, of 0, infinite and all between, leave the bound true: against the same
// on a device that does not round.
func TestRoundingOfFrozenNetworks(t *testing.T) {
	exact := refdevice.New(refdevice.Options{})
	defer func() { require.NoError(t, exact.Close()) }()
	s := backend.Image(3, 9, 7)
	m := smallModel(t, 4, Architecture{Width: 16, Activation: activation.Balls(), Group: 4, Blocks: 2, Shuffle: 2}, 1.2)
	frozen := func(dev backend.Device, kind int) *Network {
		n := certified(t, dev, m)
		rows, columns := n.RadiiSize(s)
		var values [][]float32
		for _, groups := range n.Groups() {
			v := make([]float32, groups*rows*columns)
			for i := range v {
				v[i] = []float32{0, float32(math.Inf(1)), 0.1 * float32(i%7), float32(math.Pow(10, float64(i%60-30)))}[kind]
			}
			values = append(values, v)
		}
		r, err := n.RadiiOf(s, values)
		require.NoError(t, err)
		f, err := n.Freeze(r)
		require.NoError(t, err)
		t.Cleanup(f.Free)
		return f
	}
	for kind := range 4 {
		here, there := frozen(newCPU(t), kind), frozen(exact, kind)
		for _, x := range testImages(s) {
			bound, err := here.Rounding(t.Context(), norm2(x), s)
			require.NoError(t, err)
			require.LessOrEqual(t, between(denoised(t, here, s, x), denoised(t, there, s, x)), bound+1e-7*norm2(x))
			require.Less(t, bound, 0.1*norm2(x))
			off, err := here.MeasuredRounding(t.Context(), upload(t, here.dev, s, x))
			require.NoError(t, err)
			require.InDelta(t, between(denoised(t, here, s, x), denoised(t, there, s, x)), off, 2e-7*norm2(x))
		}
	}
}

func ones(s backend.Shape) []float32 {
	x := make([]float32, s.Len())
	for i := range x {
		x[i] = 1
	}
	return x
}
