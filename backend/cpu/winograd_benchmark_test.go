package cpu

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu/internal/winograd"
)

// peak returns the GFLOP/s of one core: what the product of matrices reaches when all
// that it reads is in the first-level cache, and u is one row for all.
func peak(k *winograd.Kernels) float64 {
	const tiles, in, out, calls = 6, 1024, 64, 50
	m, v, u := make([]float32, tiles*out), make([]float32, tiles*in), make([]float32, out)
	best := 0.0
	for range 20 {
		begin := time.Now()
		for range calls {
			k.Multiply(m, out, v, in, u, 0, tiles, in, out)
		}
		best = max(best, 2*calls*tiles*in*out/float64(time.Since(begin).Nanoseconds()))
	}
	return best
}

// report adds GFLOP/s and the fraction of the peak of so many threads, for flops
// operations in one iteration.
func report(b *testing.B, k *winograd.Kernels, threads int, flops float64) {
	rate := flops * float64(b.N) / float64(b.Elapsed().Nanoseconds())
	b.StopTimer()
	b.ReportMetric(rate, "GFLOP/s")
	b.ReportMetric(100*rate/(peak(k)*float64(threads)), "%peak")
}

// The kernels, for 64 channels, as the fused path calls them. The flops of transforms
// are their operations: 24 for the 8 numbers of a row or column of inputs, where a
// multiplication with addition counts as two, as in all that follows.
func BenchmarkWinograd(b *testing.B) {
	const channels, across = 64, 72
	filterPoint := winograd.FilterPoint(channels, channels)
	point, row := pointDistance(channels, channels), (across*winograd.Tile+2)*channels
	pixels := make([]float32, 2*winograd.Patch*row)
	v := make([]float32, (winograd.Points+1)*point)
	u, bias := make([]float32, winograd.FilterSize(channels, channels)), make([]float32, channels)
	for _, s := range [][]float32{pixels, v, u} {
		for i := range s {
			s[i] = float32(i%7) - 3
		}
	}
	var rows [winograd.Patch][]float32
	for y := range rows {
		rows[y] = pixels[y*row:][:row]
	}
	to := pixels[winograd.Patch*row:]
	var scratch winograd.Scratch
	// Operations of Bᵀx: 12 additions and 12 multiplications with addition; of Aᵀm: 10
	// and 10.
	const inputFlops, outputFlops = 16 * (12 + 2*12) * channels, 14 * (10 + 2*10) * channels
	// Of Ay: 6 additions and 12 multiplications with addition. Of Gw: 3 additions or
	// multiplications and 9 of both; of Gᵀy: 7 and 8.
	const spreadFlops = 14 * (6 + 2*12) * channels
	const expandFlops, contractFlops = 11 * (3 + 2*9) * channels, 11 * (7 + 2*8) * channels
	sums := make([]float32, winograd.FilterSize(channels, channels))
	var parts [gradientParts][]float32
	for k := range parts {
		parts[k] = make([]float32, len(sums))
	}
	// Two products and a sum for every number; roots and quotients are few.
	const projectFlops = 3 * winograd.Tile * winograd.Tile * channels
	radius := make([]float32, channels)
	for c := range radius {
		radius[c] = 2
	}
	taps := make([]float32, winograd.Taps*winograd.Taps*channels)
	for _, l := range InstructionSets() {
		k := instructionSets[l].winograd
		for _, c := range []struct {
			name  string
			flops float64
			run   func(i int)
		}{
			{"multiply", 2 * group * channels * channels, func(i int) {
				p := i % winograd.Points
				k.Multiply(v[p*point:], channels, v[(p+1)*point:], channels, u[p*filterPoint:], channels, group, channels, channels)
			}},
			{"input", inputFlops, func(i int) {
				k.Input(v[i%group*channels:], point, &rows, i%across*winograd.Tile*channels, channels, channels, &scratch)
			}},
			{"activate", outputFlops, func(i int) {
				k.Activate(to[i%across*winograd.Tile*channels:], row, channels, v[i%group*channels:], point, bias, 0.01, winograd.Tile, channels, &scratch)
			}},
			{"project", projectFlops, func(i int) {
				k.Project(to[i%across*winograd.Tile*channels:], row, channels, radius, 0, 8, winograd.Tile, channels)
			}},
			{"update", outputFlops, func(i int) {
				at := to[i%across*winograd.Tile*channels:]
				k.Update(at, row, channels, at, row, channels, v[i%group*channels:], point, 0, winograd.Tile, channels, &scratch)
			}},
			{"spread", spreadFlops, func(i int) {
				k.Spread(v[i%group*channels:], point, to[i%across*winograd.Tile*channels:], row, channels, channels, &scratch)
			}},
			{"correlate", 2 * group * channels * channels, func(i int) {
				p := i % winograd.Points
				k.Correlate(sums[p*filterPoint:], channels, v[p*point:], channels, v[(p+1)*point:], channels, group, channels, channels, true)
			}},
			{"expand", expandFlops, func(i int) {
				k.Expand(u[i%channels*channels:], filterPoint, taps, channels, &scratch)
			}},
			{"contract", contractFlops, func(i int) {
				k.Contract(taps, parts[:], i%channels*channels, filterPoint, channels, &scratch)
			}},
		} {
			b.Run(c.name+"/"+l.String(), func(b *testing.B) {
				for i := range b.N {
					c.run(i)
				}
				report(b, k, 1, c.flops)
			})
		}
	}
}

// A layer of 64 channels from planes to planes, and its gradient, with flops by the
// direct formula.
func BenchmarkPlanarWinograd(b *testing.B) {
	const width = 64
	for _, l := range InstructionSets() {
		for _, s := range []backend.Shape{{N: 1, C: width, H: 321, W: 481}, {N: 8, C: width, H: 64, W: 64}} {
			d := open(b, UseInstructionSet(l))
			x, y := picture(b, d, s), picture(b, d, s)
			f := network(b, d, width, width)[0].Filter
			dw, _ := blank(b, d, f.Shape())
			flops := 2 * 9 * width * float64(s.Len())
			for _, c := range []struct {
				name string
				run  func() error
			}{
				{"convolve", func() error { return d.Convolve(y, x, f, backend.ConvEnd{}) }},
				{"adjoint", func() error { return d.ConvolveAdjoint(y, x, f, 1, -0.1) }},
				{"filter gradient", func() error { return d.FilterGradient(dw, x, y, 0, 1) }},
			} {
				b.Run(fmt.Sprintf("%s/%v/%v", c.name, s, l), func(b *testing.B) {
					for b.Loop() {
						require.NoError(b, c.run())
					}
					report(b, instructionSets[l].winograd, d.host.pool.Threads(), flops)
				})
			}
			require.NoError(b, d.Close())
		}
	}
}

// The paper's Euler network: 64 channels, ten blocks of one step, by the direct
// formula: Winograd's algorithm takes 5.1 times fewer multiplications, and reaches more than
// the peak.
func BenchmarkEulerNetwork(b *testing.B) { benchmarkNetwork(b, 0, 1, 2) }

// The same with projections of groups of 8 channels onto balls in place of LeakyReLU.
func BenchmarkBallNetwork(b *testing.B) { benchmarkNetwork(b, 8, 1, 2) }

// And of the other groups.
func BenchmarkBallNetworkOfOtherGroups(b *testing.B) {
	for _, size := range []int{4, 16, 32} {
		b.Run(fmt.Sprint(size), func(b *testing.B) { benchmarkNetwork(b, size, 1) })
	}
}

// benchmarkNetwork times the network with projections of groups of so many channels, or
// with LeakyReLU.
func benchmarkNetwork(b *testing.B, groups int, threads ...int) {
	const h, w, blocks, width = 321, 481, 10, 64
	for _, l := range InstructionSets() {
		for _, threads := range threads {
			b.Run(fmt.Sprintf("%v/%d threads", l, threads), func(b *testing.B) {
				d := open(b, Threads(threads), UseInstructionSet(l))
				defer d.Close()
				hidden := make([]int, blocks)
				for k := range hidden {
					hidden[k] = width
				}
				steps := network(b, d, width, hidden...)
				if groups > 0 {
					project(b, d, steps, groups, 0.3)
				}
				src := picture(b, d, backend.Image(3, h, w))
				dst, _ := blank(b, d, backend.Image(3, h, w))
				for b.Loop() {
					require.NoError(b, d.GradientFlow(context.Background(), dst, src, dst.Shape().Whole(), steps))
				}
				report(b, instructionSets[l].winograd, threads, blocks*2*2*9*width*width*h*w)
			})
		}
	}
}
