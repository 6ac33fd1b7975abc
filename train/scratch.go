package train

import "github.com/averaged/imaging/backend"

// scratch lends buffers of a device, and keeps those that are given back for the next
// iteration: an iteration takes the same ones as the one before.
type scratch struct {
	dev  backend.Device
	idle map[backend.Shape][]backend.Buffer
	all  []backend.Buffer
}

func newScratch(dev backend.Device) *scratch {
	return &scratch{dev: dev, idle: map[backend.Shape][]backend.Buffer{}}
}

// absent stands for a buffer that there was no room for, so that what comes after the
// error has a shape to ask for.
type absent struct{ shape backend.Shape }

func (a absent) Shape() backend.Shape { return a.shape }
func (absent) Free()                  {}

// take returns a buffer with any contents. After an error of q it is an absent one.
func (s *scratch) take(q *queue, shape backend.Shape) backend.Buffer {
	if n := len(s.idle[shape]); n > 0 {
		b := s.idle[shape][n-1]
		s.idle[shape] = s.idle[shape][:n-1]
		return b
	}
	b := backend.Buffer(absent{shape})
	q.do(func() error {
		made, err := s.dev.Alloc(shape)
		if err == nil {
			b = made
			s.all = append(s.all, b)
		}
		return err
	})
	return b
}

// give takes buffers back that nobody reads any more.
func (s *scratch) give(buffers ...backend.Buffer) {
	for _, b := range buffers {
		if _, missing := b.(absent); b != nil && !missing {
			s.idle[b.Shape()] = append(s.idle[b.Shape()], b)
		}
	}
}

// reclaim takes back all that was lent, after work that an error has ended.
func (s *scratch) reclaim() {
	clear(s.idle)
	s.give(s.all...)
}

func (s *scratch) free() {
	for _, b := range s.all {
		b.Free()
	}
	s.all = nil
	clear(s.idle)
}
