package train

import (
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/devicequeue"
)

// edge is the part of a filter that meets an image: its input channels that are not lifted
// zeros, or that are projected onto. With Euler's method the first step of a network is
// applied to zeros in all other channels, and nobody looks at the others after the last,
// neither forward nor, for the gradient has zeros there, on the way back.
type edge struct {
	filter     backend.Filter
	upload, dw backend.Buffer
	values     []float32
}

func newEdge(q *devicequeue.Queue, memory *devicequeue.Pool, out, channels, kernel int) *edge {
	shape := backend.Shape{N: out, C: channels, H: kernel, W: kernel}
	e := &edge{upload: memory.Take(q, shape), dw: memory.Take(q, shape), values: make([]float32, shape.Len())}
	q.Do(func() (err error) {
		e.filter, err = q.Dev.NewFilter(e.upload)
		return err
	})
	return e
}

// rows calls f with each output's weights of the edge, and the same of the whole filter.
func (e *edge) rows(whole []float32, f func(part, whole []float32)) {
	out := e.upload.Shape().N
	part, all := len(e.values)/out, len(whole)/out
	for o := range out {
		f(e.values[o*part:][:part], whole[o*all:][:part])
	}
}

// prepare follows the whole filter's weights.
func (e *edge) prepare(q *devicequeue.Queue, whole []float32) {
	e.rows(whole, func(part, whole []float32) { copy(part, whole) })
	q.Upload(e.upload, e.values)
	q.UpdateFilter(e.filter, e.upload)
}

// addGradient adds the edge's gradient to that of the whole filter.
func (e *edge) addGradient(q *devicequeue.Queue, whole []float32) {
	q.Download(e.values, e.dw)
	e.rows(whole, func(part, whole []float32) {
		for i, v := range part {
			whole[i] += v
		}
	})
}

func (e *edge) free() {
	if e.filter != nil {
		e.filter.Free()
	}
}
