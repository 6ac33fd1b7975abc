package networks

import (
	"context"
	"fmt"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/strength"
	"github.com/averaged/imaging/pnp"
	"github.com/averaged/imaging/weights"
)

// The methods that are no networks.
const (
	TV  = "tv"    // total variation
	Own = "prior" // a denoiser of the caller's own, as restore.Report.Method calls it
)

// Choice is the denoiser of a call: a network if Loaded or File is there, else Prior or total variation.
type Choice struct {
	Method string           // one of restore.Methods, or Own
	Prior  pnp.Denoiser     // of the caller's own, or nil
	Loaded *denoise.Network // loaded by the caller, or nil
	File   *weights.File    // to be loaded, or nil

	// How a file is loaded.
	Tile  int
	Prove bool  // the certificate of embedded weights too
	Kept  *Kept // of a restorer, or nil

	card  weights.Card
	known bool
}

// Card returns the card of the network, and false if the denoiser is none. The first call reads it from the file.
func (c *Choice) Card() (card weights.Card, isNetwork bool, err error) {
	switch {
	case c.known:
	case c.Loaded != nil:
		c.card, c.known = c.Loaded.Card()
	case c.File != nil:
		if c.card, err = c.File.Card(); err != nil {
			return weights.Card{}, false, fmt.Errorf("restore: %w", err)
		}
		c.known = true
	}
	return c.card, c.known, nil
}

// Guided tells whether the network has a guide, which sets the radii of its projections for every pixel of one
// photograph.
func (c *Choice) Guided() bool {
	card, is, err := c.Card()
	return err == nil && is && len(card.Architecture.Guide) > 0
}

// Even returns the sides of an image, made multiples of those of the coarse pixels that the network sees, if the denoiser is
// one. Where an image ended inside of one, the network would take what is missing for black, and leave noise at the edge.
func (c *Choice) Even(h, w int) (evenH, evenW int) {
	card, _, err := c.Card()
	if err != nil {
		return h, w
	}
	coarse := max(1, card.Architecture.Shuffle)
	return (h + coarse - 1) / coarse * coarse, (w + coarse - 1) / coarse * coarse
}

// Adapts tells whether the strength of the denoiser can follow the image: that of a certified network without a guide.
func (c *Choice) Adapts() bool {
	card, is, err := c.Card()
	return err == nil && is && card.Architecture.Family != weights.FamilyDnCNN && len(card.Architecture.Guide) == 0
}

// An unconstrained network is meant for noise within this factor of what it has learned.
const unprovenRange = 1.5

// Doubt says in one sentence that the network has no certificate and is used for noise of a level, or coarse noise, that it
// has not learned: there it can ruin a picture. It is empty if there is no such doubt.
func (c *Choice) Doubt(level float64, coarse bool) string {
	card, is, err := c.Card()
	if err != nil || !is || card.Architecture.Family != weights.FamilyDnCNN {
		return ""
	}
	if ratio := level / card.Sigma; !coarse && ratio < unprovenRange && ratio > 1/unprovenRange {
		return ""
	}
	return fmt.Sprintf("%s has learned white noise of %.3g only and has no certificate: noise like this can make it ruin the picture; use a certified network, such as %s",
		card.Name, card.Sigma, DefaultMethod())
}

// AxisNoise returns the standard deviation of the noise that the network meets in an image of that many channels with
// noise of the given one. Grey images go through a network of colour as three equal channels (denoise.Grey), whose
// noise is √3 times as strong along the axis of brightness as in each: the network has learned noise that is as strong
// along all axes.
func (c *Choice) AxisNoise(channels int, sigma float64) (float64, error) {
	card, _, err := c.Card()
	if err != nil {
		return 0, err
	}
	if of := card.Architecture.Channels; channels == 1 && of > 1 {
		sigma = strength.AlongBrightness(sigma, of)
	}
	return sigma, nil
}

// Device returns the one to compute on: the network's, if the caller has loaded it, or else dev.
func (c *Choice) Device(dev backend.Device) backend.Device {
	if c.Loaded != nil {
		return c.Loaded.Device()
	}
	return dev
}

// load returns the network, and whether it is the caller's to free.
func (c *Choice) load(ctx context.Context, dev backend.Device) (_ *denoise.Network, owned bool, err error) {
	if c.Loaded != nil {
		return c.Loaded, false, nil
	}
	load := func() (*denoise.Network, error) {
		options := []denoise.Option{denoise.Tile(c.Tile)}
		if c.Prove {
			options = append(options, denoise.Prove())
		}
		n, err := denoise.Load(ctx, dev, c.File, options...)
		if err != nil {
			return nil, fmt.Errorf("restore: %w", err)
		}
		return n, nil
	}
	if !c.Prove && c.Kept.keeps(c.File) {
		n, err := c.Kept.load(ctx, networkKey{c.File, c.Tile}, load)
		return n, false, err
	}
	n, err := load()
	return n, true, err
}
