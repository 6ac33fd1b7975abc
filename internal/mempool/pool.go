// Package mempool keeps the memory of a GPU: drivers take long to allocate and to free.
package mempool

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/averaged/imaging/backend"
)

// Granule is what the offsets and sizes of blocks are multiples of: what CUDA aligns allocations to, and the largest
// alignment that Vulkan lets a device ask for.
const Granule = 256

// Pool asks the driver for segments of memory M and cuts them into blocks. With one stream, what was freed can be given out again at
// once, as the work on it comes before all that follows.
//
// A request gets the smallest gap that is large enough, and the first of these in the order of segments, so that a program
// that repeats itself gets the same blocks again. A Pool is not safe for concurrent use.
type Pool[M any] struct {
	// Allocate and Free are the driver's. Free waits for the work under way.
	Allocate func(bytes int64) (M, error)
	Free     func(M) error
	Limit    int64 // bytes of segments
	Slab     int64 // how much is asked for at least, where there is room
	// Fixed: segments must stay, as to free one waits for work, which must not be done while a stream is recorded.
	Fixed bool
	// Reclaim releases blocks that are kept for speed only, and reports whether there were any; nil for none.
	Reclaim func() bool

	held, used int64
	segments   []*segment[M]
	closed     bool
}

// segment is one allocation of the driver's, with the gaps that are free in it, in their order.
type segment[M any] struct {
	memory M
	bytes  int64
	gaps   []gap
}

type gap struct{ offset, bytes int64 }

// unused tells whether no block of the segment is given out.
func (s *segment[M]) unused() bool { return len(s.gaps) == 1 && s.gaps[0].bytes == s.bytes }

// Block is a part of a segment.
type Block[M any] struct {
	Offset, Bytes int64
	owner         *segment[M]
}

// Memory is the segment's.
func (b *Block[M]) Memory() M { return b.owner.memory }

// Held is how many bytes the segments have.
func (p *Pool[M]) Held() int64 { return p.held }

// Used is how many bytes of them are given out.
func (p *Pool[M]) Used() int64 { return p.used }

// room is the limit in whole granules.
func (p *Pool[M]) room() int64 { return (p.Limit-1)/Granule*Granule + Granule }

// Alloc returns a block of at least so many bytes, of undefined contents. Its error wraps backend.ErrOutOfMemory where the
// limit is reached, and is the driver's otherwise.
func (p *Pool[M]) Alloc(bytes int64) (*Block[M], error) {
	if bytes > p.Limit { // also where rounding would overflow
		return nil, p.full(bytes)
	}
	bytes = max(1, (bytes+Granule-1)/Granule) * Granule
	b := p.fit(bytes)
	if b == nil {
		err := p.grow(bytes)
		if errors.Is(err, backend.ErrOutOfMemory) && p.Reclaim != nil && p.Reclaim() {
			if b = p.fit(bytes); b == nil {
				err = p.grow(bytes)
			}
		}
		if b == nil {
			if err != nil {
				return nil, err
			}
			b = p.fit(bytes)
		}
	}
	p.used += b.Bytes
	return b, nil
}

func (p *Pool[M]) full(bytes int64) error {
	return fmt.Errorf("%w: %d bytes asked for, %d of %d in use", backend.ErrOutOfMemory, bytes, p.used, p.Limit)
}

// fit cuts a block from the smallest gap that is large enough, and returns nil if there is none.
func (p *Pool[M]) fit(bytes int64) *Block[M] {
	var best *segment[M]
	at := 0
	for _, s := range p.segments {
		for i, g := range s.gaps {
			if g.bytes >= bytes && (best == nil || g.bytes < best.gaps[at].bytes) {
				best, at = s, i
			}
		}
	}
	if best == nil {
		return nil
	}
	g := &best.gaps[at]
	b := &Block[M]{g.offset, bytes, best}
	if g.offset, g.bytes = g.offset+bytes, g.bytes-bytes; g.bytes == 0 {
		best.gaps = slices.Delete(best.gaps, at, at+1)
	}
	return b
}

// grow adds a segment. Where there is no room it first frees those that are not used, if it may, and asks for as little as it
// can.
func (p *Pool[M]) grow(bytes int64) error {
	if want := max(bytes, p.Slab); p.held+want <= p.room() && p.add(want) == nil {
		return nil
	}
	if !p.Fixed {
		if err := p.Trim(); err != nil {
			return err
		}
	}
	if p.held+bytes > p.room() {
		return p.full(bytes)
	}
	return p.add(bytes)
}

func (p *Pool[M]) add(bytes int64) error {
	m, err := p.Allocate(bytes)
	if err != nil {
		return err
	}
	p.held += bytes
	p.segments = append(p.segments, &segment[M]{m, bytes, []gap{{0, bytes}}})
	return nil
}

// Trim frees segments of which nothing is in use, until one cannot be freed.
func (p *Pool[M]) Trim() (err error) {
	p.segments = slices.DeleteFunc(p.segments, func(s *segment[M]) bool {
		if err != nil || !s.unused() {
			return false
		}
		if err = p.Free(s.memory); err != nil {
			return false
		}
		p.held -= s.bytes
		return true
	})
	return err
}

// Release takes a block back, and joins it with the gaps beside it. Nil does nothing, and neither does a closed pool, whose
// memory is gone.
func (p *Pool[M]) Release(b *Block[M]) {
	if b == nil || p.closed {
		return
	}
	p.used -= b.Bytes
	gaps := b.owner.gaps
	at, _ := slices.BinarySearchFunc(gaps, b.Offset, func(g gap, offset int64) int { return cmp.Compare(g.offset, offset) })
	g := gap{b.Offset, b.Bytes}
	to := at
	if to < len(gaps) && g.offset+g.bytes == gaps[to].offset {
		g.bytes += gaps[to].bytes
		to++
	}
	if at > 0 && gaps[at-1].offset+gaps[at-1].bytes == g.offset {
		at--
		g = gap{gaps[at].offset, gaps[at].bytes + g.bytes}
	}
	b.owner.gaps = slices.Replace(gaps, at, to, g)
}

// Close gives all memory to the function free, in use or not.
func (p *Pool[M]) Close(free func(M)) {
	for _, s := range p.segments {
		free(s.memory)
	}
	p.segments, p.held, p.used, p.closed = nil, 0, 0, true
}
