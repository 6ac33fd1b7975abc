package devicekit

import (
	"fmt"

	"github.com/averaged/imaging/backend"
)

// CheckTVShapes returns an error that wraps ErrShape unless y is one image, u has its shape,
// and p its shape with twice the channels.
func CheckTVShapes(u, p, y backend.Shape) error {
	if y.N != 1 || u != y || p != backend.Image(2*y.C, y.H, y.W) {
		return fmt.Errorf("%w: total variation of %v with u of %v and p of %v", backend.ErrShape, y, u, p)
	}
	return nil
}

// TVIterate implements backend.TotalVariation.
func (d *Device[M, F]) TVIterate(u, p, y backend.Buffer, problem backend.TVProblem, step backend.TVStep) error {
	c := d.begin()
	defer c.end()
	c.check(problem.Check())
	c.check(step.Check())
	primal, dual, image := c.totalVariation(u, p, y)
	if c.err != nil {
		return c.err
	}
	if k, ok := d.kernels.(TotalVariations[M]); ok {
		return k.TVIterate(primal, dual, image, problem, step)
	}
	return d.tvIterate(primal, dual, image, problem, step)
}

// TVPrimal implements backend.TotalVariation.
func (d *Device[M, F]) TVPrimal(u, p, y backend.Buffer, step float32) error {
	c := d.begin()
	defer c.end()
	c.check(backend.TVStep{Primal: step}.Check())
	primal, dual, image := c.totalVariation(u, p, y)
	if c.err != nil {
		return c.err
	}
	if k, ok := d.kernels.(TotalVariations[M]); ok {
		return k.TVPrimal(primal, dual, image, step)
	}
	return d.tvPrimal(primal, dual, image, step)
}

// TVEvaluate implements backend.TotalVariation.
func (d *Device[M, F]) TVEvaluate(u, p, y backend.Buffer, problem backend.TVProblem) (backend.TVValue, error) {
	c := d.begin()
	defer c.end()
	c.check(problem.Check())
	primal, dual, image := c.totalVariation(u, p, y)
	if c.err != nil {
		return backend.TVValue{}, c.err
	}
	if k, ok := d.kernels.(TotalVariationValues[M]); ok {
		return k.TVEvaluate(primal, dual, image, problem)
	}
	return d.tvEvaluate(primal, dual, image, problem)
}

func (c *call[M, F]) totalVariation(u, p, y backend.Buffer) (primal, dual, image Array[M]) {
	ownU, ownP, ownY := c.buffer(u), c.buffer(p), c.buffer(y)
	c.check(CheckTVShapes(ownU.shape, ownP.shape, ownY.shape))
	c.apart(ownU, ownP, ownY)
	c.apart(ownP, ownY)
	return ownU.array(), ownP.array(), ownY.array()
}
