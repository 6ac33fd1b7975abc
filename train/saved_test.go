package train

import (
	"math"
	"testing"

	"github.com/averaged/imaging/internal/devicequeue"
	"github.com/stretchr/testify/require"
)

// TestSavedCrops: about as many crops as asked for went through JPEG, most of them with a quarter of
// the samples of colour, and blocks begin at any of their pixels.
func TestSavedCrops(t *testing.T) {
	// Columns of two colours of one brightness, without which nothing is left but a grey.
	const side, size = 48, 16
	picture := Picture{Channels: 3, Height: side, Width: side, Samples: make([]float32, 3*side*side)}
	for i := range side * side {
		red := float32(0.7)
		if i%2 == 0 {
			red = 0.3
		}
		for c, v := range []float32{red, 0.5 - float32(0.299/0.587)*(red-0.5), 0.5} {
			picture.Samples[c*side*side+i] = float32(math.Round(float64(255*v)) / 255)
		}
	}
	set, err := NewPictures(3, []Picture{picture})
	require.NoError(t, err)
	dev := processor(t)
	config := guidedConfig()
	config.Crop, config.Augment, config.Saved = size, false, 0.6
	b := newBatch(&devicequeue.Queue{Dev: dev}, devicequeue.NewPool(dev), config)
	const count = 400
	random, untouched, grey := newGenerator(4), 0, 0
	for range count {
		b.makeCrop(0, config.drawCrop(set, random))
		same, swing := true, float32(0)
		for i, v := range b.samples[:size*size] {
			same = same && (v == picture.Samples[0] || v == picture.Samples[1])
			if i%size > 0 {
				swing = max(swing, v-b.samples[i-1], b.samples[i-1]-v)
			}
		}
		switch {
		case same:
			untouched++
		case swing < 0.1:
			grey++
		}
	}
	// Five standard deviations of a draw.
	within := func(got int, share float64) {
		require.InDelta(t, share*count, got, 5*math.Sqrt(count*share*(1-share)))
	}
	within(untouched, 0.4)
	within(grey, 0.6*0.75)

	// Equal states give equal crops.
	again := newGenerator(9)
	b.makeCrop(0, config.drawCrop(set, again))
	first := append([]float32(nil), b.samples...)
	again = newGenerator(9)
	b.makeCrop(0, config.drawCrop(set, again))
	require.Equal(t, first, b.samples)

	// What is cut out is where it was.
	planes := make([]float32, 2*25)
	for i := range planes {
		planes[i] = float32(i)
	}
	cutOut(planes, 2, 5, 2, 1, 3)
	require.Equal(t, []float32{8, 9, 13, 14, 33, 34, 38, 39}, planes[:8])
}
