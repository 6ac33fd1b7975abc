package devicekit

import (
	"context"
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

// GradientFlowByLayers is GradientFlow made of the other operations of dev, one layer
// after the other over the region and its halo: what a device does that has no
// fused path, and what the fused paths are tested against.
func GradientFlowByLayers(ctx context.Context, dev backend.Device, dst, src backend.Buffer, region backend.Region, steps []backend.FlowStep) error {
	if dst == nil || src == nil {
		return fmt.Errorf("%w: a gradient flow needs a destination and a source", backend.ErrArgument)
	}
	if err := CheckGradientFlow(dst.Shape(), src.Shape(), region, steps); err != nil {
		return err
	}
	sources := []backend.Buffer{src}
	for _, s := range steps {
		sources = append(sources, s.Bias, s.Radius)
	}
	if err := CheckApart(dev, dst, sources...); err != nil {
		return err
	}
	full := src.Shape()
	g := dev.ConvolutionGrid()
	cut := backend.StepsReach(region, steps, g, full)
	cut.Y0 -= cut.Y0 % g // keeps the grid where it is in the whole image
	cut.X0 -= cut.X0 % g
	h, w := cut.Size()

	var owned []backend.Buffer
	defer func() {
		for _, b := range owned {
			b.Free()
		}
	}()
	alloc := func(s backend.Shape) (backend.Buffer, error) {
		b, err := dev.Alloc(s)
		if err == nil {
			owned = append(owned, b)
		}
		return b, err
	}
	width := steps[0].Filter.Shape().C
	z, err := alloc(backend.Shape{N: full.N, C: width, H: h, W: w})
	if err != nil {
		return err
	}
	if err := dev.CopyRegion(z, 0, 0, src, cut); err != nil {
		return err
	}
	// radii are the maps cut like the image, and the vectors as they are.
	radii := make([]backend.Buffer, len(steps))
	for k, s := range steps {
		if radii[k] = s.Radius; s.Radius == nil || s.Radius.Shape().Plane() == 1 || cut == full.Whole() {
			continue
		}
		if radii[k], err = alloc(backend.Shape{N: full.N, C: s.Radius.Shape().C, H: h, W: w}); err != nil {
			return err
		}
		if err := dev.CopyRegion(radii[k], 0, 0, s.Radius, cut); err != nil {
			return err
		}
	}
	var u backend.Buffer
	// Of Y_i and z⁺ in the making, only what a step of several stages needs.
	points, next := []backend.Buffer(nil), backend.Buffer(nil)
	for k, s := range steps {
		if hidden := s.Filter.Shape().N; u == nil || u.Shape().C != hidden {
			if u, err = alloc(backend.Shape{N: full.N, C: hidden, H: h, W: w}); err != nil {
				return err
			}
		}
		stages := s.Tableau.Stages()
		for len(points) < stages {
			points = append(points, nil)
		}
		for i := 1; i < stages; i++ {
			if points[i] == nil {
				if points[i], err = alloc(z.Shape()); err != nil {
					return err
				}
			}
		}
		end := z
		if stages > 1 {
			if next == nil {
				if next, err = alloc(z.Shape()); err != nil {
					return err
				}
			}
			end = next
		}
		begun := map[backend.Buffer]bool{z: true} // of the sums, those that have more than z
		for i := range stages {
			if err := ctx.Err(); err != nil {
				return err
			}
			y := z
			if i > 0 {
				y = points[i]
			}
			if err := dev.Convolve(u, y, s.Filter, backend.ConvEnd{Bias: s.Bias, Activation: s.Activation}); err != nil {
				return err
			}
			if radii[k] != nil {
				if err := dev.ProjectBalls(u, u, radii[k]); err != nil {
					return err
				}
			}
			add := func(to backend.Buffer, coefficient float64) error {
				start := z
				if begun[to] {
					start = to
				}
				begun[to] = true
				return dev.AddAdjoint(to, start, u, s.Filter, StepFraction(s.Size, coefficient))
			}
			for j := i + 1; j < stages; j++ {
				a := s.Tableau.A[j][i]
				switch {
				case a != 0:
					err = add(points[j], a)
				case j == i+1 && !begun[points[j]]:
					err = dev.LinearCombination(points[j], backend.Term{A: 1, X: z})
				}
				if err != nil {
					return err
				}
			}
			if err := add(end, s.Tableau.Weight(i)); err != nil {
				return err
			}
		}
		if stages > 1 {
			z, next = next, z
		}
	}
	inside := backend.Region{
		Y0: region.Y0 - cut.Y0, Y1: region.Y1 - cut.Y0,
		X0: region.X0 - cut.X0, X1: region.X1 - cut.X0,
	}
	return dev.CopyRegion(dst, region.Y0, region.X0, z, inside)
}

// CheckApart returns an error unless dev can use dst and the sources, some of which may be nil, and
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

// StepFraction returns −size·coefficient, the factor of a stage's Aᵀσ in a sum,
// rounded once.
func StepFraction(size float32, coefficient float64) float32 {
	return float32(-float64(size) * coefficient)
}
