package reduction_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/internal/devicetest"
	"github.com/averaged/imaging/internal/reduction"
)

// drawn is a plane with a reduction of it.
func drawn(t *rapid.T) (p reduction.Plane, h, w int) {
	h, w = rapid.IntRange(1, 40).Draw(t, "h"), rapid.IntRange(1, 40).Draw(t, "w")
	return reduction.NewPlane(h, w, rapid.IntRange(1, 9).Draw(t, "factor")), h, w
}

func normal(n int, seed uint64) []float32 {
	r := rand.New(rand.NewPCG(seed, 1))
	v := make([]float32, n)
	for i := range v {
		v[i] = float32(r.NormFloat64())
	}
	return v
}

// gain returns c·c′, the square of L's scale: ⟨x, LᵀLx⟩ = c·c′·‖Ax‖² for any x.
func gain(p reduction.Plane, h, w int) float64 {
	m, n := p.Size()
	x, y := normal(h*w, 3), make([]float32, m*n)
	p.Means(y, x)
	back := make([]float32, h*w)
	p.AddAdjoint(back, y, 1)
	return devicetest.Dot(x, back) / devicetest.Dot(y, y)
}

// ⟨L x, L₀ v⟩ = ⟨x, LᵀL₀ v⟩, L₀ the scale of L.
func TestAdjoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, h, w := drawn(t)
		m, n := p.Size()
		x, v := normal(h*w, 1), normal(m*n, 2)
		small, large := make([]float32, m*n), make([]float32, h*w)
		p.Means(small, x)
		p.AddAdjoint(large, v, 1)
		scale := gain(p, h, w)
		require.InDelta(t, scale*devicetest.Dot(small, v), devicetest.Dot(x, large), 2e-5*scale*math.Sqrt(devicetest.Dot(x, x)*devicetest.Dot(v, v)))
	})
}

// Constant planes stay as they are, and have the norm of L: 1 where the factor goes into the sides.
func TestConstant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, h, w := drawn(t)
		m, n := p.Size()
		x, small := make([]float32, h*w), make([]float32, m*n)
		for i := range x {
			x[i] = 0.75
		}
		p.Means(small, x)
		for _, v := range small {
			require.InDelta(t, 0.75, v, 1e-5)
		}
		norm := gain(p, h, w) * devicetest.Dot(small, small) / devicetest.Dot(x, x)
		require.LessOrEqual(t, norm, 1+1e-5)
		if h%m == 0 && w%n == 0 {
			require.InDelta(t, 1, norm, 1e-5)
		}
	})
}

// TestNorm tries to make ‖Lx‖ larger than ‖x‖, by power iteration.
func TestNorm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, h, w := drawn(t)
		m, n := p.Size()
		x, small, back := normal(h*w, 4), make([]float32, m*n), make([]float32, h*w)
		for range 30 {
			length := math.Sqrt(devicetest.Dot(x, x))
			p.Means(small, x)
			clear(back)
			p.AddAdjoint(back, small, 1)
			longer := math.Sqrt(devicetest.Dot(back, back))
			require.LessOrEqual(t, longer, length*(1+1e-5))
			if longer < 1e-3*length {
				return
			}
			for i := range x {
				x[i] = back[i] / float32(longer)
			}
		}
	})
}

// The adjoint is nearly an interpolation: a ramp of means comes back as a ramp, away from the frame.
func TestRamp(t *testing.T) {
	const side, factor = 64, 4
	p := reduction.NewPlane(side, side, factor)
	x, small, back := make([]float32, side*side), make([]float32, side*side/factor/factor), make([]float32, side*side)
	for i := range x {
		x[i] = float32(i/side) + 2*float32(i%side)
	}
	p.Means(small, x)
	p.AddAdjoint(back, small, 1)
	for i := range x {
		if d := min(i/side, i%side, side-1-i/side, side-1-i%side); d >= 2*factor {
			require.InDelta(t, x[i], back[i], 1e-3)
		}
	}
}

// What is there stays, and the factor counts.
func TestAddAdjoint(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, h, w := drawn(t)
		m, n := p.Size()
		was, small, once := normal(h*w, 1), normal(m*n, 2), make([]float32, h*w)
		large := append([]float32(nil), was...)
		p.AddAdjoint(once, small, 1)
		p.AddAdjoint(large, small, -2)
		for i := range large {
			require.InDelta(t, was[i]-2*once[i], large[i], 1e-5)
		}
	})
}

func TestNewLineRefuses(t *testing.T) {
	require.Panics(t, func() { reduction.NewLine(3, 4) })
	require.Panics(t, func() { reduction.NewLine(3, 0) })
}
