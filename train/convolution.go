package train

import (
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/devicequeue"
)

// convolution is a convolution with bias of a DnCNN, with what it learns.
type convolution struct {
	weights, biases *Parameter

	filter     backend.Filter
	upload, dw backend.Buffer
	bias, db   backend.Buffer
	shifted    []float32 // what goes to bias
	normalised bool      // a normalisation follows: the gradient of the bias is 0
}

func newConvolution(q *devicequeue.Queue, memory *devicequeue.Pool, name string, out, in, kernel int) *convolution {
	c := &convolution{
		weights: newParameter(name+".weight", true, out, in, kernel, kernel),
		biases:  newParameter(name+".bias", true, out),
		shifted: make([]float32, out),
	}
	shape := backend.Shape{N: out, C: in, H: kernel, W: kernel}
	c.upload, c.dw = memory.Take(q, shape), memory.Take(q, shape)
	c.bias, c.db = memory.Take(q, backend.Vector(out)), memory.Take(q, backend.Vector(out))
	q.Do(func() (err error) {
		c.filter, err = q.Dev.NewFilter(c.upload)
		return err
	})
	return c
}

// drawUniformly draws weights and biases as PyTorch's convolutions do by default,
// uniformly within ±1/√(inputs of an output).
func drawUniformly(g *generator, weights, biases *Parameter) {
	inputs := len(weights.values) / weights.shape[0]
	bound := 1 / math.Sqrt(float64(inputs))
	for _, p := range []*Parameter{weights, biases} {
		for i := range p.values {
			p.values[i] = float32(bound * (2*g.uniform() - 1))
		}
	}
}

// prepare brings the parameters to the device. shift is taken from the biases; nil is
// none.
func (c *convolution) prepare(q *devicequeue.Queue, shift []float32) {
	copy(c.shifted, c.biases.values)
	for i, v := range shift {
		c.shifted[i] -= v
	}
	q.Upload(c.upload, c.weights.values)
	q.UpdateFilter(c.filter, c.upload)
	q.Upload(c.bias, c.shifted)
}

func (c *convolution) zeroGradients(q *devicequeue.Queue) {
	q.Fill(c.dw, 0)
	q.Fill(c.db, 0)
}

// back adds to the gradients, given the input and the gradient with respect to the
// output.
func (c *convolution) back(q *devicequeue.Queue, x, dy backend.Buffer) {
	q.FilterGradient(c.dw, x, dy, 1, 1)
	if !c.normalised {
		q.BiasGradient(c.db, dy, 1)
	}
}

func (c *convolution) gradients(q *devicequeue.Queue) {
	q.Download(c.weights.gradient, c.dw)
	q.Download(c.biases.gradient, c.db)
}

func (c *convolution) parameters() []*Parameter { return []*Parameter{c.weights, c.biases} }

func (c *convolution) free() {
	if c.filter != nil {
		c.filter.Free()
	}
}
