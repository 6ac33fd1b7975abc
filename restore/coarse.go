package restore

import (
	"errors"
	"fmt"
	"slices"

	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/strength"
	"github.com/averaged/imaging/weights"
)

// CoarseNetwork chooses the network that Denoise uses in the place of the other where the noise is
// found to be coarse (CoarseNoise) and to have less than nine tenths of its level in the finest detail,
// or said to be coarse (Grain). It is as with Network, which has to be given as well. Where neither a
// method nor weights are given, that is "camera" anyway.
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

// forNoise returns the settings for the noise that was found: another network where it is coarse.
func (c settings) forNoise(report *Report) (settings, error) {
	e := report.Estimate
	found := e != nil && e.Kind == CoarseNoise && strength.Smoothed(e.Sigma, e.finest())
	if !found && !c.grain || c.prior != nil {
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
