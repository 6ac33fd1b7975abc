package cpu

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu/internal/winograd"
	"github.com/averaged/imaging/backend/devicekit"
)

// ConvolutionGrid implements backend.Convolutions.
func (d *Device) ConvolutionGrid() int { return winograd.Tile }

// GradientFlow implements backend.Convolutions. 3×3 filters take the fused path, those
// with projections onto balls for the groups that the kernels take.
func (d *Device) GradientFlow(ctx context.Context, dst, src backend.Buffer, region backend.Region, steps []backend.FlowStep) error {
	for _, s := range steps {
		f, err := d.ownFilter(s.Filter)
		if err != nil {
			return err
		}
		if f.forward3 == nil || s.Radius != nil && !fusedBalls(f.shape.N, s.Radius.Shape()) {
			return devicekit.GradientFlowByLayers(ctx, d, dst, src, region, steps)
		}
	}
	return d.operate(func(b []*buffer) error {
		if err := devicekit.CheckGradientFlow(b[0].shape, b[1].shape, region, steps); err != nil {
			return err
		}
		return d.flowAll(ctx, asItIs(b[0]), asItIs(b[1]), region, steps, nil)
	}, dst, src)
}

// MakesShuffledFlow implements backend.ShuffledFlows: steps that are fused.
func (d *Device) MakesShuffledFlow(steps []backend.FlowStep, radii []backend.CodedRadii) bool {
	if radii != nil && len(radii) != len(steps) {
		return false
	}
	for k, s := range steps {
		f, err := d.ownFilter(s.Filter)
		switch {
		case err != nil || f.forward3 == nil:
			return false
		case radii != nil:
			if radii[k].Shape.C < 1 || !fusedBalls(f.shape.N, radii[k].Shape) {
				return false
			}
		case s.Radius != nil && !fusedBalls(f.shape.N, s.Radius.Shape()):
			return false
		}
	}
	return true
}

// ShuffledFlow implements backend.ShuffledFlows.
func (d *Device) ShuffledFlow(ctx context.Context, dst, src backend.Buffer, factor int, steps []backend.FlowStep, radii []backend.CodedRadii) error {
	return d.operate(func(b []*buffer) error {
		// The square of the factor, times channels, is to be a number.
		if s := b[1].shape; factor < 1 || factor > math.MaxInt16 || b[0].shape != s || !d.MakesShuffledFlow(steps, radii) {
			return fmt.Errorf("%w: a flow of %d steps from %v to %v, shuffled by %d", backend.ErrArgument, len(steps), s, b[0].shape, factor)
		}
		to, from := unshuffled(b[0], factor), unshuffled(b[1], factor)
		own := steps
		if radii != nil {
			own = slices.Clone(steps)
			for k, r := range radii {
				own[k].Radius = nil
				if err := devicekit.CheckCodedRadii(from.shape, own[k], r); err != nil {
					return err
				}
			}
		}
		if err := devicekit.CheckGradientFlow(to.shape, from.shape, from.shape.Whole(), own); err != nil {
			return err
		}
		return d.flowAll(ctx, to, from, from.shape.Whole(), own, radii)
	}, dst, src)
}

// flowAll takes the steps, with these radii unless they are nil, on every batch entry.
func (d *Device) flowAll(ctx context.Context, dst, src flowImage, region backend.Region, steps []backend.FlowStep, radii []backend.CodedRadii) error {
	if err := apart(dst.fine, src.fine); err != nil {
		return err
	}
	own := make([]flowStep, len(steps))
	for k, s := range steps {
		f, err := d.ownFilter(s.Filter)
		if err != nil {
			return err
		}
		own[k] = flowStep{forward: f.forwardBank(), back: f.adjointBank(), slope: 1, size: s.Size, tableau: s.Tableau}
		if s.Activation.Kind == backend.LeakyReLU {
			own[k].slope = s.Activation.Slope
		}
		own[k].bias = make([]float32, own[k].forward.padded())
		if s.Bias != nil {
			bias, err := d.ownApart(s.Bias, dst.fine)
			if err != nil {
				return err
			}
			copy(own[k].bias, bias.data)
		}
		switch {
		case radii != nil:
			own[k].projectMap(&radiusMap{shape: radii[k].Shape, coded: radii[k]})
		case s.Radius != nil:
			radius, err := d.ownApart(s.Radius, dst.fine)
			if err != nil {
				return err
			}
			own[k].project(radius)
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

// ownApart returns a buffer of the device that shares no memory with dst.
func (d *Device) ownApart(b backend.Buffer, dst *buffer) (*buffer, error) {
	own, err := d.own(b)
	if err != nil {
		return nil, err
	}
	return own, apart(dst, own)
}
