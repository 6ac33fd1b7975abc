package train

import (
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/devicequeue"
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
//
// In a network with levels the device holds diag(√g)·V for the noise level of the moment in
// the place of V, and V as well, for its norm.
type flowBlock struct {
	scaling

	weights *Parameter  // V, (width, width, kernel, kernel)
	biases  *Parameter  // b
	theta   *Parameter  // of Budget without levels, or nil
	radii   *Parameter  // ℓ of radii exp(ℓ), of balls without levels, or nil
	table   *levelTable // of Budget with levels, or nil; then the block has no other biases and radii

	filter  backend.Filter // of V
	bias    backend.Buffer // b/factor
	upload  backend.Buffer // V, on its way to filter
	dw, db  backend.Buffer // gradients with respect to V and b/factor; db lacks a factor of −step
	slope   backend.Buffer // ∂‖V‖/∂V, or nil
	radius  backend.Buffer // radii/factor, of balls, or nil
	base    []float32      // what radius holds
	dr      backend.Buffer // gradient with respect to radius, without the factor that db lacks
	maps    *radiusMap     // of a guided network, or nil
	plain   backend.Filter // of V: filter, or with levels one of its own
	power   *power
	edge    *edge   // of the first and the last block with Euler's method, or nil
	step    float32 // (h/N)·factor²
	steps   int     // N
	factor  float64
	c       float64   // ‖A‖, as far as it is known
	scratch []float32 // as long as V, for a download
}

// newFlowBlock allocates a block with weights of zero.
func newFlowBlock(q *devicequeue.Queue, memory *devicequeue.Pool, s scaling, index int, c Config) *flowBlock {
	width, kernel := c.Width, c.Kernel
	name := fmt.Sprintf("blocks.%d.", index)
	b := &flowBlock{
		scaling: s,
		weights: newParameter(name+"weight", true, width, width, kernel, kernel),
		biases:  newParameter(name+"bias", true, width),
		scratch: make([]float32, width*width*kernel*kernel),
	}
	shape := backend.Shape{N: width, C: width, H: kernel, W: kernel}
	b.upload, b.dw = memory.Take(q, shape), memory.Take(q, shape)
	b.bias, b.db = memory.Take(q, backend.Vector(width)), memory.Take(q, backend.Vector(width))
	if s.constraint == Budget {
		b.weights.scaleFree = true
		if len(c.Levels) > 0 {
			b.table = newLevelTable(name, c.Levels, width, len(b.weights.values), c.groups())
		}
		if !b.gained() {
			b.theta = newParameter(name+"theta", false, 1)
		}
		b.slope = memory.Take(q, shape)
	}
	q.Do(func() (err error) {
		b.filter, err = q.Dev.NewFilter(b.upload)
		return err
	})
	if n := c.groups(); n > 0 {
		b.radius, b.dr = memory.Take(q, backend.Vector(n)), memory.Take(q, backend.Vector(n))
		b.radii = newParameter(name+"radius", false, n)
	}
	if b.plain = b.filter; b.gained() {
		q.Do(func() (err error) {
			b.plain, err = q.Dev.NewFilter(b.upload)
			return err
		})
	}
	if q.Err == nil {
		b.power = newPower(q, memory, b.plain, c.PowerSize)
	}
	return b
}

func (b *flowBlock) parameters() []*Parameter {
	list := []*Parameter{b.weights}
	if b.table != nil {
		list = append(list, b.table.parameters()...)
	} else {
		list = append(list, b.biases)
		if b.radii != nil {
			list = append(list, b.radii)
		}
	}
	if b.theta != nil {
		list = append(list, b.theta)
	}
	return list
}

// gained tells whether the device holds diag(√g)·V besides V.
func (b *flowBlock) gained() bool { return b.table != nil && b.table.gains != nil }

// groups returns the number of balls of a block, 0 for LeakyReLU.
func (c Config) groups() int {
	if c.Group == 0 {
		return 0
	}
	return c.Width / c.Group
}

// initialise draws weights and biases as PyTorch does by default, lets the power iteration
// converge, and gives A the norm 1 (the paper, section 3.4), or, under Budget, a share of
// the limit of c.
func (b *flowBlock) initialise(q *devicequeue.Queue, g *generator, iterations int) {
	drawUniformly(g, b.weights, b.biases)
	if b.radii != nil {
		clear(b.biases.values)
		for i := range b.radii.values {
			b.radii.values[i] = float32(math.Log(initialRadius))
		}
	}
	q.Upload(b.upload, b.weights.values)
	q.UpdateFilter(b.plain, b.upload)
	b.power.start(q, g.bits())
	b.power.converge(q, iterations)
	if q.Err != nil {
		return
	}
	for i, w := range b.weights.values {
		b.weights.values[i] = float32(float64(w) / b.power.norm)
	}
	if b.theta != nil {
		b.theta.values[0] = float32(logit(b.initial))
	}
	if b.table != nil {
		b.table.initialise(b.biases.values, b.logRadii(), referenceLevel, b.initial*b.initial)
	}
}

// logRadii returns ℓ of a block without levels, or nil.
func (b *flowBlock) logRadii() []float32 {
	if b.radii == nil {
		return nil
	}
	return b.radii.values
}

// initialRadius of a ball, at the reference level.
const initialRadius = 0.1

// referenceLevel is the paper's noise level, at which the biases of a new network with
// levels are those of one without.
const referenceLevel = 0.15

// prepare brings V to the device.
func (b *flowBlock) prepare(q *devicequeue.Queue) {
	q.Upload(b.upload, b.weights.values)
	q.UpdateFilter(b.plain, b.upload)
	if !b.gained() && b.edge != nil {
		b.edge.prepare(q, b.weights.values)
	}
}

// tune prepares a block with levels for a noise level, after an update.
func (b *flowBlock) tune(q *devicequeue.Queue, sigma float64) {
	if b.table == nil {
		return
	}
	t := b.table
	t.at(sigma)
	for c, bias := range t.bias {
		t.derived[c] = float32(sigma * bias / b.factor)
	}
	if t.radii != nil {
		b.uploadRadii(q, sigma/b.factor, t.radius)
	} else {
		rows := t.scaled(b.weights.values)
		q.Upload(b.upload, rows)
		q.UpdateFilter(b.filter, b.upload)
		if b.edge != nil {
			b.edge.prepare(q, rows)
		}
		for c, r := range t.root {
			t.derived[c] = float32(r * float64(t.derived[c]))
		}
	}
	q.Upload(b.bias, t.derived)
}

// uploadRadii sets the radii on the device.
func (b *flowBlock) uploadRadii(q *devicequeue.Queue, scale float64, radii []float64) {
	values := make([]float32, len(radii))
	for i, r := range radii {
		values[i] = float32(scale * r)
	}
	q.Upload(b.radius, values)
	b.base = values
}

// update prepares the device for new values of the parameters, after one power iteration
// for the new norm.
func (b *flowBlock) update(q *devicequeue.Queue) {
	b.prepare(q)
	b.power.iterate(q)
	b.scale(q)
}

// restore prepares the device for parameters and a v that were saved after an update.
func (b *flowBlock) restore(q *devicequeue.Queue, right []float32) {
	b.prepare(q)
	q.Upload(b.power.right, right)
	b.power.measure(q)
	b.scale(q)
}

// scale follows the norm.
func (b *flowBlock) scale(q *devicequeue.Queue) {
	q.Do(func() (err error) {
		theta := 0.0
		if b.theta != nil {
			theta = float64(b.theta.values[0])
		}
		b.factor, b.c, b.steps, err = b.scaling.of(b.power.norm, theta)
		return err
	})
	if q.Err != nil {
		return
	}
	b.setSteps(b.steps)
	if b.table != nil {
		return // tune sets the biases
	}
	biases := make([]float32, len(b.biases.values))
	for i, v := range b.biases.values {
		biases[i] = float32(float64(v) / b.factor)
	}
	q.Upload(b.bias, biases)
	if b.radii != nil {
		radii := make([]float64, len(b.radii.values))
		for i, v := range b.radii.values {
			radii[i] = math.Exp(float64(v))
		}
		b.uploadRadii(q, 1/b.factor, radii)
	}
}

// setSteps splits the block's time into so many steps.
func (b *flowBlock) setSteps(n int) {
	b.steps, b.step = n, float32(b.length/float64(n)*b.factor*b.factor)
}

// zeroGradients sets the gradients to zero.
func (b *flowBlock) zeroGradients(q *devicequeue.Queue) {
	q.Fill(b.dw, 0)
	q.Fill(b.db, 0)
	if b.dr != nil {
		q.Fill(b.dr, 0)
	}
	if b.table != nil {
		b.table.zeroGradients()
	}
	if b.edge != nil {
		q.Fill(b.edge.dw, 0)
	}
}

// gradients brings what the device has of the gradients; finishGradients has to come after it.
func (b *flowBlock) gradients(q *devicequeue.Queue) {
	q.Download(b.weights.gradient, b.dw)
	if b.edge != nil {
		b.edge.addGradient(q, b.weights.gradient)
	}
	q.Download(b.biases.gradient, b.db)
	if b.dr != nil {
		q.Download(b.radii.gradient, b.dr)
	}
	if b.slope != nil {
		q.FilterGradient(b.slope, b.power.right, b.power.left, 0, 1)
		q.Download(b.scratch, b.slope)
	}
}

// finishGradients makes the gradients of the parameters of what gradients has brought, on the host.
func (b *flowBlock) finishGradients() {
	db := b.biases.gradient
	var dr []float32
	if b.dr != nil {
		dr = b.radii.gradient
	}
	for i, g := range b.weights.gradient {
		b.weights.gradient[i] = float32(float64(g) / b.factor)
	}
	for i, g := range db {
		db[i] = float32(-float64(b.step) * float64(g) / b.factor)
	}
	for i, g := range dr {
		dr[i] = float32(-float64(b.step) * float64(g) / b.factor)
	}
	switch {
	case b.gained():
		b.table.back(b.weights.gradient, b.weights.values, b.factor, db)
	case b.table != nil:
		b.table.backBalls(db, dr)
	default:
		for i := range dr { // with respect to ℓ
			dr[i] = float32(float64(dr[i]) * math.Exp(float64(b.radii.values[i])))
		}
	}
	if b.constraint != Budget {
		return
	}
	dc := throughNorm(b.weights.gradient, b.weights.values, b.scratch, b.c, b.power.norm)
	if b.theta != nil {
		share := b.c / b.limit
		b.theta.gradient[0] = float32(dc * b.limit * share * (1 - share))
	}
}

// effective returns A and b under their names in a weight file, or W and the table.
func (b *flowBlock) effective(dst []array) []array {
	w, bias := b.weights.array, b.biases.array
	w.values = make([]float32, len(w.values))
	for i, v := range b.weights.values {
		w.values[i] = float32(float64(v) * b.factor)
	}
	if b.table != nil {
		return append(append(dst, w), b.table.effective()...)
	}
	dst = append(dst, w, bias)
	if b.radii != nil {
		dst = append(dst, b.radii.mapped(math.Exp))
	}
	return dst
}

func (b *flowBlock) free() {
	if b.gained() && b.plain != nil {
		b.plain.Free()
	}
	if b.filter != nil {
		b.filter.Free()
	}
	if b.edge != nil {
		b.edge.free()
	}
}
