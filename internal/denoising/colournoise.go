package denoising

import (
	"math"
	"math/rand/v2"

	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/parallel"
)

// WithColourNoise returns a grey image as one of three channels in which the noise is white for a network of colour: three
// equal channels have noise along the axis of brightness alone, of √3 times their own, which the network has not learned, and
// takes for texture where it is strong. So as much noise is added along both axes of colour. Its mean over the channels is 0. It is
// the same in each call: a constant moves two images no further apart. levels has the noise along the axis of brightness, in
// squares; if it is nil, it is level everywhere.
func WithColourNoise(p *imageplanes.Planes, level float64, levels *denoise.LevelMap, threads int) *imageplanes.Planes {
	out := imageplanes.New(3, p.Height, p.Width)
	out.Alpha = p.Alpha
	red, green, blue := out.Plane(0), out.Plane(1), out.Plane(2)
	pool := parallel.New(threads)
	defer pool.Close()
	pool.For(p.Height, func(y int) {
		random := rand.New(rand.NewPCG(uint64(y), 3))
		for x := range p.Width {
			std := level
			if levels != nil {
				std = float64(levels.Sigma[y/levels.Side*levels.Columns+x/levels.Side])
			}
			// (1, −1, 0)/√2 and (1, 1, −2)/√6 are the axes of colour.
			a, b := std/math.Sqrt2*random.NormFloat64(), std/math.Sqrt(6)*random.NormFloat64()
			i := y*p.Width + x
			v := float64(p.Pix[i])
			red[i], green[i], blue[i] = float32(v+a+b), float32(v-a+b), float32(v-2*b)
		}
	})
	return out
}

// brightness returns the means of the channels of three.
func brightness(pix []float32) []float32 {
	n := len(pix) / 3
	out := pix[:n:n]
	for i := range out {
		out[i] = float32((float64(pix[i]) + float64(pix[n+i]) + float64(pix[2*n+i])) / 3)
	}
	return out
}
