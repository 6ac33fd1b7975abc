package mempool

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/backend"
)

const slab = 4 << 20

// memory is a GPU of so many bytes; its segments are numbers.
type memory struct {
	bytes  int64
	given  map[int]int64
	allocs int
	stuck  error // of Free
}

func (m *memory) alloc(bytes int64) (int, error) {
	if bytes > m.bytes {
		return 0, fmt.Errorf("%w: %d bytes", backend.ErrOutOfMemory, bytes)
	}
	m.bytes -= bytes
	m.allocs++
	m.given[m.allocs] = bytes
	return m.allocs, nil
}

func (m *memory) free(s int) error {
	if m.stuck != nil {
		return m.stuck
	}
	bytes, ok := m.given[s]
	if !ok {
		return fmt.Errorf("there is no segment %d", s)
	}
	m.bytes += bytes
	delete(m.given, s)
	return nil
}

func newPool(bytes, limit int64) (*Pool[int], *memory) {
	m := &memory{bytes: bytes, given: map[int]int64{}}
	return &Pool[int]{Allocate: m.alloc, Free: m.free, Limit: limit, Slab: slab}, m
}

func alloc(t *testing.T, p *Pool[int], bytes int64) *Block[int] {
	t.Helper()
	b, err := p.Alloc(bytes)
	require.NoError(t, err)
	return b
}

// What is freed is given out again, at the same place, without asking the driver.
func TestPoolReuses(t *testing.T) {
	p, m := newPool(1<<30, 1<<30)
	var first []Block[int]
	for round := range 3 {
		var blocks []*Block[int]
		for i, bytes := range []int64{100, 5 << 20, 1, 300 << 10, 7 << 20} {
			b := alloc(t, p, bytes)
			blocks = append(blocks, b)
			if round == 0 {
				first = append(first, *b)
			}
			require.Equal(t, first[i], *b)
		}
		for _, b := range blocks {
			p.Release(b)
		}
		require.Zero(t, p.Used())
	}
	require.Equal(t, 3, m.allocs, "a slab, and two large blocks")
}

// The limit is what is asked for in all, and the cache makes room before it is reached.
func TestPoolLimit(t *testing.T) {
	p, _ := newPool(1<<30, 1<<20)
	a, b := alloc(t, p, 1<<19), alloc(t, p, 1<<19)
	_, err := p.Alloc(1)
	require.ErrorIs(t, err, backend.ErrOutOfMemory)
	p.Release(a)
	p.Release(b)
	_, err = p.Alloc(1<<20 + 1)
	require.ErrorIs(t, err, backend.ErrOutOfMemory)
	p.Release(alloc(t, p, 1<<20)) // the cache gives two segments back for one
	_, err = p.Alloc(1 << 62)
	require.ErrorIs(t, err, backend.ErrOutOfMemory)
}

// Where the GPU is full before the limit is reached, the cache is given back too.
func TestPoolOnAFullGPU(t *testing.T) {
	p, _ := newPool(32<<20, 1<<40)
	p.Release(alloc(t, p, 20<<20))
	a := alloc(t, p, 30<<20)
	_, err := p.Alloc(5 << 20)
	require.ErrorIs(t, err, backend.ErrOutOfMemory)
	p.Release(a)
}

// While its segments must stay, it finds room in them or has none.
func TestPoolWhileItIsFixed(t *testing.T) {
	p, m := newPool(1<<30, 1<<20)
	p.Release(alloc(t, p, 1<<19))
	p.Fixed = true
	_, err := p.Alloc(1 << 20)
	require.ErrorIs(t, err, backend.ErrOutOfMemory)
	require.Len(t, m.given, 1, "the segment is there")
	p.Release(alloc(t, p, 1<<18))
	p.Fixed = false
	alloc(t, p, 1<<20)
}

// What is kept for speed only makes room for what is needed, and only then.
func TestPoolReclaims(t *testing.T) {
	p, m := newPool(1<<30, 1<<20)
	kept := []*Block[int]{alloc(t, p, 1<<19)}
	calls := 0
	p.Reclaim = func() bool {
		calls++
		some := len(kept) > 0
		for _, b := range kept {
			p.Release(b)
		}
		kept = nil
		return some
	}
	a := alloc(t, p, 1<<18)
	require.Zero(t, calls)
	b := alloc(t, p, 1<<19)
	require.Equal(t, 1, calls)
	require.Equal(t, 2, m.allocs, "the place of what was kept is given out")
	_, err := p.Alloc(1 << 19)
	require.ErrorIs(t, err, backend.ErrOutOfMemory)
	p.Release(a)
	p.Release(b)
	kept = []*Block[int]{alloc(t, p, 1)}
	alloc(t, p, 1<<20) // in a new segment
	require.Len(t, m.given, 1)
}

// A segment that cannot be freed stays, and the driver's error is returned.
func TestPoolWhereFreeFails(t *testing.T) {
	p, m := newPool(1<<30, 1<<20)
	p.Release(alloc(t, p, 1<<19))
	m.stuck = errors.New("lost")
	_, err := p.Alloc(1 << 20)
	require.ErrorIs(t, err, m.stuck)
	require.ErrorIs(t, p.Trim(), m.stuck)
	require.EqualValues(t, 1<<19, p.Held())
	m.stuck = nil
	require.NoError(t, p.Trim())
	require.Zero(t, p.Held())
}

// A closed pool has given all of its memory back, and what is released afterwards is no fault.
func TestPoolClose(t *testing.T) {
	p, m := newPool(1<<30, 1<<30)
	b := alloc(t, p, 1)
	alloc(t, p, 5<<20)
	p.Close(func(s int) { require.NoError(t, m.free(s)) })
	require.Empty(t, m.given)
	p.Release(b)
	p.Release(nil)
	require.Zero(t, p.Used())
}

// Blocks that are given out never overlap, are aligned, lie in their segment and are of the size that was asked for, and the pool never
// holds more than its limit, in whole granules. What was given back can be given out again in one piece.
func TestPool(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		limit := rapid.Int64Range(1, 4*slab).Draw(t, "limit")
		p, m := newPool(rapid.Int64Range(0, 5*slab).Draw(t, "memory"), limit)
		var blocks []*Block[int]
		used := int64(0)
		for range rapid.IntRange(1, 60).Draw(t, "calls") {
			if len(blocks) > 0 && rapid.Bool().Draw(t, "free") {
				i := rapid.IntRange(0, len(blocks)-1).Draw(t, "which")
				used -= blocks[i].Bytes
				p.Release(blocks[i])
				blocks = append(blocks[:i], blocks[i+1:]...)
				continue
			}
			bytes := rapid.Int64Range(1, 2*slab).Draw(t, "bytes")
			b, err := p.Alloc(bytes)
			if err != nil {
				require.ErrorIs(t, err, backend.ErrOutOfMemory)
				continue
			}
			require.GreaterOrEqual(t, b.Bytes, bytes)
			require.Zero(t, b.Offset%Granule)
			require.LessOrEqual(t, b.Offset+b.Bytes, m.given[b.Memory()])
			for _, o := range blocks {
				require.False(t, o.owner == b.owner && o.Offset < b.Offset+b.Bytes && b.Offset < o.Offset+o.Bytes)
			}
			blocks = append(blocks, b)
			used += b.Bytes
			require.Equal(t, used, p.Used())
			total := int64(0)
			for _, bytes := range m.given {
				total += bytes
			}
			require.Equal(t, total, p.Held())
			require.Less(t, total, limit+Granule)
		}
		for _, b := range blocks {
			p.Release(b)
		}
		require.Zero(t, p.Used())
		for _, s := range p.segments {
			require.True(t, s.unused())
		}
		require.NoError(t, p.Trim())
		require.Empty(t, m.given)
		require.Zero(t, p.Held())
	})
}
