//go:build js && wasm

package webgpu

import (
	"fmt"
	"math/bits"
	"syscall/js"

	"github.com/averaged/imaging/backend"
)

// buffer is one of the browser's.
type buffer struct {
	js    js.Value
	bytes int
}

// pool keeps buffers. With one stream, what was freed can be given out again at once, as the work on it
// comes before all that follows.
type pool struct {
	stream     *stream
	limit      int64 // bytes
	held, used int64
	free       map[int][]*buffer // by size
	all        map[*buffer]bool
}

// class is the size of the buffer that so many bytes get: at most an eighth more.
func class(bytes int) int {
	step := max(256, 1<<max(0, bits.Len(uint(bytes))-4))
	return (bytes + step - 1) / step * step
}

// alloc returns a buffer of at least so many bytes.
func (p *pool) alloc(bytes int) (*buffer, error) {
	size := class(bytes)
	if size > p.stream.gpu.maxBinding {
		size = bytes
	}
	if list := p.free[size]; len(list) > 0 {
		b := list[len(list)-1]
		p.free[size] = list[:len(list)-1]
		p.used += int64(size)
		return b, nil
	}
	for trimmed := false; ; trimmed = true {
		if p.held+int64(size) <= p.limit {
			b, err := p.stream.newBuffer(size)
			if err != nil {
				return nil, err
			}
			if b != nil {
				p.all[b] = true
				p.held, p.used = p.held+int64(size), p.used+int64(size)
				return b, nil
			}
		}
		if trimmed {
			return nil, fmt.Errorf("%w: %d bytes asked for, %d of %d in use", backend.ErrOutOfMemory, size, p.used, p.limit)
		}
		if err := p.trim(); err != nil {
			return nil, err
		}
	}
}

// trim gives the buffers back that are free.
func (p *pool) trim() (err error) {
	defer catch(&err)
	if err := p.stream.submit(); err != nil { // what is recorded may use them
		return err
	}
	for size, list := range p.free {
		for _, b := range list {
			p.held -= int64(size)
			b.js.Call("destroy")
			delete(p.all, b)
		}
		delete(p.free, size)
	}
	return nil
}

// release takes a buffer back.
func (p *pool) release(b *buffer) {
	p.used -= int64(b.bytes)
	p.free[b.bytes] = append(p.free[b.bytes], b)
}

// close gives all buffers back, in use or not.
func (p *pool) close() (err error) {
	defer catch(&err)
	for b := range p.all {
		b.js.Call("destroy")
	}
	p.all, p.free, p.held, p.used = nil, nil, 0, 0
	return nil
}
