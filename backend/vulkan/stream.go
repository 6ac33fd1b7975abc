package vulkan

import (
	"time"

	"github.com/averaged/imaging/internal/vulkan/driver"
)

const (
	// inFlight is how many submissions there may be at a time, and stagingBytes the host's memory that
	// each has for copies.
	inFlight     = 4
	stagingBytes = 4 << 20

	// operationsOfSubmission is how many arithmetic operations a submission may have: Windows ends
	// what takes two seconds, and a slow GPU makes 40 GFLOP/s of what these kernels do.
	operationsOfSubmission = 20e9
	// operationsOnProcessor is the same for software, which nobody ends, but which must answer.
	operationsOnProcessor = 1e9

	// patience is how long a submission may take.
	patience = 60 * time.Second
)

// stream records commands, submits them when they are worth it, and moves numbers between the host and
// the GPU. Each operation waits on the GPU for those before it; the host waits for the GPU only where
// it wants a number, or all slots are in flight.
type stream struct {
	gpu      *adapter
	slots    [inFlight]slot
	at       int     // the slot that is recorded, or comes next
	cost     float64 // operations that are recorded
	most     float64 // of a submission
	patience time.Duration
}

// slot is a submission, with the host's memory for its copies.
type slot struct {
	commands *driver.Commands
	staging  *driver.Memory
	used     int64
}

// current returns the slot that is recorded, with so many bytes of staging memory left.
func (s *stream) current(bytes int64) (*slot, error) {
	c := &s.slots[s.at]
	if c.commands != nil && c.commands.Recording() && (c.commands.Full() || c.used+bytes > stagingBytes) {
		if err := s.submit(); err != nil {
			return nil, err
		}
		c = &s.slots[s.at]
	}
	if c.commands == nil {
		commands, err := s.gpu.NewCommands()
		if err != nil {
			return nil, err
		}
		c.commands = commands
	}
	if bytes > 0 && c.staging == nil {
		m, err := s.gpu.Allocate(stagingBytes, true)
		if err != nil {
			return nil, err
		}
		c.staging = m
	}
	if !c.commands.Recording() {
		if err := c.commands.Wait(s.patience); err != nil {
			return nil, err
		}
		c.used = 0
		if err := c.commands.Begin(); err != nil {
			return nil, err
		}
	}
	return c, nil
}

// submit puts what is recorded on the queue.
func (s *stream) submit() error {
	c := &s.slots[s.at]
	if c.commands == nil || !c.commands.Recording() {
		return nil
	}
	s.at = (s.at + 1) % inFlight
	s.cost = 0
	return c.commands.Submit()
}

// finish submits, and waits for all work.
func (s *stream) finish() error {
	if err := s.submit(); err != nil {
		return err
	}
	for i := range s.slots {
		if c := s.slots[(s.at+i)%inFlight].commands; c != nil {
			if err := c.Wait(s.patience); err != nil {
				return err
			}
		}
	}
	return nil
}

// dispatch puts a kernel on the stream that makes so many operations.
func (s *stream) dispatch(k *driver.Kernel, bindings []driver.Binding, push []uint32, x, y int, cost float64) error {
	c, err := s.current(0)
	if err != nil {
		return err
	}
	if err := c.commands.Dispatch(k, bindings, push, x, y, 1); err != nil {
		return err
	}
	if s.cost += cost; s.cost >= s.most {
		return s.submit()
	}
	return nil
}

func (s *stream) fill(dst *block, offset, bytes int64, word uint32) error {
	c, err := s.current(0)
	if err != nil {
		return err
	}
	c.commands.Fill(dst.Memory(), dst.Offset+offset, bytes, word)
	return nil
}

// upload copies bytes to a block. They may be changed when it returns.
func (s *stream) upload(dst *block, offset int64, src []byte) error {
	for len(src) > 0 {
		n := int64(min(len(src), stagingBytes))
		c, err := s.current(n)
		if err != nil {
			return err
		}
		copy(c.staging.Host()[c.used:], src[:n])
		c.commands.Copy(dst.Memory(), dst.Offset+offset, c.staging, c.used, n)
		c.used += n
		src, offset = src[n:], offset+n
	}
	return nil
}

// download waits for all work before it, and copies a block's bytes to dst, while the GPU goes on with
// the next piece.
func (s *stream) download(dst []byte, src *block, offset int64) error {
	type piece struct {
		slot *slot
		from int64
		to   []byte
	}
	var waiting []piece
	take := func() error {
		p := waiting[0]
		waiting = waiting[1:]
		if err := p.slot.commands.Wait(s.patience); err != nil {
			return err
		}
		copy(p.to, p.slot.staging.Host()[p.from:])
		return nil
	}
	for len(dst) > 0 {
		if len(waiting) == inFlight-1 {
			if err := take(); err != nil {
				return err
			}
		}
		n := int64(min(len(dst), stagingBytes))
		c, err := s.current(n)
		if err != nil {
			return err
		}
		c.commands.Copy(c.staging, c.used, src.Memory(), src.Offset+offset, n)
		waiting = append(waiting, piece{c, c.used, dst[:n]})
		c.used += n
		if err := s.submit(); err != nil {
			return err
		}
		dst, offset = dst[n:], offset+n
	}
	for len(waiting) > 0 {
		if err := take(); err != nil {
			return err
		}
	}
	return nil
}

// close gives all back, which the GPU must not be using.
func (s *stream) close() {
	for i := range s.slots {
		if c := &s.slots[i]; c.commands != nil {
			c.commands.Free()
			if c.staging != nil {
				s.gpu.Free(c.staging)
			}
		}
	}
}
