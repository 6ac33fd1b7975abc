package synthetic

import (
	"image"
	"image/color"
	"math"
	"math/rand/v2"

	"golang.org/x/image/draw"

	"github.com/averaged/imaging/backend"
)

// Grain returns a picture of three planes with the grain of film: Gaussian noise of standard deviation sigma in middle
// grey, less towards black and white, smoothed with a Gaussian of the given radius in pixels, and as much coloured as
// colour says, from 0, the same in all planes, to 1, independent. It is not clipped.
func Grain(rgb []float32, h, w int, sigma, radius, colour float64, seed uint64) []float32 {
	common := smoothNoise(h, w, radius, seed, 3)
	out := make([]float32, len(rgb))
	share, own := math.Sqrt(1-colour), math.Sqrt(colour)
	n := h * w
	for k := range 3 {
		single := smoothNoise(h, w, radius, seed, uint64(k))
		for i, v := range rgb[k*n:][:n] {
			g := share*float64(common[i]) + own*float64(single[i])
			out[k*n+i] = v + float32(sigma*g*math.Sqrt(float64(0.1+3.6*clipped(v)*(1-clipped(v)))))
		}
	}
	return out
}

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

// smoothNoise returns a plane of Gaussian noise of standard deviation 1, smoothed with a Gaussian of a radius in pixels.
func smoothNoise(h, w int, radius float64, seed, plane uint64) []float32 {
	r := rand.New(rand.NewPCG(seed, 0x6772_6169_6e00+plane))
	reach := int(math.Ceil(3 * radius))
	kernel := make([]float64, 2*reach+1)
	sum, squares := 0.0, 0.0
	for i := range kernel {
		if d := float64(i - reach); radius > 0 {
			kernel[i] = math.Exp(-d * d / (2 * radius * radius))
		} else {
			kernel[i] = 1
		}
		sum += kernel[i]
	}
	for i := range kernel {
		kernel[i] /= sum
		squares += kernel[i] * kernel[i]
	}
	padH, padW := h+2*reach, w+2*reach
	fine := make([]float64, padH*padW)
	for i := range fine {
		fine[i] = r.NormFloat64()
	}
	rows := make([]float64, padH*w)
	for y := range padH {
		for x := range w {
			for i, k := range kernel {
				rows[y*w+x] += k * fine[y*padW+x+i]
			}
		}
	}
	out := make([]float32, h*w)
	for y := range h {
		for x := range w {
			v := 0.0
			for i, k := range kernel {
				v += k * rows[(y+i)*w+x]
			}
			out[y*w+x] = float32(v / squares) // both directions together leave a standard deviation of squares
		}
	}
	return out
}
