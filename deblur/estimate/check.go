package estimate

import (
	"context"
	"math"
	"slices"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/parallel"
	"github.com/averaged/imaging/internal/symmetry"
)

// Misfit is the misfit of a kernel to a photograph, with the sharpest image that the kernel allows. It is the
// root mean square of y − x∗k over differences of neighbouring samples, divided by that of the noise.
type Misfit struct {
	Given   float64 // of the kernel
	Inverse float64 // of the kernel with black and white exchanged
	// Turned is the smallest misfit of the kernel turned or flipped, and Orientation says how. It is +Inf if all turns and
	// flips leave the kernel as it is.
	Turned      float64
	Orientation Orientation
	// Likeness is the similarity of the kernel, in the orientation that fits best, to the result of a few steps of
	// estimation from it; 1 is equal.
	Likeness float64
}

// Orientation is how a picture of a kernel is turned or flipped.
type Orientation string

// The orientations of pictures that are wrong. Correlation in the place of convolution makes a HalfTurn, and an array whose
// columns come first is Exchanged.
const (
	HalfTurn         Orientation = "turned by 180 degrees"
	Clockwise        Orientation = "turned clockwise by 90 degrees"
	CounterClockwise Orientation = "turned counter-clockwise by 90 degrees"
	UpsideDown       Orientation = "flipped upside down"
	LeftToRight      Orientation = "flipped left to right"
	Exchanged        Orientation = "with rows and columns exchanged"
	ExchangedTurned  Orientation = "with rows and columns exchanged, and turned by 180 degrees"
)

// orientations are the names of the symmetries of a square after the first.
var orientations = [symmetry.Number - 1]Orientation{Exchanged, UpsideDown, Clockwise, LeftToRight, CounterClockwise, HalfTurn, ExchangedTurned}

// Check measures the misfit of a kernel on the part of a photograph that has most edges. pix is as in Kernel.
// sigma is the standard deviation of the noise, above 0. ok is false if the photograph is too small for the
// kernel, or has no edge.
func Check(ctx context.Context, pix []float32, channels, h, w int, k deblur.Kernel, sigma float64, threads int) (m Misfit, ok bool, err error) {
	if err := checkPhotograph(pix, channels, h, w, Options{}); err != nil {
		return m, false, err
	}
	reach := max(k.CY, k.H-1-k.CY, k.CX, k.W-1-k.CX)
	if min(h, w) < max(minImage, 3*reach) || !(sigma > 0) || k.Check() != nil {
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
	inverse := newSupport(reach)
	top := float64(slices.Max(k.Weights))
	for i, v := range k.Weights {
		// A box of one grey has only rounding there.
		if d := top - float64(v); d > top/100 {
			inverse.k[(i/k.W-k.CY+reach)*s.side()+i%k.W-k.CX+reach] = d
		}
	}
	misfit := func(k support) (float64, error) {
		if k.normalise() == 0 {
			return math.Inf(1), nil
		}
		left, err := e.leaves(part, k)
		return left / (math.Sqrt2 * sigma), err
	}
	if m.Given, err = misfit(s); err != nil {
		return m, false, err
	}
	if m.Inverse, err = misfit(inverse); err != nil {
		return m, false, err
	}
	m.Turned = math.Inf(1)
	best := s
	for i, orientation := range orientations {
		turned := newSupport(reach)
		symmetry.Apply(symmetry.Symmetry(i+1), turned.k, s.k, s.side())
		if slices.Equal(turned.k, s.k) {
			continue
		}
		of, err := misfit(turned)
		if err != nil {
			return m, false, err
		}
		if of < m.Turned {
			m.Turned, m.Orientation = of, orientation
			if of < m.Given {
				best = turned
			}
		}
	}
	m.Likeness, err = e.keeps(part, best)
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
