package noiselevel

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/internal/cameranoise"
)

// drawings are pages of h×w as programs draw them, in brightness.
var drawings = map[string]func(y, x int, r *rand.Rand) float64{
	"table on white and pale rows": func(y, x int, _ *rand.Rand) float64 {
		switch {
		case y%17 == 0 || x%31 == 0:
			return 0.6
		case y%17 > 4 && y%17 < 12 && x%31 > 5 && (x*7+y*3+x*y)%5 < 2:
			return 0
		case y/17%2 == 0:
			return 1
		}
		return 0.94
	},
	"text on a dark ground": func(y, x int, _ *rand.Rand) float64 {
		if y%13 > 3 && y%13 < 11 && (x*x+3*x*y+y)%7 < 2 {
			return 0.8
		}
		return 0.12
	},
	"smooth lines": func(y, x int, _ *rand.Rand) float64 {
		away := math.Abs(math.Mod(float64(x)+0.37*float64(y), 9) - 4)
		return min(1, max(0, away-0.4))
	},
	"two colours alone": func(y, x int, r *rand.Rand) float64 {
		return math.Round(0.3 + 0.4*r.Float64())
	},
	"a plot on paper": func(y, x int, _ *rand.Rand) float64 {
		if away := math.Abs(float64(y) - 100 - 40*math.Sin(float64(x)/9)); away < 1.5 {
			return min(1, max(0, away-0.5))
		}
		return 1
	},
}

func drawn(pix []float32, channels, h, w int, t require.TestingT) bool {
	ranges, err := scanned(pix, channels, h, w)
	require.NoError(t, err)
	return newDrawing(pix, channels, h, w, ranges).drawn()
}

// Drawings have no noise, in grey and in colour, whatever their ground, and whether they are as large as
// they were drawn or saved as JPEG.
func TestDrawings(t *testing.T) {
	const h, w = 210, 250
	for name, draw := range drawings {
		r := rand.New(rand.NewPCG(1, 2))
		grey := make([]float32, h*w)
		for i := range grey {
			grey[i] = float32(draw(i/w, i%w, r))
		}
		grey = toBytes(grey)
		colour := make([]float32, 0, 3*h*w)
		for _, tint := range []float32{1, 0.9, 0.8} {
			for _, v := range grey {
				colour = append(colour, tint*v)
			}
		}
		for channels, pix := range map[int][]float32{1: grey, 3: toBytes(colour)} {
			require.True(t, drawn(pix, channels, h, w, t), "%s, %d channels", name, channels)
			p, err := EstimateProfile(pix, channels, h, w)
			require.NoError(t, err)
			require.Equal(t, None, p.Kind, name)
			require.Zero(t, p.Sigma, name)
			require.Len(t, p.PerChannel, channels)
			require.NotEmpty(t, p.Note)
		}
	}
}

// Saved as JPEG drawings are still known, but for what fills every block with lines.
func TestSavedDrawings(t *testing.T) {
	const h, w = 210, 250
	for _, name := range []string{"text on a dark ground", "a plot on paper"} {
		pix := make([]float32, 0, 3*h*w)
		for i := range 3 * h * w {
			pix = append(pix, float32(drawings[name](i%(h*w)/w, i%w, nil)))
		}
		saved, err := cameranoise.Compressed(pix, h, w, cameranoise.JPEG{Quality: 90, Subsampling: cameranoise.Quarter})
		require.NoError(t, err)
		p, err := EstimateProfile(saved, 3, h, w)
		require.NoError(t, err)
		require.Less(t, p.Sigma, 2.0/255, name)
	}
}

// Lines that leave no square empty are known by the paper between them and by what ink is: at one distance from it, where
// clipped noise is at many, and in a grey image as often at the limit.
func TestLinesWithoutGroundAreDrawn(t *testing.T) {
	page := func(grey bool, paper, contrast, farthest float32, others int) drawing {
		d := drawing{grey: grey}
		for i := range 500 {
			s := square{steps: 1.5}
			if i >= others {
				s.clipped, s.at[1], s.contrast[1], s.farthest[1] = 0.5, paper, contrast, farthest
			}
			d.squares = append(d.squares, s)
		}
		return d
	}
	require.True(t, page(false, 0.35, 20, 30, 0).drawn())
	require.True(t, page(false, 0.35, 20, 30, 10).drawn())
	require.False(t, page(false, 0.35, 20, 30, 25).drawn(), "squares without any white")
	require.False(t, page(false, 0.35, 20, 42, 0).drawn(), "noise")
	require.False(t, page(false, 0.35, 10, 15, 0).drawn(), "clouds")
	require.False(t, page(false, 0.11, 20, 30, 0).drawn(), "little paper")
	require.False(t, page(true, 0.35, 20, 30, 0).drawn(), "grey")
}

// A photograph of a white thing, with some dark on it and a yellow one beside, is none: few squares are white all over,
// and many have no pixel at a limit. Where half of the squares are white it is a drawing.
func TestWhiteThingsAreNotDrawn(t *testing.T) {
	squares := func(white, edges, others int) drawing {
		d := drawing{}
		for range white {
			d.squares = append(d.squares, square{constant: true, clipped: 1, at: [2]float32{0, 1}})
		}
		for range edges {
			d.squares = append(d.squares, square{clipped: 0.6, steps: 0.2, at: [2]float32{0, 0.5}, contrast: [2]float32{0, 160}, farthest: [2]float32{0, 400}})
		}
		for range others {
			d.squares = append(d.squares, square{steps: 0.2})
		}
		return d
	}
	require.False(t, squares(62, 670, 268).drawn())
	require.True(t, squares(62, 838, 100).drawn())
	require.True(t, squares(500, 367, 133).drawn())
}

// softNoise is noise of a standard deviation, white before a Gaussian of soft pixels; up to 0.5 it stays white.
func softNoise(channels, h, w int, sigma, soft float64, seed uint64) []float32 {
	white, square := addNoise(make([]float32, channels*h*w), 1, seed), 0.0
	noise := make([]float64, 0, len(white))
	for c := range channels {
		plane := make([]float64, h*w)
		for i := range plane {
			plane[i] = float64(white[c*h*w+i])
		}
		if soft > 0.5 {
			plane = cameranoise.BlurredPlane(plane, h, w, soft)
		}
		noise = append(noise, plane...)
	}
	for _, v := range noise {
		square += v * v / float64(len(noise))
	}
	for i := range white {
		white[i] = float32(noise[i] * sigma / math.Sqrt(square))
	}
	return white
}

// Noise is never taken for a drawing, however weak or strong, smooth or clipped it is, on smooth ground and on
// edges, and even where all is black but for the noise.
func TestNoiseIsNotDrawn(t *testing.T) {
	const h, w = 120, 140
	rapid.Check(t, func(t *rapid.T) {
		channels := rapid.SampledFrom([]int{1, 3}).Draw(t, "channels")
		sigma := rapid.Float64Range(1, 60).Draw(t, "sigma") / 255 // below, rounding leaves shapes of one colour
		soft := rapid.Float64Range(0.3, 3).Draw(t, "softness")
		gain := rapid.Float64Range(0.2, 1).Draw(t, "gain")
		offset := rapid.Float64Range(-0.3, 0.3).Draw(t, "offset")
		scene := rapid.SampledFrom([]string{"gradient", "edges"}).Draw(t, "scene")
		pix := render(scenes[scene], channels, h, w)
		for i := range pix {
			pix[i] = min(max(float32(gain)*pix[i]+float32(offset), 0), 1)
		}
		noise := softNoise(channels, h, w, sigma, soft, rapid.Uint64().Draw(t, "seed"))
		for i := range pix {
			pix[i] += noise[i]
		}
		require.False(t, drawn(toBytes(pix), channels, h, w, t))
		if channels == 1 && sigma < 15.0/255 { // the same in a tint, as by a camera that smooths all colour away
			tinted := make([]float32, 0, 3*h*w)
			for _, tint := range []float32{1, 0.97, 0.9} {
				for _, v := range pix {
					tinted = append(tinted, tint*v)
				}
			}
			require.False(t, drawn(toBytes(tinted), 3, h, w, t), "tinted")
		}
	})
}

// What is clipped is flat, and says nothing of the noise elsewhere; what is flat at another value does.
func TestNoiseBesideClippedGround(t *testing.T) {
	const h, w, sigma = 240, 300, 12.0 / 255
	scene := render(scenes["gradient"], 3, h, w)
	for name, shift := range map[string]float32{"white sky": 0.9, "black night": -0.9, "grey paint": 0} {
		noise := softNoise(3, h, w, sigma, 0.8, 4)
		pix := make([]float32, 3*h*w)
		for i := range pix {
			place := i % (h * w)
			switch {
			case place/w > 2*h/3 && shift == 0:
				pix[i] = 0.5
			case place/w > 2*h/3:
				pix[i] = scene[i] + noise[i] + shift
			default:
				pix[i] = scene[i] + noise[i]
			}
		}
		p, err := EstimateProfile(toBytes(pix), 3, h, w)
		require.NoError(t, err)
		if shift == 0 {
			require.Zero(t, p.Sigma, name)
			require.Equal(t, noteGraphics, p.Note)
			continue
		}
		require.Greater(t, p.Sigma, sigma, name)
		require.Less(t, p.Sigma, 3*sigma, name)
	}
}

// A frame of one colour changes next to nothing, whatever its colour, and on JPEG's grid as well.
func TestNoiseInAFrame(t *testing.T) {
	const h, w, sigma = 200, 230, 12.0 / 255
	pix, noise := render(scenes["gradient"], 3, h, w), softNoise(3, h, w, sigma, 0.8, 4)
	for i := range pix {
		pix[i] += noise[i]
	}
	bare, err := EstimateProfile(toBytes(pix), 3, h, w)
	require.NoError(t, err)
	require.Positive(t, bare.Sigma)
	for _, colour := range []float32{0, 0.4, 1} {
		for _, sides := range [][4]int{{40, 40, 40, 40}, {61, 0, 0, 0}, {0, 0, 30, 45}} { // top, bottom, left, right
			fh, fw := h+sides[0]+sides[1], w+sides[2]+sides[3]
			framed := make([]float32, 3*fh*fw)
			for i := range framed {
				c, y, x := i/(fh*fw), i/fw%fh-sides[0], i%fw-sides[2]
				framed[i] = colour
				if y >= 0 && y < h && x >= 0 && x < w {
					framed[i] = pix[(c*h+y)*w+x]
				}
			}
			p, err := EstimateProfile(toBytes(framed), 3, fh, fw)
			require.NoError(t, err)
			require.InEpsilon(t, bare.Sigma, p.Sigma, 0.1, "colour %v, sides %v", colour, sides)
		}
	}
}
