package devicekit

import (
	"cmp"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/arguments"
	"github.com/averaged/imaging/internal/fallback"
)

// TVIterate implements backend.TotalVariation.
func (d *Device[M, F]) TVIterate(u, p, y backend.Buffer, problem backend.TVProblem, step backend.TVStep) error {
	made, err := d.tvStep(u, p, y, cmp.Or(problem.Check(), step.Check()), func(k TotalVariations[M], u, p, y Array[M]) error {
		return k.TVIterate(u, p, y, problem, step)
	})
	if made || err != nil {
		return err
	}
	return fallback.TVIterate(d, u, p, y, problem, step)
}

// TVPrimal implements backend.TotalVariation.
func (d *Device[M, F]) TVPrimal(u, p, y backend.Buffer, step float32) error {
	made, err := d.tvStep(u, p, y, backend.TVStep{Primal: step}.Check(), func(k TotalVariations[M], u, p, y Array[M]) error {
		return k.TVPrimal(u, p, y, step)
	})
	if made || err != nil {
		return err
	}
	return fallback.TVPrimal(d, u, p, y, step)
}

// tvStep checks the arrays of a step, and makes it if the kernels can. The error is what other checks have
// found.
func (d *Device[M, F]) tvStep(u, p, y backend.Buffer, err error, run func(k TotalVariations[M], u, p, y Array[M]) error) (made bool, _ error) {
	c := d.begin()
	defer c.end()
	c.check(err)
	primal, dual, image := c.totalVariation(u, p, y)
	k, ok := d.kernels.(TotalVariations[M])
	if c.err != nil || !ok {
		return false, c.err
	}
	return true, run(k, primal, dual, image)
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
	var numbers [3][]float32
	for i, a := range []Array[M]{primal, dual, image} {
		numbers[i] = make([]float32, a.Shape.Len())
		if err := d.kernels.Download(numbers[i], a); err != nil {
			return backend.TVValue{}, err
		}
	}
	return fallback.TVEvaluate(d.host.threads(), image.Shape, numbers[0], numbers[1], numbers[2], problem), nil
}

func (c *call[M, F]) totalVariation(u, p, y backend.Buffer) (primal, dual, image Array[M]) {
	ownU, ownP, ownY := c.buffer(u), c.buffer(p), c.buffer(y)
	c.check(arguments.CheckTVShapes(ownU.shape, ownP.shape, ownY.shape))
	c.apart(ownU, ownP, ownY)
	c.apart(ownP, ownY)
	return ownU.array(), ownP.array(), ownY.array()
}
