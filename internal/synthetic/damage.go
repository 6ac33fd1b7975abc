package synthetic

import (
	"image"
	"image/color"
	"math"

	"golang.org/x/image/draw"

	"github.com/averaged/imaging/backend"
)

// Speckle returns a picture with noise that multiplies: each sample v becomes v·(1+sigma·g), with independent
// Gaussian g. It is not clipped.
func Speckle(pix []float32, sigma float64, seed uint64) []float32 {
	out := make([]float32, len(pix))
	for i, v := range pix {
		out[i] = v * (1 + float32(sigma)*backend.GaussianAt(seed, uint64(i)))
	}
	return out
}

// Uneven returns a picture of planes of h×w samples with Gaussian noise whose standard deviation differs from place to
// place, between low and high: in stripes, as where photographs are joined, or gradually, as where a lens's dark corners
// were brightened. It is not clipped.
func Uneven(pix []float32, h, w int, low, high float64, seed uint64) []float32 {
	r := random(seed)
	angle, phase, wave := 2*math.Pi*r.Float64(), r.Float64(), 0.3+1.2*r.Float64()
	joined := r.IntN(2) == 0
	dy, dx := math.Sin(angle), math.Cos(angle)
	out := make([]float32, len(pix))
	n := h * w
	for i, v := range pix {
		y, x := float64(i%n/w)/float64(h)-0.5, float64(i%w)/float64(w)-0.5
		share := 0.5 + 0.5*math.Sin(2*math.Pi*(wave*(x*dx+y*dy)+phase))
		if joined {
			share = math.Round(share)
		}
		out[i] = v + float32(low*math.Pow(high/low, share))*backend.GaussianAt(seed, uint64(i))
	}
	return out
}

// Resized returns a picture of planes of h×w samples in another size, as an editor enlarges or reduces it: by
// Catmull and Rom's cubic or bilinearly. Values are clipped to [0,1], and have 16 bits.
func Resized(pix []float32, h, w, toH, toW int, cubic bool) []float32 {
	planes := len(pix) / (h * w)
	out := make([]float32, 0, planes*toH*toW)
	for k := range planes {
		from := image.NewGray16(image.Rect(0, 0, w, h))
		for i, v := range pix[k*h*w:][:h*w] {
			from.SetGray16(i%w, i/w, color.Gray16{Y: uint16(math.Round(65535 * float64(clipped(v))))})
		}
		to := image.NewGray16(image.Rect(0, 0, toW, toH))
		scaler := draw.Interpolator(draw.BiLinear)
		if cubic {
			scaler = draw.CatmullRom
		}
		scaler.Scale(to, to.Bounds(), from, from.Bounds(), draw.Src, nil)
		for i := range toH * toW {
			out = append(out, float32(to.Gray16At(i%toW, i/toW).Y)/65535)
		}
	}
	return out
}
