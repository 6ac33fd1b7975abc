package denoise

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise/internal/rounding"
	"github.com/averaged/imaging/denoise/normbound"
	"github.com/averaged/imaging/denoise/rungekutta"
)

// ErrRange is wrapped by the error about a certified network that is refused because a number could
// overflow on the way, so that float32 computes something else than what is proven.
var ErrRange = errors.New("the network leaves the range of float32")

// RoundedDenoiser is a Denoiser that can bound what float32 adds to it. All denoisers of this package are
// RoundedDenoisers.
type RoundedDenoiser interface {
	Denoiser
	// Rounding bounds ‖Φ(x) as computed − Φ(x)‖, Euclidean over all elements, for every x of shape s with ‖x‖ ≤ size.
	// The error that ApplyWithin returns is not included. The bound is +Inf if nothing is proven: if the device does
	// not say how it computes (backend.Arithmetic), if the network has no certificate, or if size is above
	// rounding.MaxNorm. The first call for a network may take a second. It ends with ctx.
	Rounding(ctx context.Context, size float64, s backend.Shape) (bound float64, err error)
}

// rounded is what is known of Φ(x) as computed: its error, and a bound of ‖Φ(x)‖.
type rounded struct{ err, size float64 }

// nothing is what is known where nothing is proven.
var nothing = rounded{math.Inf(1), math.Inf(1)}

// rounder is what the denoisers of this package have behind RoundedDenoiser.
type rounder interface {
	round(ctx context.Context, size float64, s backend.Shape) (rounded, error)
}

func round(ctx context.Context, d Denoiser, size float64, s backend.Shape) (rounded, error) {
	if r, ok := d.(rounder); ok {
		return r.round(ctx, size, s)
	}
	return nothing, nil
}

// filterErrors are what rounding does to the convolutions of a model: found out when it is
// asked for, and kept.
type filterErrors struct {
	model  Model
	norms  []normbound.Bound
	device backend.Device
	mu     sync.Mutex
	found  []rounding.Convolution
}

func newFilterErrors(dev backend.Device, m Model, c Certificate) *filterErrors {
	f := &filterErrors{model: m, device: dev}
	for _, b := range c.Blocks {
		f.norms = append(f.norms, b.Norm)
	}
	return f
}

// get returns them, or false of a device that does not say how it computes.
func (f *filterErrors) get(ctx context.Context) ([]rounding.Convolution, bool, error) {
	arithmetic, ok := f.device.(backend.Arithmetic)
	if !ok {
		return nil, false, nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.found != nil {
		return f.found, true, nil
	}
	found := make([]rounding.Convolution, len(f.model.Blocks))
	for i, b := range f.model.Blocks {
		shape, first := f.model.filterShape(b), f.model.Width
		if i == 0 {
			first = f.model.lifted()
		}
		c, err := rounding.Remembered(ctx, b.Filter, shape, f.norms[i].Upper, arithmetic.ConvolutionAlgorithm(shape), first)
		if err != nil {
			return nil, false, err
		}
		found[i] = c
	}
	f.found = found
	return found, true, nil
}

// arithmetic is what rounding does to a plain network.
type arithmetic struct {
	model    Model
	network  rounding.Network // without the errors of its convolutions
	filters  *filterErrors
	implicit bool
	factor   int  // Model.Shuffle
	maps     bool // every pixel has radii of its own, and Radius is that of all pixels
}

// check returns an error that wraps ErrRange where a number could overflow.
func (a *arithmetic) check() error {
	n := a.network
	if a.maps { // at some pixel a radius may be as large as can be
		n.Blocks = append([]rounding.Block(nil), n.Blocks...)
		for i := range n.Blocks {
			n.Blocks[i].Radius = math.Inf(1)
		}
	}
	if err := n.Check(); err != nil {
		return fmt.Errorf("%w: %w", ErrRange, err)
	}
	return nil
}

// newArithmetic returns it for a plain model with a certificate that holds, and an error that wraps
// ErrRange where a number could overflow. The errors of filters are those given, or else of
// the model's own.
func newArithmetic(dev backend.Device, m Model, r float64, c Certificate, shared *filterErrors) (*arithmetic, error) {
	a := &arithmetic{model: m, filters: shared, implicit: m.implicit(), factor: m.factor()}
	if a.filters == nil {
		a.filters = newFilterErrors(dev, m, c)
	}
	a.network.A, a.network.B = m.Integrator.A, m.Integrator.B
	if a.implicit { // its gradient is the field of one stage
		a.network.A, a.network.B = [][]float64{{0}}, []float64{1}
	}
	for i, b := range m.Blocks {
		a.network.Blocks = append(a.network.Blocks, m.roundingBlock(dev, b, r, c.Blocks[i].Norm.Upper, c.Blocks[i].Steps))
	}
	if err := a.check(); err != nil {
		return nil, err
	}
	return a, nil
}

func (m Model) roundingBlock(dev backend.Device, b Block, r, norm float64, steps int) rounding.Block {
	shape := m.filterShape(b)
	algorithm := backend.ConvolutionAlgorithm{}
	if d, ok := dev.(backend.Arithmetic); ok {
		algorithm = d.ConvolutionAlgorithm(shape)
	}
	of := rounding.Block{
		Convolution: rounding.Convolution{Norm: norm, Growth: rounding.Growth(b.Filter, shape, algorithm)},
		Bias:        lengthOf(b.Bias), Rest: lengthOf(m.atRest(b)),
		Radius: math.Inf(1), Hidden: shape.N,
		Multiplied: m.Activation.Multiplies(),
		Size:       float64(rungekutta.StepSize(b.length(r), steps)), Steps: steps,
	}
	radii := b.Radius
	if radii == nil {
		radii = m.Activation.Radii(shape.N)
	}
	if radii != nil {
		of.Radius, of.Group = lengthOf(radii), shape.N/len(radii)
	}
	return of
}

// lengthOf returns an upper bound of ‖v‖.
func lengthOf[T float32 | float64](v []T) float64 {
	sum := 0.0
	for _, x := range v {
		sum = math.Hypot(sum, float64(x))
	}
	return sum * (1 + 1e-9)
}

// round bounds the errors for images of a norm and shape.
func (a *arithmetic) round(ctx context.Context, size float64, s backend.Shape) (rounded, error) {
	convolutions, ok, err := a.filters.get(ctx)
	if err != nil {
		return rounded{}, err
	}
	if a.factor > 1 {
		s = s.Unshuffled(a.factor)
	}
	pixels := float64(s.N) * float64(s.Plane())
	if !ok || !(size <= rounding.MaxNorm) || pixels > rounding.MaxPixels {
		return nothing, nil
	}
	root := math.Sqrt(pixels)
	n := a.network.With(convolutions)
	r := rounded{size: size + root*n.Shift()}
	if a.implicit {
		r.err = root * n.ImplicitError(size/root)
	} else {
		r.err = root * n.Error(size/root)
	}
	return r, nil
}

// rescaled returns the arithmetic of s·Φ(x/s) by biases and radii that are s times as large, or nil
// where that could overflow.
func (a *arithmetic) rescaled(s float64) *arithmetic {
	own := *a
	own.network.Blocks = append([]rounding.Block(nil), a.network.Blocks...)
	for i := range own.network.Blocks {
		b := &own.network.Blocks[i]
		b.Bias, b.Rest, b.Radius = s*b.Bias, s*b.Rest, s*b.Radius
	}
	if own.check() != nil {
		return nil
	}
	return &own
}

// frozen returns the arithmetic with radii for every pixel, of which total is the root of the
// sum of the squares for each block and pixels the number of pixels, or an error that wraps
// ErrRange where a number could overflow with radii as large as that.
func (a *arithmetic) frozen(total []float64, pixels float64) (*arithmetic, error) {
	own := *a
	own.maps = true
	own.network.Blocks = append([]rounding.Block(nil), a.network.Blocks...)
	for i := range own.network.Blocks {
		b := &own.network.Blocks[i]
		b.Rest, b.Radius = b.Bias, total[i]/math.Sqrt(pixels)
	}
	return &own, own.check()
}

func (n *Network) round(ctx context.Context, size float64, s backend.Shape) (rounded, error) {
	if n.arithmetic == nil {
		return nothing, nil
	}
	return n.arithmetic.round(ctx, size, s)
}

// round of (1−λ)x + λΦ(x): the factors are rounded, and so are products and sum.
func (r relaxed) round(ctx context.Context, size float64, s backend.Shape) (rounded, error) {
	inner, err := round(ctx, r.Denoiser, size, s)
	moduli := math.Abs(1-r.lambda)*size + r.lambda*(inner.size+inner.err)
	return rounded{r.lambda*inner.err + 4*rounding.Unit*moduli + underflow(s), moduli}, err
}

// round of s·Φ(x/s), by biases and radii, or by two products with rounded factors.
func (r rescaled) round(ctx context.Context, size float64, s backend.Shape) (rounded, error) {
	if n, ok := r.Denoiser.(*Network); ok && n.arithmetic != nil {
		if _, ok := n.body.(homogeneous); ok {
			if a := n.arithmetic.rescaled(r.s); a != nil {
				return a.round(ctx, size, s)
			}
			return nothing, nil
		}
	}
	// Φ is nonexpansive: that x/s is off by three roundings changes s·Φ(x/s) by as much of x.
	inner, err := round(ctx, r.Denoiser, (size/r.s)*(1+4*rounding.Unit), s)
	image := r.s * (inner.size + inner.err)
	return rounded{r.s*inner.err + 4*rounding.Unit*(size+image) + (1+r.s)*underflow(s), image}, err
}

// round of the mean of what Φ makes of C copies, which are exact.
func (g grey) round(ctx context.Context, size float64, s backend.Shape) (rounded, error) {
	channels := float64(len(g.copies))
	s.C = len(g.copies)
	inner, err := round(ctx, g.Denoiser, size*math.Sqrt(channels), s)
	image := (inner.size + inner.err) / math.Sqrt(channels)
	return rounded{inner.err/math.Sqrt(channels) + (channels+2)*rounding.Unit*image + underflow(s), image}, err
}

// underflow is what an operation on every element adds at most where its result is subnormal.
func underflow(s backend.Shape) float64 { return 0x1p-148 * math.Sqrt(float64(s.Len())) }

// Rounding implements RoundedDenoiser.
func (n *Network) Rounding(ctx context.Context, size float64, s backend.Shape) (float64, error) {
	r, err := n.round(ctx, size, s)
	return r.err, err
}

// Rounding implements RoundedDenoiser.
func (r relaxed) Rounding(ctx context.Context, size float64, s backend.Shape) (float64, error) {
	of, err := r.round(ctx, size, s)
	return of.err, err
}

// Rounding implements RoundedDenoiser.
func (r rescaled) Rounding(ctx context.Context, size float64, s backend.Shape) (float64, error) {
	of, err := r.round(ctx, size, s)
	return of.err, err
}

// Rounding implements RoundedDenoiser.
func (g grey) Rounding(ctx context.Context, size float64, s backend.Shape) (float64, error) {
	of, err := g.round(ctx, size, s)
	return of.err, err
}
