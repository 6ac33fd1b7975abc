package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu/internal/tvrow"
)

// guard is a NaN that no kernel makes. It stands wherever no kernel may write, and
// spoils what it is read into.
const guard = 0x7fc0dead

// arena is memory that the arrays of a kernel are cut from, at odd places and with
// guard bands between them.
type arena struct {
	memory []float32
	used   int
	filled []bool
	random *rand.Rand
	// extremes says how many numbers in a thousand are zeros of either sign,
	// subnormal, huge, infinite or not a number.
	extremes int
}

// newArena returns an arena that gives the same numbers for the same seed.
func newArena(seed uint64, extremes int) *arena {
	return &arena{random: rand.New(rand.NewPCG(seed, 1)), extremes: extremes}
}

// reserve makes room for arrays.
func (a *arena) reserve(n int) {
	a.memory, a.filled = make([]float32, n), make([]bool, n)
	for i := range a.memory {
		a.memory[i] = math.Float32frombits(guard)
	}
}

// planes returns memory for rows of some planes and fills the rows: each has width
// numbers of the given size, and planes are a distance apart.
func (a *arena) planes(count, distance, rowsEach, width int, size float64) []float32 {
	from := a.used + 17 + a.random.IntN(16)
	n := (count-1)*distance + rowsEach*width
	for k := range count {
		for j := range rowsEach * width {
			a.memory[from+k*distance+j] = a.number(size)
			a.filled[from+k*distance+j] = true
		}
	}
	a.used = from + n + 17
	return a.memory[from : from+n : from+n]
}

func (a *arena) number(size float64) float32 {
	x := float32(size * (a.random.Float64() - 0.5))
	if a.random.IntN(1000) >= a.extremes {
		return x
	}
	odd := []float32{0, float32(math.Copysign(0, -1)), 1e-42, 3e38, -3e38, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN())}
	return odd[a.random.IntN(len(odd))]
}

// sameFloats reports where two arrays differ. All NaNs are alike but the guard.
func sameFloats(want, got []float32) error {
	for i := range want {
		w, g := math.Float32bits(want[i]), math.Float32bits(got[i])
		bothNaN := want[i] != want[i] && got[i] != got[i] && w != guard && g != guard
		if w != g && !bothNaN {
			return fmt.Errorf("at %d of %d: want %v (%#x), got %v (%#x)", i, len(want), want[i], w, got[i], g)
		}
	}
	return nil
}

func sameSums(want, got tvrow.Sums) error {
	for i := range want {
		for j := range want[i] {
			w, g := want[i][j], got[i][j]
			if math.Float64bits(w) != math.Float64bits(g) && !(w != w && g != g) {
				return fmt.Errorf("sum %d lane %d: want %v, got %v", i, j, w, g)
			}
		}
	}
	return nil
}

// rowCase is a call of every kernel on rows of one layout.
type rowCase struct {
	layout   tvrow.Layout
	step     tvrow.Step
	alpha    float64
	seed     uint64
	extremes int
	first    bool // the row above is zeros
	last     bool // there is no row below
}

// run returns the memory and the sums after the calls.
func (c rowCase) run(t require.TestingT, k *tvrow.Kernels) ([]float32, tvrow.Sums) {
	a := newArena(c.seed, c.extremes)
	l := c.layout
	n := l.Channels
	a.reserve(16*n*(max(l.Plane, l.Stride)+2*l.Width) + 2000)
	p := a.planes(2*n, l.Plane, 2, l.Width, 0.3)
	u := a.planes(n, l.Plane, 1, l.Width, 1)
	y := a.planes(n, l.Plane, 1, l.Width, 1)
	ubar := a.planes(n, l.Stride, 1, l.Width, 1)
	below := a.planes(n, l.Stride, 1, l.Width, 1)
	above, distance := a.planes(n, 2*l.Plane, 1, l.Width, 0.3), 2*l.Plane
	uBelow := a.planes(n, l.Plane, 1, l.Width, 1)
	if c.first {
		above, distance = a.planes(1, 0, 1, l.Width, 0), 0
	}
	if c.last {
		below, uBelow = ubar, u
	}
	scratch := make([]float32, l.Scratch())
	var sums tvrow.Sums
	for i := range sums {
		sums[i][i] = 0.25
	}

	k.Evaluate(&sums, above, distance, p, u, uBelow, y, make([]tvrow.Column, l.Width), l, c.alpha)
	k.Sweep(p, u, y, ubar, scratch, l, &c.step)
	k.Dual(p, ubar, below, scratch, l, &c.step)
	w := l.Width
	k.Primal(above[:w], p[:w], p[l.Plane:][:w], u[:w], y[:w], ubar[:w], &c.step)
	// The dual variables lie in their balls now, or out of them by rounding alone.
	k.Evaluate(&sums, above, distance, p, u, uBelow, y, make([]tvrow.Column, l.Width), l, c.alpha)

	for i, x := range a.memory {
		if !a.filled[i] && math.Float32bits(x) != guard {
			require.Fail(t, "written into a guard band", "at %d: %+v", i, c)
		}
	}
	return a.memory, sums
}

func (c rowCase) check(t require.TestingT, set InstructionSet) {
	memory, sums := c.run(t, tvrow.Portable)
	gotMemory, gotSums := c.run(t, instructionSets[set].tv)
	require.NoError(t, sameFloats(memory, gotMemory), "%+v", c)
	require.NoError(t, sameSums(sums, gotSums), "%+v", c)
}

// assembled are the instruction sets whose kernels are not the portable loops.
func assembled(t *testing.T, run func(t *testing.T, set InstructionSet)) {
	leaveKernels(t)
	for _, set := range InstructionSets() {
		if set == Portable {
			continue
		}
		t.Run(set.String(), func(t *testing.T) { run(t, set) })
	}
}

// Every kernel gives the bits of its portable loop, at every width up to 200 and
// at some large ones, for one to five coupled channels, and writes nothing else.
func TestTVKernelsGiveThePortableBits(t *testing.T) {
	widths := []int{255, 256, 257, 481, 1000, 4097}
	for w := range 200 {
		widths = append(widths, w+1)
	}
	assembled(t, func(t *testing.T, set InstructionSet) {
		for _, width := range widths {
			for channels := range 5 {
				seed := uint64(width*5 + channels)
				rowCase{
					layout: tvrow.Layout{Channels: channels + 1, Width: width, Plane: 2*width + 3, Stride: width + 5},
					step:   tvrow.NewStep(0.3, 0.2, 0.4, 0.11), alpha: 0.11,
					seed: seed, first: seed%3 == 0, last: seed%4 == 1,
				}.check(t, set)
			}
		}
	})
}

// So it is for any step and radius, and for numbers at the ends of float32.
func TestTVKernelsGiveThePortableBitsAtExtremes(t *testing.T) {
	assembled(t, func(t *testing.T, set InstructionSet) {
		rapid.Check(t, func(t *rapid.T) {
			width := rapid.IntRange(1, 70).Draw(t, "width")
			alpha := rapid.SampledFrom([]float32{0, 1e-30, 0.05, 0.2, 10, 1e30, math.MaxFloat32}).Draw(t, "alpha")
			number := func(name string) float32 {
				return rapid.SampledFrom([]float32{0, 1e-42, 0.1, 1, 7, 1e30}).Draw(t, name)
			}
			rowCase{
				layout: tvrow.Layout{
					Channels: rapid.IntRange(1, 4).Draw(t, "channels"), Width: width,
					Plane: 2*width + rapid.IntRange(0, 20).Draw(t, "gap of planes"), Stride: width + rapid.IntRange(0, 20).Draw(t, "gap of rows"),
				},
				step:  tvrow.NewStep(min(1, number("primal")), number("extrapolation"), number("dual"), alpha),
				alpha: float64(alpha), seed: rapid.Uint64().Draw(t, "seed"),
				extremes: rapid.SampledFrom([]int{0, 5, 100, 900}).Draw(t, "extremes"),
				first:    rapid.Bool().Draw(t, "first"), last: rapid.Bool().Draw(t, "last"),
			}.check(t, set)
		})
	})
}

// Iterates have the same bits with every instruction set, and so has their duality gap.
func TestTVSameBitsWithEveryInstructionSet(t *testing.T) {
	leaveKernels(t)
	run := func(t *testing.T, set InstructionSet, s backend.Shape, problem backend.TVProblem) (u, p []float32, value backend.TVValue) {
		d := open(t, UseInstructionSet(set), Threads(2))
		defer d.Close()
		v := newTVState(t, d, s, 0.2)
		for k := range 20 {
			step := backend.TVStep{Primal: 1 / float32(k+2), Extrapolation: 0.2, Dual: 0.4}
			require.NoError(t, d.TVIterate(v.u, v.p, v.y, problem, step))
		}
		require.NoError(t, d.TVPrimal(v.u, v.p, v.y, 0.9))
		value, err := d.TVEvaluate(v.u, v.p, v.y, problem)
		require.NoError(t, err)
		return operand(t, d, v.u).Data, operand(t, d, v.p).Data, value
	}
	for _, s := range []backend.Shape{backend.Image(3, 11*tvMinBand+2, 37), backend.Image(2, 5, 1), backend.Image(4, 19, 20), backend.Image(1, 1, 100)} {
		for _, coupled := range []bool{false, true} {
			t.Run(fmt.Sprint(s, coupled), func(t *testing.T) {
				problem := backend.TVProblem{Alpha: 0.1, Coupled: coupled}
				u, p, value := run(t, Portable, s, problem)
				require.NotZero(t, value.Variation+value.Residual)
				assembled(t, func(t *testing.T, set InstructionSet) {
					gotU, gotP, gotValue := run(t, set, s, problem)
					require.NoError(t, sameFloats(u, gotU))
					require.NoError(t, sameFloats(p, gotP))
					require.Equal(t, value, gotValue)
				})
			})
		}
	}
}
