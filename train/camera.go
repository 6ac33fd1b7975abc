package train

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/averaged/imaging/internal/cameranoise"
	"github.com/averaged/imaging/internal/devicequeue"
	"github.com/averaged/imaging/internal/nn/guide"
	"github.com/averaged/imaging/internal/parallel"
	"github.com/averaged/imaging/internal/rawdenoise"
	"github.com/averaged/imaging/internal/symmetry"
)

// Camera makes a network with levels learn the noise of photographs as cameras produce them (package
// cameranoise) instead of white noise. All crops of an iteration go through one camera with new random
// settings. The target is the output of that camera without noise and JPEG.
//
// Validation uses whole pictures, each through a camera of its own at the ISO with the given noise level.
//
// The noise level of the iteration is one that a program can know: it is computed from the true noise, and a random
// factor as large as the errors of estimates multiplies it. The loss is the logarithm of the mean squared error
// instead of Config.LossExponent.
type Camera struct {
	// White is the share of iterations with white noise, drawn as without a Camera, half of them saved as
	// JPEG. Clean is the share without noise, except for what a JPEG file adds.
	White float64 `json:"white"`
	Clean float64 `json:"clean"`
	// Doubt is the standard deviation of the logarithm of the level's factor. The errors of estimates are 0.2
	// to 0.5.
	Doubt float64 `json:"doubt"`
	// Raised is the largest factor on the level of sharp pictures, drawn from 1 on uniformly in its
	// logarithm; 0 means 1. Estimates take their texture for noise.
	Raised float64 `json:"raised,omitempty"`
	// Dark is the share of cameras that see a dark scene: its light is divided by a factor of up to 20, drawn
	// from 1 on uniformly in its logarithm. Without them a network learns that cameras brighten almost black
	// samples, and darkens pictures that are dark everywhere.
	Dark float64 `json:"dark,omitempty"`
}

// darkest is the factor of a dark room's light: grey of 0.5 becomes 0.1.
const darkest = 20

// CameraConfig is the recipe of the denoiser of photographs. It is meant to start from weights trained with
// GuidedConfig (Data.Initial).
func CameraConfig() Config {
	c := GuidedConfig()
	c.Guide.MaxFactor = guide.MaxFactor
	c.Camera = &Camera{White: 0.1, Clean: 0.07, Doubt: 0.4, Raised: 2.5, Dark: 0.3}
	c.LossExponent, c.Reduce, c.Saved, c.Schedule.Maximum, c.Iterations = 0, 0, 0, 0.007, 10_000
	c.Batch, c.Crop = 4, 96
	return c
}

func (c Config) checkCamera() error {
	k := c.Camera
	switch {
	case k == nil:
		return nil
	case len(c.Levels) == 0 || c.Deblur != nil || c.Channels != 3:
		return errors.New("camera is for a network with levels that removes noise from colour pictures")
	case c.Crop < minCameraCrop:
		return fmt.Errorf("camera: crops of %d pixels, must be at least %d, for their noise is measured", c.Crop, minCameraCrop)
	case c.Accumulate != 1 || c.Reduce > 1 || c.Saved > 0:
		return errors.New("camera: accumulate must be 1, reduce and saved 0: cameras reduce and save crops themselves")
	case !(k.White >= 0 && k.Clean >= 0 && k.White+k.Clean <= 1):
		return fmt.Errorf("camera: shares of white %v and clean %v, must be 0 or more and at most 1 together", k.White, k.Clean)
	case !(k.Doubt >= 0 && k.Doubt <= 2):
		return fmt.Errorf("camera: doubt is %v, must be from 0 to 2", k.Doubt)
	case k.Raised != 0 && !(k.Raised >= 1 && k.Raised <= 10):
		return fmt.Errorf("camera: raised is %v, must be from 1 to 10, or 0 for 1", k.Raised)
	case !(k.Dark >= 0 && k.Dark <= 1):
		return fmt.Errorf("camera: dark is %v, must be from 0 to 1", k.Dark)
	}
	return nil
}

// minCameraCrop is the side of a square that trueLevel looks at.
const minCameraCrop = 16

// cameraMargin is how many pixels around a crop are photographed with it: what a camera does
// reaches so far, and blocks of JPEG begin anywhere in a crop.
const cameraMargin = 8

// greyShare is the share of iterations with grey pictures, whose three channels are alike.
const greyShare = 0.06

// Most photographs of which noise is removed are as large as the camera made them, and smoothed by it,
// colour most: their noise has a tenth of its low frequencies' density at the highest ones, in colour
// from waves of eight pixels on. Others are made smaller by leaving pixels out, and their noise is nearly
// white. Others were made smaller, as on the web, before they are photographed anew: they are sharp, and their
// texture, grass above all, is as strong as noise (Raised). The rest is drawn over the whole range of
// cameranoise.Random.
const smoothShare, sparseShare, sharpShare = 0.5, 0.05, 0.25

// SmallestPicture returns the smallest height and width of a picture to train on: a crop's, plus the frame
// around it that a Camera, Raw or Saved needs.
func (c Config) SmallestPicture() int {
	switch {
	case c.Camera != nil:
		return c.Crop + 2*cameraMargin
	case c.Raw != nil:
		return c.Crop + 2*mosaicMargin
	case c.Saved > 0:
		return c.Crop + savedMargin
	}
	return c.Crop
}

// shot is how the crops of an iteration are photographed.
type shot struct {
	camera    cameranoise.Camera // without JPEG; ISO 0 is no noise
	develops  bool               // whether there is a camera
	sigma     float64            // of white noise where there is none, or 0
	grey      bool
	light     float64 // factor on the scene's light, or 0 for 1
	soft      float64 // standard deviation of a blur before, or 0
	smoothing float64 // strength of the camera's own denoising, or 0
	saved     []cameranoise.JPEG
	factor    float64 // of the level
	least     float64 // of the level
}

// shot draws how the crops of an iteration are photographed.
func (c Config) shot(g *generator) shot {
	r := rand.New(rand.NewPCG(g.bits(), 0x6361_6d65_7261))
	between := func(low, high float64) float64 { return low + (high-low)*r.Float64() }
	file := func() cameranoise.JPEG {
		return cameranoise.JPEG{Quality: 60 + r.IntN(41), Subsampling: cameranoise.Subsampling(r.IntN(3))}
	}
	s := shot{factor: math.Exp(c.Camera.Doubt * r.NormFloat64()), least: c.SigmaMin}
	s.grey = r.Float64() < greyShare
	if r.Float64() < 0.15 {
		s.soft = between(0.5, 2)
	}
	kind := r.Float64()
	if kind < c.Camera.White {
		s.sigma = c.level(g)
		if r.Float64() < 0.5 {
			s.saved = append(s.saved, file())
		}
		return s
	}
	s.develops, s.camera = true, cameranoise.Random(r.Uint64())
	s.saved, s.camera.JPEG = s.camera.JPEG, nil
	sharp := false
	switch u := r.Float64(); {
	case u < smoothShare:
		s.camera.Resize = 1
		s.camera.LumaSmoothing = max(s.camera.LumaSmoothing, between(0.5, 1.4))
		s.camera.ChromaSmoothing = max(s.camera.ChromaSmoothing, between(1.5, 4.5))
		if r.Float64() < 0.6 {
			s.soft = between(0.5, 1.8)
		}
	case u < smoothShare+sparseShare:
		s.camera.Resize, s.camera.Resampling = max(s.camera.Resize, between(2, 4)), cameranoise.Nearest
		s.camera.LumaSmoothing, s.camera.ChromaSmoothing = 0, 0
	case u < smoothShare+sparseShare+sharpShare:
		sharp, s.soft = true, 0
		s.camera.Reduction, s.camera.Resize = between(1.5, 4), 1
		s.factor *= math.Exp(between(0, math.Log(max(c.Camera.Raised, 1))))
	}
	if kind < c.Camera.White+c.Camera.Clean {
		s.camera.ISO, s.camera.Bits = 0, 0
		s.least = c.SigmaMin * math.Exp(between(0, math.Log(4))) // what is told of texture
	} else if !sharp && r.Float64() < 0.5 {
		s.smoothing = between(0.5, 3)
	}
	if c.Camera.Dark > 0 && r.Float64() < c.Camera.Dark {
		s.light = math.Exp(-between(0, math.Log(darkest)))
	}
	return s
}

// fitting returns the camera for scenes of at most that many pixels in height and width which make
// a crop, and the side of the scene: a camera that makes them smaller than that does so less.
func (s shot) fitting(crop, most int) (cameranoise.Camera, int) {
	c := s.camera
	if !s.develops {
		return c, crop
	}
	if all := c.Reduction * c.Resize; all*float64(crop+2) > float64(most) {
		c.Resize = max(1, float64(most)/float64(crop+2)/c.Reduction)
		c.Reduction = max(1, min(c.Reduction, float64(most)/float64(crop+2)/c.Resize))
	}
	return c, min(most, int(math.Ceil(float64(crop+2)*c.Reduction*c.Resize)))
}

// take returns what becomes of a scene of side×side pixels, with noise and without, and its side.
func (s shot) take(c cameranoise.Camera, scene []float32, side int, seed uint64) (noisy, clean []float32, _ int, err error) {
	if s.soft > 0 {
		scene = cameranoise.Blurred(scene, side, side, s.soft)
	}
	if s.light > 0 {
		scene = cameranoise.Dimmed(scene, s.light)
	}
	clean = scene
	if !s.develops {
		r := rand.New(rand.NewPCG(seed, 1))
		noisy = make([]float32, len(scene))
		for i, v := range scene {
			noisy[i] = v + float32(s.sigma*r.NormFloat64())
			if len(s.saved) > 0 {
				noisy[i] = min(max(noisy[i], 0), 1)
			}
		}
	} else {
		if noisy, err = c.Apply(scene, side, side, seed); err != nil {
			return nil, nil, 0, err
		}
		if clean, err = c.Clean(scene, side, side); err != nil {
			return nil, nil, 0, err
		}
		side, _ = c.Size(side, side)
		if s.smoothing > 0 {
			// What is learned is the mean of many shots: details that the camera took away stay away.
			clean = cameranoise.SmoothedAs(clean, noisy, side, side, s.smoothing)
			noisy = cameranoise.Smoothed(noisy, side, side, s.smoothing)
		}
		for i, v := range noisy {
			noisy[i] = float32(math.Round(255*float64(min(max(v, 0), 1))) / 255)
		}
	}
	for _, j := range s.saved {
		if noisy, err = cameranoise.Compressed(noisy, side, side, j); err != nil {
			return nil, nil, 0, err
		}
	}
	return noisy, clean, side, nil
}

// photographs tells whether batches are what a camera or a sensor makes of pictures.
func (c Config) photographs() bool { return c.Camera != nil || c.Raw != nil }

// photograph fills clean and noisy with crops of pictures as one camera takes them, and returns the
// noise level that a program would find, within the limits of the configuration. While a device works with
// them the processors take the next ones.
func (b *batch) photograph(q *devicequeue.Queue, set *Pictures, g *generator) (float64, error) {
	c := b.config
	now := c.sitting(g)
	p := b.ahead
	if p == nil || !slices.Equal(p.seeds, now.seeds) { // the first, or the generator was set back
		p = b.take(set, now)
	}
	<-p.done
	if err := errors.Join(p.errs...); err != nil {
		return 0, err
	}
	mean := 0.0
	for _, v := range p.squares {
		mean += v / float64(c.Batch)
	}
	b.samples, b.noise = p.clean, p.noisy
	q.Upload(b.clean, b.samples)
	q.Upload(b.noisy, b.noise)
	b.ahead = b.take(set, c.sitting(g.clone()))
	return min(max(math.Sqrt(mean)*p.factor, p.least), c.SigmaMax), q.Err
}

// sitting is a shot with the seeds of its images.
type sitting struct {
	shot
	seeds []uint64
}

func (c Config) sitting(g *generator) sitting {
	draw := c.shot
	if c.Raw != nil {
		draw = c.rawShot
	}
	s := sitting{draw(g), make([]uint64, c.Batch)}
	for n := range s.seeds {
		s.seeds[n] = g.bits()
	}
	return s
}

// prints are the images of a sitting, when done is closed.
type prints struct {
	sitting
	clean, noisy []float32
	squares      []float64         // of noise levels
	sensor       rawdenoise.Sensor // with Raw
	errs         []error
	done         chan struct{}
}

// take begins to make the images of a sitting.
func (b *batch) take(set *Pictures, s sitting) *prints {
	n, one := len(s.seeds), b.config.photographOne
	if b.config.Raw != nil {
		one = b.config.mosaicOne
	}
	all := b.clean.Shape().Len()
	p := &prints{
		sitting: s, clean: make([]float32, all), noisy: make([]float32, all),
		squares: make([]float64, n), errs: make([]error, n), done: make(chan struct{}),
	}
	go func() {
		defer close(p.done)
		if b.config.Raw != nil {
			if p.sensor, p.errs[0] = sensorOf(s.camera); p.errs[0] != nil {
				return
			}
		}
		parallel.Concurrently(n, func(i int) { p.squares[i], p.errs[i] = one(p, i, set) })
	}()
	return p
}

// end waits for what nobody will ask for.
func (b *batch) end() {
	if b.ahead != nil {
		<-b.ahead.done
	}
}

// photographOne makes image n, and returns the square of its noise level.
func (c Config) photographOne(to *prints, n int, set *Pictures) (float64, error) {
	s := to.shot
	r := rand.New(rand.NewPCG(to.seeds[n], 0))
	p := &set.list[r.IntN(len(set.list))]
	camera, side := s.fitting(c.SmallestPicture(), min(p.h, p.w))
	y, x := r.IntN(p.h-side+1), r.IntN(p.w-side+1)
	turn := symmetry.Symmetry(0)
	if c.Augment {
		turn = symmetry.Symmetry(r.IntN(symmetry.Number))
	}
	scene, cut := make([]float32, c.Channels*side*side), make([]float32, side*side)
	for k := range c.Channels {
		for i := range side {
			p.row(cut[i*side:][:side], k, y+i, x)
		}
		symmetry.Apply(turn, scene[k*side*side:][:side*side], cut, side)
	}
	if s.grey {
		scene = scene[side*side:][:side*side] // green
	}
	noisy, clean, side, err := s.take(camera, scene, side, r.Uint64())
	if err != nil {
		return 0, err
	}
	y, x = r.IntN(side-c.Crop+1), r.IntN(side-c.Crop+1)
	image := c.Channels * c.Crop * c.Crop
	noise, samples := to.noisy[n*image:][:image], to.clean[n*image:][:image]
	difference := make([]float32, image)
	for k := range c.Channels {
		for i := range c.Crop {
			at, row := (y+i)*side+x, (k*c.Crop+i)*c.Crop
			if !s.grey {
				at += k * side * side
			}
			copy(noise[row:][:c.Crop], noisy[at:])
			copy(samples[row:][:c.Crop], clean[at:])
		}
	}
	for i := range difference {
		difference[i] = noise[i] - samples[i]
	}
	level := trueLevel(difference, c.Channels, c.Crop, c.Crop)
	return level * level, nil
}

// validationPair returns a whole picture as a camera of its own takes it, with noise of the level
// sigma as near as its settings come to that, and without.
func (c Config) validationPair(samples []float32, h, w int, seed uint64, sigma float64) (noisy, clean []float32, err error) {
	camera := cameranoise.Random(seed)
	camera.Reduction, camera.Resize = 1, 1 // it keeps its size
	for i, v := range samples {
		samples[i] = min(max(v, 0), 1)
	}
	if clean, err = camera.Clean(samples, h, w); err != nil {
		return nil, nil, err
	}
	for range 5 {
		if noisy, err = camera.Apply(samples, h, w, seed); err != nil {
			return nil, nil, err
		}
		difference := make([]float32, len(noisy))
		for i, v := range noisy {
			difference[i] = v - clean[i]
		}
		ratio := sigma / trueLevel(difference, c.Channels, h, w)
		if !(math.Abs(math.Log(ratio)) > 0.02) || math.IsInf(ratio, 0) { // or the picture is too small to tell
			break
		}
		// The variance of shot noise is proportional to ISO, that of read noise to its power 2.18.
		camera.ISO = min(max(camera.ISO*math.Pow(ratio, 1.8), 1e-3), 1e8)
	}
	return noisy, clean, nil
}
