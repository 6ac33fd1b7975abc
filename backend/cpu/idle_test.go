package cpu

import (
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
)

// A buffer is full of zeros whatever its memory held before, and memory is used again.
func TestIdleMemoryIsUsedAgain(t *testing.T) {
	d := New(Threads(2))
	defer func() { require.NoError(t, d.Close()) }()
	s := backend.Image(1, 1024, 1100)
	hold, err := d.Alloc(backend.Image(2, 1024, 1100))
	require.NoError(t, err)
	defer hold.Free()
	first, err := d.Alloc(s)
	require.NoError(t, err)
	at := &first.(*buffer).data[0]
	require.NoError(t, d.Fill(first, 3))
	first.Free()
	first.Free()
	for _, same := range []backend.Shape{s, backend.Image(1, 1024, 1090)} {
		again, err := d.Alloc(same)
		require.NoError(t, err)
		require.Same(t, at, &again.(*buffer).data[0])
		require.Len(t, again.(*buffer).data, same.Len())
		for _, v := range again.(*buffer).data {
			require.Zero(t, v)
		}
		require.NoError(t, d.Fill(again, 3))
		other, err := d.Alloc(same)
		require.NoError(t, err)
		require.NotSame(t, at, &other.(*buffer).data[0])
		other.Free()
		again.Free()
	}
	b, err := d.borrow(s.Len())
	require.NoError(t, err)
	require.Same(t, at, &b.floats[0])
	b.giveBack()
	small, err := d.Alloc(backend.Image(1, 1024, 1024-1))
	require.NoError(t, err)
	require.NotSame(t, at, &small.(*buffer).data[0])
	small.Free()
}

// With what is idle the device never holds more than was in use at some time, and never twice
// what is in use now: nothing when nothing is.
func TestIdleMemoryIsBounded(t *testing.T) {
	d := New(Threads(2))
	defer func() { require.NoError(t, d.Close()) }()
	rng := rand.New(rand.NewPCG(1, 2))
	var live []backend.Buffer
	most := int64(0)
	for range 400 {
		if len(live) > 0 && rng.IntN(2) == 0 {
			i := rng.IntN(len(live))
			live[i].Free()
			live = append(live[:i], live[i+1:]...)
		} else {
			b, err := d.Alloc(backend.Vector(leastIdle + rng.IntN(leastIdle/4)))
			require.NoError(t, err)
			live = append(live, b)
		}
		used := d.used.Load()
		most = max(most, used)
		require.LessOrEqual(t, d.idle.bytes+used, most)
		bytes := int64(0)
		for _, a := range d.idle.arrays {
			bytes += 4 * int64(len(a))
		}
		require.Equal(t, bytes, d.idle.bytes)
	}
	for _, b := range live {
		b.Free()
		require.LessOrEqual(t, d.idle.bytes, d.used.Load())
	}
	require.Empty(t, d.idle.arrays)
}

func TestIdleMemoryIsSafeForConcurrentUse(t *testing.T) {
	d := New(Threads(2))
	defer func() { require.NoError(t, d.Close()) }()
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for range 10 {
				b, err := d.Alloc(backend.Vector(leastIdle))
				if err != nil || d.Fill(b, float32(i)) != nil {
					t.Error("no room")
					return
				}
				for _, v := range b.(*buffer).data {
					if v != float32(i) {
						t.Errorf("memory of another: %v", v)
						break
					}
				}
				b.Free()
			}
		})
	}
	all.Wait()
}
