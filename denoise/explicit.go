package denoise

import (
	"context"

	"github.com/averaged/imaging/backend"
)

// explicit is a network of steps of an explicit method, which a device makes in one
// call.
type explicit struct {
	dev     backend.Device
	tableau Tableau
	blocks  []deviceBlock
	steps   []backend.FlowStep
	reach   reach
}

func newExplicit(dev backend.Device, t Tableau, blocks []deviceBlock) *explicit {
	e := &explicit{dev: dev, tableau: t, blocks: blocks}
	for _, b := range blocks {
		step := backend.FlowStep{Filter: b.filter, Bias: b.bias, Activation: b.activation, Radius: b.balls, Size: b.step}
		if !t.isEuler() {
			step.Tableau = backend.Tableau{A: t.A, B: t.B}
		}
		for range b.steps {
			e.steps = append(e.steps, step)
		}
		for range 2 * b.steps * t.Stages() {
			e.reach = append(e.reach, b.radius())
		}
	}
	return e
}

func (e *explicit) plan(backend.Buffer, backend.Shape, float64) (plan, float64, error) {
	return e, 0, nil
}

func (e *explicit) apply(ctx context.Context, dst, src backend.Buffer, r backend.Region) error {
	return e.dev.GradientFlow(ctx, dst, src, r, e.steps)
}

// side is the whole image: the device bounds the scratch memory of one call by itself,
// or refuses it.
func (e *explicit) side(s backend.Shape, _ int) int { return max(s.H, s.W) }

func (e *explicit) layers() reach { return e.reach }

func (e *explicit) free() { freeDeviceBlocks(e.blocks) }
