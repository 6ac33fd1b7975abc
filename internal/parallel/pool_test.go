package parallel

import (
	"math"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestForVisitsEveryIndexOnce(t *testing.T) {
	for _, threads := range []int{1, 2, 3, 8} {
		p := New(threads)
		require.Equal(t, threads, p.Threads())
		for _, n := range []int{0, 1, 2, 7, 1000} {
			seen := make([]atomic.Int32, n)
			p.For(n, func(i int) { seen[i].Add(1) })
			for i := range seen {
				require.EqualValues(t, 1, seen[i].Load(), "threads %d, n %d, index %d", threads, n, i)
			}
		}
		p.Close()
		p.Close()
	}
}

func TestNestedLoopsEnd(t *testing.T) {
	p := New(2)
	defer p.Close()
	var calls atomic.Int64
	for range 200 {
		p.For(8, func(int) { p.For(8, func(int) { calls.Add(1) }) })
	}
	require.EqualValues(t, 200*64, calls.Load())
}

func TestRangeCutsAlikeForAnyThreads(t *testing.T) {
	for _, threads := range []int{1, 4} {
		p := New(threads)
		covered := make([]int32, 103)
		p.Range(len(covered), 10, func(lo, hi int) {
			if lo%10 != 0 || hi-lo > 10 {
				panic("piece off its grid")
			}
			for i := lo; i < hi; i++ {
				atomic.AddInt32(&covered[i], 1)
			}
		})
		for i, c := range covered {
			require.EqualValues(t, 1, c, "index %d", i)
		}
		p.Close()
	}
}

func TestPanicReachesTheCaller(t *testing.T) {
	p := New(3)
	defer p.Close()
	require.PanicsWithValue(t, "broken", func() {
		p.For(100, func(i int) {
			if i == 37 {
				panic("broken")
			}
		})
	})
	// The pool goes on working.
	var calls atomic.Int64
	p.For(100, func(int) { calls.Add(1) })
	require.EqualValues(t, 100, calls.Load())
}

// A pool that nobody closes and nobody has any more leaves no goroutine.
func TestForgottenPoolsEnd(t *testing.T) {
	before := runtime.NumGoroutine()
	for range 20 {
		p := New(5)
		var calls atomic.Int64
		p.For(10, func(int) { calls.Add(1) })
		require.EqualValues(t, 10, calls.Load())
	}
	for end := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before && time.Now().Before(end); {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	require.LessOrEqual(t, runtime.NumGoroutine(), before)
}

// A number of threads that nobody can have neither panics nor fills the memory.
func TestThreadsAreBounded(t *testing.T) {
	p := New(math.MaxInt)
	defer p.Close()
	require.Equal(t, maxThreads, p.Threads())
}
