package train

import (
	"fmt"

	"github.com/averaged/imaging/backend"
)

// flowBlock is a block of a flow with what it learns.
//
// The device holds V, and not A = factor·V: activations are positively homogeneous,
// factor·σ(y) = σ(factor·y), so that
//
//	z − (h/N)·Aᵀσ(Az + b) = z − (h/N)·factor²·Vᵀσ(Vz + b/factor),
//
// and weights are prepared for the device once for each update, though their norm, and
// with it the factor, is known only then. The gradients with respect to A and b are those
// with respect to V and b/factor, as flow makes them, divided by factor.
type flowBlock struct {
	scaling

	weights *parameter // V, (width, width, kernel, kernel)
	biases  *parameter // b
	theta   *parameter // of Budget, or nil

	filter  backend.Filter // of V
	bias    backend.Buffer // b/factor
	upload  backend.Buffer // V, on its way to filter
	dw, db  backend.Buffer // gradients with respect to V and b/factor; db lacks a factor of −step
	slope   backend.Buffer // ∂‖V‖/∂V, or nil
	power   *power
	edge    *edge   // of the first and the last block with Euler's method, or nil
	step    float32 // (h/N)·factor²
	steps   int     // N
	factor  float64
	c       float64   // ‖A‖, as far as it is known
	scratch []float32 // as long as V, for a download
}

// newFlowBlock allocates a block with weights of zero.
func newFlowBlock(q *queue, memory *scratch, s scaling, index, width, kernel, powerSize int) *flowBlock {
	name := fmt.Sprintf("blocks.%d.", index)
	b := &flowBlock{
		scaling: s,
		weights: newParameter(name+"weight", true, width, width, kernel, kernel),
		biases:  newParameter(name+"bias", true, width),
		scratch: make([]float32, width*width*kernel*kernel),
	}
	shape := backend.Shape{N: width, C: width, H: kernel, W: kernel}
	b.upload, b.dw = memory.take(q, shape), memory.take(q, shape)
	b.bias, b.db = memory.take(q, backend.Vector(width)), memory.take(q, backend.Vector(width))
	if s.constraint == Budget {
		b.theta = newParameter(name+"theta", false, 1)
		b.slope = memory.take(q, shape)
	}
	q.do(func() (err error) {
		b.filter, err = q.dev.NewFilter(b.upload)
		return err
	})
	if q.err == nil {
		b.power = newPower(q, memory, b.filter, powerSize)
	}
	return b
}

func (b *flowBlock) parameters() []*parameter {
	if b.theta == nil {
		return []*parameter{b.weights, b.biases}
	}
	return []*parameter{b.weights, b.biases, b.theta}
}

// initialise draws weights and biases as PyTorch does by default, lets the power iteration
// converge, and gives A the norm 1 (the paper, section 3.4), or half of the limit of c if
// that is less.
func (b *flowBlock) initialise(q *queue, g *generator, iterations int) {
	drawUniformly(g, b.weights, b.biases)
	q.upload(b.upload, b.weights.values)
	q.updateFilter(b.filter, b.upload)
	b.power.start(q, g.bits())
	b.power.converge(q, iterations)
	if q.err != nil {
		return
	}
	for i, w := range b.weights.values {
		b.weights.values[i] = float32(float64(w) / b.power.norm)
	}
	if b.theta != nil {
		c := min(1, b.limit/2)
		b.theta.values[0] = float32(logit(c / b.limit))
	}
}

// prepare brings V to the device.
func (b *flowBlock) prepare(q *queue) {
	q.upload(b.upload, b.weights.values)
	q.updateFilter(b.filter, b.upload)
	if b.edge != nil {
		b.edge.prepare(q, b.weights.values)
	}
}

// update prepares the device for new values of the parameters, after one power iteration
// for the new norm.
func (b *flowBlock) update(q *queue) {
	b.prepare(q)
	b.power.iterate(q)
	b.scale(q)
}

// restore prepares the device for parameters and a v that were saved after an update.
func (b *flowBlock) restore(q *queue, right []float32) {
	b.prepare(q)
	q.upload(b.power.right, right)
	b.power.measure(q)
	b.scale(q)
}

// scale follows the norm.
func (b *flowBlock) scale(q *queue) {
	q.do(func() (err error) {
		theta := 0.0
		if b.theta != nil {
			theta = float64(b.theta.values[0])
		}
		b.factor, b.c, b.steps, err = b.scaling.of(b.power.norm, theta)
		return err
	})
	if q.err != nil {
		return
	}
	b.step = float32(b.length / float64(b.steps) * b.factor * b.factor)
	biases := make([]float32, len(b.biases.values))
	for i, v := range b.biases.values {
		biases[i] = float32(float64(v) / b.factor)
	}
	q.upload(b.bias, biases)
}

// clear sets the gradients to zero.
func (b *flowBlock) clear(q *queue) {
	q.fill(b.dw, 0)
	q.fill(b.db, 0)
	if b.edge != nil {
		q.fill(b.edge.dw, 0)
	}
}

// gradients brings the gradients to the parameters.
func (b *flowBlock) gradients(q *queue) {
	q.download(b.weights.gradient, b.dw)
	if b.edge != nil {
		b.edge.addGradient(q, b.weights.gradient)
	}
	q.download(b.biases.gradient, b.db)
	if b.slope != nil {
		q.filterGradient(b.slope, b.power.right, b.power.left, 0, 1)
		q.download(b.scratch, b.slope)
	}
	if q.err != nil {
		return
	}
	for i, g := range b.weights.gradient {
		b.weights.gradient[i] = float32(float64(g) / b.factor)
	}
	for i, g := range b.biases.gradient {
		b.biases.gradient[i] = float32(-float64(b.step) * float64(g) / b.factor)
	}
	if b.theta != nil {
		dc := throughNorm(b.weights.gradient, b.weights.values, b.scratch, b.c, b.power.norm)
		share := b.c / b.limit
		b.theta.gradient[0] = float32(dc * b.limit * share * (1 - share))
	}
}

// effective returns A and b under their names in a weight file.
func (b *flowBlock) effective(dst []array) []array {
	w, bias := b.weights.array, b.biases.array
	w.values = make([]float32, len(w.values))
	for i, v := range b.weights.values {
		w.values[i] = float32(float64(v) * b.factor)
	}
	return append(dst, w, bias)
}

func (b *flowBlock) free() {
	if b.filter != nil {
		b.filter.Free()
	}
	if b.edge != nil {
		b.edge.free()
	}
}
