//go:build js && wasm

package webgpu

import (
	"encoding/binary"
	"errors"
	"syscall/js"
)

const (
	// inFlight is how many submissions there may be at a time.
	inFlight = 3
	// operationsOfSubmission is how many arithmetic operations a submission may have: browsers and
	// systems end what takes two seconds. operationsOnProcessor is the same for software.
	operationsOfSubmission = 20e9
	operationsOnProcessor  = 1e9

	// pushBytes is what a dispatch has for its numbers: the alignment of offsets, which no device
	// exceeds. pushes is how many dispatches a submission may have.
	pushBytes = 256
	pushes    = 256

	stagingBytes = 8 << 20 // of a copy between the host and the GPU
)

// Bits of GPUBufferUsage.
const (
	usageMapRead = 0x1
	usageCopySrc = 0x4
	usageCopyDst = 0x8
	usageUniform = 0x40
	usageStorage = 0x80
)

// scopes are the kinds of errors that the stream asks for.
var scopes = []string{"validation", "internal", "out-of-memory"}

// stream records commands, submits them when they are worth it, and moves numbers between the host and
// the GPU. The browser does all in this order. What it finds wrong is known at the next wait.
type stream struct {
	gpu           *adapter
	encoder, pass js.Value // undefined where none is open
	push          []byte   // of the dispatches that are recorded
	pushed        js.Value // the buffer of push on the GPU
	array         js.Value // Uint8Array, where bytes pass through
	staging       js.Value // the buffer that the host reads, undefined before the first
	cost          float64  // operations that are recorded
	most          float64  // of a submission
	flying        []js.Value
}

func newStream(a *adapter) (s *stream, err error) {
	defer catch(&err)
	s = &stream{gpu: a, most: operationsOfSubmission, push: make([]byte, 0, pushes*pushBytes)}
	if a.Software {
		s.most = operationsOnProcessor
	}
	s.openScopes()
	s.pushed = s.buffer(pushes*pushBytes, usageUniform|usageCopyDst)
	s.array = js.Global().Get("Uint8Array").New(stagingBytes)
	return s, nil
}

func (s *stream) buffer(bytes int, usage int) js.Value {
	return s.gpu.device.Call("createBuffer", map[string]any{"size": bytes, "usage": usage})
}

func (s *stream) openScopes() {
	for _, name := range scopes {
		s.gpu.device.Call("pushErrorScope", name)
	}
}

// record begins to record, where it has not begun.
func (s *stream) record() {
	if s.encoder.IsUndefined() {
		s.encoder = s.gpu.device.Call("createCommandEncoder")
	}
}

func (s *stream) endPass() {
	if !s.pass.IsUndefined() {
		s.pass.Call("end")
		s.pass = js.Undefined()
	}
}

// dispatch puts a kernel on the stream, with x·y workgroups and so many operations.
func (s *stream) dispatch(k kernel, operands []*buffer, first []int, push []uint32, x, y int, cost float64) (err error) {
	defer catch(&err)
	if len(s.push) == cap(s.push) {
		if err := s.submit(); err != nil {
			return err
		}
	}
	at := len(s.push)
	s.push = s.push[:at+pushBytes]
	for i, v := range push {
		binary.LittleEndian.PutUint32(s.push[at+4*i:], v)
	}
	entries := []any{map[string]any{"binding": 0, "resource": map[string]any{"buffer": s.pushed, "offset": at, "size": pushBytes}}}
	for i, b := range operands {
		if first[i] == i {
			entries = append(entries, map[string]any{"binding": i + 1, "resource": map[string]any{"buffer": b.js}})
		}
	}
	group := s.gpu.device.Call("createBindGroup", map[string]any{"layout": k.layout, "entries": entries})
	s.record()
	if s.pass.IsUndefined() {
		s.pass = s.encoder.Call("beginComputePass")
	}
	s.pass.Call("setPipeline", k.pipeline)
	s.pass.Call("setBindGroup", 0, group)
	s.pass.Call("dispatchWorkgroups", x, y)
	if s.cost += cost; s.cost >= s.most {
		return s.submit()
	}
	return nil
}

// clear sets bytes of a buffer to zero.
func (s *stream) clear(b *buffer, offset, bytes int64) (err error) {
	defer catch(&err)
	s.record()
	s.endPass()
	s.encoder.Call("clearBuffer", b.js, offset, bytes)
	return nil
}

// submit puts what is recorded on the queue, and waits where too much is in flight.
func (s *stream) submit() (err error) {
	defer catch(&err)
	if s.encoder.IsUndefined() {
		return nil
	}
	s.endPass()
	if n := len(s.push); n > 0 {
		js.CopyBytesToJS(s.array, s.push)
		s.gpu.queue.Call("writeBuffer", s.pushed, 0, s.array, 0, n)
		clear(s.push)
		s.push = s.push[:0]
	}
	commands := s.encoder.Call("finish")
	s.encoder, s.cost = js.Undefined(), 0
	s.gpu.queue.Call("submit", []any{commands})
	s.flying = append(s.flying, s.gpu.queue.Call("onSubmittedWorkDone"))
	if len(s.flying) <= inFlight {
		return nil
	}
	_, err = await(s.flying[0])
	s.flying = s.flying[1:]
	return err
}

// finish submits, waits for all work, and returns what the browser has found wrong with it.
func (s *stream) finish() (err error) {
	defer catch(&err)
	if err := s.submit(); err != nil {
		return err
	}
	s.flying = s.flying[:0]
	if _, err := await(s.gpu.queue.Call("onSubmittedWorkDone")); err != nil {
		return err
	}
	return s.wrong()
}

// wrong returns the errors since it was called last.
func (s *stream) wrong() error {
	asked := make([]js.Value, len(scopes))
	for i := range asked {
		asked[i] = s.gpu.device.Call("popErrorScope")
	}
	s.openScopes()
	var found error
	for _, promise := range asked {
		v, err := await(promise)
		if err == nil && v.Truthy() {
			err = errors.New(text(v))
		}
		found = errors.Join(found, err)
	}
	return errors.Join(s.gpu.lost, found)
}

// upload copies bytes to a buffer. They may be changed when it returns.
func (s *stream) upload(dst *buffer, offset int64, src []byte) (err error) {
	defer catch(&err)
	if err := s.submit(); err != nil { // what comes before it
		return err
	}
	for len(src) > 0 {
		n := js.CopyBytesToJS(s.array, src)
		s.gpu.queue.Call("writeBuffer", dst.js, offset, s.array, 0, n)
		src, offset = src[n:], offset+int64(n)
	}
	return nil
}

// download waits for all work before it, and copies a buffer's bytes to dst.
func (s *stream) download(dst []byte, src *buffer, offset int64) (err error) {
	defer catch(&err)
	if s.staging.IsUndefined() {
		s.staging = s.buffer(stagingBytes, usageMapRead|usageCopyDst)
	}
	for len(dst) > 0 {
		n := min(len(dst), stagingBytes)
		s.record()
		s.endPass()
		s.encoder.Call("copyBufferToBuffer", src.js, offset, s.staging, 0, n)
		if err := s.submit(); err != nil {
			return err
		}
		if _, err := await(s.staging.Call("mapAsync", 1, 0, n)); err != nil {
			return errors.Join(s.wrong(), err)
		}
		js.CopyBytesToGo(dst[:n], js.Global().Get("Uint8Array").New(s.staging.Call("getMappedRange", 0, n)))
		s.staging.Call("unmap")
		dst, offset = dst[n:], offset+int64(n)
	}
	return s.wrong()
}

// newBuffer asks the browser for a buffer of numbers. It is nil where the GPU has no room.
func (s *stream) newBuffer(bytes int) (b *buffer, err error) {
	defer catch(&err)
	s.gpu.device.Call("pushErrorScope", "out-of-memory")
	made := s.buffer(bytes, usageStorage|usageCopySrc|usageCopyDst)
	full, err := await(s.gpu.device.Call("popErrorScope"))
	if err != nil || full.Truthy() {
		return nil, err
	}
	return &buffer{js: made, bytes: bytes}, nil
}

// close gives back what the stream has.
func (s *stream) close() (err error) {
	defer catch(&err)
	s.pushed.Call("destroy")
	if !s.staging.IsUndefined() {
		s.staging.Call("destroy")
	}
	for range scopes {
		if _, err := await(s.gpu.device.Call("popErrorScope")); err != nil {
			return err
		}
	}
	return nil
}
