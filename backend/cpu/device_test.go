package cpu_test

import (
	"os"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/backendtest"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/stretchr/testify/require"
)

// Every level that this processor has passes the compliance suite.
func TestCompliance(t *testing.T) {
	for _, level := range cpu.Levels() {
		t.Run(level.String(), func(t *testing.T) {
			backendtest.Run(t, func(testing.TB) backend.Device {
				return cpu.New(cpu.UseLevel(level), cpu.Threads(3))
			}, backendtest.Operations()...)
		})
	}
}

// The number of threads changes no bit of any operation.
func TestThreadsGiveTheSameBits(t *testing.T) {
	for _, level := range cpu.Levels() {
		backendtest.SameBits(t,
			func(testing.TB) backend.Device { return cpu.New(cpu.UseLevel(level), cpu.Threads(1)) },
			func(testing.TB) backend.Device { return cpu.New(cpu.UseLevel(level), cpu.Threads(5)) })
	}
}

func BenchmarkOperations(b *testing.B) {
	for _, level := range cpu.Levels() {
		b.Run(level.String(), func(b *testing.B) {
			backendtest.Benchmark(b, func(testing.TB) backend.Device { return cpu.New(cpu.UseLevel(level)) })
		})
	}
}

// A level asked for by name and not there must not be replaced in silence.
func TestSelectedLevel(t *testing.T) {
	if want := os.Getenv(cpu.LevelVariable); want != "" {
		got, err := cpu.Selected()
		require.NoError(t, err)
		require.Equal(t, want, got.String())
		require.Equal(t, want, cpu.New().Description().Model)
	}
	t.Setenv(cpu.LevelVariable, "abacus")
	_, err := cpu.Selected()
	require.ErrorContains(t, err, "abacus")
	for _, l := range cpu.Levels() {
		t.Setenv(cpu.LevelVariable, l.String())
		got, err := cpu.Selected()
		require.NoError(t, err)
		require.Equal(t, l, got)
	}
}

func TestMemoryLimit(t *testing.T) {
	d := cpu.New(cpu.MemoryLimit(1 << 20))
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
	_, err = d.Alloc(backend.Image(1<<20, 1<<20, 1<<10))
	require.ErrorIs(t, err, backend.ErrOutOfMemory)
}

// Wrap computes in the caller's memory.
func TestWrap(t *testing.T) {
	d := cpu.New()
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
