package deblurring

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/denoise/refute"
	"github.com/averaged/imaging/internal/networks"
)

// attack looks for a pair of images that contradicts the constant of the network.
func (d *Problem) attack(ctx context.Context, s *stages) (*NetworkCheck, error) {
	s.next()
	network := d.network.Network
	shape := backend.Image(network.Channels(), networks.AttackSide, networks.AttackSide)
	attack := d.attackNetwork
	if network.Guided() {
		attack = d.attackFrozen
	}
	found, err := attack(ctx, shape, func(fraction float64) error { return s.report(fraction, 0, 0) })
	if err != nil {
		return nil, fmt.Errorf("restore: attack: %w", err)
	}
	report := &NetworkCheck{Attack: found, Shape: shape}
	if _, proven := network.Averagedness(); proven && found.Expansive() {
		report.Violations = []string{attackViolation(found)}
	}
	return report, d.measureRounding(ctx, report)
}

func attackViolation(found refute.AttackReport) string {
	if found.NotFinite {
		return "attack: the network's result is not finite"
	}
	if found.Constant < 1 {
		return fmt.Sprintf("attack: the network is not %.9g-averaged: the ratio is %.9g for two images, which rounding of %.2g does not explain", found.Constant, found.Ratio, found.Rounding)
	}
	return fmt.Sprintf("attack: the network moves two images apart by a factor of %.9g, which rounding of %.2g does not explain", found.Ratio, found.Rounding)
}

// measureRounding bounds the rounding of the network for images in [0, 1], and measures it on
// one of noise.
func (d *Problem) measureRounding(ctx context.Context, report *NetworkCheck) error {
	network, shape := d.network.Network, report.Shape
	root := math.Sqrt(float64(shape.Len()))
	report.Measured = math.NaN()
	bound, err := network.Rounding(ctx, root, shape)
	if err != nil {
		return fmt.Errorf("restore: rounding: %w", err)
	}
	report.Rounding = bound / root
	x, err := d.dev.Alloc(shape)
	if err != nil {
		return err
	}
	defer x.Free()
	if err := d.dev.Gaussian(x, 1, 0.5, 0.25); err != nil {
		return err
	}
	if err := d.dev.Clip(x, x, 0, 1); err != nil {
		return err
	}
	switch measured, err := network.MeasuredRounding(ctx, x); {
	case err == nil:
		report.Measured = measured / root
	case !errors.Is(err, denoise.ErrNotMeasured):
		return fmt.Errorf("restore: rounding: %w", err)
	}
	return nil
}

// attackNetwork is the attack on a network without a guide.
func (d *Problem) attackNetwork(ctx context.Context, shape backend.Shape, progress func(fraction float64) error) (refute.AttackReport, error) {
	return refute.Attack(ctx, d.network.Target(), shape, refute.AttackOptions{
		Progress: func(p backend.Progress) error { return progress(p.Fraction) },
	})
}

// attackFrozen attacks a network with a guide, frozen with radii of several kinds, and returns
// the report with the worst pair.
func (d *Problem) attackFrozen(ctx context.Context, shape backend.Shape, progress func(fraction float64) error) (worst refute.AttackReport, err error) {
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
				return float32(d.network.Sigma() * random.ExpFloat64() * math.Exp(random.NormFloat64()))
			})
		},
	}
	evaluations := 0
	for i, radii := range kinds {
		r, err := radii()
		if err != nil {
			return worst, err
		}
		frozen, err := d.network.Network.Freeze(r)
		if err != nil {
			return worst, err
		}
		found, err := func() (refute.AttackReport, error) {
			defer frozen.Free() // also after a panic of who is told about the progress
			return refute.Attack(ctx, frozen, shape, refute.AttackOptions{
				Restarts: max(1, refute.DefaultAttackRestarts/len(kinds)),
				Progress: func(p backend.Progress) error { return progress((float64(i) + p.Fraction) / float64(len(kinds))) },
			})
		}()
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

// radiiOfNoise are those that the guide gives to grey with noise of the network's level.
func (d *Problem) radiiOfNoise(ctx context.Context, shape backend.Shape) (*denoise.Radii, error) {
	b, err := d.dev.Alloc(shape)
	if err != nil {
		return nil, err
	}
	defer b.Free()
	sigma := d.network.Sigma()
	if err := d.dev.Gaussian(b, 1, 0.5, float32(sigma)); err != nil {
		return nil, err
	}
	return d.network.Network.Guide(ctx, b, sigma, 1)
}

// radiiFrom are those of a function of group, row and column.
func (d *Problem) radiiFrom(shape backend.Shape, radius func(group, y, x int) float32) (*denoise.Radii, error) {
	var values [][]float32
	h, w := d.network.Network.RadiiSize(shape)
	for _, groups := range d.network.Network.Groups() {
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
	return d.network.Network.RadiiOf(shape, values)
}
