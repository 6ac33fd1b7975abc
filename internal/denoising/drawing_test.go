package denoising

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/outcome"
	"github.com/averaged/imaging/internal/synthetic"
)

// Only squares with noise say whether an image is drawn, and a turned image is as much of a drawing.
func TestDrawings(t *testing.T) {
	const h, w = 48, 64
	p, turned := imageplanes.New(3, h, w), imageplanes.New(3, w, h)
	noise := synthetic.White(make([]float32, 3*h*w), 0.1, 5)
	for i := range p.Pix {
		c, y, x := i/(h*w), i/w%h, i%w
		switch {
		case y >= 16 && x < 32:
			p.Pix[i] = noise[i]
		case x >= 32:
			p.Pix[i] = float32(x/4) / 64
		}
		turned.Pix[(c*w+x)*h+y] = p.Pix[i]
	}
	all, some := denoise.ConstantLevels(h, w, 0.1), denoise.ConstantLevels(h, w, 0)
	pairs, equal := 0, 0
	for i := range all.Sigma {
		n, same := countPairs(p, all, i)
		pairs, equal = pairs+n, equal+same
		require.Equal(t, i/all.Columns == 0 || i%all.Columns >= 2, isDrawnSquare(p, all, i), i)
		m, others := countPairs(turned, denoise.ConstantLevels(w, h, 0.1), i%all.Columns*all.Rows+i/all.Columns)
		require.Equal(t, [2]int{n, same}, [2]int{m, others})
	}
	require.Equal(t, h*(w-1)+w*(h-1), pairs)
	require.InDelta(t, 1./6+0.5*7/8, float64(equal)/float64(pairs), 0.05)
	require.True(t, isDrawn(p, all))
	require.False(t, isDrawn(p, some))
	some.Sigma[some.Columns] = 0.1
	require.False(t, isDrawn(p, some))
	p.Alpha = make([]uint16, h*w)
	require.False(t, isDrawn(p, all))
}

// White noise in a part of a page does not blur its text.
func TestWhiteNoiseLeavesDrawnSquares(t *testing.T) {
	const h, w = 128, 160
	p := imageplanes.New(3, h, w)
	noise := synthetic.White(make([]float32, 3*h*w), 0.1, 5)
	for i := range p.Pix {
		if p.Pix[i] = 0.5 + noise[i]; i%w >= 128 {
			p.Pix[i] = 0.9
		}
	}
	m := denoise.ConstantLevels(h, w, 0.1)
	e := outcome.Estimate{ByDenoiser: [2]*denoise.LevelMap{levelsOfWhite: m}}
	white, err := settleWhite(&e, p, p.Visible(), 1)
	require.NoError(t, err)
	require.True(t, white)
	require.Equal(t, outcome.WhiteNoise, e.Kind)
	for i, v := range m.Sigma {
		if i%m.Columns >= 8 {
			require.Zero(t, v)
		} else {
			require.InDelta(t, 0.1, v, 0.01)
		}
	}
}
