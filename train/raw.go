package train

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/averaged/imaging/internal/cameranoise"
	"github.com/averaged/imaging/internal/rawdenoise"
	"github.com/averaged/imaging/internal/symmetry"
	"github.com/averaged/imaging/raw"
)

// Raw makes a network with levels learn the mosaics of raw photographs, as restore.DenoiseRaw shows them to it (package
// rawdenoise): stabilised, balanced, demosaicked, and beginning with a red pixel. All crops of an iteration come from one sensor
// with new random settings. The target is what the sensor's light without noise has as the mean.
//
// Only the samples that were behind a filter of their colour count, because only these go back into the mosaic. The noise level of
// the iteration is the one that DenoiseRaw tells, times a random factor. The loss is the logarithm of the mean squared error instead of
// Config.LossExponent.
//
// Validation uses whole pictures, each by a sensor of its own at the ISO with the given level.
type Raw struct {
	// Doubt is the standard deviation of the logarithm of the level's factor.
	Doubt float64 `json:"doubt"`
}

// RawConfig is the recipe of the denoiser of raw photographs. It is meant to start from weights trained with CameraConfig
// (Data.Initial).
func RawConfig() Config {
	c := CameraConfig()
	c.Camera, c.Raw = nil, &Raw{Doubt: 0.1}
	c.Schedule.Maximum, c.Iterations = 0.005, 4_000
	return c
}

func (c Config) checkRaw() error {
	k := c.Raw
	switch {
	case k == nil:
		return nil
	case len(c.Levels) == 0 || c.Deblur != nil || c.Camera != nil || c.Channels != 3:
		return errors.New("raw is for a network with levels that removes noise from colour pictures, and without camera")
	case c.Crop%2 != 0:
		return fmt.Errorf("raw: crops of %d pixels, must be whole squares of 2×2", c.Crop)
	case c.Accumulate != 1 || c.Reduce > 1 || c.Saved > 0:
		return errors.New("raw: accumulate must be 1, reduce and saved 0: sensors have a reduction of their own")
	case !(k.Doubt >= 0 && k.Doubt <= 2):
		return fmt.Errorf("raw: doubt is %v, must be from 0 to 2", k.Doubt)
	}
	return nil
}

// mosaicMargin is how many pixels around a crop are in its mosaic: demosaicking reaches no farther. It is even, so
// that a crop begins with red.
const mosaicMargin = 8

// rawShot draws a sensor. ISO is 200 to 50000 for a full well of 20000 electrons. Its logarithm is the square of a uniform number
// because the gain over denoising after development is smallest at low ISO: half of the sensors are below 800.
func (c Config) rawShot(g *generator) shot {
	r := rand.New(rand.NewPCG(g.bits(), 0x7261_77))
	s := shot{factor: math.Exp(c.Raw.Doubt * r.NormFloat64()), least: c.SigmaMin, camera: cameranoise.Random(r.Uint64())}
	if r.Float64() < 0.15 {
		s.soft = 0.5 + r.Float64()
	}
	s.camera.ISO = 100 * s.camera.FullWell * 1e-4 * math.Exp(math.Log(250)*math.Pow(r.Float64(), 2))
	s.camera.RowNoise, s.camera.Pattern = 0, cameranoise.RGGB // views begin with red
	return s
}

// mosaicOne makes image n of a sitting with Raw, and returns the square of the noise level that is told.
func (c Config) mosaicOne(to *prints, n int, set *Pictures) (float64, error) {
	camera := to.camera
	r := rand.New(rand.NewPCG(to.seeds[n], 0))
	p := &set.list[r.IntN(len(set.list))]
	view, err := viewOf(p, camera, to.sensor, r.Uint64())
	if err != nil {
		return 0, err
	}
	side := c.SmallestPicture()
	from := min(int(float64(side)*camera.Reduction), p.h, p.w)
	y, x, turn := r.IntN(p.h-from+1), r.IntN(p.w-from+1), symmetry.Symmetry(0)
	if c.Augment {
		turn = symmetry.Symmetry(r.IntN(symmetry.Number))
	}
	scene, cut := make([]float32, 3*side*side), make([]float32, side*side)
	for k := range 3 {
		if from > side {
			reduced(cut, side, p, k, y, x, from)
			for i, v := range cut {
				cut[i] = min(v, 1) // means of white round up
			}
		} else {
			for i := range side {
				p.row(cut[i*side:][:side], k, y+i, x)
			}
		}
		symmetry.Apply(turn, scene[k*side*side:][:side*side], cut, side)
	}
	if to.soft > 0 {
		scene = cameranoise.Blurred(scene, side, side, to.soft)
	}
	noisy, clean, err := mosaics(view, camera, scene, side, side, r.Uint64())
	if err != nil {
		return 0, err
	}
	image := 3 * c.Crop * c.Crop
	cutOut(noisy, 3, side, c.Crop, mosaicMargin, mosaicMargin)
	cutOut(clean, 3, side, c.Crop, mosaicMargin, mosaicMargin)
	copy(to.noisy[n*image:][:image], noisy)
	copy(to.clean[n*image:][:image], clean)
	return view.Sigma() * view.Sigma(), nil
}

// mosaics returns what a denoiser sees of the mosaic of a scene, h×w pixels, both even, and what it is to return.
func mosaics(v *rawdenoise.View, c cameranoise.Camera, scene []float32, h, w int, seed uint64) (noisy, clean []float32, err error) {
	read, err := c.Mosaic(scene, h, w, seed, true)
	if err != nil {
		return nil, nil, err
	}
	light, err := c.Mosaic(scene, h, w, 0, false)
	if err != nil {
		return nil, nil, err
	}
	return v.Readings(rawImage(read, h, w)).Pix, v.Light(rawImage(light, h, w)).Pix, nil
}

// rawImage is a mosaic that begins with red.
func rawImage(light []float32, h, w int) *raw.Image {
	return &raw.Image{Width: w, Height: h, Samples: 1, Mosaic: true, Pattern: raw.Pattern{{raw.Red, raw.Green}, {raw.Green, raw.Blue}}, Pix: light}
}

// viewOf returns the view of a whole picture, by some of its pixels.
func viewOf(p *picture, c cameranoise.Camera, s rawdenoise.Sensor, seed uint64) (*rawdenoise.View, error) {
	const side = 64
	scene, row := make([]float32, 3*side*side), make([]float32, p.w)
	for i := range 3 * side {
		p.row(row, i/side, i%side*p.h/side, 0)
		for x := range side {
			scene[i*side+x] = row[x*p.w/side]
		}
	}
	light, err := c.Mosaic(scene, side, side, seed, true)
	if err != nil {
		return nil, err
	}
	return s.View(rawImage(light, side, side))
}

// sensorOf returns the noise of a camera, of the digits too.
func sensorOf(c cameranoise.Camera) (rawdenoise.Sensor, error) {
	step := 0.
	if c.Bits > 0 {
		step = 1 / (float64(int(1)<<c.Bits-1) * (1 - c.BlackLevel))
	}
	return rawdenoise.NewSensor(raw.Noise{Gain: c.ShotNoise(), Offset: c.ReadVariance() + step*step/12})
}

// rawValidationPair returns what a denoiser sees of a whole picture, h×w samples of which are even, by a sensor of its own with the
// noise level sigma as near as its settings come to that, and what it is to return.
func rawValidationPair(p *picture, samples []float32, h, w int, seed uint64, sigma float64) (noisy, clean []float32, err error) {
	camera := cameranoise.Random(seed)
	camera.RowNoise, camera.Pattern = 0, cameranoise.RGGB
	for {
		sensor, err := sensorOf(camera)
		if err != nil {
			return nil, nil, err
		}
		view, err := viewOf(p, camera, sensor, seed)
		if err != nil {
			return nil, nil, err
		}
		ratio := sigma / view.Sigma()
		iso := min(max(camera.ISO*math.Pow(ratio, 1.8), 1e-3), 1e8)
		if !(math.Abs(math.Log(ratio)) > 0.02) || iso == camera.ISO {
			return mosaics(view, camera, samples, h, w, seed)
		}
		camera.ISO = iso
	}
}

// onlyFiltered replaces the samples of pictures of h×w pixels that begin with red by those of others, except for the samples that were
// behind a filter of their colour.
func onlyFiltered(pix, others []float32, h, w int) {
	pattern := cameranoise.RGGB.Filters()
	for i := range pix {
		if pattern.At(i/w%h, i%w) != i/(h*w)%3 {
			pix[i] = others[i]
		}
	}
}
