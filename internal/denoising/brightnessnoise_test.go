package denoising

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/synthetic"
)

// Noise is in brightness alone if no channel has noise of its own, fine or coarse.
func TestInBrightnessAlone(t *testing.T) {
	const h, w = 160, 200
	clean := imageplanes.New(3, h, w)
	for i := range h * w {
		y, x := i/w, i%w
		clean.Pix[i] = 0.3 + 0.4*float32(x/40%2)
		clean.Pix[h*w+i] = 0.4 + 0.2*float32(y/32%2)
		clean.Pix[2*h*w+i] = 0.3 + 0.2*float32(x)/w
	}
	is := func(pix []float32) bool {
		is, err := InBrightnessAlone(clean.WithPix(pix))
		require.NoError(t, err)
		return is
	}
	noisy := synthetic.Brightness(clean.Pix, 10./255, 3)
	require.True(t, is(noisy))
	require.True(t, is(synthetic.Rounded(noisy, 255)))
	require.False(t, is(clean.Pix))
	require.False(t, is(synthetic.White(clean.Pix, 10./255, 3)))
	require.False(t, is(synthetic.White(noisy, 1./255, 4)))

	coarse := append([]float32{}, noisy...)
	own := synthetic.White(make([]float32, h*w/16), 3./255, 5)
	for i := range h * w {
		coarse[i] += own[i/w/4*(w/4)+i%w/4]
	}
	require.False(t, is(coarse))

	grey := imageplanes.New(1, h, w)
	alone, err := InBrightnessAlone(grey)
	require.NoError(t, err)
	require.False(t, alone)
}
