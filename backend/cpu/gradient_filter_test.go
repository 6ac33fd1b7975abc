package cpu

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu/internal/convrow"
)

// Every kernel makes the sums of the plain loop, for all numbers of outputs, taps,
// rows and vectors that it can be given, and changes no array.
func TestCorrelate(t *testing.T) {
	leaveKernels(t)
	for _, set := range InstructionSets() {
		k := instructionSets[set].convolution
		for outputs := 1; outputs <= 9; outputs++ {
			for _, shape := range [][5]int{{1, 16, 1, 1, 1}, {1, 32, 2, 1, 1}, {3, 16, 1, 3, 3}, {5, 48, 2, 5, 1}, {2, 128, 1, 1, 7}, {8, 128, 1, 3, 3}} {
				rows, columns, inputs, kh, kw := shape[0], shape[1], shape[2], shape[3], shape[4]
				tile := convrow.Tile{Rows: rows, Columns: columns, PlaneY: rows*(columns+3) + 5, PitchY: columns + 3, PitchX: columns + kw + 8}
				planeX := (rows+kh-1)*tile.PitchX + 2
				taps := convrow.NewTaps(inputs, kh, kw, planeX, tile.PitchX)
				a := newArena(uint64(columns+outputs), 0)
				a.reserve(outputs*tile.PlaneY + inputs*planeX + 200)
				dy, x := a.planes(1, 0, 1, outputs*tile.PlaneY, 2), a.planes(1, 0, 1, inputs*planeX, 2)
				before := slices.Clone(a.memory)
				terms := inputs * kh * kw
				for o := 0; o < outputs; {
					n := k.Outputs(outputs - o)
					for first := 0; first < terms; first += convrow.CorrelatedTaps {
						var sums convrow.Products
						k.Correlate(&sums, dy[o*tile.PlaneY:], x, taps, first, n, tile)
						for j := range min(convrow.CorrelatedTaps, terms-first) {
							tap := first + j
							at := tap/(kh*kw)*planeX + tap/kw%kh*tile.PitchX + tap%kw
							for p := range n {
								want, size := 0.0, 0.0
								for r := range rows {
									for c := range columns {
										v := float64(dy[(o+p)*tile.PlaneY+r*tile.PitchY+c]) * float64(x[at+r*tile.PitchX+c])
										want += v
										size += math.Abs(v)
									}
								}
								require.InDelta(t, want, sums[j][p], 1e-6*size, "%v: output %d of %d, tap %d of %v", set, o+p, outputs, tap, shape)
							}
						}
					}
					o += n
				}
				require.NoError(t, sameFloats(before, a.memory))
			}
		}
	}
}

// The gradient against the plain sum over positions: all parts of tiles, several
// tiles in either direction, several blocks of outputs and inputs.
func TestFilterGradient(t *testing.T) {
	for i, c := range []struct {
		in          backend.Shape
		out, kh, kw int
	}{
		{backend.Image(1, 1, 1), 1, 5, 3},
		{backend.Image(3, 7, 300), 9, 3, 3},
		{backend.Image(2, 21, 131), 3, 5, 7},
		{backend.Image(17, 9, 20), 18, 3, 1},
		{backend.Image(5, 37, 29), 7, 1, 1},
		{backend.Shape{N: 3, C: 2, H: 10, W: 33}, 2, 3, 3},
	} {
		a := newArena(uint64(i), 0)
		result := c.in
		result.C = c.out
		filter := backend.Shape{N: c.out, C: c.in.C, H: c.kh, W: c.kw}
		a.reserve(c.in.Len() + result.Len() + filter.Len() + 200)
		x, dy, old := a.planes(1, 0, 1, c.in.Len(), 2), a.planes(1, 0, 1, result.Len(), 2), a.planes(1, 0, 1, filter.Len(), 2)
		want := make([]float64, filter.Len())
		size := make([]float64, filter.Len())
		for k := range want {
			o, in, r, s := k/(c.in.C*c.kh*c.kw), k/(c.kh*c.kw)%c.in.C, k/c.kw%c.kh, k%c.kw
			for n := range c.in.N {
				for y := range c.in.H {
					for j := range c.in.W {
						yy, xx := y+r-c.kh/2, j+s-c.kw/2
						if yy < 0 || yy >= c.in.H || xx < 0 || xx >= c.in.W {
							continue
						}
						v := float64(dy[((n*c.out+o)*c.in.H+y)*c.in.W+j]) * float64(x[((n*c.in.C+in)*c.in.H+yy)*c.in.W+xx])
						want[k] += v
						size[k] += math.Abs(v)
					}
				}
			}
		}
		for _, set := range SetsUnderTest(t) {
			t.Run(fmt.Sprint(c, set), func(t *testing.T) {
				d := open(t, UseInstructionSet(set), Threads(2))
				defer d.Close()
				wrap := func(s backend.Shape, data []float32) backend.Buffer {
					b, err := d.Wrap(s, data)
					require.NoError(t, err)
					return b
				}
				dw := slices.Clone(old)
				require.NoError(t, d.FilterGradient(wrap(filter, dw), wrap(c.in, x), wrap(result, dy), 0.5, -2))
				for k, v := range dw {
					require.InDelta(t, 0.5*float64(old[k])-2*want[k], v, 1e-6*(1+size[k]), "weight %d", k)
				}
			})
		}
	}
}
