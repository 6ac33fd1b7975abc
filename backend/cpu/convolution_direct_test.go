package cpu

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu/internal/convrow"
)

// fused returns w·x + s rounded once. The product is exact in float64; the sum is
// rounded to odd there, so that rounding it again gives what one rounding gives
// (Boldo and Melquiond 2008).
func fused(w, x, s float32) float32 {
	p, q := float64(w)*float64(x), float64(s)
	sum := p + q
	back := sum - p
	lost := (p - (sum - back)) + (q - back)
	if bits := math.Float64bits(sum); lost != 0 && bits&1 == 0 && !math.IsInf(sum, 0) && lost == lost {
		if (lost > 0) == (sum > 0) {
			bits++
		} else {
			bits--
		}
		sum = math.Float64frombits(bits)
	}
	return float32(sum)
}

func TestFused(t *testing.T) {
	// 1 + 2⁻²⁴ lies between two float32 numbers; what is below it decides.
	tie := float32(math.Ldexp(1, -24))
	tiny := float32(math.Ldexp(1, -70))
	require.EqualValues(t, 1, fused(tie, 1, 1))
	require.Equal(t, math.Nextafter32(1, 2), fused(1+0x1p-23, tie, 1))
	require.EqualValues(t, 1, fused(1-0x1p-24, tie, 1))
	require.EqualValues(t, 1, fused(tiny, tiny, 1))
	rapid.Check(t, func(t *rapid.T) {
		w, x, s := rapid.Float32().Draw(t, "w"), rapid.Float32().Draw(t, "x"), rapid.Float32().Draw(t, "s")
		if sum := fused(w, x, s); !math.IsInf(float64(sum), 0) {
			exact := new(big.Float).SetPrec(700).SetFloat64(float64(w) * float64(x))
			want, _ := exact.Add(exact, big.NewFloat(float64(s))).Float32()
			require.Equal(t, want, sum)
		}
	})
}

// plainSum is an output's sum over its taps, fused as the assembly does it or not,
// and the sum of the terms' absolute values.
func plainSum(src []float32, at, plane, pitch, channels, kh, kw int, weights []float32) (fusedSum float32, exact, size float64) {
	k := 0
	for i := range channels {
		for r := range kh {
			for s := range kw {
				x, w := src[at+i*plane+r*pitch+s], weights[k]
				fusedSum = fused(w, x, fusedSum)
				exact += float64(w) * float64(x)
				size += math.Abs(float64(w) * float64(x))
				k++
			}
		}
	}
	return fusedSum, exact, size
}

// plainEnd is what the ending makes of a sum, dst being the old value.
func plainEnd(sum, bias, dst float32, e *convrow.Ending) float32 {
	v := sum + bias
	if v < 0 {
		v *= e.Slope
	}
	v = float32(v * e.Scale) // never fused
	if e.Beta != 0 {
		v += float32(e.Beta * dst)
	}
	return v
}

// blockCase is a call of Block.
type blockCase struct {
	outputs, columns int
	inputs, kh, kw   int
	end              convrow.Ending
	seed             uint64
	extremes         int // see arena
}

func (c blockCase) check(t require.TestingT, set InstructionSet) {
	k := instructionSets[set].convolution
	pitch := c.columns + convrow.Lanes + c.kw
	plane := c.kh*pitch + 5
	apart := c.columns + 7
	taps := convrow.NewTaps(c.inputs, c.kh, c.kw, plane, pitch)
	terms := c.inputs * c.kh * c.kw
	a := newArena(c.seed, c.extremes)
	a.reserve(c.inputs*plane + c.outputs*(apart+terms+1) + 300)
	src := a.planes(1, 0, 1, (c.inputs-1)*plane+c.kh*pitch, 2)
	dst := a.planes(c.outputs, apart, 1, c.columns, 2)
	weights, bias := a.planes(1, 0, 1, c.outputs*terms, 2), a.planes(1, 0, 1, c.outputs, 2)
	before, old := slices.Clone(a.memory), slices.Clone(dst)

	for o := 0; o < c.outputs; {
		channels, _ := k.Size(c.outputs-o, c.columns)
		for x := 0; x < c.columns; {
			_, columns := k.Size(channels, c.columns-x)
			k.Block(dst[o*apart+x:], apart, src[x:], taps, weights[o*terms:], bias[o:], channels, columns, &c.end)
			x += columns
		}
		o += channels
	}
	for o := range c.outputs {
		for x := range c.columns {
			sum, exact, size := plainSum(src, x, plane, pitch, c.inputs, c.kh, c.kw, weights[o*terms:])
			got := &dst[o*apart+x]
			if set == Portable {
				// Where Go fuses is the compiler's choice.
				want := plainEnd(float32(exact), bias[o], old[o*apart+x], &c.end)
				factor := math.Abs(float64(c.end.Scale))
				limit := 1e-7 * (1 + factor*(math.Abs(float64(bias[o]))+float64(terms+4)*size) + math.Abs(float64(c.end.Beta*old[o*apart+x])))
				if !math.IsNaN(limit) && !math.IsInf(limit, 0) && !math.IsInf(float64(want), 0) {
					require.InDelta(t, want, *got, limit, "%d %d %+v", o, x, c)
				}
			} else {
				want := plainEnd(sum, bias[o], old[o*apart+x], &c.end)
				require.NoError(t, sameFloats([]float32{want}, []float32{*got}), "channel %d column %d of %+v", o, x, c)
			}
			*got = old[o*apart+x]
		}
	}
	require.NoError(t, sameFloats(before, a.memory), "beside the block: %+v", c)
}

// Every kernel makes the sums of the plain loop, fused term by term, for all sizes
// of a block and beyond, and writes nothing else.
func TestConvolutionBlocks(t *testing.T) {
	leaveKernels(t)
	ends := []convrow.Ending{{Slope: 1, Scale: 1}, {Slope: 0.1, Scale: 1}, {Slope: 1, Scale: -0.3, Beta: 1}, {Slope: 0.5, Scale: 2, Beta: -0.7}}
	for _, set := range InstructionSets() {
		t.Run(set.String(), func(t *testing.T) {
			for columns := 1; columns <= 130; columns++ {
				c := blockCase{outputs: 1 + columns%5, columns: columns, inputs: 2, kh: 1, kw: 3, end: ends[columns%4], seed: uint64(columns)}
				c.check(t, set)
			}
			for outputs := 1; outputs <= 19; outputs++ {
				for _, columns := range []int{1, 8, 9, 16, 17, 40, 48} {
					c := blockCase{outputs: outputs, columns: columns, inputs: 3, kh: 3, kw: 1, end: ends[outputs%4], seed: uint64(outputs)}
					c.check(t, set)
				}
			}
			for taps := range 40 {
				blockCase{outputs: 9, columns: 31, inputs: taps + 1, kh: 1, kw: 1, end: ends[taps%4], seed: uint64(taps)}.check(t, set)
			}
		})
	}
}

// So they do for numbers at the ends of float32.
func TestConvolutionBlocksAtExtremes(t *testing.T) {
	assembled(t, func(t *testing.T, set InstructionSet) {
		rapid.Check(t, func(t *rapid.T) {
			odd := rapid.SampledFrom([]int{1, 3, 5, 7})
			blockCase{
				outputs: rapid.IntRange(1, 12).Draw(t, "outputs"), columns: rapid.IntRange(1, 60).Draw(t, "columns"),
				inputs: rapid.IntRange(1, 4).Draw(t, "inputs"), kh: odd.Draw(t, "rows"), kw: odd.Draw(t, "columns of the kernel"),
				end: convrow.Ending{
					Slope: rapid.SampledFrom([]float32{1, 0.1, 1e-30}).Draw(t, "slope"),
					Scale: rapid.SampledFrom([]float32{1, 0, -2, 1e30}).Draw(t, "scale"),
					Beta:  rapid.SampledFrom([]float32{0, float32(math.Copysign(0, -1)), 1, -0.5}).Draw(t, "beta"),
				},
				seed: rapid.Uint64().Draw(t, "seed"), extremes: rapid.SampledFrom([]int{0, 2, 20, 300}).Draw(t, "extremes"),
			}.check(t, set)
		})
	})
}

// convolved returns what convolve makes of src.
func convolved(t require.TestingT, d *Device, s backend.Shape, out int, src, w []float32, kh, kw int, e ending, dst []float32) []float32 {
	in, err := d.Wrap(s, src)
	require.NoError(t, err)
	s.C = out
	if dst == nil {
		dst = make([]float32, s.Len())
		for i := range dst {
			dst[i] = math.Float32frombits(guard)
		}
	}
	to, err := d.Wrap(s, dst)
	require.NoError(t, err)
	d.host.convolve(operand(t, d, to), operand(t, d, in), w, kh, kw, e)
	return dst
}

// Whole images against the plain sum: all parts of tiles, several tiles in either
// direction, images smaller than the kernel, more channels than a packed tile has
// room for.
func TestDirectConvolution(t *testing.T) {
	type layer struct {
		s           backend.Shape
		out, kh, kw int
	}
	layers := []layer{
		{backend.Image(1, 1, 1), 1, 1, 1},
		{backend.Image(2, 1, 1), 3, 7, 7},
		{backend.Image(3, 5, 4), 9, 7, 5},
		{backend.Image(5, 3, 50), 4, 1, 9},
		{backend.Image(5, 50, 3), 4, 9, 1},
		{backend.Image(3, 37, 50), 3, 1, 1},
		{backend.Image(3, 16, 16), 8, 1, 1},
		{backend.Image(70, 23, 101), 2, 1, 1},
		{backend.Image(3, 40, 150), 17, 3, 3},
		{backend.Image(600, 9, 70), 2, 5, 5},
		{backend.Image(2000, 3, 97), 1, 3, 3},
		{backend.Shape{N: 3, C: 4, H: 19, W: 55}, 5, 5, 3},
		{backend.Shape{N: 2, C: 4, H: 19, W: 55}, 4, 1, 1},
	}
	for i, l := range layers {
		a := newArena(uint64(i), 0)
		s := l.s
		result := s
		result.C = l.out
		terms := s.C * l.kh * l.kw
		a.reserve(s.Len() + result.Len() + l.out*(terms+1) + 300)
		src, old := a.planes(1, 0, 1, s.Len(), 2), a.planes(1, 0, 1, result.Len(), 2)
		w, bias := a.planes(1, 0, 1, l.out*terms, 2), a.planes(1, 0, 1, l.out, 2)
		every := 1 + int(float64(s.Len())*float64(l.out*terms)/float64(s.C)/200000) // of large images some pixels are enough
		type pixel struct {
			at          int
			fused       float32
			exact, size float64
		}
		var want []pixel
		ph, pw := s.H+l.kh-1, s.W+l.kw-1
		for n := range s.N {
			padded := make([]float32, s.C*ph*pw)
			for c := range s.C {
				for y := range s.H {
					copy(padded[(c*ph+y+l.kh/2)*pw+l.kw/2:], src[((n*s.C+c)*s.H+y)*s.W:][:s.W])
				}
			}
			for at := n * result.C * s.Plane(); at < (n+1)*result.C*s.Plane(); at += every {
				x, y, o := at%s.W, at/s.W%s.H, at/s.Plane()%l.out
				p := pixel{at: at}
				p.fused, p.exact, p.size = plainSum(padded, y*pw+x, ph*pw, pw, s.C, l.kh, l.kw, w[o*terms:])
				want = append(want, p)
			}
		}
		for _, set := range SetsUnderTest(t) {
			t.Run(fmt.Sprint(set, l), func(t *testing.T) {
				d := open(t, UseInstructionSet(set), Threads(2))
				defer d.Close()
				plain := convolved(t, d, s, l.out, src, w, l.kh, l.kw, ending{scale: 1}, nil)
				ended := convolved(t, d, s, l.out, src, w, l.kh, l.kw,
					ending{bias: bias, rectify: true, slope: 0.1, scale: -0.3, beta: 0.7}, slices.Clone(old))
				e := convrow.Ending{Slope: 0.1, Scale: -0.3, Beta: 0.7}
				for _, p := range want {
					limit := 1e-7 * float64(terms+4) * (1 + p.size)
					require.InDelta(t, p.exact, plain[p.at], limit, "element %d", p.at)
					channel := p.at / s.Plane() % l.out
					require.InDelta(t, plainEnd(float32(p.exact), bias[channel], old[p.at], &e), ended[p.at], limit, "element %d", p.at)
					if set != Portable {
						require.Equal(t, p.fused, plain[p.at], "element %d", p.at)
					}
				}
				unwritten := slices.IndexFunc(plain, func(v float32) bool { return math.Float32bits(v) == guard })
				require.Negative(t, unwritten, "an element that is not written")
			})
		}
	}
}

// ConvolutionGrid is 1 for direct convolution: a pixel has the same bits in every
// image that holds what its kernel reaches.
func TestDirectConvolutionOfACutImage(t *testing.T) {
	for _, set := range SetsUnderTest(t) {
		d := open(t, UseInstructionSet(set), Threads(2))
		defer d.Close()
		t.Run(set.String(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				odd := rapid.SampledFrom([]int{1, 3, 5, 7})
				kh, kw := odd.Draw(t, "kernel rows"), odd.Draw(t, "kernel columns")
				in, out := rapid.IntRange(1, 5).Draw(t, "in"), rapid.IntRange(1, 13).Draw(t, "out")
				h, w := rapid.IntRange(kh, 40).Draw(t, "h"), rapid.IntRange(kw, 150).Draw(t, "w")
				y, x := rapid.IntRange(0, h-kh).Draw(t, "y"), rapid.IntRange(0, w-kw).Draw(t, "x")
				ch, cw := rapid.IntRange(kh, h-y).Draw(t, "cut h"), rapid.IntRange(kw, w-x).Draw(t, "cut w")
				a := newArena(rapid.Uint64().Draw(t, "seed"), 0)
				a.reserve(in*h*w + in*out*kh*kw + 200)
				src, weights := a.planes(1, 0, 1, in*h*w, 2), a.planes(1, 0, 1, in*out*kh*kw, 2)
				whole := convolved(t, d, backend.Image(in, h, w), out, src, weights, kh, kw, ending{scale: 1}, nil)
				piece := make([]float32, 0, in*ch*cw)
				for c := range in {
					for r := range ch {
						piece = append(piece, src[(c*h+y+r)*w+x:][:cw]...)
					}
				}
				cut := convolved(t, d, backend.Image(in, ch, cw), out, piece, weights, kh, kw, ending{scale: 1}, nil)
				for o := range out {
					for r := kh / 2; r < ch-kh/2; r++ {
						n := cw - kw + 1
						want := whole[(o*h+y+r)*w+x+kw/2:][:n]
						got := cut[(o*ch+r)*cw+kw/2:][:n]
						require.NoError(t, sameFloats(want, got), "channel %d row %d", o, r)
					}
				}
			})
		})
	}
}

// A tile never reads, in place of padding, what lies beside a row or a channel.
func TestDirectConvolutionPadsWithZeros(t *testing.T) {
	const h, w = 6, 53
	nan := float32(math.NaN())
	for _, set := range SetsUnderTest(t) {
		d := open(t, UseInstructionSet(set), Threads(1))
		defer d.Close()
		src := make([]float32, 3*h*w)
		for i := range src {
			src[i] = nan
			if i/(h*w) == 1 {
				src[i] = 1
			}
		}
		ones := make([]float32, 25)
		for i := range ones {
			ones[i] = 1
		}
		got := convolved(t, d, backend.Image(1, h, w), 1, src[h*w:2*h*w], ones, 5, 5, ending{scale: 1}, nil)
		for y := range h {
			for x := range w {
				rows, columns := min(y, 2)+1+min(h-1-y, 2), min(x, 2)+1+min(w-1-x, 2)
				require.EqualValues(t, rows*columns, got[y*w+x], "%v row %d column %d", set, y, x)
			}
		}
	}
}

func BenchmarkDirectConvolution(b *testing.B) {
	for _, set := range InstructionSets() {
		for _, l := range []struct{ in, out, size int }{{64, 64, 5}, {64, 64, 7}, {64, 64, 3}, {64, 64, 1}, {3, 64, 5}, {64, 3, 5}} {
			b.Run(fmt.Sprintf("%v/%d→%d,%d×%d", set, l.in, l.out, l.size, l.size), func(b *testing.B) {
				d := open(b, UseInstructionSet(set))
				defer d.Close()
				src, err := d.Alloc(backend.Image(l.in, 321, 481))
				require.NoError(b, err)
				dst, err := d.Alloc(backend.Image(l.out, 321, 481))
				require.NoError(b, err)
				w := make([]float32, l.out*l.in*l.size*l.size)
				to, from := operand(b, d, dst), operand(b, d, src)
				for b.Loop() {
					d.host.convolve(to, from, w, l.size, l.size, ending{scale: 1})
				}
				report(b, instructionSets[set].winograd, d.host.pool.Threads(), 2*float64(len(w))*321*481)
			})
		}
	}
}
