package cuda

import (
	"encoding/binary"
	"math"

	"github.com/averaged/imaging/backend/cuda/internal/driver"
)

// stagingBytes is the size of one of the two pinned buffers: large enough to hide the start
// of a copy, small enough that the first one is soon on its way.
const stagingBytes = 4 << 20

// staging moves numbers between Go's memory, which the GPU cannot reach, and the GPU. Two
// pinned buffers take turns: while the GPU copies one, the host copies the other.
type staging struct {
	gpu    driver.Device
	stream driver.Stream
	turns  [2]stage
	turn   int
}

// stage is a pinned buffer. What was last done with it on the stream comes before done.
type stage struct {
	memory driver.HostMemory
	done   driver.Event
}

func newStaging(gpu driver.Device, stream driver.Stream) *staging {
	return &staging{gpu: gpu, stream: stream}
}

// next returns the buffer whose turn it is, when the GPU is done with it.
func (s *staging) next() (*stage, error) {
	g := &s.turns[s.turn]
	s.turn = 1 - s.turn
	if g.memory == nil {
		memory, err := s.gpu.AllocHost(stagingBytes)
		if err != nil {
			return nil, err
		}
		event, err := s.gpu.NewEvent(false)
		if err != nil {
			// The first error is the one to tell; the memory goes with the context.
			_ = s.gpu.FreeHost(memory)
			return nil, err
		}
		g.memory, g.done = memory, event
		return g, nil
	}
	return g, s.gpu.SynchronizeEvent(g.done)
}

// upload copies src to the GPU. src may be changed when it returns.
func (s *staging) upload(dst driver.Pointer, src []float32) error {
	for len(src) > 0 {
		g, err := s.next()
		if err != nil {
			return err
		}
		n := copy(g.memory.Floats(), src)
		if err := s.send(g, dst, n); err != nil {
			return err
		}
		dst += driver.Pointer(4 * n)
		src = src[n:]
	}
	return nil
}

// uploadInts copies src, which fits one buffer, to the GPU.
func (s *staging) uploadInts(dst driver.Pointer, src []int32) error {
	for len(src) > 0 {
		g, err := s.next()
		if err != nil {
			return err
		}
		n := min(len(src), stagingBytes/4)
		bytes := g.memory.Bytes()
		for i, v := range src[:n] {
			binary.NativeEndian.PutUint32(bytes[4*i:], uint32(v))
		}
		if err := s.send(g, dst, n); err != nil {
			return err
		}
		dst += driver.Pointer(4 * n)
		src = src[n:]
	}
	return nil
}

// send begins to copy the first n words of a buffer.
func (s *staging) send(g *stage, dst driver.Pointer, n int) error {
	if err := s.gpu.CopyToDevice(s.stream, dst, g.memory, 0, int64(4*n)); err != nil {
		return err
	}
	return s.gpu.Record(s.stream, g.done)
}

// download waits for all work before it and copies src to dst.
func (s *staging) download(dst []float32, src driver.Pointer) error {
	var before *stage
	var waiting []float32 // the part of dst whose numbers before has, or will have
	for len(dst) > 0 || before != nil {
		var g *stage
		part := dst[:min(len(dst), stagingBytes/4)]
		if len(part) > 0 {
			var err error
			if g, err = s.next(); err != nil {
				return err
			}
			if err := s.gpu.CopyToHost(s.stream, g.memory, 0, src, int64(4*len(part))); err != nil {
				return err
			}
			if err := s.gpu.Record(s.stream, g.done); err != nil {
				return err
			}
		}
		if before != nil {
			if err := s.gpu.SynchronizeEvent(before.done); err != nil {
				return err
			}
			copy(waiting, before.memory.Floats())
		}
		before, waiting = g, part
		dst, src = dst[len(part):], src+driver.Pointer(4*len(part))
	}
	return nil
}

// numbers waits for all work before it and copies float64 numbers to dst, which fit one
// buffer.
func (s *staging) numbers(dst []float64, src driver.Pointer) error {
	for len(dst) > 0 {
		g, err := s.next()
		if err != nil {
			return err
		}
		n := min(len(dst), stagingBytes/8)
		if err := s.gpu.CopyToHost(s.stream, g.memory, 0, src, int64(8*n)); err != nil {
			return err
		}
		if err := s.gpu.Record(s.stream, g.done); err != nil {
			return err
		}
		if err := s.gpu.SynchronizeEvent(g.done); err != nil {
			return err
		}
		bytes := g.memory.Bytes()
		for i := range dst[:n] {
			dst[i] = math.Float64frombits(binary.NativeEndian.Uint64(bytes[8*i:]))
		}
		dst, src = dst[n:], src+driver.Pointer(8*n)
	}
	return nil
}

func (s *staging) free() []error {
	var errs []error
	for _, g := range s.turns {
		if g.memory != nil {
			errs = append(errs, s.gpu.FreeEvent(g.done), s.gpu.FreeHost(g.memory))
		}
	}
	return errs
}
