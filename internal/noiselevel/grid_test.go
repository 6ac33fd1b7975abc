package noiselevel

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/internal/cameranoise"
)

// What JPEG has rounded is known at all qualities, under noise that hides its blocks, and where a crop has moved its
// grid; noise of other kinds, smooth noise of cameras among them, has nothing of it.
func TestRounded(t *testing.T) {
	const h, w = 160, 200
	crop := func(pix []float32, top, left int) []float32 {
		part := make([]float32, 0, len(pix))
		for c := range 3 {
			for y := top; y < h; y++ {
				part = append(part, pix[(c*h+y)*w+left:(c*h+y+1)*w]...)
			}
		}
		return part
	}
	for _, sigma := range []float64{0.03, 0.1} {
		pix := toBytes(addNoise(render(scenes["edges"], 3, h, w), sigma, 4))
		require.Zero(t, rounded(pix, 3, h, w), "%v", sigma)
		require.Zero(t, rounded(pix[:h*w], 1, h, w), "%v, grey", sigma)
		require.Zero(t, rounded(cameranoise.Blurred(pix, h, w, 0.7), 3, h, w), "%v, smooth", sigma)
		for _, quality := range []int{75, 85, 95} {
			grey, err := cameranoise.Compressed(slices.Repeat(pix[:h*w], 3), h, w, cameranoise.JPEG{Quality: quality})
			require.NoError(t, err)
			require.Equal(t, 1.0, rounded(grey[:h*w], 1, h, w), "%v at %d, grey", sigma, quality)
			for _, s := range []cameranoise.Subsampling{cameranoise.Full, cameranoise.Quarter} {
				saved, err := cameranoise.Compressed(pix, h, w, cameranoise.JPEG{Quality: quality, Subsampling: s})
				require.NoError(t, err)
				require.Equal(t, 1.0, rounded(saved, 3, h, w), "%v at %d, %v", sigma, quality, s)
				require.Equal(t, 1.0, rounded(crop(saved, 3, 6), 3, h-3, w-6), "%v at %d, %v, a crop", sigma, quality, s)
				require.False(t, sigma == 0.1 && Blocked(saved, 3, h, w), "blocks would show it, too")
			}
		}
	}
	camera := cameranoise.Typical()
	camera.ISO = 1600
	taken, err := camera.Apply(render(scenes["edges"], 3, h, w), h, w, 5)
	require.NoError(t, err)
	require.Zero(t, rounded(taken, 3, h, w), "by a camera")
	require.Zero(t, rounded(make([]float32, 3*h*w), 3, h, w), "one colour")
	for _, size := range [][2]int{{14, 90}, {15, 15}, {1, 1}} {
		require.Zero(t, rounded(make([]float32, 3*size[0]*size[1]), 3, size[0], size[1]), "%v", size)
	}
}
