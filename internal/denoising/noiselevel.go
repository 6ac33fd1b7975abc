package denoising

import (
	"context"
	"fmt"
	"slices"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/levelmap"
	"github.com/averaged/imaging/internal/networks"
	"github.com/averaged/imaging/internal/outcome"
	"github.com/averaged/imaging/internal/strength"
	"github.com/averaged/imaging/weights"
)

const (
	// leastLevel is the level below which a square has no noise: half of a step of 8 bits.
	leastLevel = 0.002
	// leastShare is the share of noisy squares below which an image has no noise: a few squares of a drawing
	// look like noise by chance.
	leastShare = 0.05
	// mostEqual is the share of pixels that are equal to their neighbour above which an image is a drawing.
	mostEqual = 0.5
)

// The denoisers that the network of noise levels says levels for.
const levelsOfWhite, levelsOfCoarse = 0, 1

// Meter measures the noise of images on a device, with the network of noise levels that is kept.
type Meter struct {
	Kept   *networks.Kept
	Device backend.Device
}

// Map finds the noise level of every square of an image.
func (m Meter) Map(ctx context.Context, p *imageplanes.Planes) (outcome.Estimate, error) {
	n, err := m.Kept.Levels(m.Device)
	if err != nil {
		return outcome.Estimate{}, err
	}
	pix, factor := brightened(p, false)
	hidden := hiddenSquares(p)
	said, err := n.Find(ctx, pix, hidden, p.Channels, p.Height, p.Width)
	if err != nil {
		return outcome.Estimate{}, fmt.Errorf("restore: noise level: %w", err)
	}
	e := outcome.Estimate{Kind: outcome.WhiteNoise, Reliable: true}
	for k, levels := range said.Levels {
		for i, v := range levels {
			if v < leastLevel { // in the range that the network saw
				levels[i] = 0
				continue
			}
			levels[i] /= factor
		}
		e.ByDenoiser[k] = &denoise.LevelMap{Side: levelmap.Square, Rows: said.Rows, Columns: said.Columns, Sigma: levels}
	}
	e.Levels = e.ByDenoiser[said.Chosen]
	if said.Chosen == levelsOfCoarse {
		e.Kind = outcome.CoarseNoise
	}
	// What invisible pixels are filled with is smooth, but not flat, so that it hides a drawing.
	drawing := said.Equal > mostEqual || hidden != nil && equalShare(p) > mostEqual
	if drawing || noisyShare(e.Levels) < leastShare {
		e.Levels = denoise.ConstantLevels(p.Height, p.Width, 0)
		e.ByDenoiser = [levelmap.Denoisers]*denoise.LevelMap{e.Levels, e.Levels}
		e.Kind = outcome.NoNoise
		return e, nil
	}
	e.Sigma = medianAbove0(e.Levels)
	if p.Channels == 1 { // the map is of the axis of brightness of three equal channels
		e.Sigma = e.Sigma / strength.AlongBrightness(1, 3)
	}
	return e, settleWhite(&e, p)
}

// agreeing is how far apart the network's level and that of the white part may be, as a factor, where noise
// is taken for white.
const agreeing = 1.4

// settleWhite has the noise of a colour image be white, of the level that is measured, where its white part is
// certain and agrees with the network: of white noise that estimate is exact, and the network is not quite.
func settleWhite(e *outcome.Estimate, p *imageplanes.Planes) error {
	m := e.ByDenoiser[levelsOfWhite]
	if m.Max() == 0 {
		return nil
	}
	white, err := White(p)
	if err != nil || !white.Reliable {
		return err
	}
	level := medianAbove0(m)
	if p.Channels == 1 || white.Sigma < level/agreeing || white.Sigma > agreeing*level {
		// The number alone, for denoisers without a map: there is at least the white part.
		e.Sigma = max(e.Sigma, white.Sigma)
		return nil
	}
	for i := range m.Sigma {
		m.Sigma[i] = float32(white.Sigma)
	}
	e.Kind, e.Levels, e.Sigma = outcome.WhiteNoise, m, white.Sigma
	return nil
}

// hiddenSquares tells which squares of the map have invisible pixels; nil is none.
func hiddenSquares(p *imageplanes.Planes) []bool {
	if !slices.Contains(p.Alpha, 0) {
		return nil
	}
	columns := (p.Width + levelmap.Square - 1) / levelmap.Square
	hidden := make([]bool, (p.Height+levelmap.Square-1)/levelmap.Square*columns)
	if !slices.ContainsFunc(p.Alpha, func(a uint16) bool { return a > 0 }) {
		return nil
	}
	for i, a := range p.Alpha {
		if a == 0 {
			hidden[i/p.Width/levelmap.Square*columns+i%p.Width/levelmap.Square] = true
		}
	}
	return hidden
}

// noisyShare is the share of squares in which there is noise.
func noisyShare(m *denoise.LevelMap) float64 {
	n := 0
	for _, v := range m.Sigma {
		if v > 0 {
			n++
		}
	}
	return float64(n) / float64(len(m.Sigma))
}

// medianAbove0 is the median of the levels of squares in which there is noise.
func medianAbove0(m *denoise.LevelMap) float64 {
	var some []float32
	for _, v := range m.Sigma {
		if v > 0 {
			some = append(some, v)
		}
	}
	slices.Sort(some)
	return float64(some[len(some)/2])
}

// levelsFor returns the map for the network of a method, or nil where there is none.
func levelsFor(e *outcome.Estimate, method string) *denoise.LevelMap {
	if e == nil || e.Levels == nil {
		return nil
	}
	if method == weights.Camera {
		return e.ByDenoiser[levelsOfCoarse]
	}
	return e.ByDenoiser[levelsOfWhite]
}
