package restore

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/denoise/refute"
	"github.com/averaged/imaging/operator"
	"github.com/averaged/imaging/pnp"
)

// guided tells whether the network of the settings has a guide, which sets the radii of its
// projections for every pixel of one photograph.
func (c settings) guided() bool {
	card, given, err := c.card()
	return err == nil && given && len(card.Architecture.Guide) > 0
}

// freeze has the guide look at the photograph, with noise of the level that the network is
// fitted to, and makes the frozen network the denoiser, in the place of what was frozen before.
// Strength is a factor on the radii.
func (f *fitted) freeze(ctx context.Context, photograph backend.Buffer, strength float64) error {
	return f.freezeAt(ctx, photograph, strength, nil)
}

// freezeAt is freeze with a noise level for each square of the photograph, unless levels is nil.
func (f *fitted) freezeAt(ctx context.Context, photograph backend.Buffer, strength float64, levels *denoise.LevelMap) error {
	card, _ := f.network.Card()
	if f.frozen != nil {
		f.frozen.Free()
		f.frozen = nil
	}
	err := func() error {
		dev := f.network.Device()
		if f.level == 0 && math.Abs(f.scale-1) > sameScale { // Φ_s(x) = s·Φ(x/s): the guide sees x/s
			scaled, err := dev.Alloc(photograph.Shape())
			if err != nil {
				return err
			}
			defer scaled.Free()
			if err := dev.LinearCombination(scaled, backend.Term{A: float32(1 / f.scale), X: photograph}); err != nil {
				return err
			}
			photograph = scaled
		}
		radii, err := func() (*denoise.Radii, error) {
			if levels != nil && f.level > 0 {
				return f.network.GuideLevels(ctx, photograph, levels, strength)
			}
			return f.network.Guide(ctx, photograph, f.sigma(), strength)
		}()
		if err != nil {
			return err
		}
		f.frozen, err = f.network.Freeze(radii)
		return err
	}()
	if err != nil {
		return fmt.Errorf("restore: weights %q: %w", card.Name, err)
	}
	f.looks++
	return f.wrap(f.frozen, photograph.Shape().C)
}

// guideAt freezes a network with a guide for a run of an iteration that begins at x: for what
// the data step makes of x, which is what the network sees first.
func (f *fitted) guideAt(ctx context.Context, k operator.Linear, y, x backend.Buffer, data pnp.DataStep, opt pnp.Options, strength float64) (pnp.Denoiser, error) {
	seen, err := data.Apply(ctx, f.network.Device(), y, k, x, opt)
	if err != nil {
		return nil, err
	}
	defer seen.Free()
	if err := f.freeze(ctx, seen, strength); err != nil {
		return nil, err
	}
	return f.Denoiser, f.forIteration()
}

// GuideReport is about the guide of a network, and about what it did to the radii of its
// projections for the photograph. Nothing is proven of a guide; Report.Network is proven whatever
// it says.
type GuideReport struct {
	// Strength is the factor on the radii.
	Strength float64
	// Looks is how often the guide set radii: once in Denoise, once more for its trial and for CoarseColour, and before each
	// run and each annealed step in an iteration.
	Looks int
	// Parameters of the guide, and its Multiplications for a pixel of the photograph.
	Parameters      int
	Multiplications float64
}

func guideReport(n *denoise.Network, strength float64, looks int) *GuideReport {
	parameters, multiplications := n.GuideCost()
	return &GuideReport{Strength: strength, Looks: looks, Parameters: parameters, Multiplications: multiplications}
}

// freeze freezes the network in use for a run that begins at x.
func (d *deblurring) freeze(ctx context.Context, x backend.Buffer) (pnp.Denoiser, error) {
	if err := d.lookAtClipped(x); err != nil {
		return nil, err
	}
	return d.retuning.current.guideAt(ctx, d.operator(), d.measured(), x, d.data, pnp.Options{Step: d.step, Peak: d.peak()}, d.strength)
}

// freezeFirst freezes the network as the first run of Deblur does.
func (d *deblurring) freezeFirst(ctx context.Context) error {
	x, err := d.start(ctx, StartWiener)
	if err != nil {
		return err
	}
	defer x.Free()
	_, err = d.freeze(ctx, x)
	return err
}

// attackFrozen attacks a network with a guide, frozen with radii of several kinds, and returns
// the report with the worst pair.
func (d *deblurring) attackFrozen(ctx context.Context, shape backend.Shape, progress func(fraction float64) error) (worst refute.AttackReport, err error) {
	kinds := []func() (*denoise.Radii, error){
		func() (*denoise.Radii, error) { return d.radiiOfNoise(ctx, shape) },
		func() (*denoise.Radii, error) {
			return d.radiiFrom(shape, func(group, y, x int) float32 {
				if (group+y+x)%2 == 0 {
					return 0
				}
				return float32(math.Inf(1))
			})
		},
		func() (*denoise.Radii, error) {
			random := rand.New(rand.NewPCG(1, 2))
			return d.radiiFrom(shape, func(_, _, _ int) float32 {
				return float32(d.network.sigma() * random.ExpFloat64() * math.Exp(random.NormFloat64()))
			})
		},
	}
	evaluations := 0
	for i, radii := range kinds {
		r, err := radii()
		if err != nil {
			return worst, err
		}
		frozen, err := d.network.network.Freeze(r)
		if err != nil {
			return worst, err
		}
		found, err := refute.Attack(ctx, frozen, shape, refute.AttackOptions{
			Restarts: max(1, refute.DefaultAttackRestarts/len(kinds)),
			Progress: func(p backend.Progress) error { return progress((float64(i) + p.Fraction) / float64(len(kinds))) },
		})
		frozen.Free()
		if err != nil {
			return worst, err
		}
		evaluations += found.Evaluations
		if i == 0 || found.Ratio-found.Rounding > worst.Ratio-worst.Rounding {
			worst = found
		}
	}
	worst.Evaluations = evaluations
	return worst, nil
}

// sigma returns the noise level that the network is fitted to, before any rescaling.
func (f *fitted) sigma() float64 {
	if f.level > 0 {
		return f.level
	}
	card, _ := f.network.Card()
	return card.Sigma
}

// radiiOfNoise are those that the guide gives to grey with noise of the network's level.
func (d *deblurring) radiiOfNoise(ctx context.Context, shape backend.Shape) (*denoise.Radii, error) {
	b, err := d.dev.Alloc(shape)
	if err != nil {
		return nil, err
	}
	defer b.Free()
	sigma := d.network.sigma()
	if err := d.dev.Gaussian(b, 1, 0.5, float32(sigma)); err != nil {
		return nil, err
	}
	return d.network.network.Guide(ctx, b, sigma, 1)
}

// radiiFrom are those of a function of group, row and column.
func (d *deblurring) radiiFrom(shape backend.Shape, radius func(group, y, x int) float32) (*denoise.Radii, error) {
	var values [][]float32
	h, w := d.network.network.RadiiSize(shape)
	for _, groups := range d.network.network.Groups() {
		var v []float32
		for g := range groups {
			for y := range h {
				for x := range w {
					v = append(v, radius(g, y, x))
				}
			}
		}
		values = append(values, v)
	}
	return d.network.network.RadiiOf(shape, values)
}
