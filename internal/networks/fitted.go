package networks

import (
	"context"
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/averaged/imaging/internal/outcome"
	"github.com/averaged/imaging/internal/strength"
)

// Fitted is a network as the denoiser Φ_s of images of one kind and noise level.
type Fitted struct {
	denoise.Denoiser
	Network *denoise.Network // without what is around it
	scale   float64          // s, 0 where the network is for all noise levels
	level   float64          // the noise level that such a network is for, else 0
	owned   bool             // made here, and freed here
	Frozen  *denoise.Network // for one photograph, of a network with a guide, or nil
	Looks   int              // how often it was frozen
}

// Fit makes the network, on a device, into a
// denoiser of images of that many channels with noise of the given standard deviation:
// Φ_s(x) = s·Φ(x/s), with s = factor·sigma/σ₀, σ₀ what noise the network is for; or of a
// network for all noise levels the one for factor·sigma, which beyond its own levels is
// the rescaled nearest one. With a guide it is for sigma, and not frozen. The caller frees it.
func (c *Choice) Fit(ctx context.Context, dev backend.Device, channels int, sigma, factor float64) (_ *Fitted, err error) {
	f := &Fitted{}
	if f.Network, f.owned, err = c.load(ctx, dev); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.Free()
		}
	}()
	level := math.Max(sigma, strength.MinSigma)
	if !f.Network.Guided() { // of whose radii the strength is a factor
		level *= factor
	}
	if err := f.tune(ctx, channels, level); err != nil {
		return nil, err
	}
	return f, nil
}

// tune makes the network a denoiser for a noise level.
func (f *Fitted) tune(ctx context.Context, channels int, level float64) (err error) {
	card, _ := f.Network.Card()
	if len(f.Network.Levels()) > 0 {
		if err := f.choose(ctx, level); err != nil {
			return fmt.Errorf("restore: noise of %.3g through the weights %q: %w", level, card.Name, err)
		}
	} else {
		f.scale = level / card.Sigma
	}
	return f.wrap(f.Network, channels)
}

// wrap makes a network at its noise level, the fitted one or what is frozen from it, a denoiser
// of images of that many channels.
func (f *Fitted) wrap(n *denoise.Network, channels int) (err error) {
	card, _ := f.Network.Card()
	f.Denoiser = n
	switch of := n.Channels(); {
	case of == channels:
	case channels == 1:
		if f.Denoiser, err = denoise.Grey(n); err != nil {
			return fmt.Errorf("restore: weights %q: %w", card.Name, err)
		}
	default:
		return fmt.Errorf("restore: weights %q are for images of %d channels, not of %d", card.Name, of, channels)
	}
	if f.level == 0 && math.Abs(f.scale-1) > sameScale {
		if f.Denoiser, err = denoise.Rescale(f.Denoiser, f.scale); err != nil {
			return fmt.Errorf("restore: noise of %.3g through the weights %q, which are for %.3g: %w", f.scale*card.Sigma, card.Name, card.Sigma, err)
		}
	}
	return nil
}

// sameScale is how far from 1 a rescaling may be and still be left out: what rounding in
// float64 makes of 1, and far below what float32 resolves.
const sameScale = 1e-9

// Retuned returns the network of an iteration for a noise level factor times as large, which
// the caller frees, and before it is freed itself.
func (f *Fitted) Retuned(ctx context.Context, channels int, factor float64) (_ *Fitted, err error) {
	g := &Fitted{Network: f.Network}
	defer func() {
		if err != nil {
			g.Free()
		}
	}()
	if err := g.tune(ctx, channels, factor*f.Noise()); err != nil {
		return nil, err
	}
	return g, g.ForIteration()
}

// Noise returns the noise level of the images that the denoiser is for.
func (f *Fitted) Noise() float64 {
	if f.level > 0 {
		return f.level
	}
	card, _ := f.Network.Card()
	return f.scale * card.Sigma
}

// choose puts the network for a noise level in place of one for all. The network that
// was given is only read, so that other calls can use it at the same time.
func (f *Fitted) choose(ctx context.Context, level float64) error {
	chosen, err := f.Network.For(ctx, level)
	if err != nil {
		return err
	}
	f.Free()
	f.Network, f.level, f.owned = chosen, level, true
	return nil
}

// iterationRelaxation is λ for networks in an iteration that are proven to be
// nonexpansive and no more: large, so that the network does nearly what it was trained
// for.
const iterationRelaxation = 0.9

// ForIteration makes the denoiser one that an iteration can be proven to converge with:
// if it is only nonexpansive it is relaxed, 0.1·x + 0.9·Φ_s(x), which is averaged.
func (f *Fitted) ForIteration() (err error) {
	if alpha, proven := f.Averagedness(); proven && alpha >= 1 {
		f.Denoiser, err = denoise.Relax(f.Denoiser, iterationRelaxation)
	}
	return err
}

// AttackSide is the side of the images of an attack: a few times what a convolution sees, and small enough for the
// attack on the paper's network to take seconds. The certificate is the same for every size.
const AttackSide = 32

// maxAttackMemory is what the transposed Jacobian of an attack may take, in bytes.
const maxAttackMemory = 1 << 30

// Target returns the network as an attack is to see it: without its gradient if that
// would have to keep the arrays of more steps than there is room for, as a file can ask.
func (f *Fitted) Target() denoise.Denoiser {
	card, _ := f.Network.Card()
	steps := 0
	for _, b := range f.Network.Certificate().Blocks {
		steps += b.Steps
	}
	if steps == 0 { // nothing is proven: as the file says
		for _, n := range card.Steps {
			steps += n
		}
	}
	steps = max(steps, card.Architecture.Blocks)
	if t, err := rungekutta.Named(card.Integrator); err == nil {
		steps *= t.Stages()
	}
	const arrays = 2 // for a stage, of one that is kept: as many channels again as it may have
	factor := max(1, card.Architecture.Shuffle)
	side := float64((AttackSide + factor - 1) / factor)
	if 4*arrays*float64(steps)*float64(card.Architecture.Width)*side*side <= maxAttackMemory {
		return f.Network
	}
	return struct{ denoise.InexactDenoiser }{f.Network}
}

// Free gives the network back, if it was made here.
func (f *Fitted) Free() {
	if f.Frozen != nil {
		f.Frozen.Free()
	}
	if f.owned {
		f.Network.Free()
	}
}

// Describe puts what is known of the denoiser into the report, with the strength of its guide.
func (f *Fitted) Describe(r *outcome.Report, strength float64) {
	certificate := f.Certificate()
	r.Network.Rescaling, r.Network.Level, r.Network.Certificate = f.scale, f.level, &certificate
	r.Averagedness, r.Certified = f.Averagedness()
	if f.Network.Guided() {
		r.Network.Guide = f.guideReport(strength)
	}
}
