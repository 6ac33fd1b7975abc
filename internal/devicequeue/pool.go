package devicequeue

import "github.com/averaged/imaging/backend"

// Pool lends buffers of a device, and keeps those that are given back for the next
// iteration: an iteration takes the same ones as the one before.
type Pool struct {
	Dev  backend.Device
	idle map[backend.Shape][]backend.Buffer
	all  []backend.Buffer
}

// NewPool returns an empty pool of a device.
func NewPool(dev backend.Device) *Pool {
	return &Pool{Dev: dev, idle: map[backend.Shape][]backend.Buffer{}}
}

// absent stands for a buffer that there was no room for, so that what comes after the
// error has a shape to ask for.
type absent struct{ shape backend.Shape }

func (a absent) Shape() backend.Shape { return a.shape }
func (absent) Free()                  {}

// Take returns a buffer with any contents. After an error of q it is an absent one.
func (s *Pool) Take(q *Queue, shape backend.Shape) backend.Buffer {
	if n := len(s.idle[shape]); n > 0 {
		b := s.idle[shape][n-1]
		s.idle[shape] = s.idle[shape][:n-1]
		return b
	}
	b := backend.Buffer(absent{shape})
	q.Do(func() error {
		made, err := s.Dev.Alloc(shape)
		if err == nil {
			b = made
			s.all = append(s.all, b)
		}
		return err
	})
	return b
}

// Give takes buffers back that nobody reads any more.
func (s *Pool) Give(buffers ...backend.Buffer) {
	for _, b := range buffers {
		if _, missing := b.(absent); b != nil && !missing {
			s.idle[b.Shape()] = append(s.idle[b.Shape()], b)
		}
	}
}

// Reclaim takes back all that was lent, after work that an error has ended.
func (s *Pool) Reclaim() {
	clear(s.idle)
	s.Give(s.all...)
}

// Free frees all of them.
func (s *Pool) Free() {
	for _, b := range s.all {
		b.Free()
	}
	s.all = nil
	clear(s.idle)
}

// Counts returns how many buffers there are, and how many of them are lent.
func (s *Pool) Counts() (all, lent int) {
	lent = len(s.all)
	for _, idle := range s.idle {
		lent -= len(idle)
	}
	return len(s.all), lent
}
