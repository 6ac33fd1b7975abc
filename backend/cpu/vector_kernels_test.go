package cpu

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu/internal/vectors"
)

// vectorCase is a call of every kernel on whole arrays of one length.
type vectorCase struct {
	n        int
	seed     uint64
	extremes int // see arena
	lo, hi   float32
}

// run returns the memory after the calls, and the sums.
func (c vectorCase) run(t require.TestingT, k *vectors.Kernels) ([]float32, [4]vectors.Sums) {
	const planes = 6
	distance := c.n + 3
	a := newArena(c.seed, c.extremes)
	a.reserve(12*(planes*distance+60) + 500)
	array := func() []float32 { return a.planes(1, 0, 1, c.n, 1) }
	x := [vectors.MaxTerms][]float32{array(), array(), array(), array()}
	factors := []float32{a.number(1), a.number(2), a.number(3), a.number(1)}

	k.Fill(array(), a.number(1))
	for terms := 1; terms <= vectors.MaxTerms; terms++ {
		k.Combine(array(), factors[:terms], &x)
	}
	k.Combine(x[1], factors, &x)
	in := a.planes(planes, distance, 1, c.n, 1)
	for columns := 1; columns <= vectors.MaxTerms; columns++ {
		matrix := make([]float32, planes*columns)
		for i := range matrix {
			matrix[i] = a.number(1)
		}
		k.Mix(a.planes(planes, distance, 1, c.n, 1), in, c.n, distance, matrix, columns)
		k.Mix(in, in, c.n, distance, matrix[:columns*columns], columns)
	}
	k.Clip(array(), x[0], c.lo, c.hi)
	k.Clip(x[3], x[3], c.lo, c.hi)
	k.ActivationGradient(array(), x[0], x[2], 0.1)
	k.ActivationGradient(x[2], x[0], x[2], 0.3)

	var sums [4]vectors.Sums
	sums[1][3] = 0.25
	k.Sum(&sums[0], x[0])
	k.Squares(&sums[1], x[0])
	k.Dot(&sums[2], x[0], x[1])
	k.Distance(&sums[3], x[0], x[1])
	for i, v := range a.memory {
		if !a.filled[i] && math.Float32bits(v) != guard {
			require.Fail(t, "written into a guard band", "at %d: %+v", i, c)
		}
	}
	return a.memory, sums
}

func (c vectorCase) check(t require.TestingT, set InstructionSet) {
	memory, sums := c.run(t, vectors.Portable)
	gotMemory, gotSums := c.run(t, instructionSets[set].vectors)
	require.NoError(t, sameFloats(memory, gotMemory), "%+v", c)
	for i := range sums {
		for lane, want := range sums[i] {
			got := gotSums[i][lane]
			same := math.Float64bits(want) == math.Float64bits(got) || want != want && got != got
			require.True(t, same, "sum %d lane %d: want %v, got %v, %+v", i, lane, want, got, c)
		}
	}
}

// Every kernel gives the bits of its portable loop, at every length up to 200 and
// at some large ones, and writes nothing else.
func TestVectorKernelsGiveThePortableBits(t *testing.T) {
	assembled(t, func(t *testing.T, set InstructionSet) {
		for n := range 200 {
			vectorCase{n: n, seed: uint64(n), lo: -0.2, hi: 0.3}.check(t, set)
		}
		for _, n := range []int{255, 256, 257, 1023, 1024, 1025, 1040, 4096, 5000} {
			vectorCase{n: n, seed: uint64(n), lo: -0.2, hi: 0.3}.check(t, set)
		}
	})
}

// So it is for numbers at the ends of float32, and at the bounds of a clip.
func TestVectorKernelsGiveThePortableBitsAtExtremes(t *testing.T) {
	negativeZero := float32(math.Copysign(0, -1))
	bounds := []float32{float32(math.Inf(-1)), -0.2, -1e-42, negativeZero, 0, 1e-42, 0.3, 3e38, float32(math.Inf(1))}
	assembled(t, func(t *testing.T, set InstructionSet) {
		rapid.Check(t, func(t *rapid.T) {
			lo := rapid.IntRange(0, len(bounds)-1).Draw(t, "lo")
			hi := rapid.IntRange(lo, len(bounds)-1).Draw(t, "hi")
			vectorCase{
				n: rapid.IntRange(0, 100).Draw(t, "n"), seed: rapid.Uint64().Draw(t, "seed"),
				extremes: rapid.SampledFrom([]int{5, 100, 900}).Draw(t, "extremes"),
				lo:       bounds[lo], hi: bounds[hi],
			}.check(t, set)
		})
	})
}

// The portable loops against what they mean, in float64: a clip against its bounds,
// sums lane by lane.
func TestVectorLoops(t *testing.T) {
	for _, n := range []int{0, 1, 7, 8, 9, 15, 16, 17, 24, 25, 1023, 1024, 1030, 1033, 2100} {
		a := newArena(uint64(n), 0)
		a.reserve(3*n + 200)
		x, y, z := a.planes(1, 0, 1, n, 1), a.planes(1, 0, 1, n, 1), a.planes(1, 0, 1, n, 1)
		var want, got [4]vectors.Sums
		for i := range x {
			p, q := float64(x[i]), float64(y[i])
			lane := i % vectors.SumLanes
			for k, term := range []float64{p, float64(p * p), float64(p * q), float64((p - q) * (p - q))} {
				want[k][lane] += term
			}
		}
		k := vectors.Portable
		k.Sum(&got[0], x)
		k.Squares(&got[1], x)
		k.Dot(&got[2], x, y)
		k.Distance(&got[3], x, y)
		for i := range want {
			require.Equal(t, want[i], got[i], "%d elements, sum %d", n, i)
			sum := 0.0
			for _, v := range want[i] {
				sum += v
			}
			require.InDelta(t, sum, got[i].Total(), 1e-12, "%d elements, sum %d", n, i)
		}
		k.Clip(z, x, -0.2, 0.3)
		for i, v := range x {
			require.Equal(t, min(max(v, -0.2), 0.3), z[i])
		}
	}
}

// A clip keeps the sign of a zero that is in its bounds, and a NaN.
func TestClipKeepsZerosAndNaN(t *testing.T) {
	negativeZero := float32(math.Copysign(0, -1))
	nan := float32(math.NaN())
	for _, set := range InstructionSets() {
		for _, bounds := range [][2]float32{{0, 1}, {negativeZero, 1}, {-1, 0}, {-1, negativeZero}, {0, 0}} {
			x := []float32{0, negativeZero, nan, -2, 2}
			instructionSets[set].vectors.Clip(x, x, bounds[0], bounds[1])
			require.NoError(t, sameFloats([]float32{0, negativeZero, nan, bounds[0], bounds[1]}, x), "%v %v", set, bounds)
		}
	}
}

// Operations on vectors have the same bits at every set.
func TestVectorOperationsSameBitsWithEveryInstructionSet(t *testing.T) {
	leaveKernels(t)
	for _, n := range []int{1, 100, vectorBlock, 3*vectorBlock + 77} {
		run := func(set InstructionSet) ([]float32, float64) {
			d := open(t, UseInstructionSet(set), Threads(2))
			defer d.Close()
			a := newArena(uint64(n), 0)
			a.reserve(11*n + 500)
			out, in := a.planes(6, n, 1, n, 1), a.planes(5, n, 1, n, 1)
			matrix := make([]float32, 30)
			for i := range matrix {
				matrix[i] = a.number(1)
			}
			wrapped := func(data []float32) backend.Buffer {
				b, err := d.Wrap(backend.Image(len(data)/n, 1, n), data)
				require.NoError(t, err)
				return b
			}
			require.NoError(t, d.MixChannels(wrapped(out), wrapped(in), matrix))
			require.NoError(t, d.MixChannels(wrapped(in), wrapped(in), matrix[:25]))
			value := d.host.sum(0, out[:5*n], in) + d.host.sum(1, out, out) + d.host.sum(2, out[n:], in)
			return a.memory, value
		}
		memory, value := run(Portable)
		assembled(t, func(t *testing.T, set InstructionSet) {
			gotMemory, gotValue := run(set)
			require.NoError(t, sameFloats(memory, gotMemory))
			require.Equal(t, value, gotValue)
		})
	}
}

func BenchmarkVectorKernels(b *testing.B) {
	const n = 4096 // in the L1 cache
	for _, set := range InstructionSets() {
		k := instructionSets[set].vectors
		var x [vectors.MaxTerms][]float32
		for i := range x {
			x[i] = make([]float32, n)
		}
		out := make([]float32, 4*n)
		matrix := make([]float32, 12)
		var sums vectors.Sums
		for _, c := range []struct {
			name   string
			arrays int
			run    func()
		}{
			{"Fill", 1, func() { k.Fill(out[:n], 1) }},
			{"Combine1", 2, func() { k.Combine(out[:n], []float32{2}, &x) }},
			{"Combine2", 3, func() { k.Combine(out[:n], []float32{2, 3}, &x) }},
			{"Combine4", 5, func() { k.Combine(out[:n], []float32{2, 3, 4, 5}, &x) }},
			{"Mix3", 6, func() { k.Mix(out, out, n, n, matrix[:9], 3) }},
			{"Clip", 2, func() { k.Clip(out[:n], x[0], 0, 1) }},
			{"Sum", 1, func() { k.Sum(&sums, x[0]) }},
			{"Squares", 1, func() { k.Squares(&sums, x[0]) }},
			{"Dot", 2, func() { k.Dot(&sums, x[0], x[1]) }},
			{"Distance", 2, func() { k.Distance(&sums, x[0], x[1]) }},
			{"ActivationGradient", 3, func() { k.ActivationGradient(out[:n], x[0], x[1], 0.1) }},
		} {
			b.Run(fmt.Sprintf("%v/%s", set, c.name), func(b *testing.B) {
				b.SetBytes(int64(4 * n * c.arrays))
				for b.Loop() {
					c.run()
				}
			})
		}
	}
}
