package arguments

import (
	"fmt"

	"github.com/averaged/imaging/backend"
)

// CheckGradientFlow returns an error that wraps ErrShape or ErrArgument unless the
// arguments of GradientFlow go together. It looks at shapes and numbers only.
func CheckGradientFlow(dst, src backend.Shape, region backend.Region, steps []backend.FlowStep) error {
	if err := region.Check(src); err != nil {
		return err
	}
	if dst.N != src.N || dst.H != src.H || dst.W != src.W {
		return fmt.Errorf("%w: a gradient flow from %v to %v", backend.ErrShape, src, dst)
	}
	if len(steps) == 0 {
		return fmt.Errorf("%w: no step of a gradient flow", backend.ErrArgument)
	}
	for k, s := range steps {
		if s.Filter == nil {
			return fmt.Errorf("%w: step %d of a gradient flow has no filter", backend.ErrArgument, k)
		}
		f := s.Filter.Shape()
		if f.C != steps[0].Filter.Shape().C || f.C < src.C || f.C < dst.C {
			return fmt.Errorf("%w: step %d of a gradient flow has a filter %v, from %v to %v", backend.ErrShape, k, f, src, dst)
		}
		if s.Bias != nil {
			if err := CheckBias(s.Bias.Shape(), f.N); err != nil {
				return err
			}
		}
		if err := s.Activation.Check(); err != nil {
			return err
		}
		if s.Radius != nil {
			if s.Activation.Kind != backend.Identity {
				return fmt.Errorf("%w: step %d of a gradient flow has both an activation and a projection onto balls", backend.ErrArgument, k)
			}
			if err := CheckBalls(backend.Shape{N: src.N, C: f.N, H: src.H, W: src.W}, s.Radius.Shape()); err != nil {
				return err
			}
		}
		if err := s.Tableau.Check(); err != nil {
			return err
		}
	}
	return nil
}

// CheckCodedRadii returns an error that wraps ErrShape or ErrArgument unless a step, without its Radius, can
// project an image of that shape onto balls of these radii.
func CheckCodedRadii(image backend.Shape, s backend.FlowStep, r backend.CodedRadii) error {
	switch {
	case s.Filter == nil:
		return fmt.Errorf("%w: a step of a gradient flow has no filter", backend.ErrArgument)
	case s.Activation.Kind != backend.Identity:
		return fmt.Errorf("%w: a step of a gradient flow has both an activation and a projection onto balls", backend.ErrArgument)
	case len(r.Codes) != r.Shape.Len() || len(r.Tables) != r.Shape.C:
		return fmt.Errorf("%w: %d codes and %d tables for radii of %v", backend.ErrShape, len(r.Codes), len(r.Tables), r.Shape)
	case r.Shape.H != image.H || r.Shape.W != image.W:
		return fmt.Errorf("%w: coded radii %v for %v", backend.ErrShape, r.Shape, image)
	}
	return CheckBalls(backend.Shape{N: image.N, C: s.Filter.Shape().N, H: image.H, W: image.W}, r.Shape)
}

// CheckApart asks dev. It returns an error unless dev can use dst and the sources, some of which may be nil, and
// dst shares no memory with any of them.
func CheckApart(dev backend.Device, dst backend.Buffer, sources ...backend.Buffer) error {
	for _, b := range sources {
		if b == nil {
			continue
		}
		shared, err := dev.Overlaps(dst, b)
		if err != nil {
			return err
		}
		if shared {
			return fmt.Errorf("%w: %v from %v", backend.ErrAlias, dst.Shape(), b.Shape())
		}
	}
	return nil
}
