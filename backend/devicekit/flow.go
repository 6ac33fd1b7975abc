package devicekit

import (
	"context"
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/arguments"
	"github.com/averaged/imaging/internal/fallback"
)

// steps returns the device's own of steps, and the buffers that they read. With radii the steps have
// none of their own.
func (c *call[M, F]) steps(steps []backend.FlowStep, coded bool) ([]FlowStep[M, F], []*buffer[M, F]) {
	own := make([]FlowStep[M, F], len(steps))
	var reads []*buffer[M, F]
	for k, s := range steps {
		if coded {
			s.Radius = nil
		}
		bias, numbers := c.optional(s.Bias)
		radius, radii := c.optional(s.Radius)
		own[k] = FlowStep[M, F]{
			Filter: c.filter(s.Filter).own, Bias: numbers, Radius: radii,
			Activation: s.Activation, Size: s.Size, Tableau: s.Tableau,
		}
		reads = append(reads, bias, radius)
	}
	return own, reads
}

// GradientFlow implements backend.Convolutions.
func (d *Device[M, F]) GradientFlow(ctx context.Context, dst, src backend.Buffer, region backend.Region, steps []backend.FlowStep) error {
	if fused, err := d.fusedFlow(ctx, dst, src, region, steps); fused || err != nil {
		return err
	}
	return fallback.GradientFlow(ctx, d, dst, src, region, steps)
}

// fusedFlow makes a gradient flow if the kernels take it.
func (d *Device[M, F]) fusedFlow(ctx context.Context, dst, src backend.Buffer, region backend.Region, steps []backend.FlowStep) (bool, error) {
	c := d.begin()
	defer c.end()
	to, from := c.buffer(dst), c.buffer(src)
	own, reads := c.steps(steps, false)
	if c.err == nil {
		c.err = arguments.CheckGradientFlow(to.shape, from.shape, region, steps)
	}
	c.apart(to, append(reads, from)...)
	if c.err != nil {
		return false, c.err
	}
	k, ok := d.kernels.(Flows[M, F])
	if !ok || !k.MakesFlow(own) {
		return false, nil
	}
	return true, k.GradientFlow(ctx, to.array(), from.array(), region, own)
}

// MakesShuffledFlow implements backend.ShuffledFlows.
func (d *Device[M, F]) MakesShuffledFlow(steps []backend.FlowStep, radii []backend.CodedRadii) bool {
	c := d.begin()
	defer c.end()
	own, _ := c.steps(steps, radii != nil)
	_, ok := c.shuffledFlows(own, radii)
	return ok
}

// shuffledFlows returns the kernels that make a shuffled flow, if there are some and all is right so
// far.
func (c *call[M, F]) shuffledFlows(steps []FlowStep[M, F], radii []backend.CodedRadii) (ShuffledFlows[M, F], bool) {
	k, ok := c.device.kernels.(ShuffledFlows[M, F])
	if !ok || c.err != nil || radii != nil && len(radii) != len(steps) {
		return nil, false
	}
	for _, r := range radii {
		if r.Shape.C < 1 {
			return nil, false
		}
	}
	return k, k.MakesShuffledFlow(steps, radii)
}

// ShuffledFlow implements backend.ShuffledFlows.
func (d *Device[M, F]) ShuffledFlow(ctx context.Context, dst, src backend.Buffer, factor int, steps []backend.FlowStep, radii []backend.CodedRadii) error {
	c := d.begin()
	defer c.end()
	to, from := c.buffer(dst), c.buffer(src)
	own, reads := c.steps(steps, radii != nil)
	c.apart(to, append(reads, from)...)
	k, makes := c.shuffledFlows(own, radii)
	if c.err != nil {
		return c.err
	}
	// The square of the factor, times channels, is to be a number.
	if factor < 1 || factor > math.MaxInt16 || to.shape != from.shape || !makes {
		return fmt.Errorf("%w: a flow of %d steps from %v to %v, shuffled by %d", backend.ErrArgument, len(steps), from.shape, to.shape, factor)
	}
	coarse, plain := from.shape.Unshuffled(factor), steps
	if radii != nil {
		plain = append([]backend.FlowStep(nil), steps...)
		for i, r := range radii {
			plain[i].Radius = nil
			if err := arguments.CheckCodedRadii(coarse, plain[i], r); err != nil {
				return err
			}
		}
	}
	if err := arguments.CheckGradientFlow(coarse, coarse, coarse.Whole(), plain); err != nil {
		return err
	}
	return k.ShuffledFlow(ctx, to.array(), from.array(), factor, own, radii)
}
