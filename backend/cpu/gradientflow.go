package cpu

import (
	"context"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu/internal/winograd"
)

// ConvolutionGrid implements backend.Convolutions.
func (d *Device) ConvolutionGrid() int { return winograd.Tile }

// GradientFlow implements backend.Convolutions. 3×3 filters take the fused path.
func (d *Device) GradientFlow(ctx context.Context, dst, src backend.Buffer, region backend.Region, steps []backend.FlowStep) error {
	for _, s := range steps {
		f, err := d.ownFilter(s.Filter)
		if err != nil {
			return err
		}
		if f.forward3 == nil || s.Radius != nil {
			return backend.GradientFlowByLayers(ctx, d, dst, src, region, steps)
		}
	}
	return d.operate(func(b []*buffer) error {
		if err := backend.CheckGradientFlow(b[0].shape, b[1].shape, region, steps); err != nil {
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
			own[k] = flowStep{forward: f.forward3, adjoint: f.adjoint3, slope: 1, size: s.Size, tableau: s.Tableau}
			if s.Activation.Kind == backend.LeakyReLU {
				own[k].slope = s.Activation.Slope
			}
			own[k].bias = make([]float32, own[k].forward.padded())
			if s.Bias == nil {
				continue
			}
			bias, err := d.own(s.Bias)
			if err != nil {
				return err
			}
			if err := apart(b[0], bias); err != nil {
				return err
			}
			copy(own[k].bias, bias.data)
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
