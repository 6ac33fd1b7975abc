package estimate

import (
	"context"
	"math"
	"slices"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/parallel"
)

// Misfit is the misfit of a kernel to a photograph, with the sharpest image that the kernel allows. It is the
// root mean square of y − x∗k over differences of neighbouring samples, divided by that of the noise.
type Misfit struct {
	Given   float64 // of the kernel
	Turned  float64 // of the kernel turned by 180 degrees, as if convolution had been taken for correlation
	Inverse float64 // of the kernel with black and white exchanged
	// Likeness is the similarity of the kernel to the result of a few steps of estimation from it; 1 is
	// equal.
	Likeness float64
}

// Check measures the misfit of a kernel on the part of a photograph that has most edges. pix is as in Kernel.
// sigma is the standard deviation of the noise, above 0. ok is false if the photograph is too small for the
// kernel, or has no edge.
func Check(ctx context.Context, pix []float32, channels, h, w int, k deblur.Kernel, sigma float64, threads int) (m Misfit, ok bool, err error) {
	reach := max(k.CY, k.H-1-k.CY, k.CX, k.W-1-k.CX)
	if min(h, w) < max(leastImage, 3*reach) || !(sigma > 0) || k.Check() != nil {
		return m, false, nil
	}
	sigma *= noiseOfGrey(channels)
	part := pieces(grey(pix, channels, h, w), reach)[0]
	pool := parallel.New(threads)
	defer pool.Close()
	e := &estimation{ctx: ctx, pool: pool, edges: edgesFor(sigma), tell: func(float64) error { return nil }}
	s := supportOf(k, reach)
	for i, v := range s.k {
		s.k[i] = max(v, 0)
	}
	if s.normalise() == 0 {
		return m, false, nil
	}
	turned := support{reach, slices.Clone(s.k)}
	slices.Reverse(turned.k)
	inverse := newSupport(reach)
	top := float64(slices.Max(k.Weights))
	for i, v := range k.Weights {
		// A box of one grey has only rounding there.
		if d := top - float64(v); d > top/100 {
			inverse.k[(i/k.W-k.CY+reach)*s.side()+i%k.W-k.CX+reach] = d
		}
	}
	for _, of := range []struct {
		kernel support
		to     *float64
	}{{s, &m.Given}, {turned, &m.Turned}, {inverse, &m.Inverse}} {
		if of.kernel.normalise() == 0 {
			*of.to = math.Inf(1)
			continue
		}
		left, err := e.leaves(part, of.kernel)
		if err != nil {
			return m, false, err
		}
		*of.to = left / (math.Sqrt2 * sigma)
	}
	m.Likeness, err = e.keeps(part, s)
	return m, err == nil && !math.IsNaN(m.Given), err
}

// leaves is the root mean square of the differences that a kernel leaves of a part.
func (e *estimation) leaves(p part, s support) (float64, error) {
	levels, err := e.levels([]part{p}, 0, s.r)
	if err != nil {
		return 0, err
	}
	m := newMoments(s.r)
	for range checkSteps {
		if err := e.ctx.Err(); err != nil {
			return 0, err
		}
		if err := levels[0].sharpen(s, e.edges); err != nil {
			return 0, err
		}
	}
	err = m.measure(levels[0], s)
	return math.Sqrt(m.left / m.data), err
}

// checkSteps is how many image steps are made; what is beyond the frame follows from the one before.
const checkSteps = 2

// keeps makes steps of image and kernel at half size from a kernel on, and returns how like it is to
// what comes out.
func (e *estimation) keeps(p part, s support) (float64, error) {
	given, found, _, err := e.follow(p, s, keepSteps)
	if err != nil {
		return 0, err
	}
	return likeness(found.softened(binomial), given.softened(binomial), 2), nil
}

const keepSteps = 4
