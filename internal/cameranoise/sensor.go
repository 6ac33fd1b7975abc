package cameranoise

import (
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/demosaic"
)

// border is how many pixels the sensor goes on beyond the picture, so that demosaicking finds
// neighbours everywhere.
const border = demosaic.Border

// sensor is what reads light: the settings of a camera in the units of the computation.
type sensor struct {
	shot          float64 // λs
	read, row     float32 // standard deviations
	black, levels float64 // levels: the largest whole number, 0 if there are none
	seed          uint64
	noisy         bool // false: a sensor without noise and digits
}

// minShot is the λs below which there is no noise: float32 would round it away.
const minShot = 1e-15

func (c Camera) sensor(seed uint64, noisy bool) sensor {
	s := sensor{black: c.BlackLevel, seed: seed, noisy: noisy}
	if c.ShotNoise() >= minShot {
		read := math.Sqrt(c.ReadVariance())
		s.shot, s.read, s.row = c.ShotNoise(), float32(read), float32(c.RowNoise*read)
	}
	if c.Bits > 0 {
		s.levels = float64(int(1)<<c.Bits - 1)
	}
	return s
}

// rowSeed separates the noise of rows from that of pixels.
const rowSeed = 0x632be59bd9b4e019

// rowNoise is what all pixels of a row have in common.
func (s *sensor) rowNoise(y int) float32 {
	if s.row == 0 || !s.noisy {
		return 0
	}
	return s.row * backend.GaussianAt(s.seed^rowSeed, uint64(y))
}

// pixel is the number that the sensor gives for light at pixel i, both in units of saturation.
func (s *sensor) pixel(i int, light, row float32) float32 {
	light = max(light, 0) // the inverse matrix may give less than none
	if !s.noisy {
		return min(light, 1)
	}
	v := light
	if s.shot > 0 {
		shot, read := backend.GaussianPair(s.seed, uint64(i))
		mean, u := float64(light)/s.shot, 0.0
		if mean <= largestInverted {
			u = backend.UniformAt(s.seed, uint64(i))
		}
		v = float32(poisson(mean, u, shot)*s.shot) + float32(s.read*read) + row
	}
	return s.digits(v)
}

// digits clips at black and white, and rounds to whole numbers.
func (s *sensor) digits(v float32) float32 {
	scaled := min(max(s.black+float64(float64(v)*(1-s.black)), 0), 1)
	if s.levels > 0 {
		scaled = math.Floor(float64(scaled*s.levels)+0.5) / s.levels
	}
	return float32((scaled - s.black) / (1 - s.black))
}
