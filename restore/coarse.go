package restore

import (
	"errors"
	"fmt"
	"slices"

	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/weights"
)

// CoarseNetwork has Denoise use a network in the place of the one given by Network where the noise is
// found to be coarse. It stays the caller's, as that of Network does.
func CoarseNetwork(n *denoise.Network) Option {
	return option{"CoarseNetwork", func(c *settings) error {
		if n == nil {
			return errors.New("restore: the network for coarse noise is nil")
		}
		if _, ok := n.Card(); !ok {
			return errors.New("restore: the network for coarse noise has no card, which says what noise it is for: load it from a weight file (denoise.Load)")
		}
		c.coarse = n
		return nil
	}}
}

// forNoise chooses the network for the noise that was found.
func (c settings) forNoise(report *Report) (settings, error) {
	if e := report.Noise.Estimate; e == nil || e.Kind != CoarseNoise || c.prior != nil {
		return c, nil
	}
	switch {
	case c.coarse != nil:
		c.network = c.coarse
		card, _ := c.network.Card()
		method, err := MethodOf(card)
		if err != nil {
			return c, err
		}
		c.method = method
	case c.unnamed && slices.Contains(weights.Embedded(), Camera):
		var err error
		c.method = Camera
		if c.weights, err = c.kept.open(Camera); err != nil {
			return c, fmt.Errorf("restore: method %q: %w", c.method, err)
		}
	}
	report.Method = c.method
	return c, nil
}

// The factors of strength that have names in the command line.
const (
	LightStrength  = 0.65
	NormalStrength = 1.0
	StrongStrength = 1.6
)
