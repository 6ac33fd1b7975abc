package cpu

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu/internal/vectors"
)

// ballCase is a call of the kernels on one group of channels.
type ballCase struct {
	pixels, size int
	radius       float32
	extremes     int // see arena
}

// run returns the memory after the calls, and the gradients of the radius.
func (c ballCase) run(t require.TestingT, k *vectors.Kernels) ([]float32, [2]vectors.Sums) {
	plane := c.pixels + 3
	a := newArena(uint64(c.pixels*c.size), c.extremes)
	a.reserve(8*(c.size*plane+60) + 4*(plane+60))
	group := func() []float32 { return a.planes(c.size, plane, 1, c.pixels, 1) }
	x, dy := group(), group()
	// A map of radii around that of the case, and 0 in places.
	row := func() []float32 { return a.planes(1, plane, 1, c.pixels, 1) }
	radii := row()
	for i := range min(c.pixels, len(radii)) {
		radii[i] = c.radius / 2 * float32(i%4)
	}
	// The first pixel is 0, and the second stands on a sphere.
	for p := range min(2, c.pixels) {
		for i := range c.size {
			x[i*plane+p] = 0
		}
		x[p] = float32(p) * c.radius
	}
	var s [2]vectors.Sums
	s[1][3] = 0.25
	k.ProjectBalls(group(), x, c.pixels, plane, c.size, c.radius)
	k.ProjectBallsGradient(group(), x, dy, c.pixels, plane, c.size, c.radius, &s[0])
	k.ProjectBallsGradient(dy, x, dy, c.pixels, plane, c.size, c.radius, &s[1])
	k.ProjectBallsMap(group(), x, radii, c.pixels, plane, c.size)
	k.ProjectBallsMapGradient(group(), row(), x, dy, radii, c.pixels, plane, c.size)
	k.ProjectBallsMapGradient(dy, radii, x, dy, radii, c.pixels, plane, c.size)
	k.ProjectBalls(x, x, c.pixels, plane, c.size, c.radius)
	k.ProjectBallsMap(x, x, radii, c.pixels, plane, c.size)
	for i, v := range a.memory {
		if !a.filled[i] && math.Float32bits(v) != guard {
			require.Fail(t, "written into a guard band", "at %d: %+v", i, c)
		}
	}
	return a.memory, s
}

var ballSizes = []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 12, 15, 16, 17, 24, 31, 64}

// Every kernel gives the bits of its portable loop and writes nothing else, for radii
// that some, all and none of the vectors are longer than, and at the ends of float32.
func TestBallKernelsGiveThePortableBits(t *testing.T) {
	assembled(t, func(t *testing.T, set InstructionSet) {
		for i, size := range ballSizes {
			for j, pixels := range []int{0, 1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 23, 24, 25, 31, 32, 33, 40, 63, 65, 100, 257} {
				for k, radius := range []float32{0, float32(0.3 * math.Sqrt(float64(size))), math.MaxFloat32, 1e-42} {
					for _, extremes := range []int{0, 100} {
						if testing.Short() && (i+j+k+extremes/100)%2 != 0 {
							continue // half under emulation, with each size, number of pixels and radius
						}
						c := ballCase{pixels, size, radius, extremes}
						memory, sums := c.run(t, vectors.Portable)
						gotMemory, gotSums := c.run(t, instructionSets[set].vectors)
						require.NoError(t, sameFloats(memory, gotMemory), "%+v", c)
						for i := range sums {
							for lane, want := range sums[i] {
								got := gotSums[i][lane]
								same := math.Float64bits(want) == math.Float64bits(got) || want != want && got != got
								require.True(t, same, "lane %d: want %v, got %v, %+v", lane, want, got, c)
							}
						}
					}
				}
			}
		}
	})
}

// The portable loops against the definition in float64. Of a vector of n channels the
// square of the norm takes at most 1 + 3 + n/8 roundings, the scale three more.
func TestBallLoops(t *testing.T) {
	for _, size := range ballSizes {
		const pixels, plane = 37, 40
		a := newArena(uint64(size), 0)
		a.reserve(4 * (size*plane + 60))
		group := func() []float32 { return a.planes(size, plane, 1, pixels, 1) }
		x, dy, out, back := group(), group(), group(), group()
		radius := float32(0.28 * math.Sqrt(float64(size)))
		var s vectors.Sums
		vectors.Portable.ProjectBalls(out, x, pixels, plane, size, radius)
		vectors.Portable.ProjectBallsGradient(back, x, dy, pixels, plane, size, radius, &s)
		sum, outside := 0.0, 0
		limit := float64(size/8+10) * 0x1p-24
		for p := range pixels {
			square, along := 0.0, 0.0
			for i := range size {
				square += float64(x[i*plane+p]) * float64(x[i*plane+p])
				along += float64(x[i*plane+p]) * float64(dy[i*plane+p])
			}
			norm, r := math.Sqrt(square), float64(radius)
			if norm <= r {
				for i := range size {
					require.Equal(t, x[i*plane+p], out[i*plane+p], "inside")
					require.Equal(t, dy[i*plane+p], back[i*plane+p], "inside")
				}
				continue
			}
			outside++
			sum += along / norm
			for i := range size {
				v, y := float64(x[i*plane+p]), float64(dy[i*plane+p])
				require.InDelta(t, v*r/norm, out[i*plane+p], limit*r)
				// Cancellation: relative to dy, all of it.
				require.InDelta(t, r/norm*(y-v*along/square), back[i*plane+p], 4*limit*math.Sqrt(float64(size)))
			}
		}
		require.InDelta(t, sum, s.Total(), limit*float64(pixels*size), "%d channels", size)
		require.Greater(t, outside, 5, "%d channels", size)
		require.Less(t, outside, pixels-2, "%d channels", size)
	}
}

// The bits do not depend on the number of threads, nor on the instruction set.
func TestBallProjectionsOnAnyNumberOfThreads(t *testing.T) {
	s := backend.Shape{N: 2, C: 24, H: 71, W: 127}
	require.Greater(t, s.Plane(), 2*ballPixels)
	var want []float32
	for _, set := range SetsUnderTest(t) {
		for _, threads := range []int{1, 3, 16} {
			d := open(t, UseInstructionSet(set), Threads(threads))
			x, dy := picture(t, d, s), picture(t, d, s)
			radius, err := d.Wrap(backend.Vector(3), []float32{1.2, 1.6, 2})
			require.NoError(t, err)
			out, projected := blank(t, d, s)
			back, gradient := blank(t, d, s)
			dr, sums := blank(t, d, backend.Vector(3))
			require.NoError(t, d.ProjectBalls(out, x, radius))
			require.NoError(t, d.ProjectBallsGradient(back, dr, x, dy, radius, 0.5))
			got := append(append(projected, gradient...), sums...)
			if want == nil {
				want = got
			}
			require.Equal(t, want, got, "%v, %d threads", set, threads)
			require.NoError(t, d.Close())
		}
	}
}

// What training makes: 64 channels in groups of 8, beside LeakyReLU's gradient.
func BenchmarkBallProjections(b *testing.B) {
	for _, set := range InstructionSets() {
		for _, side := range []int{32, 64} {
			s := backend.Shape{N: 8, C: 64, H: side, W: side}
			d := open(b, UseInstructionSet(set), Threads(1))
			x, dy := picture(b, d, s), picture(b, d, s)
			radii := make([]float32, 8)
			for i := range radii {
				radii[i] = 1.5
			}
			radius, err := d.Wrap(backend.Vector(8), radii)
			require.NoError(b, err)
			out, _ := blank(b, d, s)
			dr, _ := blank(b, d, backend.Vector(8))
			leaky := backend.Activation{Kind: backend.LeakyReLU, Slope: 0.1}
			for _, c := range []struct {
				name   string
				arrays int
				run    func() error
			}{
				{"project", 2, func() error { return d.ProjectBalls(out, x, radius) }},
				{"gradient", 3, func() error { return d.ProjectBallsGradient(out, dr, x, dy, radius, 0) }},
				{"leaky gradient", 3, func() error { return d.ActivationGradient(out, x, dy, leaky) }},
			} {
				b.Run(fmt.Sprintf("%s/%v/%v", c.name, s, set), func(b *testing.B) {
					b.SetBytes(int64(4 * s.Len() * c.arrays))
					for b.Loop() {
						require.NoError(b, c.run())
					}
				})
			}
			require.NoError(b, d.Close())
		}
	}
}
