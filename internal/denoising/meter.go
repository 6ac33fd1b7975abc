package denoising

import (
	"cmp"
	"context"
	"fmt"
	"image"
	"slices"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/networks"
	"github.com/averaged/imaging/internal/noise"
	"github.com/averaged/imaging/internal/outcome"
	"github.com/averaged/imaging/internal/strength"
	"github.com/averaged/imaging/weights"
)

// The denoisers that the network of noise levels says levels for.
const levelsOfWhite, levelsOfCoarse = 0, 1

// Meter measures the noise of images on a device, with the network of noise levels that is kept.
type Meter struct {
	Kept   *networks.Kept
	Device backend.Device
}

// Map finds the noise level of every square of an image. A small one is mirrored first: the network learned from large crops.
func (m Meter) Map(ctx context.Context, p *imageplanes.Planes) (outcome.Estimate, error) {
	e, err := m.mapOf(ctx, p.Mirrored(noise.MinSide, noise.MinSide))
	for _, levels := range e.ByDenoiser {
		if levels != nil {
			*levels = *levels.Part(image.Rect(0, 0, p.Width, p.Height))
		}
	}
	return e, err
}

func (m Meter) mapOf(ctx context.Context, p *imageplanes.Planes) (outcome.Estimate, error) {
	n, err := m.Kept.Levels(m.Device)
	if err != nil {
		return outcome.Estimate{}, err
	}
	bright, factor := p.Brightened(imageplanes.ForPriors, false)
	said, err := n.Find(ctx, bright.Pix, hiddenSquares(p), p.Channels, p.Height, p.Width)
	if err != nil {
		return outcome.Estimate{}, fmt.Errorf("restore: noise level: %w", err)
	}
	e := outcome.Estimate{Kind: [...]outcome.NoiseKind{levelsOfWhite: outcome.WhiteNoise, levelsOfCoarse: outcome.CoarseNoise}[said.Chosen], Reliable: true}
	for k, levels := range said.Levels {
		for i, v := range levels {
			if levels[i] /= float32(factor); v < noise.MinLevel { // in the range that the network saw
				levels[i] = 0
			}
		}
		e.ByDenoiser[k] = &denoise.LevelMap{Side: noise.Square, Rows: said.Rows, Columns: said.Columns, Sigma: levels}
	}
	e.Levels = e.ByDenoiser[said.Chosen]
	drawn := isDrawn(p, e.Levels)
	visible := p.Visible()
	if drawn { // a photograph in a screenshot may have white noise, but what is drawn has none
		visible = leaveDrawn(p, e.ByDenoiser[:]...).Visible()
	}
	noisy := noisyLevels(e.Levels)
	if float64(len(noisy)) < noise.MinShare*float64(len(e.Levels.Sigma)) {
		return noNoise(p), nil
	}
	axis := 1.0
	if p.Channels == 1 { // the map is of the axis of brightness of three equal channels
		axis = strength.AlongBrightness(1, 3)
	}
	e.Sigma = float64(noisy[len(noisy)/2]) / axis
	white, err := settleWhite(&e, p, visible, axis)
	if drawn && !white && err == nil {
		return noNoise(p), nil
	}
	return e, err
}

// noNoise is the estimate of an image that has none.
func noNoise(p *imageplanes.Planes) outcome.Estimate {
	m := denoise.ConstantLevels(p.Height, p.Width, 0)
	return outcome.Estimate{Kind: outcome.NoNoise, Levels: m, ByDenoiser: [noise.Denoisers]*denoise.LevelMap{m, m}, Reliable: true}
}

// settleWhite has the noise of an image be white, of the level that is measured, where its white part is certain
// and agrees with the network: of white noise that estimate is exact, and the network is not quite. visible is the
// part of the image that is measured. It says whether the noise is white.
func settleWhite(e *outcome.Estimate, p, visible *imageplanes.Planes, axis float64) (bool, error) {
	m := e.ByDenoiser[levelsOfWhite]
	noisy := noisyLevels(m)
	if len(noisy) == 0 {
		return false, nil
	}
	white, err := noise.MeasureWhite(visible.Pix, p.Channels, visible.Height, visible.Width)
	if err != nil {
		return false, fmt.Errorf("restore: noise level: %w", err)
	}
	if !white.Reliable {
		return false, nil
	}
	ratio, upper := float64(noisy[len(noisy)/2])/axis/white.Sigma, float64(noisy[len(noisy)*3/4])/axis/white.Sigma
	agreeing := noise.Agreeing
	if p.Channels > 1 && slices.Max(white.PerChannel) < noise.EqualColours*slices.Min(white.PerChannel) {
		agreeing = noise.AgreeingEqual
	}
	// Noise that a quarter of the squares have far more of is not the same everywhere, and that of photons grows with light.
	if ratio > agreeing || ratio < 1/agreeing || upper > noise.AgreeingEqual || growth(m, p) > noise.Agreeing {
		// The number alone, for denoisers without a map: there is at least the white part.
		e.Sigma = max(e.Sigma, white.Sigma)
		return false, nil
	}
	for i := range m.Sigma {
		m.Sigma[i] = float32(axis * white.Sigma)
		if isDrawnSquare(p, m, i) { // as the text beside a photograph in a screenshot
			m.Sigma[i] = 0
		}
	}
	e.Kind, e.Levels, e.Sigma = outcome.WhiteNoise, m, white.Sigma
	return true, nil
}

// growth returns the ratio of the median levels of the brighter and the darker half of the squares with noise.
func growth(m *denoise.LevelMap, p *imageplanes.Planes) float64 {
	type square struct{ brightness, level float32 }
	var list []square
	for i, v := range m.Sigma {
		if v > 0 {
			list = append(list, square{brightnessOf(p, m, i), v})
		}
	}
	slices.SortFunc(list, func(a, b square) int { return cmp.Compare(a.brightness, b.brightness) })
	median := func(list []square) float64 {
		slices.SortFunc(list, func(a, b square) int { return cmp.Compare(a.level, b.level) })
		return float64(list[len(list)/2].level)
	}
	half := len(list) / 2
	return median(list[half:]) / median(list[:max(half, 1)])
}

// brightnessOf returns the mean of the samples of square i.
func brightnessOf(p *imageplanes.Planes, m *denoise.LevelMap, i int) float32 {
	y0, x0 := i/m.Columns*m.Side, i%m.Columns*m.Side
	sum, count := float32(0), 0
	for c := range p.Channels {
		plane := p.Plane(c)
		for y := y0; y < min(y0+m.Side, p.Height); y++ {
			for _, v := range plane[y*p.Width+x0 : y*p.Width+min(x0+m.Side, p.Width)] {
				sum += v
				count++
			}
		}
	}
	return sum / float32(count)
}

// hiddenSquares tells which squares of the map have invisible pixels; of an image without visible ones none has.
func hiddenSquares(p *imageplanes.Planes) []bool {
	if !slices.ContainsFunc(p.Alpha, func(a uint16) bool { return a > 0 }) {
		return nil
	}
	columns := (p.Width + noise.Square - 1) / noise.Square
	hidden := make([]bool, (p.Height+noise.Square-1)/noise.Square*columns)
	for i, a := range p.Alpha {
		if a == 0 {
			hidden[i/p.Width/noise.Square*columns+i%p.Width/noise.Square] = true
		}
	}
	return hidden
}

// noisyLevels are the levels of squares in which there is noise, in ascending order.
func noisyLevels(m *denoise.LevelMap) (levels []float32) {
	for _, v := range m.Sigma {
		if v > 0 {
			levels = append(levels, v)
		}
	}
	slices.Sort(levels)
	return levels
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
