package cuda

import (
	"errors"
	"fmt"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cuda/internal/driver"
)

const (
	// granule is what all blocks are multiples of: what the driver aligns allocations to.
	granule = 256
	// slab is how much is asked from the driver for blocks that are smaller.
	slab = 4 << 20
)

// allocator is what the pool needs of a GPU.
type allocator interface {
	Alloc(bytes int64) (driver.Pointer, error)
	Free(p driver.Pointer) error
}

// pool keeps memory of the GPU. The driver's own calls take as long as a kernel, or wait
// for all work; with one stream, what was freed can be given out again at once, as the work
// on it comes before all that follows.
//
// It asks for segments and cuts them into blocks; free neighbours are joined. A request
// gets the smallest free block that is large enough, and the first of these in the order of
// segments, so that a program that repeats itself gets the same addresses again.
type pool struct {
	gpu      allocator
	limit    int64 // bytes of segments
	held     int64
	used     int64 // bytes of blocks that are given out
	segments []*segment
	closed   bool
	// fixed: segments must stay, as to give one back waits for work, which must not be done while
	// a stream is recorded.
	fixed bool
	// reclaim releases blocks that are kept for speed only, and reports whether there were
	// any; nil for none.
	reclaim func() bool
}

// segment is one allocation of the driver's.
type segment struct {
	start driver.Pointer
	bytes int64
	first *block
}

// block is a part of a segment.
type block struct {
	owner      *segment
	pointer    driver.Pointer
	bytes      int64
	free       bool
	prev, next *block
}

func newPool(gpu allocator, limit int64) *pool { return &pool{gpu: gpu, limit: limit} }

// room is the limit in whole granules.
func (p *pool) room() int64 { return (p.limit-1)/granule*granule + granule }

// alloc returns a block of at least so many bytes, of undefined contents.
func (p *pool) alloc(bytes int64) (*block, error) {
	if bytes > p.limit { // also where rounding would overflow
		return nil, p.full(bytes)
	}
	bytes = max(1, (bytes+granule-1)/granule) * granule
	b := p.fit(bytes)
	if b == nil {
		s, err := p.grow(bytes)
		if errors.Is(err, backend.ErrOutOfMemory) && p.reclaim != nil && p.reclaim() {
			if b = p.fit(bytes); b == nil {
				s, err = p.grow(bytes)
			}
		}
		if b == nil {
			if err != nil {
				return nil, err
			}
			b = s.first
		}
	}
	b.take(bytes)
	p.used += b.bytes
	return b, nil
}

func (p *pool) full(bytes int64) error {
	return fmt.Errorf("%w: %d bytes asked for, %d of %d in use", backend.ErrOutOfMemory, bytes, p.used, p.limit)
}

// fit returns the smallest free block that has so many bytes, or nil.
func (p *pool) fit(bytes int64) *block {
	var best *block
	for _, s := range p.segments {
		for b := s.first; b != nil; b = b.next {
			if b.free && b.bytes >= bytes && (best == nil || b.bytes < best.bytes) {
				best = b
			}
		}
	}
	return best
}

// grow returns a new segment, of one free block of at least so many bytes. Where there is
// no room it gives back the segments that are not used, if it may, and asks for as little as it
// can.
func (p *pool) grow(bytes int64) (*segment, error) {
	if want := max(bytes, slab); p.held+want <= p.room() {
		if s, err := p.segment(want); err == nil {
			return s, nil
		}
	}
	if !p.fixed {
		if err := p.trim(); err != nil {
			return nil, translate(err)
		}
	}
	if p.held+bytes > p.room() {
		return nil, p.full(bytes)
	}
	s, err := p.segment(bytes)
	if err != nil {
		return nil, translate(err)
	}
	return s, nil
}

func (p *pool) segment(bytes int64) (*segment, error) {
	start, err := p.gpu.Alloc(bytes)
	if err != nil {
		return nil, err
	}
	s := &segment{start: start, bytes: bytes}
	s.first = &block{owner: s, pointer: start, bytes: bytes, free: true}
	p.held += bytes
	p.segments = append(p.segments, s)
	return s, nil
}

// trim gives segments back to the driver of which nothing is in use. It waits for the work
// under way.
func (p *pool) trim() error {
	kept := p.segments[:0]
	var first error
	for _, s := range p.segments {
		if !s.first.free || s.first.next != nil || first != nil {
			kept = append(kept, s)
			continue
		}
		if first = p.gpu.Free(s.start); first != nil {
			kept = append(kept, s)
			continue
		}
		p.held -= s.bytes
	}
	clear(p.segments[len(kept):])
	p.segments = kept
	return first
}

// take gives the block out, cut to size.
func (b *block) take(bytes int64) {
	b.free = false
	if b.bytes == bytes {
		return
	}
	rest := &block{
		owner: b.owner, pointer: b.pointer + driver.Pointer(bytes), bytes: b.bytes - bytes,
		free: true, prev: b, next: b.next,
	}
	if b.next != nil {
		b.next.prev = rest
	}
	b.bytes, b.next = bytes, rest
}

// release takes a block back. Nil does nothing, and neither does a closed pool, whose
// memory is gone.
func (p *pool) release(b *block) {
	if b == nil || p.closed {
		return
	}
	p.used -= b.bytes
	b.free = true
	b.absorb()
	if b.prev != nil && b.prev.free {
		b.prev.absorb()
	}
}

// absorb joins the free neighbour that follows.
func (b *block) absorb() {
	n := b.next
	if n == nil || !n.free {
		return
	}
	b.bytes += n.bytes
	b.next = n.next
	if n.next != nil {
		n.next.prev = b
	}
}

// close gives all memory back, in use or not.
func (p *pool) close() []error {
	var errs []error
	for _, s := range p.segments {
		errs = append(errs, p.gpu.Free(s.start))
	}
	p.segments, p.held, p.used, p.closed = nil, 0, 0, true
	return errs
}
