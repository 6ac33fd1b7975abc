package cameranoise

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/jpeg"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/imagefile"
)

// textured is a picture of multiples of 1/255 with edges, waves of colour and noise.
func textured(channels, h, w int) []float32 {
	pix := make([]float32, channels*h*w)
	for i := range pix {
		c, y, x := i/(h*w), i/w%h, i%w
		v := 0.5 + 0.25*math.Sin(float64(x*(c+1))/9+float64(y)/5) + 0.06*float64(backend.GaussianAt(8, uint64(i)))
		if x > w/2 && y > h/3 {
			v -= 0.2
		}
		pix[i] = float32(math.Round(255*min(max(v, 0), 1)) / 255)
	}
	return pix
}

// difference is the root mean square and the largest difference, of 255.
func difference(a, b []float32) (rms, worst float64) {
	for i := range a {
		d := math.Abs(float64(a[i]-b[i])) * 255
		rms += d * d / float64(len(a))
		worst = max(worst, d)
	}
	return math.Sqrt(rms), worst
}

func simulated(pix []float32, channels, h, w int, j JPEG) []float32 {
	out := append([]float32(nil), pix...)
	compress(out, make([]float32, paddedSize(h, w)), channels, h, w, j)
	return out
}

// What is simulated is what comes out of real encoders: for grey out of imagefile's, to the last
// rounding. The transforms of image/jpeg, for colour, are of whole numbers, so that a coefficient
// half way between two steps goes to the other one now and then; that is little of what is lost.
func TestJPEGAgainstEncoders(t *testing.T) {
	for _, size := range [][2]int{{64, 80}, {37, 51}, {16, 16}, {5, 9}} {
		h, w := size[0], size[1]
		for _, quality := range []int{40, 60, 75, 90, 98} {
			what := fmt.Sprintf("quality %d, %d×%d", quality, h, w)
			decode := func(b *bytes.Buffer, err error) []float32 {
				require.NoError(t, err)
				m, err := imagefile.Decode(t.Context(), b, imagefile.ReadOptions{})
				require.NoError(t, err)
				return m.Pix
			}
			encode := func(pix []float32, channels int) []float32 {
				var b bytes.Buffer
				m := &imagefile.Image{Width: w, Height: h, Channels: channels, Pix: pix, Depth: 8, SourceDepth: 8}
				return decode(&b, imagefile.Encode(t.Context(), &b, m, imagefile.WriteOptions{Format: imagefile.JPEG, Quality: quality}))
			}
			grey := textured(1, h, w)
			rms, worst := difference(encode(grey, 1), simulated(grey, 1, h, w, JPEG{quality, Quarter}))
			require.Less(t, rms, 0.25, what)
			require.Less(t, worst, 1.01, what)

			colour := textured(3, h, w)
			var b bytes.Buffer
			file := decode(&b, jpeg.Encode(&b, picture(colour, h, w), &jpeg.Options{Quality: quality}))
			rms, _ = difference(file, simulated(colour, 3, h, w, JPEG{quality, Quarter}))
			lost, _ := difference(file, colour)
			share := 0.13
			if h < 16 {
				share = 0.25
			}
			require.Less(t, rms, share*lost, what)

			// imagefile's encoder does not round components, so it loses a little less.
			lost, _ = difference(encode(colour, 3), colour)
			simulation, _ := difference(simulated(colour, 3, h, w, JPEG{quality, Full}), colour)
			require.InDelta(t, lost, simulation, 0.05*lost+0.6, what)
		}
	}
}

func picture(pix []float32, h, w int) image.Image {
	at := func(c, i int) uint8 { return uint8(math.Round(255 * float64(pix[c*h*w+i]))) }
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for i := range h * w {
		m.SetRGBA(i%w, i/w, color.RGBA{at(0, i), at(1, i), at(2, i), 255})
	}
	return m
}

// Colour at half the width is between full colour and a quarter of it.
func TestJPEGSubsampling(t *testing.T) {
	const h, w = 48, 64
	pix := textured(3, h, w)
	var lost [3]float64
	for s := Full; s <= Quarter; s++ {
		lost[s], _ = difference(pix, simulated(pix, 3, h, w, JPEG{95, s}))
	}
	require.Less(t, lost[Full], lost[HalfWidth])
	require.Less(t, lost[HalfWidth], lost[Quarter])

	// 4:2:2 keeps colours that change along columns only.
	for i := range pix {
		pix[i] = float32(40+i/(h*w)*30+i/w%h*3) / 255
	}
	rms, _ := difference(pix, simulated(pix, 3, h, w, JPEG{100, HalfWidth}))
	require.Less(t, rms, 1.0)
}

// Compressing again with the same quality changes next to nothing; results have 8 bits.
func TestJPEGAgain(t *testing.T) {
	const h, w = 40, 40
	once := simulated(textured(3, h, w), 3, h, w, JPEG{80, Full})
	again, _ := difference(once, simulated(once, 3, h, w, JPEG{80, Full}))
	require.Less(t, again, 1.0)
	for _, v := range once {
		require.InDelta(t, math.Round(255*float64(v)), 255*float64(v), 1e-3)
	}
}
