package denoising

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/outcome"
	"github.com/averaged/imaging/internal/synthetic"
)

// White noise is measured where pixels are visible. What fills the others has none, and hid it.
func TestWhiteNoiseOfVisiblePixels(t *testing.T) {
	const h, w = 128, 160
	p := imageplanes.New(3, h, w)
	p.Alpha = make([]uint16, h*w)
	noise := synthetic.White(make([]float32, 3*h*w), 0.1, 5)
	for i := range p.Pix {
		p.Pix[i] = 0.4 + 0.2*float32(i%w)/w + noise[i]
		if i%w < w/2 {
			p.Alpha[i%(h*w)] = 0xffff
		}
	}
	p, err := p.FillHidden(t.Context(), 0)
	require.NoError(t, err)
	e := outcome.Estimate{ByDenoiser: [2]*denoise.LevelMap{levelsOfWhite: denoise.ConstantLevels(h, w, 0.1)}}
	_, err = settleWhite(&e, p, p.Visible(), 1)
	require.NoError(t, err)
	require.Equal(t, outcome.WhiteNoise, e.Kind)
	require.InDelta(t, 0.1, e.Sigma, 0.005)
}

// White noise that is far stronger in a part of the picture is not measured as one number, which would be that of the rest.
func TestWhiteNoiseOfTwoLevels(t *testing.T) {
	const h, w = 128, 160
	p, m := imageplanes.New(3, h, w), denoise.ConstantLevels(h, w, 0.02)
	noise := synthetic.White(make([]float32, 3*h*w), 1, 5)
	for i := range p.Pix {
		p.Pix[i] = 0.4 + 0.2*float32(i%w)/w
		if i%w < 64 {
			p.Pix[i] += 0.1 * noise[i]
			m.Sigma[i/w%h/m.Side*m.Columns+i%w/m.Side] = 0.1
		} else {
			p.Pix[i] += 0.02 * noise[i]
		}
	}
	e := outcome.Estimate{ByDenoiser: [2]*denoise.LevelMap{levelsOfWhite: m}}
	_, err := settleWhite(&e, p, p.Visible(), 1)
	require.NoError(t, err)
	require.EqualValues(t, float32(0.1), m.Sigma[0])
	require.EqualValues(t, float32(0.02), m.Sigma[m.Columns-1])
}

// Noise that grows with light, as that of photons, is not measured as one number, which would be that of the dark.
func TestNoiseThatGrowsWithLight(t *testing.T) {
	const h, w = 128, 160
	p, m := imageplanes.New(3, h, w), denoise.ConstantLevels(h, w, 0.03)
	noise := synthetic.White(make([]float32, 3*h*w), 1, 5)
	for i := range p.Pix {
		p.Pix[i] = 0.1 + 0.03*noise[i]
		if i%w >= w/2 {
			p.Pix[i] = 0.5 + 0.05*noise[i]
			m.Sigma[i/w%h/m.Side*m.Columns+i%w/m.Side] = 0.05
		}
	}
	e := outcome.Estimate{ByDenoiser: [2]*denoise.LevelMap{levelsOfWhite: m}}
	white, err := settleWhite(&e, p, p.Visible(), 1)
	require.NoError(t, err)
	require.False(t, white)
	require.EqualValues(t, float32(0.03), m.Sigma[0])
	require.EqualValues(t, float32(0.05), m.Sigma[m.Columns-1])
}
