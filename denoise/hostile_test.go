package denoise

import (
	"context"
	"math/rand/v2"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise/activation"
	"github.com/averaged/imaging/denoise/refute"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/averaged/imaging/weights"
)

// hostileFile reads a weight file that was made to be believed wrongly.
func hostileFile(t *testing.T, name string) *weights.File {
	f, err := weights.ReadFile(filepath.Join("testdata", "hostile", name+".safetensors"))
	require.NoError(t, err)
	return f
}

// What could overflow is refused with the quantity's name, steps that no int can count are, and
// a condition that float32 cannot resolve is.
func TestHostileFilesAreRefused(t *testing.T) {
	dev := newCPU(t)
	beyond := "more than 65536 steps in all"
	if strconv.IntSize == 32 {
		beyond = "cannot unmarshal number 9223372036854775807"
	}
	for name, why := range map[string]string{
		"C4":      "block 0: the squared length of Az + b may reach",
		"C_balls": "block 0: the squared length of Az + b may reach",
		"D_panic": beyond,
		"D_oom":   "more than 65536 steps in all",
		"E_1e30":  "the condition 1 + h‖A‖² = 1.01e+30",
		"E_1e6":   "the condition 1 + h‖A‖² = 1.01e+06",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := Load(t.Context(), dev, hostileFile(t, name))
		runtime.ReadMemStats(&after)
		require.ErrorContains(t, err, why, name)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(16<<20), name)
	}
	_, err := Load(t.Context(), dev, hostileFile(t, "C4"))
	require.ErrorIs(t, err, ErrRange)
	_, err = Load(t.Context(), dev, hostileFile(t, "D_panic"))
	require.ErrorIs(t, err, ErrCertificate)
}

// Biases that cancel on paper are in the bound, and what the attack sees is within it.
func TestBiasesThatCancelAreInTheBound(t *testing.T) {
	dev := newCPU(t)
	s := backend.Image(3, 8, 8)
	for name, least := range map[string]float64{"B_2e18": 0x1p18, "B_2e22": 0x1p22} {
		n, err := Load(t.Context(), dev, hostileFile(t, name))
		require.NoError(t, err)
		size := norm2(ones(s))
		bound, err := n.Rounding(t.Context(), size, s)
		require.NoError(t, err)
		require.Greater(t, bound/size, least*0x1p-26, "a quarter of a unit in the last place of the biases")
		r, err := refute.Attack(t.Context(), n, s, refute.AttackOptions{Restarts: 2, Iterations: 5})
		require.NoError(t, err)
		require.False(t, r.Expansive(), "%+v", r)
		require.True(t, r.RoundingProven)

		// The pairs that it used to overlook: far more apart than before, and all of it rounding.
		x := randomImage(1, s)
		y := append([]float32{}, x...)
		for i := range y {
			y[i] += 1e-3 * (2*float32(i%2) - 1)
		}
		ratio := between(denoised(t, n, s, x), denoised(t, n, s, y)) / between(x, y)
		t.Logf("%s: a ratio of %.3g at a distance of 1e-3", name, ratio)
		require.LessOrEqual(t, ratio, 1+2*bound/between(x, y))
	}
}

// A condition of tens of thousands is solved as far as float32 tells, and the error says how far
// that is. With A = 200·I and no bias the solution is known.
func TestErrorOfAHardStepIsTold(t *testing.T) {
	dev := newCPU(t)
	const a = 200
	m := Model{Channels: 1, Width: 1, Kernel: 1, Activation: activation.Linear(), Integrator: rungekutta.BackwardEuler(), Blocks: []Block{{Filter: []float32{a}}}}
	n := certified(t, dev, m)
	s := backend.Image(1, 4, 4)
	x := randomImage(2, s)
	src, dst := upload(t, dev, s, x), upload(t, dev, s, x)
	bound, err := n.ApplyWithin(t.Context(), dst, src, 1e-7*norm2(x))
	require.NoError(t, err)
	require.Greater(t, bound, 1e-7*norm2(x), "float32 allows no better")
	rounding, err := n.Rounding(t.Context(), norm2(x), s)
	require.NoError(t, err)
	want := make([]float64, len(x))
	for i, v := range x {
		want[i] = float64(v) / (1 + a*a)
	}
	require.LessOrEqual(t, between(want, download(t, dev, dst)), bound+rounding)
}

// Certifying a filter of 51×51 takes seconds, and ends with its context.
func TestCertifyingALargeFilterEndsWithItsContext(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 1))
	w := make([]float32, 3*51*51)
	for i := range w {
		w[i] = float32(r.NormFloat64() * 1e-3)
	}
	m := Model{Channels: 3, Width: 3, Kernel: 51, Activation: activation.LeakyReLU(0.01), Integrator: rungekutta.ForwardEuler(), Blocks: []Block{{Filter: w}}}
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	begun := time.Now()
	_, err := m.Certify(ctx, 0)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Less(t, time.Since(begun), 2*time.Second)
}
