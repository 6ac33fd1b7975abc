package fallback

import (
	"context"
	"fmt"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/arguments"
)

// GradientFlow is backend.Convolutions' made of the other operations of dev, one layer
// after the other over the region and its halo: what a device does that has no
// fused path, and what the fused paths are tested against.
func GradientFlow(ctx context.Context, dev backend.Device, dst, src backend.Buffer, region backend.Region, steps []backend.FlowStep) error {
	if dst == nil || src == nil {
		return fmt.Errorf("%w: a gradient flow needs a destination and a source", backend.ErrArgument)
	}
	if err := arguments.CheckGradientFlow(dst.Shape(), src.Shape(), region, steps); err != nil {
		return err
	}
	sources := []backend.Buffer{src}
	for _, s := range steps {
		sources = append(sources, s.Bias, s.Radius)
	}
	if err := arguments.CheckApart(dev, dst, sources...); err != nil {
		return err
	}
	full := src.Shape()
	g := dev.ConvolutionGrid()
	cut := backend.StepsReach(region, steps, g, full)
	cut.Y0 -= cut.Y0 % g // keeps the grid where it is in the whole image
	cut.X0 -= cut.X0 % g
	h, w := cut.Size()

	own := newArrays(dev)
	defer own.freeAll()
	width := steps[0].Filter.Shape().C
	z, err := own.alloc(backend.Shape{N: full.N, C: width, H: h, W: w})
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
		if radii[k], err = own.alloc(backend.Shape{N: full.N, C: s.Radius.Shape().C, H: h, W: w}); err != nil {
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
			if u, err = own.alloc(backend.Shape{N: full.N, C: hidden, H: h, W: w}); err != nil {
				return err
			}
		}
		stages := s.Tableau.Stages()
		for len(points) < stages {
			points = append(points, nil)
		}
		for i := 1; i < stages; i++ {
			if points[i] == nil {
				if points[i], err = own.alloc(z.Shape()); err != nil {
					return err
				}
			}
		}
		end := z
		if stages > 1 {
			if next == nil {
				if next, err = own.alloc(z.Shape()); err != nil {
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
				return dev.AddAdjoint(to, start, u, s.Filter, backend.StepFraction(s.Size, coefficient))
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
