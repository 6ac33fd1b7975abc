package restore

import (
	"context"
	"fmt"
	"image"
	"slices"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/levelmap"
	"github.com/averaged/imaging/internal/strength"
	"github.com/averaged/imaging/weights"
)

// NoiseKind says what noise looks like.
type NoiseKind int

const (
	// NoNoise is noise too weak to be worth removing, or none.
	NoNoise NoiseKind = iota
	// WhiteNoise is about as strong at all spatial frequencies.
	WhiteNoise
	// CoarseNoise is stronger at low frequencies than at high ones, as in photographs that a camera has
	// developed, and in compressed ones.
	CoarseNoise
)

// String returns a word: "none", "white" or "coarse".
func (k NoiseKind) String() string {
	switch k {
	case NoNoise:
		return "none"
	case WhiteNoise:
		return "white"
	}
	return "coarse"
}

// NoiseEstimate is what an image tells of its noise. Standard deviations are in units of the full
// intensity range.
type NoiseEstimate struct {
	Kind NoiseKind
	// Sigma is the median of Levels; the standard deviation of the noise where it is white, and two to three
	// times as much where it is coarse. 0 is no noise.
	Sigma float64
	// Levels is the noise level that a denoiser is to be told of, for each square of 16 pixels: the one that
	// was learned to give the best result. Where a denoiser would take texture it is low, and it is 0 where
	// there is nothing to remove. Nil of an estimate of the white part alone, as deblurring makes it.
	Levels *denoise.LevelMap
	// PerChannel is the standard deviation of white noise in each channel, of an estimate of the white part.
	PerChannel []float64
	// Reliable says that there is little doubt. Otherwise Note says in one sentence what is
	// doubtful, and what may help.
	Reliable bool
	Note     string

	// levels are the maps for each kind of denoiser; Levels is one of them.
	levels [levelmap.Denoisers]*denoise.LevelMap
}

// EstimateNoise finds the noise of an image by a network that has learned which levels give the best
// results, in what is visible of it.
func EstimateNoise(img image.Image) (NoiseEstimate, error) {
	p, err := open(img, 0)
	if err != nil {
		return NoiseEstimate{}, err
	}
	dev, err := cpu.Open()
	if err != nil {
		return NoiseEstimate{}, err
	}
	c := settings{device: dev, kept: &networks{}}
	e, err := c.mapNoise(context.Background(), p.planar)
	c.kept.free()
	if closed := dev.Close(); err == nil {
		err = closed
	}
	return e, err
}

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

// mapNoise finds the noise level of every square of an image.
func (c settings) mapNoise(ctx context.Context, p *Planar) (NoiseEstimate, error) {
	n, err := c.kept.levelNetwork(c.on())
	if err != nil {
		return NoiseEstimate{}, err
	}
	pix, factor := p.brightened()
	said, err := n.Find(ctx, pix, p.hiddenSquares(), p.Channels, p.Height, p.Width)
	if err != nil {
		return NoiseEstimate{}, fmt.Errorf("restore: noise level: %w", err)
	}
	e := NoiseEstimate{Kind: WhiteNoise, Reliable: true}
	for k, levels := range said.Levels {
		for i, v := range levels {
			if v < leastLevel { // in the range that the network saw
				levels[i] = 0
				continue
			}
			levels[i] /= factor
		}
		e.levels[k] = &denoise.LevelMap{Side: levelmap.Square, Rows: said.Rows, Columns: said.Columns, Sigma: levels}
	}
	e.Levels = e.levels[said.Chosen]
	if said.Chosen == levelsOfCoarse {
		e.Kind = CoarseNoise
	}
	if said.Equal > mostEqual || noisyShare(e.Levels) < leastShare {
		e.Levels = denoise.ConstantLevels(p.Height, p.Width, 0)
		e.levels = [levelmap.Denoisers]*denoise.LevelMap{e.Levels, e.Levels}
		e.Kind = NoNoise
		return e, nil
	}
	e.Sigma = medianAbove0(e.Levels)
	if p.Channels == 1 { // the map is of the axis of brightness of three equal channels
		e.Sigma = e.Sigma / strength.AlongBrightness(1, 3)
	}
	return e, e.settleWhite(p)
}

// agreeing is how far apart the network's level and that of the white part may be, as a factor, where noise
// is taken for white.
const agreeing = 1.4

// settleWhite has the noise of a colour image be white, of the level that is measured, where its white part is
// certain and agrees with the network: of white noise that estimate is exact, and the network is not quite.
func (e *NoiseEstimate) settleWhite(p *Planar) error {
	m := e.levels[levelsOfWhite]
	if m.Max() == 0 {
		return nil
	}
	white, err := p.whiteNoise()
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
	e.Kind, e.Levels, e.Sigma = WhiteNoise, m, white.Sigma
	return nil
}

// hiddenSquares tells which squares of the map have invisible pixels; nil is none.
func (p *Planar) hiddenSquares() []bool {
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

// Part returns the estimate of a part of the image that the estimate is of.
func (e NoiseEstimate) Part(r image.Rectangle) NoiseEstimate {
	for k, m := range e.levels {
		if m == nil {
			continue
		}
		part := m.Part(r)
		if e.Levels == m {
			e.Levels = part
		}
		e.levels[k] = part
	}
	return e
}

// levelsFor returns the map for the network of the settings, or nil where there is none.
func (e *NoiseEstimate) levelsFor(method string) *denoise.LevelMap {
	if e == nil || e.Levels == nil {
		return nil
	}
	if method == Camera {
		return e.levels[levelsOfCoarse]
	}
	return e.levels[levelsOfWhite]
}

// levelNetwork returns the network of noise levels on a device, which is kept.
func (n *networks) levelNetwork(dev backend.Device) (*levelmap.Network, error) {
	f, err := n.open(weights.Levels)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if net := n.levels[dev]; net != nil {
		return net, nil
	}
	m, err := levelmap.FromFile(f)
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	net, err := levelmap.New(dev, m)
	if err != nil {
		return nil, fmt.Errorf("restore: weights %q: %w", weights.Levels, err)
	}
	if n.levels == nil {
		n.levels = map[backend.Device]*levelmap.Network{}
	}
	n.levels[dev] = net
	return net, nil
}
