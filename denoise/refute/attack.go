package refute

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise/tile"
)

// Defaults of AttackOptions.
const (
	DefaultAttackRestarts   = 6
	DefaultAttackIterations = 30
)

// AttackOptions of Attack. The zero value is useful.
type AttackOptions struct {
	// Start is an image of the attack's shape around which the first restart begins; nil
	// means noise. It is not changed.
	Start backend.Buffer
	// Restarts and Iterations of each; 0 means DefaultAttackRestarts and
	// DefaultAttackIterations.
	Restarts, Iterations int
	// Seed of the random starts.
	Seed uint64
	// Progress, if not nil, is called after every iteration with the share of the work
	// done and the largest ratio so far; an error stops the attack and is returned.
	Progress func(fraction, ratio float64) error
}

// AttackReport is what Attack found: one pair of images.
type AttackReport struct {
	// Ratio is ‖Φ(x) − Φ(y)‖/‖x − y‖, of the pair for which Ratio − Rounding is largest.
	Ratio float64
	// Rounding is how much of Ratio is put down to float32 arithmetic and, where Φ is
	// computed by an iteration, to its error: 1e-5·(‖x‖ + ‖y‖)/‖x − y‖ for the former.
	Rounding float64
	// Separation is ‖x − y‖/√n.
	Separation float64
	// Evaluations is how often Φ was computed.
	Evaluations int
	// Gradients tells whether the attack had the transposed Jacobian to go by.
	Gradients bool
}

// Expansive tells whether the pair refutes that Φ is nonexpansive.
func (r AttackReport) Expansive() bool { return r.Ratio > 1+r.Rounding }

// attackRounding is the relative error that Attack allows to the arithmetic of Φ.
const attackRounding = 1e-5

// Attack looks for a pair of images of the given shape that Φ expands: it ascends
// ‖Φ(x) − Φ(y)‖/‖x − y‖ over both. For the difference δ of the pair that is power
// iteration on JᵀJ, with the mean Jacobian between x and y, and for the pair's mean m
// gradient ascent, because which units are active depends on it; separations grow and
// shrink, and restarts begin at other brightnesses and contrasts. The pairs are not
// held to [0,1], as the claim is not.
//
// It proves nothing if it finds no such pair. For networks of this package the
// transposed Jacobian is applied layer by layer and the attack is strong. For
// rungekutta.BackwardEuler, HardTanh, and denoisers of other packages it takes the Jacobian for
// symmetric, which it is for a single block, and climbs at random. The image is held
// with all of its layers at once, 256 bytes for a pixel and stage of 64 channels: 64×64 to
// 128×128 pixels are a good shape. The same arguments give the same bits.
func Attack(ctx context.Context, d Denoiser, shape backend.Shape, opt AttackOptions) (AttackReport, error) {
	if err := shape.Check(); err != nil {
		return AttackReport{}, err
	}
	if shape.C != d.Channels() {
		return AttackReport{}, fmt.Errorf("%w: an attack with images of %v on a denoiser of %d channels", backend.ErrShape, shape, d.Channels())
	}
	if opt.Start != nil && opt.Start.Shape() != shape {
		return AttackReport{}, fmt.Errorf("%w: an attack with images of %v begun at %v", backend.ErrShape, shape, opt.Start.Shape())
	}
	if opt.Restarts < 0 || opt.Iterations < 0 {
		return AttackReport{}, fmt.Errorf("%w: an attack with %d restarts of %d iterations", backend.ErrArgument, opt.Restarts, opt.Iterations)
	}
	if opt.Restarts == 0 {
		opt.Restarts = DefaultAttackRestarts
	}
	if opt.Iterations == 0 {
		opt.Iterations = DefaultAttackIterations
	}
	s := tile.NewScratch(d.Device())
	defer s.Free()
	a := &attack{denoiser: d, dev: d.Device(), options: opt, root: math.Sqrt(float64(shape.Len()))}
	a.report.Rounding = math.Inf(1) // nothing found yet
	for _, b := range []*backend.Buffer{&a.mean, &a.delta, &a.x, &a.y, &a.fx, &a.fy, &a.gx, &a.gy} {
		var err error
		if *b, err = s.Alloc(shape); err != nil {
			return AttackReport{}, err
		}
	}
	for restart := range opt.Restarts {
		if err := a.restart(ctx, restart); err != nil {
			return AttackReport{}, err
		}
	}
	if math.IsInf(a.report.Rounding, 1) {
		return AttackReport{}, errors.New("the attack found no pair with finite results")
	}
	return a.report, nil
}

// attack is the state of an Attack.
type attack struct {
	denoiser Denoiser
	dev      backend.Device
	options  AttackOptions
	root     float64 // √n
	report   AttackReport
	// x and y are mean ± ½delta, fx and fy their images; later fx becomes fx − fy. gx and gy
	// are their gradients.
	mean, delta, x, y, fx, fy, gx, gy backend.Buffer
}

// starts are what restarts begin with: means and deviations of the mean of the pair,
// and the root mean square of its difference.
var starts = []struct{ mean, deviation, separation float64 }{
	{0.5, 0.25, 0.3}, {0, 1, 1}, {3, 0.5, 1}, {-3, 0.5, 1}, {0, 5, 3}, {0.5, 0.1, 10},
}

func (a *attack) restart(ctx context.Context, restart int) error {
	begin := starts[restart%len(starts)]
	seed := a.options.Seed + uint64(restart)*0x9e3779b97f4a7c15
	if restart == 0 && a.options.Start != nil {
		if err := a.dev.LinearCombination(a.mean, backend.Term{A: 1, X: a.options.Start}); err != nil {
			return err
		}
	} else if err := a.dev.Gaussian(a.mean, seed, float32(begin.mean), float32(begin.deviation)); err != nil {
		return err
	}
	if err := a.dev.Gaussian(a.delta, seed+1, 0, float32(begin.separation)); err != nil {
		return err
	}
	separation := begin.separation
	best := 0.0
	for k := range a.options.Iterations {
		ratio, err := a.evaluate(ctx)
		if err != nil {
			return err
		}
		if p := a.options.Progress; p != nil {
			done := float64(restart*a.options.Iterations+k+1) / float64(a.options.Restarts*a.options.Iterations)
			if err := p(done, a.report.Ratio); err != nil {
				return err
			}
		}
		if math.IsNaN(ratio) {
			return nil // too large for float32: nothing to learn here
		}
		best = max(best, ratio)
		stride := 0.5 * (1 - 0.9*float64(k)/float64(a.options.Iterations))
		if err := a.ascend(ctx, separation, stride, seed+uint64(k)+2); err != nil {
			return err
		}
		if k%5 == 4 {
			if separation, err = a.resize(ctx, separation); err != nil {
				return err
			}
		}
	}
	return nil
}

// evaluate sets x, y and fx = Φ(x) − Φ(y), notes the pair if it is the best, and returns
// the ratio, NaN if it is not finite or there is none.
func (a *attack) evaluate(ctx context.Context) (float64, error) {
	for _, p := range []struct {
		of   backend.Buffer
		sign float32
	}{{a.x, 0.5}, {a.y, -0.5}} {
		if err := a.dev.LinearCombination(p.of, backend.Term{A: 1, X: a.mean}, backend.Term{A: p.sign, X: a.delta}); err != nil {
			return 0, err
		}
	}
	var sizes [3]float64
	err := a.dev.Reduce(sizes[:],
		backend.Reduction{Kind: backend.SumSquares, X: a.x}, backend.Reduction{Kind: backend.SumSquares, X: a.y},
		backend.Reduction{Kind: backend.DiffSquares, X: a.x, Y: a.y})
	if err != nil {
		return 0, err
	}
	apart := math.Sqrt(sizes[2])
	errorX, err := applyWithin(ctx, a.denoiser, a.fx, a.x, 1e-5*apart)
	if err != nil {
		return 0, err
	}
	errorY, err := applyWithin(ctx, a.denoiser, a.fy, a.y, 1e-5*apart)
	if err != nil {
		return 0, err
	}
	a.report.Evaluations += 2
	if err := a.dev.LinearCombination(a.fx, backend.Term{A: 1, X: a.fx}, backend.Term{A: -1, X: a.fy}); err != nil {
		return 0, err
	}
	size, err := a.size(a.fx)
	if err != nil {
		return 0, err
	}
	ratio := size / apart
	if math.IsNaN(ratio) || math.IsInf(ratio, 0) {
		return math.NaN(), nil
	}
	rounding := (attackRounding*(math.Sqrt(sizes[0])+math.Sqrt(sizes[1])) + errorX + errorY) / apart
	if ratio-rounding > a.report.Ratio-a.report.Rounding {
		a.report.Ratio, a.report.Rounding, a.report.Separation = ratio, rounding, apart/a.root
	}
	return ratio, nil
}

// size returns ‖b‖.
func (a *attack) size(b backend.Buffer) (float64, error) {
	var sum [1]float64
	err := a.dev.Reduce(sum[:], backend.Reduction{Kind: backend.SumSquares, X: b})
	return math.Sqrt(sum[0]), err
}

// ascend moves delta and mean after evaluate, delta to the given root mean square.
func (a *attack) ascend(ctx context.Context, separation, stride float64, seed uint64) error {
	ok, err := pullBack(ctx, a.denoiser, a.gx, a.x, a.fx)
	if err != nil {
		return err
	}
	if !ok {
		// J is taken for symmetric, so that JᵀJδ is J(Jδ), and Jδ a step of power iteration.
		if err := a.scale(a.delta, a.fx, separation); err != nil {
			return err
		}
		return a.wander(stride*separation, seed)
	}
	if _, err := pullBack(ctx, a.denoiser, a.gy, a.y, a.fx); err != nil {
		return err
	}
	a.report.Gradients = true
	// With d = Φ(x) − Φ(y), half of ‖d‖² has the gradients (J(x) − J(y))ᵀd with respect to the
	// mean, and ½(J(x) + J(y))ᵀd to delta.
	if err := a.dev.LinearCombination(a.fy, backend.Term{A: 1, X: a.gx}, backend.Term{A: 1, X: a.gy}); err != nil {
		return err
	}
	if err := a.scale(a.delta, a.fy, separation); err != nil {
		return err
	}
	if err := a.dev.LinearCombination(a.gx, backend.Term{A: 1, X: a.gx}, backend.Term{A: -1, X: a.gy}); err != nil {
		return err
	}
	if err := a.scale(a.gx, a.gx, stride*separation); err != nil {
		return err
	}
	return a.dev.LinearCombination(a.mean, backend.Term{A: 1, X: a.mean}, backend.Term{A: 1, X: a.gx})
}

// wander moves the mean by noise of the given deviation.
func (a *attack) wander(deviation float64, seed uint64) error {
	if err := a.dev.Gaussian(a.gx, seed, 0, float32(deviation)); err != nil {
		return err
	}
	return a.dev.LinearCombination(a.mean, backend.Term{A: 1, X: a.mean}, backend.Term{A: 1, X: a.gx})
}

// scale sets dst to src with another root mean square. A src of zeros leaves dst as it
// is, if that is not src.
func (a *attack) scale(dst, src backend.Buffer, rms float64) error {
	size, err := a.size(src)
	if err != nil {
		return err
	}
	factor := rms * a.root / size
	if math.IsNaN(factor) || math.IsInf(factor, 0) || factor > math.MaxFloat32 {
		return nil
	}
	return a.dev.LinearCombination(dst, backend.Term{A: float32(factor), X: src})
}

// resize tries larger and smaller separations, and keeps the best.
func (a *attack) resize(ctx context.Context, separation float64) (float64, error) {
	best, keep := math.Inf(-1), separation
	for _, s := range []float64{separation, separation * 1.6, separation / 1.6} {
		if err := a.scale(a.delta, a.delta, s); err != nil {
			return 0, err
		}
		ratio, err := a.evaluate(ctx)
		if err != nil {
			return 0, err
		}
		if ratio > best {
			best, keep = ratio, s
		}
	}
	return keep, a.scale(a.delta, a.delta, keep)
}
