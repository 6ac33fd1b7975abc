package refute

import (
	"context"
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/nn/tile"
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
	// Progress is called after every iteration, counted over all restarts.
	Progress backend.ProgressFunc
}

// AttackReport is what Attack found: one pair of images.
type AttackReport struct {
	// Constant is the α that Φ is proven to be averaged with, Φ = (1−α)·id + α·T, or 1 where T is Φ itself.
	Constant float64
	// Ratio is ‖T(x) − T(y)‖/‖x − y‖, of the pair for which Ratio − Rounding is largest. If it is above 1, that of Φ
	// may be below 1, but Φ is not averaged with its constant.
	Ratio float64
	// Rounding is how much of Ratio is put down to float32 arithmetic and, where Φ is
	// computed by an iteration, to its error. For the former it is the proven bound
	// (Rounded), if RoundingProven; where nothing is proven it is an estimate,
	// 1e-5·(‖x‖ + ‖y‖)/‖x − y‖. If RoundingMeasured, it is what float32 added for this pair.
	Rounding                         float64
	RoundingProven, RoundingMeasured bool
	// NotFinite tells that Φ gave something that is not finite for an image that is: no proven
	// bound has room for that. The rest of the report is about other pairs then, or zero.
	NotFinite bool
	// Separation is ‖x − y‖/√n.
	Separation float64
	// Evaluations is how often Φ was computed.
	Evaluations int
	// Gradients tells whether the attack had the transposed Jacobian to go by.
	Gradients bool
}

// Expansive tells whether the pair refutes that T is nonexpansive.
func (r AttackReport) Expansive() bool { return r.NotFinite || r.Ratio > 1+r.Rounding }

// unit is the unit roundoff of float32.
const unit = 0x1p-24

// attackRounding is the relative error that Attack allows to the arithmetic of Φ where no
// bound is proven, and without measuring it.
const attackRounding = 1e-5

// Attack looks for a pair of images of the given shape that contradicts what is proven of Φ: that it is α-averaged, so
// that T with Φ = (1−α)·id + α·T is nonexpansive. It ascends ‖T(x) − T(y)‖/‖x − y‖ over both. Where nothing is
// proven, T is Φ. For the difference δ of the pair that is power
// iteration on JᵀJ, with the mean Jacobian between x and y, and for the pair's mean m
// gradient ascent, because which units are active depends on it; separations grow and
// shrink, and restarts begin at other brightnesses and contrasts. At the end of each restart the
// direction that it has found is tried at distances from 1e-5 to 1, where rounding shows. The
// pairs are not held to [0,1], as the claim is not. The proven bounds of rounding would excuse ratios up to a few
// percent above 1. So the pair above 1 that rounding explains worst is judged by what float32 added there (Measured).
//
// It proves nothing if it finds no such pair. For a Differentiable denoiser, as the networks
// of package denoise are except for those of rungekutta.BackwardEuler, the transposed Jacobian is
// applied and the attack is strong. For others it assumes a symmetric Jacobian, as that of
// a single block is, and climbs at random. The image is held with all of its layers at once,
// 256 bytes for a pixel and stage of 64 channels: 64×64 to 128×128 pixels are a good shape. The
// same arguments give the same bits.
func Attack(ctx context.Context, d Denoiser, shape backend.Shape, opt AttackOptions) (AttackReport, error) {
	if err := shape.Check(); err != nil {
		return AttackReport{}, err
	}
	if d == nil {
		return AttackReport{}, errNoDenoiser
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
	a := &attack{denoiser: d, dev: d.Device(), options: opt, root: math.Sqrt(float64(shape.Len())), over: 1}
	a.report.Rounding, a.report.Constant = math.Inf(1), 1 // nothing found yet
	if alpha, proven := d.Averagedness(); proven && alpha < 1 && 1/alpha < math.MaxFloat32 {
		a.report.Constant, a.over = alpha, float64(math.Nextafter32(float32(1/alpha), 1)) // nothing beyond the claim
	}
	for _, b := range []*backend.Buffer{&a.mean, &a.delta, &a.x, &a.y, &a.fx, &a.fy, &a.gx, &a.gy, &a.doubtX, &a.doubtY} {
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
	if err := a.judge(ctx); err != nil {
		return AttackReport{}, err
	}
	if math.IsInf(a.report.Rounding, 1) {
		a.report.Rounding = 0 // no pair with finite results
	}
	return a.report, nil
}

// attack is the state of an Attack.
type attack struct {
	denoiser Denoiser
	dev      backend.Device
	options  AttackOptions
	root     float64 // √n
	over     float64 // 1/α, T = (1−over)·id + over·Φ
	report   AttackReport
	// x and y are mean ± ½delta, fx and fy their images by Φ; later fx becomes T(x) − T(y). gx and gy
	// are their gradients.
	mean, delta, x, y, fx, fy, gx, gy backend.Buffer
	// The pair whose excess over 1 is the largest in units of what float32 may add, and what is known of it.
	doubtX, doubtY backend.Buffer
	doubt          doubt
}

// doubt is a pair with a ratio above 1 that the bound of rounding excuses.
type doubt struct{ ratio, apart, other, excess float64 }

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
			made := restart*a.options.Iterations + k + 1
			if err := p(backend.Progress{Fraction: float64(made) / float64(a.options.Restarts*a.options.Iterations), Iteration: made}); err != nil {
				return err
			}
		}
		if math.IsNaN(ratio) {
			return nil // nothing more to learn here
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
	return a.approach(ctx)
}

// distances are the root mean squares of the differences that a restart ends with.
var distances = []float64{1, 1e-1, 1e-2, 1e-3, 1e-4, 1e-5}

// approach evaluates the pair with other distances, in its direction.
func (a *attack) approach(ctx context.Context) error {
	for _, d := range distances {
		if err := a.scale(a.delta, a.delta, d); err != nil {
			return err
		}
		if _, err := a.evaluate(ctx); err != nil {
			return err
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
	mixing := 0.0
	if a.over > 1 {
		back := float32(a.over) - 1
		if err := a.dev.LinearCombination(a.fx, backend.Term{A: float32(a.over), X: a.fx}, backend.Term{A: -back, X: a.x}, backend.Term{A: back, X: a.y}); err != nil {
			return 0, err
		}
		mixing = 4 * unit * float64(back) * (math.Sqrt(sizes[0]) + math.Sqrt(sizes[1]))
	}
	size, err := a.size(a.fx)
	if err != nil {
		return 0, err
	}
	if math.IsNaN(apart) || math.IsInf(apart, 0) || apart == 0 {
		return math.NaN(), nil // no pair
	}
	if math.IsNaN(size) || math.IsInf(size, 0) {
		a.report.NotFinite = true
		return math.NaN(), nil
	}
	ratio := size / apart
	room, proven, err := a.room(ctx, math.Sqrt(sizes[0]), math.Sqrt(sizes[1]))
	if err != nil {
		return 0, err
	}
	// The differences are rounded a few times, and none is longer than this.
	mixing += 8 * unit * (size + a.over*apart)
	rounding := (a.over*(room+errorX+errorY) + mixing) / apart
	if err := a.note(doubt{ratio, apart, (a.over*(errorX+errorY) + mixing) / apart, (ratio - 1) * apart / (math.Sqrt(sizes[0]) + math.Sqrt(sizes[1]))}); err != nil {
		return 0, err
	}
	if ratio-rounding > a.report.Ratio-a.report.Rounding {
		a.report.Ratio, a.report.Rounding, a.report.Separation = ratio, rounding, apart/a.root
		a.report.RoundingProven = proven
	}
	return ratio, nil
}

// note keeps the pair at hand if it is more doubtful than those before, and more than rounding usually makes it.
func (a *attack) note(d doubt) error {
	if !(d.excess > max(attackRounding, a.doubt.excess)) {
		return nil
	}
	a.doubt = d
	if err := a.dev.LinearCombination(a.doubtX, backend.Term{A: 1, X: a.x}); err != nil {
		return err
	}
	return a.dev.LinearCombination(a.doubtY, backend.Term{A: 1, X: a.y})
}

// judge measures what float32 added to the most doubtful pair, and reports it if that does not explain the ratio.
func (a *attack) judge(ctx context.Context) error {
	m, ok := a.denoiser.(Measured)
	if !ok || a.doubt.ratio == 0 || a.report.Expansive() {
		return nil
	}
	off := 0.0
	for _, x := range []backend.Buffer{a.doubtX, a.doubtY} {
		of, err := m.MeasuredRounding(ctx, x)
		if err != nil {
			return ctx.Err() // without it the bound stands
		}
		off += of
	}
	if rounding := a.over*off/a.doubt.apart + a.doubt.other; a.doubt.ratio > 1+rounding {
		a.report.Ratio, a.report.Rounding, a.report.Separation = a.doubt.ratio, rounding, a.doubt.apart/a.root
		a.report.RoundingProven, a.report.RoundingMeasured = false, true
	}
	return nil
}

// room returns what float32 may add to the difference of the images of x and y, of the given norms,
// and whether that is proven.
func (a *attack) room(ctx context.Context, x, y float64) (room float64, proven bool, err error) {
	for _, size := range []float64{x, y} {
		bound, err := roundingOf(ctx, a.denoiser, size*(1+1e-9), a.x.Shape())
		if err != nil {
			return 0, false, err
		}
		room += bound
	}
	if math.IsInf(room, 1) {
		return attackRounding * (x + y), false, nil
	}
	return room, true, nil
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
	if a.over > 1 { // J is of Φ, and that of T is over·J − (over−1)·I
		for _, g := range []backend.Buffer{a.gx, a.gy} {
			if err := a.dev.LinearCombination(g, backend.Term{A: float32(a.over), X: g}, backend.Term{A: 1 - float32(a.over), X: a.fx}); err != nil {
				return err
			}
		}
	}
	// With d = T(x) − T(y), half of ‖d‖² has the gradients (J(x) − J(y))ᵀd with respect to the
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
