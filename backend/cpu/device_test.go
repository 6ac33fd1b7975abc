package cpu_test

import (
	"fmt"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/backendtest"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/stretchr/testify/require"
)

// Every instruction set that this processor has passes the compliance suite.
func TestCompliance(t *testing.T) {
	sets := cpu.SetsUnderTest(t)
	if testing.Short() { // one, under emulation too, where the kernels' own tests go through all
		sets = sets[len(sets)-1:]
	}
	for _, set := range sets {
		t.Run(set.String(), func(t *testing.T) {
			backendtest.Run(t, func(testing.TB) backend.Device {
				return cputest.Open(t, cpu.UseInstructionSet(set), cpu.Threads(3))
			}, backendtest.Operations()...)
		})
	}
}

// The number of threads changes no bit of any operation.
func TestThreadsGiveTheSameBits(t *testing.T) {
	sets := cpu.SetsUnderTest(t)
	if testing.Short() { // how work is divided among threads is the same for each; go test ./... has all
		sets = sets[len(sets)-1:]
	}
	for _, set := range sets {
		backendtest.SameBits(t,
			func(testing.TB) backend.Device { return cputest.Open(t, cpu.UseInstructionSet(set), cpu.Threads(1)) },
			func(testing.TB) backend.Device { return cputest.Open(t, cpu.UseInstructionSet(set), cpu.Threads(5)) })
	}
}

func BenchmarkOperations(b *testing.B) {
	for _, set := range cpu.InstructionSets() {
		b.Run(set.String(), func(b *testing.B) {
			backendtest.Benchmark(b, backendtest.Photograph{Height: 321, Width: 481}, func(t testing.TB) backend.Device { return cputest.Open(t, cpu.UseInstructionSet(set)) })
		})
	}
}

// An instruction set asked for by name and not there must not be replaced in silence.
func TestSelected(t *testing.T) {
	if want := os.Getenv(cpu.InstructionSetVariable); want != "" {
		got, err := cpu.Selected()
		require.NoError(t, err)
		require.Equal(t, want, got.String())
		require.Equal(t, want, cputest.Open(t).Description().Model)
	}
	t.Setenv(cpu.InstructionSetVariable, "abacus")
	_, err := cpu.Selected()
	require.ErrorContains(t, err, "abacus")
	_, err = cpu.Open()
	require.EqualError(t, err, fmt.Sprintf(`IMAGING_CPU="abacus": this processor and build have %v`, cpu.InstructionSets()))
	for _, s := range cpu.InstructionSets() {
		t.Setenv(cpu.InstructionSetVariable, s.String())
		got, err := cpu.Selected()
		require.NoError(t, err)
		require.Equal(t, s, got)
		d, err := cpu.Open()
		require.NoError(t, err)
		require.Equal(t, s.String(), d.Description().Model)
		require.NoError(t, d.Close())
	}
	// Who names another has no use for the variable.
	t.Setenv(cpu.InstructionSetVariable, "abacus")
	d, err := cpu.Open(cpu.UseInstructionSet(cpu.Portable))
	require.NoError(t, err)
	require.Equal(t, "portable", d.Description().Model)
	require.NoError(t, d.Close())
}

// Each instruction set that there is has all kernels.
func TestInstructionSetsAreWhole(t *testing.T) {
	for _, s := range cpu.InstructionSets() {
		require.True(t, cpu.Whole(s), "%v", s)
	}
}

// An instruction set that the processor or the build lacks computes nothing and is not
// reported as the one in use.
func TestMissingInstructionSets(t *testing.T) {
	sets := cpu.InstructionSets()
	require.Equal(t, cpu.Portable, sets[0])
	require.Equal(t, "InstructionSet(200)", cpu.InstructionSet(200).String())
	missing := []cpu.InstructionSet{cpu.NEON + 1, 200}
	for _, s := range []cpu.InstructionSet{cpu.AVX2, cpu.AVX512, cpu.NEON} {
		if !slices.Contains(sets, s) {
			missing = append(missing, s)
		}
	}
	require.Greater(t, len(missing), 2, "no processor has both AVX2 and NEON")
	for _, s := range missing {
		_, err := cpu.Open(cpu.UseInstructionSet(s))
		require.ErrorIs(t, err, backend.ErrArgument)
		require.ErrorContains(t, err, fmt.Sprintf("instruction set %v: this processor and build have %v", s, sets))
	}
}

// A device that nobody closes leaves no goroutine once it is out of use.
func TestForgottenDevicesEnd(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 10 {
		d, err := cpu.Open(cpu.Threads(4))
		require.NoError(t, err)
		b, err := d.Alloc(backend.Image(1, 300, 300))
		require.NoError(t, err)
		require.NoError(t, d.Fill(b, 1))
	}
	for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before && time.Now().Before(end); {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	require.LessOrEqual(t, runtime.NumGoroutine(), before)
}

func TestMemoryLimit(t *testing.T) {
	d := cputest.Open(t, cpu.MemoryLimit(1<<20))
	defer d.Close()
	require.EqualValues(t, 1<<20, d.Description().Memory)
	a, err := d.Alloc(backend.Image(1, 256, 512))
	require.NoError(t, err)
	b, err := d.Alloc(backend.Image(1, 256, 512))
	require.NoError(t, err)
	_, err = d.Alloc(backend.Vector(1))
	require.ErrorIs(t, err, backend.ErrOutOfMemory)
	a.Free()
	a.Free()
	c, err := d.Alloc(backend.Image(1, 256, 512))
	require.NoError(t, err)
	b.Free()
	c.Free()
	_, err = d.Alloc(backend.Image(1<<8, 1<<10, 1<<10))
	require.ErrorIs(t, err, backend.ErrOutOfMemory)
}

// Memory that the caller lends does not count, neither when it comes nor when it goes.
func TestMemoryLimitLeavesWrappedMemoryOut(t *testing.T) {
	d := cputest.Open(t, cpu.MemoryLimit(1<<20))
	defer d.Close()
	half, all := backend.Image(1, 256, 512), backend.Image(2, 256, 512)
	a, err := d.Alloc(half)
	require.NoError(t, err)
	lent, err := d.Wrap(all, make([]float32, all.Len()))
	require.NoError(t, err)
	b, err := d.Alloc(half)
	require.NoError(t, err, "what is lent takes no room")
	lent.Free()
	_, err = d.Alloc(backend.Vector(1))
	require.ErrorIs(t, err, backend.ErrOutOfMemory, "what was lent gives no room back")
	a.Free()
	b.Free()
	_, err = d.Alloc(all)
	require.NoError(t, err)
}

// Who lends memory twice, in whole or in part, is told so as who takes two views of an array.
func TestWrappedMemoryThatOverlaps(t *testing.T) {
	d := cputest.Open(t)
	defer d.Close()
	memory := make([]float32, 10)
	wrap := func(from int) backend.Buffer {
		b, err := d.Wrap(backend.Vector(4), memory[from:from+4])
		require.NoError(t, err)
		return b
	}
	first, same, partly, behind := wrap(0), wrap(0), wrap(3), wrap(4)
	for b, want := range map[backend.Buffer]bool{first: true, same: true, partly: true, behind: false} {
		shared, err := d.Overlaps(first, b)
		require.NoError(t, err)
		require.Equal(t, want, shared)
	}
	require.NoError(t, d.LinearCombination(first, backend.Term{A: 2, X: same}))
	require.NoError(t, d.LinearCombination(first, backend.Term{A: 2, X: behind}))
	require.ErrorIs(t, d.LinearCombination(first, backend.Term{A: 2, X: partly}), backend.ErrAlias)
	other, err := d.Alloc(backend.Vector(4))
	require.NoError(t, err)
	shared, err := d.Overlaps(first, other)
	require.NoError(t, err)
	require.False(t, shared)
}

// Wrap computes in the caller's memory.
func TestWrap(t *testing.T) {
	d := cputest.Open(t)
	defer d.Close()
	data := []float32{1, 2, 3, 4, 5, 6}
	b, err := d.Wrap(backend.Image(1, 2, 3), data)
	require.NoError(t, err)
	require.NoError(t, d.LinearCombination(b, backend.Term{A: 2, X: b}))
	require.Equal(t, []float32{2, 4, 6, 8, 10, 12}, data)
	b.Free()
	require.Equal(t, []float32{2, 4, 6, 8, 10, 12}, data)
	require.ErrorIs(t, d.Fill(b, 0), backend.ErrFreed)
	_, err = d.Wrap(backend.Image(1, 2, 2), data)
	require.ErrorIs(t, err, backend.ErrShape)
}
