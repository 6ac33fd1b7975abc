package denoising

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/synthetic"
)

// Only squares with noise say whether an image is a drawing, and a turned image is as much of one.
func TestEqualShare(t *testing.T) {
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
	require.InDelta(t, 1./6+0.5*7/8, equalShare(p, all), 0.05)
	require.InDelta(t, equalShare(p, all), equalShare(turned, denoise.ConstantLevels(w, h, 0.1)), 1e-9)
	require.Zero(t, equalShare(p, some))
	some.Sigma[some.Columns] = 0.1
	require.Less(t, equalShare(p, some), 0.01)
	p.Alpha = make([]uint16, h*w)
	require.Zero(t, equalShare(p, all))
}
