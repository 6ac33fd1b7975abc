package cpu

import (
	"context"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu/internal/winograd"
	"github.com/averaged/imaging/backend/devicekit"
)

// ConvolutionGrid implements devicekit.Kernels.
func (d *host) ConvolutionGrid() int { return winograd.Tile }

// step is a step of a gradient flow.
type step = devicekit.FlowStep[[]float32, *filter]

// MakesFlow implements devicekit.Flows. 3×3 filters take the fused path, those with projections onto
// balls for the groups that the kernels take.
func (d *host) MakesFlow(steps []step) bool {
	for _, s := range steps {
		if s.Filter.forward3 == nil || s.Radius != nil && !fusedBalls(s.Filter.shape.N, s.Radius.Shape) {
			return false
		}
	}
	return true
}

// GradientFlow implements devicekit.Flows.
func (d *host) GradientFlow(ctx context.Context, dst, src buffer, region backend.Region, steps []step) error {
	return d.flowAll(ctx, asItIs(&dst), asItIs(&src), region, steps, nil)
}

// MakesShuffledFlow implements devicekit.ShuffledFlows: steps that are fused.
func (d *host) MakesShuffledFlow(steps []step, radii []backend.CodedRadii) bool {
	for k, r := range radii {
		if !fusedBalls(steps[k].Filter.shape.N, r.Shape) {
			return false
		}
	}
	return d.MakesFlow(steps)
}

// ShuffledFlow implements devicekit.ShuffledFlows.
func (d *host) ShuffledFlow(ctx context.Context, dst, src buffer, factor int, steps []step, radii []backend.CodedRadii) error {
	from := unshuffled(&src, factor)
	return d.flowAll(ctx, unshuffled(&dst, factor), from, from.shape.Whole(), steps, radii)
}

// flowAll takes the steps, with these radii unless they are nil, on every batch entry.
func (d *host) flowAll(ctx context.Context, dst, src flowImage, region backend.Region, steps []step, radii []backend.CodedRadii) error {
	own := make([]flowStep, len(steps))
	for k, s := range steps {
		f := s.Filter
		own[k] = flowStep{forward: f.forwardBank(), back: f.adjointBank(), slope: 1, size: s.Size, tableau: s.Tableau}
		if s.Activation.Kind == backend.LeakyReLU {
			own[k].slope = s.Activation.Slope
		}
		own[k].bias = make([]float32, own[k].forward.padded())
		if s.Bias != nil {
			copy(own[k].bias, s.Bias.Data)
		}
		switch {
		case radii != nil:
			own[k].projectMap(&radiusMap{shape: radii[k].Shape, coded: radii[k]})
		case s.Radius != nil:
			own[k].project(s.Radius)
		}
	}
	p := newFlowPlan(own, src.shape.C, dst.shape.C)
	for n := range dst.shape.N {
		if err := d.flow(backend.PartOfProgress(ctx, n, dst.shape.N), dst, src, n, region, p); err != nil {
			return err
		}
	}
	return nil
}

// fusedBalls tells whether the kernels project so many channels onto balls of radii of
// this shape. It looks at shapes only, so that a network has the same bits at any size
// of image.
func fusedBalls(channels int, radius backend.Shape) bool {
	r := radius.C
	if channels%r != 0 {
		return false
	}
	if radius != backend.Vector(r) {
		return winograd.ProjectsMaps(channels / r)
	}
	return winograd.Projects(channels / r)
}
