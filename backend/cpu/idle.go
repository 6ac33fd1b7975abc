package cpu

import (
	"slices"
	"sync"
	"unsafe"
	"weak"
)

// idleArrays are the arrays of buffers that were freed. The collector takes them when it likes, as it
// would without this list; until then a new buffer of the same length is made of one. It is
// cleared, which takes a fraction of the first touch of new memory.
type idleArrays struct {
	mu     sync.Mutex
	arrays []idleArray
}

type idleArray struct {
	first  weak.Pointer[float32]
	length int
}

// minIdle is the length from which on arrays are kept: below it the runtime's own lists are as quick.
const minIdle = 1 << 14

// put adds an array that nobody uses any more.
func (l *idleArrays) put(data []float32) {
	if len(data) < minIdle {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.arrays = append(l.arrays, idleArray{weak.Make(&data[0]), len(data)})
}

// take returns an array of n zeros, or nil if there is none.
func (l *idleArrays) take(n int) (data []float32) {
	if n < minIdle {
		return nil
	}
	l.mu.Lock()
	l.arrays = slices.DeleteFunc(l.arrays, func(a idleArray) bool {
		if data != nil {
			return false
		}
		first := a.first.Value()
		if first != nil && a.length == n {
			data = unsafe.Slice(first, n)
			return true
		}
		return first == nil
	})
	l.mu.Unlock()
	clear(data)
	return data
}
