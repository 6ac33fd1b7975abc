package networks

import (
	"context"
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/outcome"
	"github.com/averaged/imaging/operator"
	"github.com/averaged/imaging/pnp"
)

// Freeze has the guide look at the photograph, with noise of the level that the network is
// fitted to, and makes the frozen network the denoiser, in place of what was frozen before.
// Strength is a factor on the radii.
func (f *Fitted) Freeze(ctx context.Context, photograph backend.Buffer, strength float64) error {
	return f.FreezeAt(ctx, photograph, strength, nil)
}

// FreezeAt is Freeze with a noise level for each square of the photograph, unless levels is nil.
func (f *Fitted) FreezeAt(ctx context.Context, photograph backend.Buffer, strength float64, levels *denoise.LevelMap) error {
	card, _ := f.Network.Card()
	if f.Frozen != nil {
		f.Frozen.Free()
		f.Frozen = nil
	}
	err := func() error {
		dev := f.Network.Device()
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
				return f.Network.GuideLevels(ctx, photograph, levels, strength)
			}
			return f.Network.Guide(ctx, photograph, f.Sigma(), strength)
		}()
		if err != nil {
			return err
		}
		f.Frozen, err = f.Network.Freeze(radii)
		return err
	}()
	if err != nil {
		return fmt.Errorf("restore: weights %q: %w", card.Name, err)
	}
	f.Looks++
	return f.wrap(f.Frozen, photograph.Shape().C)
}

// GuideAt freezes a network with a guide for a run of an iteration that begins at x: for what
// the data step makes of x, which is what the network sees first.
func (f *Fitted) GuideAt(ctx context.Context, k operator.Linear, y, x backend.Buffer, data pnp.DataStep, opt pnp.Options, strength float64) (pnp.Denoiser, error) {
	seen, err := data.Apply(ctx, f.Network.Device(), y, k, x, opt)
	if err != nil {
		return nil, err
	}
	defer seen.Free()
	if err := f.Freeze(ctx, seen, strength); err != nil {
		return nil, err
	}
	return f.Denoiser, f.ForIteration()
}

// Sigma returns the noise level that the network is fitted to, before any rescaling.
func (f *Fitted) Sigma() float64 {
	if f.level > 0 {
		return f.level
	}
	card, _ := f.Network.Card()
	return card.Sigma
}

// guideReport is about the guide, with the factor on its radii.
func (f *Fitted) guideReport(strength float64) *outcome.Guide {
	parameters, multiplications := f.Network.GuideCost()
	return &outcome.Guide{Strength: strength, Looks: f.Looks, Parameters: parameters, Multiplications: multiplications}
}
