package denoise

import (
	"fmt"
	"math"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/backendtest/refdevice"
	"github.com/averaged/imaging/denoise/activation"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/stretchr/testify/require"
)

// unshuffle is the rearrangement of one image by its definition (backend.Shuffles).
func unshuffle(x []float32, s backend.Shape, q int) ([]float32, backend.Shape) {
	coarse := backend.Image(s.C*q*q, (s.H+q-1)/q, (s.W+q-1)/q)
	out := make([]float32, coarse.Len())
	eachShuffled(s, coarse, q, func(fine, at int) { out[at] = x[fine] })
	return out, coarse
}

// eachShuffled calls f with the place of every pixel in the fine and the coarse image.
func eachShuffled(fine, coarse backend.Shape, q int, f func(fine, coarse int)) {
	for c := range fine.C {
		for y := range fine.H {
			for x := range fine.W {
				channel := c*q*q + (y%q)*q + x%q
				f((c*fine.H+y)*fine.W+x, (channel*coarse.H+y/q)*coarse.W+x/q)
			}
		}
	}
}

// A network with a factor is the network of the coarse image with rearrangements around
// it, for every way to compute, at sizes that the factor does not divide.
func TestShuffledNetworkIsItsFormula(t *testing.T) {
	dev := newCPU(t)
	for _, a := range []Architecture{
		{}, {Integrator: rungekutta.RK4()}, {Activation: activation.HardTanh()}, {Activation: activation.HardTanh(), Integrator: rungekutta.Heun()}, {Integrator: rungekutta.BackwardEuler()},
		{Activation: activation.Balls(), Group: 1}, {Activation: activation.Balls(), Group: 1, Integrator: rungekutta.BackwardEuler()},
	} {
		for q, sizes := range map[int][][2]int{2: {{7, 6}, {1, 5}}, 3: {{7, 4}, {2, 2}}} {
			a.Channels, a.Blocks, a.Shuffle, a.Width = 1, 2, q, q*q+1
			m := smallModel(t, 3, a, 0.9)
			cert, err := m.Certify(t.Context(), 0)
			require.NoError(t, err)
			require.Equal(t, q, cert.Shuffle)
			n, err := New(t.Context(), dev, m, cert)
			require.NoError(t, err)
			for i, size := range sizes {
				if testing.Short() && m.implicit() && i == 0 {
					continue // the reference solves a problem for each step; go test ./... has the larger size
				}
				s := backend.Image(1, size[0], size[1])
				x := randomImage(4, s)
				z, coarse := unshuffle(x, s, q)
				inner := m
				inner.Channels, inner.Shuffle = coarse.C, 0
				result := newReference(t, inner, stepsOf(cert), coarse.H, coarse.W).apply(z)
				want := make([]float64, len(x))
				eachShuffled(s, coarse, q, func(fine, at int) { want[fine] = result[at] })
				limit := 3e-6 * norm2(want)
				if m.implicit() {
					limit += DefaultInnerError * math.Sqrt(float64(len(x)))
				}
				require.LessOrEqual(t, between(denoised(t, n, s, x), want), limit, "%s %s %d %v", m.Integrator.Name, m.Activation.Name, q, size)
				require.Greater(t, between(x, want), 1e-2*norm2(want))
			}
			n.Free()
		}
	}
}

// The images of a batch do not see each other.
func TestShuffledBatch(t *testing.T) {
	dev := newCPU(t)
	n := certified(t, dev, smallModel(t, 3, Architecture{Width: 13, Shuffle: 2}, 1))
	s := backend.Shape{N: 3, C: 3, H: 9, W: 7}
	x := randomImage(1, s)
	all := denoised(t, n, s, x)
	for i := range s.N {
		one := backend.Image(3, 9, 7)
		require.Equal(t, denoised(t, n, one, x[i*one.Len():][:one.Len()]), all[i*one.Len():][:one.Len()])
	}
}

// Tiles change no bit where the halo is large and the grid is that of the device's fast
// convolutions, with a factor that does not divide the grid.
func TestShuffledTilesChangeNothing(t *testing.T) {
	cpu := newCPU(t)
	for _, c := range []struct {
		a   Architecture
		dev backend.Device
		s   backend.Shape
	}{
		{Architecture{Width: 16, Shuffle: 2, Blocks: 2}, cpu, backend.Image(3, 97, 110)},
		{Architecture{Channels: 1, Width: 13, Shuffle: 2, Blocks: 2}, &watched{Device: cpu, grid: 6}, backend.Image(1, 61, 78)},
		{Architecture{Channels: 1, Width: 17, Shuffle: 4, Blocks: 1, Integrator: rungekutta.RK4()}, cpu, backend.Image(1, 190, 203)},
		{Architecture{Width: 13, Shuffle: 2, Blocks: 1, Activation: activation.HardTanh()}, cpu, backend.Image(3, 61, 52)},
		{Architecture{Width: 16, Shuffle: 2, Blocks: 2, Activation: activation.Balls()}, cpu, backend.Image(3, 97, 110)},
		{Architecture{Width: 14, Shuffle: 2, Blocks: 1, Activation: activation.Balls(), Group: 2}, &watched{Device: cpu, grid: 6}, backend.Image(3, 61, 52)},
		{Architecture{Channels: 1, Width: 4, Shuffle: 2, Blocks: 1, Integrator: rungekutta.BackwardEuler()}, cpu, backend.Image(1, 61, 52)},
	} {
		tiles := []int{25, 40}
		if testing.Short() { // go test ./... has both, and all sizes
			tiles, c.s.H, c.s.W = tiles[:1], min(c.s.H, 47), min(c.s.W, 61)
		}
		m := smallModel(t, 3, c.a, 0.4)
		x := randomImage(1, c.s)
		want := denoised(t, certified(t, c.dev, m, Tile(1000)), c.s, x)
		for _, tile := range tiles {
			require.Equal(t, want, denoised(t, certified(t, c.dev, m, Tile(tile)), c.s, x), "%+v tile %d", c.a, tile)
		}
	}
}

// ⟨Jᵀv, w⟩ = ⟨v, Jw⟩ goes through the rearrangement, and through what is around it.
func TestShuffledTransposedJacobian(t *testing.T) {
	dev := refdevice.New(refdevice.Options{})
	defer func() { require.NoError(t, dev.Close()) }()
	s, one := backend.Image(3, 7, 5), backend.Image(1, 7, 5)
	for _, integrator := range []rungekutta.Tableau{rungekutta.ForwardEuler(), rungekutta.RK4()} {
		n := uncertified(t, dev, smallModel(t, 3, Architecture{Integrator: integrator, Width: 13, Shuffle: 2}, 1.5), 2)
		require.Less(t, math.Abs(checkTranspose(t, n, s, randomImage(1, s), randomImage(2, s), randomImage(3, s))), 2e-3)
		rescaled, err := Rescale(n, 0.5)
		require.NoError(t, err)
		grey, err := Grey(rescaled)
		require.NoError(t, err)
		require.Less(t, math.Abs(checkTranspose(t, grey, one, randomImage(1, one), randomImage(2, one), randomImage(3, one))), 2e-3)
	}
}

// Rescaling by biases, and around the network, is the formula.
func TestShuffledRescaled(t *testing.T) {
	dev := newCPU(t)
	s := backend.Image(3, 9, 8)
	x := randomImage(1, s)
	small := make([]float32, len(x))
	for i, v := range x {
		small[i] = v * 4
	}
	for _, activation := range []activation.Function{activation.LeakyReLU(0.01), activation.HardTanh(), activation.Balls()} {
		n := certified(t, dev, smallModel(t, 3, Architecture{Width: 14, Shuffle: 2, Activation: activation}, 1.4))
		rescaled, err := Rescale(n, 0.25)
		require.NoError(t, err)
		want := denoised(t, n, s, small)
		for i, v := range denoised(t, rescaled, s, x) {
			require.InDelta(t, 0.25*want[i], v, 1e-5)
		}
	}
}

// What a plan says of its memory is what it takes, at most.
func TestShuffledFloatsOfAPixel(t *testing.T) {
	if testing.Short() {
		t.Skip("the memory is the same number of bytes on every processor: go test ./... has it")
	}
	for _, a := range []Architecture{
		{Integrator: rungekutta.BackwardEuler()}, {Integrator: rungekutta.BackwardEuler(), Activation: activation.HardTanh()},
		{Integrator: rungekutta.BackwardEuler(), Activation: activation.Balls()},
	} {
		dev := &watched{Device: newCPU(t)}
		a.Width, a.Shuffle = 14, 2
		m := smallModel(t, 1, a, 0.5)
		n := certified(t, dev, m, Tile(16))
		s := backend.Image(3, 60, 60)
		src, dst := upload(t, dev, s, randomImage(1, s)), upload(t, dev, s, randomImage(1, s))
		held := dev.live.Load()
		dev.most.Store(0)
		require.NoError(t, n.Apply(t.Context(), dst, src))
		p, _, err := n.body.plan(src, s.Unshuffled(2), DefaultInnerError)
		require.NoError(t, err)
		inner := backend.Region{Y0: 8, Y1: 16, X0: 8, X1: 16}
		h, w := p.Layers().Window(inner, dev.ConvolutionGrid(), s.Unshuffled(2)).Size()
		implicit, ok := p.(*proximalPlan)
		require.True(t, ok)
		floats := implicit.floats()
		most := dev.most.Load() - held
		require.LessOrEqual(t, most, int64(floats*h*w), fmt.Sprint(a))
		require.Greater(t, most, int64((floats-3*m.lifted())*h*w), "the rearranged images count")
	}
}
