package cuda

import (
	"errors"
	"fmt"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cuda/internal/driver"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// memory is a GPU of so many bytes.
type memory struct {
	bytes  int64
	given  map[driver.Pointer]int64
	allocs int
}

func (m *memory) Alloc(bytes int64) (driver.Pointer, error) {
	if m.given == nil {
		m.given = map[driver.Pointer]int64{}
	}
	if bytes > m.bytes {
		return 0, fmt.Errorf("%w: %d bytes", driver.ErrOutOfMemory, bytes)
	}
	m.bytes -= bytes
	m.allocs++
	p := driver.Pointer(1<<40 + m.allocs<<32)
	m.given[p] = bytes
	return p, nil
}

func (m *memory) Free(p driver.Pointer) error {
	bytes, ok := m.given[p]
	if !ok {
		return fmt.Errorf("%w: nothing at %x", driver.ErrArgument, p)
	}
	m.bytes += bytes
	delete(m.given, p)
	return nil
}

// What is freed is given out again, at the same place, without asking the driver.
func TestPoolReuses(t *testing.T) {
	m := &memory{bytes: 1 << 30}
	p := newPool(m, 1<<30)
	var first []driver.Pointer
	for round := range 3 {
		var blocks []*block
		for i, bytes := range []int64{100, 5 << 20, 1, 300 << 10, 7 << 20} {
			b, err := p.alloc(bytes)
			require.NoError(t, err)
			require.GreaterOrEqual(t, b.bytes, bytes)
			require.Zero(t, b.pointer%granule)
			blocks = append(blocks, b)
			if round == 0 {
				first = append(first, b.pointer)
			}
			require.Equal(t, first[i], b.pointer)
		}
		for _, b := range blocks {
			p.release(b)
		}
		require.Zero(t, p.used)
	}
	require.Equal(t, 3, m.allocs, "a slab, and two large blocks")
	require.NoError(t, errors.Join(p.close()...))
	require.Empty(t, m.given)
}

// The limit is what is asked for in all, and the cache makes room before it is reached.
func TestPoolLimit(t *testing.T) {
	p := newPool(&memory{bytes: 1 << 30}, 1<<20)
	a, err := p.alloc(1 << 19)
	require.NoError(t, err)
	b, err := p.alloc(1 << 19)
	require.NoError(t, err)
	_, err = p.alloc(1)
	require.ErrorIs(t, err, backend.ErrOutOfMemory)
	p.release(a)
	p.release(b)
	_, err = p.alloc(1<<20 + 1)
	require.ErrorIs(t, err, backend.ErrOutOfMemory)
	b, err = p.alloc(1 << 20)
	require.NoError(t, err, "the cache gives two segments back for one")
	p.release(b)
	_, err = p.alloc(1 << 62)
	require.ErrorIs(t, err, backend.ErrOutOfMemory)
}

// Where the GPU is full before the limit is reached, the cache is given back too.
func TestPoolOnAFullGPU(t *testing.T) {
	p := newPool(&memory{bytes: 32 << 20}, 1<<40)
	a, err := p.alloc(20 << 20)
	require.NoError(t, err)
	p.release(a)
	a, err = p.alloc(30 << 20)
	require.NoError(t, err)
	_, err = p.alloc(5 << 20)
	require.ErrorIs(t, err, backend.ErrOutOfMemory)
	p.release(a)
}

// While its segments must stay, it finds room in them or has none.
func TestPoolWhileItIsFixed(t *testing.T) {
	m := &memory{bytes: 1 << 30}
	p := newPool(m, 1<<20)
	a, err := p.alloc(1 << 19)
	require.NoError(t, err)
	p.release(a)
	p.fixed = true
	_, err = p.alloc(1 << 20)
	require.ErrorIs(t, err, backend.ErrOutOfMemory)
	require.Len(t, m.given, 1, "the segment is there")
	a, err = p.alloc(1 << 18)
	require.NoError(t, err)
	p.release(a)
	p.fixed = false
	_, err = p.alloc(1 << 20)
	require.NoError(t, err)
}

// Blocks that are in use never overlap, and in the end everything is one again.
func TestPoolNeverOverlaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &memory{bytes: 64 << 20}
		p := newPool(m, 48<<20)
		var live []*block
		for range rapid.IntRange(1, 60).Draw(t, "steps") {
			if len(live) > 0 && rapid.Bool().Draw(t, "free") {
				i := rapid.IntRange(0, len(live)-1).Draw(t, "which")
				p.release(live[i])
				live = append(live[:i], live[i+1:]...)
				continue
			}
			b, err := p.alloc(rapid.Int64Range(1, 12<<20).Draw(t, "bytes"))
			if err != nil {
				require.ErrorIs(t, err, backend.ErrOutOfMemory)
				continue
			}
			for _, o := range live {
				require.False(t, b.pointer < o.pointer+driver.Pointer(o.bytes) && o.pointer < b.pointer+driver.Pointer(b.bytes))
			}
			live = append(live, b)
			require.LessOrEqual(t, p.held, p.limit)
		}
		for _, b := range live {
			p.release(b)
		}
		require.NoError(t, p.trim())
		require.Zero(t, p.held)
		require.Empty(t, m.given)
	})
}
