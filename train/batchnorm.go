package train

import (
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise/dncnn"
	"github.com/averaged/imaging/internal/devicequeue"
)

// batchNorm is batch normalisation in training (Ioffe and Szegedy 2015) with what it
// learns: with mean μ and variance s² of a channel over batch, rows and columns,
//
//	x̂ = (x − μ)/√(s² + ε),   y = γx̂ + β.
//
// Devices have no operation for it. Scaling and shifting channels is a convolution of 1×1
// with a diagonal filter, and sums of x·y over pixels are the diagonal of such a filter's
// gradient. x comes with the running mean taken off already, which the result does not
// depend on: what is left is small, so that s² = E x² − μ² loses nothing to rounding.
//
// # Backward
//
// With n samples of a channel, dγ = Σ dy·x̂ and dβ = Σ dy,
//
//	dx = γ/√(s² + ε) · (dy − dβ/n − x̂·dγ/n).
type batchNorm struct {
	scale, shift *Parameter // γ, β
	// mean and variance are the running ones, which inference uses, as they were after the
	// last update; the next ones follow the batches of the iteration.
	mean, variance         array
	nextMean, nextVariance []float32

	diagonal     backend.Filter // 1×1
	entries      backend.Buffer // of diagonal
	products     backend.Buffer // sums of products of two channels
	sums         backend.Buffer // sums of a channel, and the shifts
	matrix       []float32
	vector       []float32
	dscale       []float64
	dshift       []float64
	batchMean    []float64 // of the last forward, without the running mean
	batchInverse []float64 // 1/√(s² + ε)
}

// runningMomentum is PyTorch's default: how much of a batch goes into the running mean.
const runningMomentum = 0.1

func newBatchNorm(q *devicequeue.Queue, memory *devicequeue.Pool, name string, width int) *batchNorm {
	vector := func(of string) array { return array{name + of, []int{width}, make([]float32, width)} }
	b := &batchNorm{
		scale: newParameter(name+".weight", true, width), shift: newParameter(name+".bias", true, width),
		mean: vector(".running_mean"), variance: vector(".running_var"),
		nextMean: make([]float32, width), nextVariance: make([]float32, width),
		entries:  memory.Take(q, backend.Shape{N: width, C: width, H: 1, W: 1}),
		products: memory.Take(q, backend.Shape{N: width, C: width, H: 1, W: 1}),
		sums:     memory.Take(q, backend.Vector(width)),
		matrix:   make([]float32, width*width), vector: make([]float32, width),
		dscale: make([]float64, width), dshift: make([]float64, width),
		batchMean: make([]float64, width), batchInverse: make([]float64, width),
	}
	q.Do(func() (err error) {
		b.diagonal, err = q.Dev.NewFilter(b.entries)
		return err
	})
	return b
}

func (b *batchNorm) width() int { return len(b.vector) }

func (b *batchNorm) initialise() {
	for i := range b.width() {
		b.scale.values[i], b.variance.values[i] = 1, 1
	}
	b.reset()
}

// reset sets the gradients to zero and takes the running numbers back to those of the last
// update.
func (b *batchNorm) reset() {
	copy(b.nextMean, b.mean.values)
	copy(b.nextVariance, b.variance.values)
	clear(b.dscale)
	clear(b.dshift)
}

// update accepts the running numbers of the iteration.
func (b *batchNorm) update() {
	copy(b.mean.values, b.nextMean)
	copy(b.variance.values, b.nextVariance)
}

// totals sets vector to Σ y and the diagonal of matrix to Σ x·y, for every channel.
func (b *batchNorm) totals(q *devicequeue.Queue, x, y backend.Buffer) {
	q.BiasGradient(b.sums, y, 0)
	q.FilterGradient(b.products, x, y, 0, 1)
	q.Download(b.vector, b.sums)
	q.Download(b.matrix, b.products)
}

func (b *batchNorm) product(c int) float64 { return float64(b.matrix[c*b.width()+c]) }

// prepare makes the diagonal and the shift those of a channel by channel affine map, which
// may depend on the totals of its channel.
func (b *batchNorm) prepare(q *devicequeue.Queue, of func(c int) (factor, shift float64)) {
	for c := range b.width() {
		factor, shift := of(c)
		clear(b.matrix[c*b.width():][:b.width()])
		b.matrix[c*b.width()+c], b.vector[c] = float32(factor), float32(shift)
	}
	q.Upload(b.entries, b.matrix)
	q.UpdateFilter(b.diagonal, b.entries)
	q.Upload(b.sums, b.vector)
}

// forward sets dst to the activation of the normalised x.
func (b *batchNorm) forward(q *devicequeue.Queue, dst, x backend.Buffer, a backend.Activation) {
	b.totals(q, x, x)
	s := x.Shape()
	n := float64(s.N * s.Plane())
	b.prepare(q, func(c int) (factor, shift float64) {
		mean := float64(b.vector[c]) / n
		variance := max(0, b.product(c)/n-mean*mean)
		inverse := 1 / math.Sqrt(variance+dncnn.BatchNormEpsilon)
		b.batchMean[c], b.batchInverse[c] = mean, inverse
		follow := func(running *float32, value float64) {
			*running = float32(float64((1-runningMomentum)*float64(*running)) + float64(runningMomentum*value))
		}
		follow(&b.nextMean[c], mean+float64(b.mean.values[c]))
		follow(&b.nextVariance[c], variance*n/max(1, n-1)) // without bias, as in PyTorch
		factor = float64(b.scale.values[c]) * inverse
		return factor, float64(b.shift.values[c]) - factor*mean
	})
	q.Convolve(dst, x, b.diagonal, backend.ConvEnd{Bias: b.sums, Activation: a})
}

// backward sets dx from dy and the x of forward. batchMean and batchInverse must still be
// those of that forward.
func (b *batchNorm) backward(q *devicequeue.Queue, dx, x, dy backend.Buffer) {
	b.totals(q, x, dy)
	s := x.Shape()
	n := float64(s.N * s.Plane())
	slope := make([]float64, b.width())
	b.prepare(q, func(c int) (factor, shift float64) {
		mean, inverse := b.batchMean[c], b.batchInverse[c]
		dshift := float64(b.vector[c])
		dscale := (b.product(c) - mean*dshift) * inverse
		b.dshift[c] += dshift
		b.dscale[c] += dscale
		slope[c] = float64(b.scale.values[c]) * inverse
		factor = -slope[c] * inverse * dscale / n
		return factor, -slope[c]*dshift/n - factor*mean
	})
	q.Convolve(dx, x, b.diagonal, backend.ConvEnd{Bias: b.sums})
	b.prepare(q, func(c int) (factor, shift float64) { return slope[c], 0 })
	q.Adjoint(dx, dy, b.diagonal, 1, 1) // a diagonal is its own transpose
}

func (b *batchNorm) gradients() {
	for c := range b.width() {
		b.scale.gradient[c], b.shift.gradient[c] = float32(b.dscale[c]), float32(b.dshift[c])
	}
}

func (b *batchNorm) parameters() []*Parameter { return []*Parameter{b.scale, b.shift} }

func (b *batchNorm) running() []array { return []array{b.mean, b.variance} }

func (b *batchNorm) free() {
	if b.diagonal != nil {
		b.diagonal.Free()
	}
}

// normName is the name of a normalisation in a weight file.
func normName(layer int) string { return fmt.Sprintf("norms.%d", layer) }
