package restore

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/averaged/imaging/internal/strength"
	"github.com/averaged/imaging/weights"
)

// Weights chooses the network of a weight file, and with it the method. A call that is given it
// loads it and verifies its certificate (denoise.Load), which for the paper's network takes most of
// a second; a Restorer that is given it by New does so once. The file must not change meanwhile. One
// whose weights were changed after they were certified is refused.
func Weights(f *weights.File) Option {
	return option{"Weights", func(c *settings) error {
		if f == nil {
			return errors.New("restore: the weight file is nil")
		}
		c.weights, c.network = f, nil
		return nil
	}}
}

// WeightsFile is Weights for the file (safetensors) of that name, which is read by the call, or the
// New, that is given it.
func WeightsFile(path string) Option {
	return option{"WeightsFile", func(c *settings) error {
		f, err := weights.ReadFile(path)
		if err != nil {
			return fmt.Errorf("restore: weights: %w", err)
		}
		return Weights(f).change(c)
	}}
}

// Network chooses a network that denoise.Load has loaded, and with it the method. It
// is computed on the network's device, whatever Device says, and stays the caller's,
// who frees it after the last call. Calls may run at the same time.
func Network(n *denoise.Network) Option {
	return option{"Network", func(c *settings) error {
		if n == nil {
			return errors.New("restore: the network is nil")
		}
		if _, ok := n.Card(); !ok {
			return errors.New("restore: the network has no card, which says what noise it is for: load it from a weight file (denoise.Load)")
		}
		c.network, c.weights = n, nil
		return nil
	}}
}

// Tile sets the height and width in pixels of the tiles in which networks are computed;
// 0, the default, is automatic (denoise.Tile); at most denoise.LargestTile. It changes
// memory and time, but no bit of the result. It has no effect with Network, whose tiles
// were set when it was loaded, and on total variation, which is computed as a whole.
func Tile(n int) Option {
	return option{"Tile", func(c *settings) error {
		if n < 0 || n > denoise.LargestTile {
			return &OptionError{Option: "Tile", Value: n, Want: fmt.Sprintf("1 to %d pixels, or 0 for automatic", denoise.LargestTile)}
		}
		c.tile = n
		return nil
	}}
}

// WorkLimit refuses the network of a weight file, before any work on it, if a proof of it and one application
// to a megapixel would take more than the given number of multiplications (denoise.WorkLimit); the error is a
// *denoise.WorkError, which wraps denoise.ErrWork. The default is denoise.DefaultWorkLimit, and +Inf is no
// limit. It has no effect with Network, which is loaded.
func WorkLimit(multiplications float64) Option {
	return option{"WorkLimit", func(c *settings) error {
		if !(multiplications > 0) {
			return &OptionError{Option: "WorkLimit", Value: multiplications, Want: "a number above 0"}
		}
		c.workLimit = multiplications
		return nil
	}}
}

// card returns the card of the weights, and false if none are given.
func (c *settings) card() (card weights.Card, given bool, err error) {
	switch {
	case c.network != nil:
		card, given = c.network.Card()
	case c.weights != nil:
		card, err = c.cards.of(c.weights)
		given = err == nil
	}
	if err != nil {
		err = fmt.Errorf("restore: %w", err)
	}
	return card, given, err
}

// knownCards are the cards that a call has read: each time it reads one it computes the checksum of the file.
type knownCards struct {
	mu    sync.Mutex
	cards map[*weights.File]weights.Card
}

func (k *knownCards) of(f *weights.File) (weights.Card, error) {
	if k == nil {
		return f.Card()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if card, ok := k.cards[f]; ok {
		return card, nil
	}
	card, err := f.Card()
	if err != nil {
		return weights.Card{}, err
	}
	if k.cards == nil {
		k.cards = map[*weights.File]weights.Card{}
	}
	k.cards[f] = card
	return card, nil
}

// axisNoise returns the standard deviation of the noise that a network of the settings meets in
// an image of that many channels with noise of the given one. Grey images go through a network
// of colour as three equal channels (denoise.Grey), whose noise is √3 times as strong along the
// axis of brightness as in each: the network has learned noise that is as strong along all axes.
func (c settings) axisNoise(channels int, sigma float64) (float64, error) {
	card, _, err := c.card()
	if err != nil {
		return 0, err
	}
	if of := card.Architecture.Channels; channels == 1 && of > 1 {
		sigma = strength.AlongBrightness(sigma, of)
	}
	return sigma, nil
}

// fitted is a network as the denoiser Φ_s of images of one kind and noise level.
type fitted struct {
	denoise.Denoiser
	network *denoise.Network // without what is around it
	scale   float64          // s, 0 where the network is for all noise levels
	level   float64          // the noise level that such a network is for, else 0
	owned   bool             // made here, and freed here
	frozen  *denoise.Network // for one photograph, of a network with a guide, or nil
	looks   int              // how often it was frozen
}

// fit makes the network of the settings, on the device of the settings, into a
// denoiser of images of that many channels with noise of the given standard deviation:
// Φ_s(x) = s·Φ(x/s), with s = Strength·sigma/σ₀, σ₀ what noise the network is for; or of a
// network for all noise levels the one for Strength·sigma, which beyond its own levels is
// the rescaled nearest one. With a guide it is for sigma, and not frozen. The caller frees it.
func (c settings) fit(ctx context.Context, dev backend.Device, channels int, sigma float64) (_ *fitted, err error) {
	f := &fitted{}
	if f.network, f.owned, err = c.loadNetwork(ctx, dev); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.free()
		}
	}()
	level := math.Max(sigma, leastSigma)
	if !f.network.Guided() { // of whose radii the strength is a factor
		level *= c.strength
	}
	if err := f.tune(ctx, channels, level); err != nil {
		return nil, err
	}
	return f, nil
}

// tune makes the network a denoiser for a noise level.
func (f *fitted) tune(ctx context.Context, channels int, level float64) (err error) {
	card, _ := f.network.Card()
	if len(f.network.Levels()) > 0 {
		if err := f.choose(ctx, level); err != nil {
			return fmt.Errorf("restore: noise of %.3g through the weights %q: %w", level, card.Name, err)
		}
	} else {
		f.scale = level / card.Sigma
	}
	return f.wrap(f.network, channels)
}

// wrap makes a network at its noise level, the fitted one or what is frozen from it, a denoiser
// of images of that many channels.
func (f *fitted) wrap(n *denoise.Network, channels int) (err error) {
	card, _ := f.network.Card()
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

// retuned returns the network of an iteration for a noise level factor times as large, which
// the caller frees, and before it is freed itself.
func (f *fitted) retuned(ctx context.Context, channels int, factor float64) (_ *fitted, err error) {
	g := &fitted{network: f.network}
	defer func() {
		if err != nil {
			g.free()
		}
	}()
	if err := g.tune(ctx, channels, factor*f.noise()); err != nil {
		return nil, err
	}
	return g, g.forIteration()
}

// noise returns the noise level of the images that the denoiser is for.
func (f *fitted) noise() float64 {
	if f.level > 0 {
		return f.level
	}
	card, _ := f.network.Card()
	return f.scale * card.Sigma
}

// choose puts the network for a noise level in the place of one for all. The network that
// was given is only read, so that other calls can use it at the same time.
func (f *fitted) choose(ctx context.Context, level float64) error {
	chosen, err := f.network.For(ctx, level)
	if err != nil {
		return err
	}
	f.free()
	f.network, f.level, f.owned = chosen, level, true
	return nil
}

// iterationRelaxation is λ for networks in an iteration that are proven to be
// nonexpansive and no more: large, so that the network does nearly what it was trained
// for.
const iterationRelaxation = 0.9

// forIteration makes the denoiser one that an iteration can be proven to converge with:
// if it is only nonexpansive it is relaxed, 0.1·x + 0.9·Φ_s(x), which is averaged.
func (f *fitted) forIteration() (err error) {
	if alpha, proven := f.Averagedness(); proven && alpha >= 1 {
		f.Denoiser, err = denoise.Relax(f.Denoiser, iterationRelaxation)
	}
	return err
}

// mostAttackMemory is what the transposed Jacobian of an attack may take, in bytes.
const mostAttackMemory = 1 << 30

// target returns the network as an attack is to see it: without its gradient if that
// would have to keep the arrays of more steps than there is room for, as a file can ask.
func (f *fitted) target() denoise.Denoiser {
	card, _ := f.network.Card()
	steps := 0
	for _, b := range f.network.Certificate().Blocks {
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
	side := float64((attackSide + factor - 1) / factor)
	if 4*arrays*float64(steps)*float64(card.Architecture.Width)*side*side <= mostAttackMemory {
		return f.network
	}
	return struct{ denoise.InexactDenoiser }{f.network}
}

// free gives the network back, if it was made here.
func (f *fitted) free() {
	if f.frozen != nil {
		f.frozen.Free()
	}
	if f.owned {
		f.network.Free()
	}
}

// describe puts what is known of the denoiser into the report, with the strength of its guide.
func (f *fitted) describe(r *Report, strength float64) {
	certificate := f.Certificate()
	r.Network.Rescaling, r.Network.Level, r.Network.Certificate = f.scale, f.level, &certificate
	r.Averagedness, r.Certified = f.Averagedness()
	if f.network.Guided() {
		r.Network.Guide = guideReport(f.network, strength, f.looks)
	}
}
