package vulkan

import (
	"fmt"
	"slices"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/vulkan/driver"
)

const (
	// granule is what blocks are multiples of: the largest alignment of offsets that Vulkan lets a
	// device ask for.
	granule = 256
	// slab is how much is asked from the driver for blocks that are smaller: it allows few allocations.
	slab = 16 << 20
)

// pool keeps memory of the GPU. With one stream, what was freed can be given out again at once, as the
// work on it comes before all that follows.
type pool struct {
	allocate func(bytes int64) (*driver.Memory, error)
	free     func(*driver.Memory) error
	limit    int64 // bytes of segments
	held     int64
	used     int64 // bytes of blocks that are given out
	segments []*segment
}

// segment is one allocation of the driver's, with the gaps that are free in it, in their order.
type segment struct {
	memory *driver.Memory
	gaps   []gap
}

type gap struct{ offset, bytes int64 }

// block is a part of a segment.
type block struct {
	owner         *segment
	offset, bytes int64
}

// alloc returns a block of at least so many bytes, of undefined contents: of the smallest gap that is
// large enough.
func (p *pool) alloc(bytes int64) (*block, error) {
	if bytes > p.limit {
		return nil, p.full(bytes)
	}
	bytes = max(1, (bytes+granule-1)/granule) * granule
	b := p.fit(bytes)
	if b == nil {
		s, err := p.grow(bytes)
		if err != nil {
			return nil, err
		}
		p.segments = append(p.segments, s)
		b = p.fit(bytes)
	}
	p.used += b.bytes
	return b, nil
}

func (p *pool) full(bytes int64) error {
	return fmt.Errorf("%w: %d bytes asked for, %d of %d in use", backend.ErrOutOfMemory, bytes, p.used, p.limit)
}

func (p *pool) fit(bytes int64) *block {
	var best *segment
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
	b := &block{best, g.offset, bytes}
	if g.offset, g.bytes = g.offset+bytes, g.bytes-bytes; g.bytes == 0 {
		best.gaps = slices.Delete(best.gaps, at, at+1)
	}
	return b
}

// grow returns a new segment. Where there is no room it gives back those that are not used, and asks
// for as little as it can.
func (p *pool) grow(bytes int64) (*segment, error) {
	if want := max(bytes, slab); p.held+want <= p.limit {
		if s, err := p.segment(want); err == nil {
			return s, nil
		}
	}
	if err := p.trim(); err != nil {
		return nil, err
	}
	if p.held+bytes > p.limit {
		return nil, p.full(bytes)
	}
	return p.segment(bytes)
}

func (p *pool) segment(bytes int64) (*segment, error) {
	m, err := p.allocate(bytes)
	if err != nil {
		return nil, err
	}
	p.held += bytes
	return &segment{m, []gap{{0, bytes}}}, nil
}

// trim gives segments back of which nothing is in use, until one cannot be freed.
func (p *pool) trim() (err error) {
	p.segments = slices.DeleteFunc(p.segments, func(s *segment) bool {
		size := s.memory.Size
		if err != nil || len(s.gaps) != 1 || s.gaps[0].bytes != size {
			return false
		}
		if err = p.free(s.memory); err != nil {
			return false
		}
		p.held -= size
		return true
	})
	return err
}

// release takes a block back, and joins it with the gaps beside it.
func (p *pool) release(b *block) {
	p.used -= b.bytes
	gaps := b.owner.gaps
	at, _ := slices.BinarySearchFunc(gaps, b.offset, func(g gap, offset int64) int { return int(g.offset - offset) })
	g := gap{b.offset, b.bytes}
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

// close gives all memory back, in use or not.
func (p *pool) close(free func(*driver.Memory)) {
	for _, s := range p.segments {
		free(s.memory)
	}
	p.segments, p.held, p.used = nil, 0, 0
}
