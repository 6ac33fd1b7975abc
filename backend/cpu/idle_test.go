package cpu

import (
	"context"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
)

// TestIdleArrays: a buffer that was freed gives its array, cleared, to one of the same length and to no other,
// and a view of it stays gone.
func TestIdleArrays(t *testing.T) {
	d := open(t, Threads(1))
	defer d.Close()
	s := backend.Image(2, 100, minIdle/100)
	first, err := d.Alloc(s)
	require.NoError(t, err)
	view, err := d.Channels(first, 1, 1)
	require.NoError(t, err)
	require.NoError(t, d.Fill(first, 3))
	array := operand(t, d, first).Data // which the collector must not have for this test
	first.Free()
	first.Free()
	other, err := d.Alloc(backend.Image(1, 100, minIdle/100))
	require.NoError(t, err)
	require.NotSame(t, &array[0], &operand(t, d, other).Data[0])
	second, err := d.Alloc(backend.Image(1, 200, minIdle/100))
	require.NoError(t, err)
	require.Same(t, &array[0], &operand(t, d, second).Data[0])
	third, err := d.Alloc(s)
	require.NoError(t, err)
	require.NotSame(t, &array[0], &operand(t, d, third).Data[0])
	for _, v := range array {
		require.Zero(t, v)
	}
	require.ErrorIs(t, d.Fill(view, 1), backend.ErrFreed)
	require.ErrorIs(t, d.Fill(first, 1), backend.ErrFreed)
	runtime.KeepAlive(array)
}

// TestIdleArraysAreCollected: what is not used again is not kept.
func TestIdleArraysAreCollected(t *testing.T) {
	d := open(t, Threads(1))
	defer d.Close()
	for i := range 100 {
		b, err := d.Alloc(backend.Vector(minIdle + i))
		require.NoError(t, err)
		b.Free()
	}
	require.NotEmpty(t, d.host.idle.arrays)
	runtime.GC()
	require.Nil(t, d.host.idle.take(minIdle+5))
	require.Empty(t, d.host.idle.arrays)
}

// TestLentArraysAreNotIdle: memory of the caller's goes to no other buffer.
func TestLentArraysAreNotIdle(t *testing.T) {
	d := open(t, Threads(1))
	defer d.Close()
	own := make([]float32, minIdle)
	own[0] = 1
	b, err := d.Wrap(backend.Vector(minIdle), own)
	require.NoError(t, err)
	b.Free()
	_, err = d.Alloc(backend.Vector(minIdle))
	require.NoError(t, err)
	require.Equal(t, float32(1), own[0])
	require.Empty(t, d.host.idle.arrays)
}

// freeing is a context that frees a buffer when an operation asks whether it has ended.
type freeing struct {
	context.Context
	free func()
}

func (f freeing) Err() error {
	f.free()
	return f.Context.Err()
}

// TestFreeInTheMiddle: what is freed while an operation on it is under way goes to no other buffer before the
// operation has ended.
func TestFreeInTheMiddle(t *testing.T) {
	d := open(t, Threads(1))
	defer d.Close()
	s := backend.Image(3, 100, 100)
	steps := network(t, d, 16, 16)
	src, err := d.Alloc(s)
	require.NoError(t, err)
	dst, err := d.Alloc(s)
	require.NoError(t, err)
	asked := false
	ctx := freeing{t.Context(), func() {
		asked = true
		src.Free()
		require.ErrorIs(t, d.Fill(src, 1), backend.ErrFreed)
		require.Empty(t, d.host.idle.arrays)
	}}
	require.NoError(t, d.GradientFlow(ctx, dst, src, s.Whole(), steps))
	require.True(t, asked)
	require.Len(t, d.host.idle.arrays, 1)
}

// TestIdleArraysHaveOneUser: of many at once.
func TestIdleArraysHaveOneUser(t *testing.T) {
	d := open(t, Threads(1))
	defer d.Close()
	var wait sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		wait.Go(func() {
			for range 200 {
				b, err := d.Alloc(backend.Vector(minIdle))
				if err == nil {
					err = d.Fill(b, float32(i+1))
				}
				runtime.Gosched()
				var sum [1]float64
				if err == nil {
					err = d.Reduce(sum[:], backend.Reduction{Kind: backend.SumSquares, X: b})
				}
				if err == nil && sum[0] != float64((i+1)*(i+1)*minIdle) {
					err = backend.ErrAlias
				}
				if err != nil {
					errs[i] = err
					return
				}
				b.Free()
			}
		})
	}
	wait.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
}
