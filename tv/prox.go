package tv

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/arguments"
)

// Options of a Prox. Alpha has no default; for everything else the zero value is useful.
type Options struct {
	// Alpha is the weight of total variation, at least 0, in the units of the image; with 0 the map is the
	// identity. Tuned returns one for a noise level.
	Alpha float64
	// Coupling of the channels; the zero value is Opponent(0).
	Coupling Coupling
	// RelativeGap is the duality gap, divided by the primal objective, at which Apply stops; 0 means
	// DefaultRelativeGap.
	RelativeGap float64
	// MaxIterations is the largest number of iterations per group of channels; 0 means DefaultMaxIterations.
	// Reaching it is not an error: Report says so.
	MaxIterations int
	// Progress is called after every evaluation of the gap. Residual is the relative gap of one group of
	// channels after the other.
	Progress backend.ProgressFunc
}

// Defaults of Options.
const (
	DefaultRelativeGap   = 1e-4
	DefaultMaxIterations = 5000
)

// pair is a primal and a dual point of one group.
type pair struct{ u, p backend.Buffer }

// ErrNotFinite is returned, wrapped, for images that hold NaN or infinite values,
// or values so large that float32 cannot hold their squares.
var ErrNotFinite = errors.New("tv: the image is not finite")

// Prox is the proximal map of α·TV for images of one shape on one device. It keeps
// buffers, and the solution of the last ApplyWithin. Not safe for concurrent
// use.
type Prox struct {
	dev     backend.Device
	shape   backend.Shape
	options Options
	groups  []group
	inverse []float32 // back from the groups' axes to the channels, or nil

	mixed backend.Buffer // y on the axes of one group
	cold  backend.Buffer // the dual variable of one group, for Apply
	warm  []pair         // the last solution of every group, for ApplyWithin
	// solved: warm holds solutions, not zeros. moved: α has changed since.
	solved, moved bool

	report Report
}

// New returns the proximal map for images of the given shape with N = 1. It takes no memory of the device
// yet. Apply takes three times the channels of the largest group, in planes of one channel. ApplyWithin takes
// three times the channels of the image and once those of the largest group. If a Coupling keeps the channels'
// axes, each takes once those of the largest group less.
func New(dev backend.Device, shape backend.Shape, options Options) (*Prox, error) {
	if err := arguments.CheckDevice("tv", dev); err != nil {
		return nil, err
	}
	if err := shape.Check(); err != nil {
		return nil, err
	}
	if shape.N != 1 {
		return nil, fmt.Errorf("%w: total variation of %v, N must be 1", backend.ErrShape, shape)
	}
	if err := checkAlpha(options.Alpha); err != nil {
		return nil, err
	}
	if err := options.Coupling.check(shape.C); err != nil {
		return nil, err
	}
	if g := options.RelativeGap; !(g >= 0) || math.IsInf(g, 1) {
		return nil, fmt.Errorf("tv: relative gap %v, must be positive, or 0 for %v", g, DefaultRelativeGap)
	}
	if options.MaxIterations < 0 {
		return nil, fmt.Errorf("tv: at most %d iterations, must be positive, or 0 for %d", options.MaxIterations, DefaultMaxIterations)
	}
	if options.RelativeGap == 0 {
		options.RelativeGap = DefaultRelativeGap
	}
	if options.MaxIterations == 0 {
		options.MaxIterations = DefaultMaxIterations
	}
	p := &Prox{dev: dev, shape: shape, options: options, groups: options.Coupling.groups(shape.C, options.Alpha)}
	if options.Coupling.changesAxes(shape.C) {
		p.inverse = transposed(cosineBasis(shape.C), shape.C)
	}
	return p, nil
}

// checkAlpha returns an error unless α is a weight that float32 holds.
func checkAlpha(alpha float64) error {
	if !(alpha >= 0) || alpha > math.MaxFloat32 {
		return fmt.Errorf("tv: α = %v, must be a finite number of at least 0", alpha)
	}
	return nil
}

// SetAlpha changes α for the following calls, for a program that tries several on one image. ApplyWithin
// still starts at the last solution.
func (p *Prox) SetAlpha(alpha float64) error {
	if err := checkAlpha(alpha); err != nil {
		return err
	}
	p.options.Alpha = alpha
	p.groups = p.options.Coupling.groups(p.shape.C, alpha)
	p.moved = true
	return nil
}

// Alpha returns α.
func (p *Prox) Alpha() float64 { return p.options.Alpha }

// Averagedness returns ½ and true: a proximal map is firmly nonexpansive (Moreau
// 1965). What is computed differs from it by at most the error of the last call.
func (p *Prox) Averagedness() (alpha float64, proven bool) { return 0.5, true }

// Report tells how the last call of Apply or ApplyWithin was solved.
func (p *Prox) Report() Report { return p.report }

// Free gives the device's memory back. The Prox remains usable and starts anew.
func (p *Prox) Free() {
	for _, b := range []backend.Buffer{p.mixed, p.cold} {
		if b != nil {
			b.Free()
		}
	}
	p.mixed, p.cold = nil, nil
	p.forget()
}

// Apply sets dst = prox(src) to the options' relative gap. dst and src have the
// shape of the Prox and share no memory. The result does not depend on earlier
// calls. After an error the contents of dst are undefined.
func (p *Prox) Apply(ctx context.Context, dst, src backend.Buffer) error {
	return p.solve(ctx, dst, src, func(i int) (start, error) {
		if p.cold == nil {
			b, err := p.dev.Alloc(p.plane(2 * p.largestGroup()))
			if err != nil {
				return start{}, err
			}
			p.cold = b
		}
		d, err := p.dev.Channels(p.cold, 0, 2*p.groups[i].count)
		if err != nil {
			return start{}, err
		}
		return start{p: d}, p.dev.Fill(d, 0)
	}, func(_ group, primal float64) float64 {
		return p.options.RelativeGap * primal
	})
}

// ApplyWithin sets dst = prox(src) with an error of at most maxError in the Euclidean norm over all elements.
// It starts at the solution of the call before. It returns a bound of the actual error,
//
//	√(2·gap) plus rounding,
//
// by strong convexity. The bound is above maxError if float32 allows no smaller error (see the package
// comment) or the iterations ran out; Report tells which. The error is that against the prox for α rounded to
// float32. dst and src have the shape of the Prox and share no memory. After an error the contents of dst are
// undefined.
func (p *Prox) ApplyWithin(ctx context.Context, dst, src backend.Buffer, maxError float64) (errorBound float64, err error) {
	if !(maxError >= 0) {
		return 0, fmt.Errorf("tv: error of at most %v asked for, must be at least 0", maxError)
	}
	if err := p.remember(); err != nil {
		return 0, err
	}
	var norm [1]float64
	if err := p.dev.Reduce(norm[:], backend.Reduction{Kind: backend.SumSquares, X: src}); err != nil {
		return 0, err
	}
	rounding := p.rounding(math.Sqrt(norm[0]))
	// What is left for the gaps, shared by the groups in proportion to their size.
	gap := maxError - rounding
	gap = max(gap, 0) * max(gap, 0) / 2
	err = p.solve(ctx, dst, src, func(i int) (start, error) {
		return start{p: p.warm[i].p, u: p.warm[i].u, warm: p.solved, project: p.moved}, nil
	}, func(g group, primal float64) float64 {
		return gap*float64(g.count)/float64(p.shape.C) - p.summation(primal)
	})
	if err != nil {
		// Some groups may have gone on and others not, or hold NaN.
		p.forget()
		return 0, err
	}
	p.solved, p.moved = true, false
	return math.Sqrt(2*(p.report.Gap+p.summation(p.report.Primal+p.report.Gap))) + rounding, nil
}

// Rounding bounds the part of ApplyWithin's error that no iteration reduces, for images with ‖x‖ ≤ size and
// the shape of the Prox: the rounding outside the gap, and of the gap.
func (p *Prox) Rounding(_ context.Context, size float64, _ backend.Shape) (bound float64, err error) {
	// The primal objective at the solution is at most that at 0.
	return p.rounding(size) + math.Sqrt(2*p.summation(size*size/2)), nil
}

// summation bounds what the float64 arithmetic of the gap is off by. It is a residual and the
// difference of a variation and a product, none of them, nor the sum of the moduli of the
// product, more than a few times the primal objective; no term passes through more additions
// than the image has rows and columns (backend.TVValue), and through few other operations.
func (p *Prox) summation(primal float64) float64 {
	return 8 * float64(p.shape.H+p.shape.W+64) * 0x1p-53 * primal
}

// remember allocates the buffers that keep the solutions.
func (p *Prox) remember() error {
	if p.warm != nil {
		return nil
	}
	p.warm = make([]pair, len(p.groups))
	for i, g := range p.groups {
		u, err := p.dev.Alloc(p.plane(g.count))
		if err != nil {
			p.forget()
			return err
		}
		p.warm[i].u = u
		if p.warm[i].p, err = p.dev.Alloc(p.plane(2 * g.count)); err != nil {
			p.forget()
			return err
		}
	}
	return nil
}

// forget gives back what remember has allocated.
func (p *Prox) forget() {
	for _, w := range p.warm {
		for _, b := range []backend.Buffer{w.u, w.p} {
			if b != nil {
				b.Free()
			}
		}
	}
	p.warm, p.solved, p.moved = nil, false, false
}

// rounding bounds what the float32 arithmetic outside the gap adds to the error of
// the result, for an image of the given norm.
//
// The gap is that of the u and p at hand, computed in float64, with p scaled back
// into its balls. Scaling moves p by at most 2⁻²¹·α a pixel, and y − ∇ᵀp, which
// is in the gap's residual, by √8 times as much. A change of axes and the way
// back are sums of C products with rounded coefficients: each has an error of at
// most (C+1)·2⁻²⁴·√C times the norm, and the prox does not expand the first one.
func (p *Prox) rounding(norm float64) float64 {
	const eps = 0x1p-24
	weight := 0.0
	for _, g := range p.groups {
		weight += g.weight * g.weight * float64(g.count)
	}
	r := math.Sqrt(8) * 8 * eps * p.options.Alpha * math.Sqrt(weight*float64(p.shape.Plane()))
	if p.inverse != nil {
		c := float64(p.shape.C)
		r += 2.5 * (c + 1) * math.Sqrt(c) * eps * norm
	}
	return r
}

// plane is the shape of c channels of the images' size.
func (p *Prox) plane(c int) backend.Shape { return backend.Image(c, p.shape.H, p.shape.W) }

func (p *Prox) largestGroup() int {
	n := 0
	for _, g := range p.groups {
		n = max(n, g.count)
	}
	return n
}

// solve sets dst = prox(src), group by group. begin says where group i starts, and
// target the gap to reach for a group at a point.
func (p *Prox) solve(ctx context.Context, dst, src backend.Buffer, begin func(i int) (start, error),
	target func(g group, primal float64) float64) error {
	p.report = Report{}
	if d, s := arguments.ShapeOf(dst), arguments.ShapeOf(src); d != p.shape || s != p.shape {
		return fmt.Errorf("%w: total variation of %v into %v, made for %v", backend.ErrShape, s, d, p.shape)
	}
	if dst == src {
		return fmt.Errorf("%w: total variation of a buffer into itself", backend.ErrAlias)
	}
	fraction := 0.0
	for i, g := range p.groups {
		y, err := p.onAxes(src, g)
		if err != nil {
			return err
		}
		u, err := p.dev.Channels(dst, g.from, g.count)
		if err != nil {
			return err
		}
		from, err := begin(i)
		if err != nil {
			return err
		}
		alpha := p.options.Alpha * g.weight
		if err := checkAlpha(alpha); err != nil {
			return err
		}
		s := solver{
			dev: p.dev, u: u, y: y, start: from, limit: p.options.MaxIterations,
			problem: backend.TVProblem{Alpha: float32(alpha), Coupled: g.count > 1},
			target:  func(primal float64) float64 { return target(g, primal) },
		}
		if p.options.Progress != nil {
			first := -1.0
			s.progress = func(it int, relative float64) error {
				if first < 0 {
					first = relative
				}
				now := backend.Progress{Iteration: it, Residual: relative, Tolerance: p.options.RelativeGap}
				fraction = max(fraction, (float64(i)+now.Towards(first))/float64(len(p.groups)))
				now.Fraction = fraction
				return p.options.Progress(now)
			}
		}
		r, err := s.run(ctx)
		if err != nil {
			return err
		}
		r.From, r.Count, r.Alpha = g.from, g.count, alpha
		p.report.add(r)
	}
	if p.inverse == nil {
		return nil
	}
	return p.dev.MixChannels(dst, dst, p.inverse)
}

// onAxes returns the image on the axes of a group.
func (p *Prox) onAxes(src backend.Buffer, g group) (backend.Buffer, error) {
	if g.axes == nil {
		return p.dev.Channels(src, g.from, g.count)
	}
	if p.mixed == nil {
		b, err := p.dev.Alloc(p.plane(p.largestGroup()))
		if err != nil {
			return nil, err
		}
		p.mixed = b
	}
	y, err := p.dev.Channels(p.mixed, 0, g.count)
	if err != nil {
		return nil, err
	}
	return y, p.dev.MixChannels(y, src, g.axes)
}
