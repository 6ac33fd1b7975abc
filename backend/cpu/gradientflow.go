package cpu

import (
	"context"

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
		if err := apart(b[0], b[1]); err != nil {
			return err
		}
		own := make([]flowStep, len(steps))
		for k, s := range steps {
			f, err := d.ownFilter(s.Filter)
			if err != nil {
				return err
			}
			own[k] = flowStep{forward: f.forward3, back: f.adjoint3, slope: 1, size: s.Size, tableau: s.Tableau}
			if s.Activation.Kind == backend.LeakyReLU {
				own[k].slope = s.Activation.Slope
			}
			own[k].bias = make([]float32, own[k].forward.padded())
			if s.Bias != nil {
				bias, err := d.ownApart(s.Bias, b[0])
				if err != nil {
					return err
				}
				copy(own[k].bias, bias.data)
			}
			if s.Radius != nil {
				radius, err := d.ownApart(s.Radius, b[0])
				if err != nil {
					return err
				}
				own[k].project(radius)
			}
		}
		p := newFlowPlan(own, b[1].shape.C, b[0].shape.C)
		for n := range b[0].shape.N {
			if err := d.flow(backend.PartOfProgress(ctx, n, b[0].shape.N), b[0], b[1], n, region, p); err != nil {
				return err
			}
		}
		return nil
	}, dst, src)
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
