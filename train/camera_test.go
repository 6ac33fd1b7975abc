package train

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/internal/cameranoise"
	"github.com/averaged/imaging/internal/devicequeue"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// cameraConfig is a small network that learns the noise of cameras.
func cameraConfig() Config {
	c := guidedConfig()
	c.Crop, c.Camera, c.Guide.MaxFactor = 16, &Camera{White: 0.3, Clean: 0.2, Doubt: 0.3}, 1.5
	return c
}

// waves are smooth pictures in colour, large enough for a camera.
func waves(t testing.TB) *Pictures {
	list := make([]Picture, 3)
	for k, size := range [][2]int{{52, 61}, {90, 70}, {150, 160}} {
		p := Picture{Channels: 3, Height: size[0], Width: size[1], Samples: make([]float32, 3*size[0]*size[1])}
		for i := range p.Samples {
			x, y, c := i%size[1], i/size[1]%size[0], i/(size[0]*size[1])
			p.Samples[i] = float32(0.5 + 0.2*math.Sin(float64(x)/7+float64(k)) + 0.2*math.Cos(float64(y)/9+float64(c)))
		}
		list[k] = p
	}
	set, err := NewPictures(3, list)
	require.NoError(t, err)
	return set
}

// TestCameraBatches: equal states of the generator give equal batches, whatever the threads; crops
// are pictures, and the level is within the configuration's.
func TestCameraBatches(t *testing.T) {
	set, c := waves(t), cameraConfig()
	c.Batch = 3
	dev := processor(t)
	q := &devicequeue.Queue{Dev: dev}
	b, again := newBatch(q, devicequeue.NewPool(dev), c), newBatch(q, devicequeue.NewPool(dev), c)
	g, h := newGenerator(1), newGenerator(1)
	levels := map[float64]bool{}
	for range 30 {
		level := samePhotographs(t, q, set, b, again, g, h)
		require.True(t, level >= c.SigmaMin && level <= c.SigmaMax)
		for _, v := range b.samples {
			require.True(t, v >= 0 && v <= 1)
		}
		levels[level] = true
	}
	require.Equal(t, g.bits(), h.bits())
	require.Greater(t, len(levels), 10)
}

// samePhotographs draws a photograph for each of two batches, which have to be the same on the host and on the device, and
// returns its level.
func samePhotographs(t *testing.T, q *devicequeue.Queue, set *Pictures, b, again *batch, g, h *generator) float64 {
	t.Helper()
	level, err := b.photograph(q, set, g)
	require.NoError(t, err)
	same, err := again.photograph(q, set, h)
	require.NoError(t, err)
	require.Equal(t, level, same)
	require.Equal(t, b.samples, again.samples)
	require.Equal(t, b.noise, again.noise)
	require.Equal(t, b.samples, downloaded(t, q.Dev, b.clean))
	require.Equal(t, b.noise, downloaded(t, q.Dev, b.noisy))
	return level
}

// TestCameraBatchesAgain: the images that are made ahead are not those of a generator that was set back.
func TestCameraBatchesAgain(t *testing.T) {
	set, c := waves(t), cameraConfig()
	dev := processor(t)
	q := &devicequeue.Queue{Dev: dev}
	b := newBatch(q, devicequeue.NewPool(dev), c)
	defer b.end()
	g := newGenerator(2)
	_, err := b.photograph(q, set, g)
	require.NoError(t, err)
	before := g.clone()
	level, err := b.photograph(q, set, g)
	require.NoError(t, err)
	noise, samples := b.noise, b.samples
	again, err := b.photograph(q, set, before)
	require.NoError(t, err)
	require.Equal(t, level, again)
	require.Equal(t, noise, b.noise)
	require.Equal(t, samples, b.samples)
	require.Equal(t, noise, downloaded(t, dev, b.noisy))
}

// TestCameraLevels: of white noise the level is its standard deviation, of a clean picture what
// passes for noise, and Doubt is what it is off by.
func TestCameraLevels(t *testing.T) {
	set := waves(t)
	dev := processor(t)
	q := &devicequeue.Queue{Dev: dev}
	spread := func(k Camera, seeds uint64) (middle, deviation float64) {
		c := cameraConfig()
		c.Camera, c.Batch, c.Crop = &k, 4, 32
		c.SigmaMin, c.SigmaMax = 1e-6, 1
		b := newBatch(q, devicequeue.NewPool(dev), c)
		var logs []float64
		for seed := range seeds {
			level, err := b.photograph(q, set, newGenerator(seed))
			require.NoError(t, err)
			difference, square := make([]float32, 3*32*32), 0.0
			for n := range c.Batch {
				for i := range difference {
					at := n*len(difference) + i
					difference[i] = b.noise[at] - b.samples[at]
				}
				l := trueLevel(difference, 3, 32, 32)
				square += l * l / float64(c.Batch)
			}
			logs = append(logs, math.Log(level/math.Sqrt(square)))
		}
		for _, v := range logs {
			middle += v / float64(len(logs))
		}
		for _, v := range logs {
			deviation += (v - middle) * (v - middle) / float64(len(logs))
		}
		return middle, math.Sqrt(deviation)
	}
	middle, deviation := spread(Camera{}, 10)
	require.InDelta(t, 0, middle, 1e-6)
	require.InDelta(t, 0, deviation, 1e-6)
	middle, deviation = spread(Camera{White: 0.5, Doubt: 0.4}, 60)
	require.InDelta(t, 0, middle, 0.2)
	require.InDelta(t, 0.4, deviation, 0.15)
	middle, _ = spread(Camera{Raised: 10}, 60) // a quarter of them, by ten at most: a mean of log(10)/8
	require.InDelta(t, math.Log(10)/8, middle, 0.15)
	require.Positive(t, middle)
}

// TestDarkScenes: a share of the cameras see less light, and no other draw changes by that.
func TestPhotographsRefuse(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	large, err := NewPictures(3, []Picture{gradientPicture(3, 300, 300, false)})
	require.NoError(t, err)
	for name, c := range map[string]struct {
		config Config
		set    *Pictures
		r      *rand.Rand
		say    string
	}{
		"no random numbers": {CameraConfig(), large, nil, "random"},
		"no camera":         {DefaultConfig(), large, r, "camera"},
		"no pictures":       {CameraConfig(), nil, r, "no pictures"},
		"small pictures":    {CameraConfig(), testPictures(t, 3), r, "crops are"},
		"grey pictures":     {CameraConfig(), testPictures(t, 1), r, "channels"},
	} {
		_, _, err := c.config.Photograph(c.set, false, c.r)
		require.ErrorContains(t, err, c.say, name)
	}
	_, _, err = CameraConfig().Photograph(large, false, r)
	require.NoError(t, err)
}

func TestDarkScenes(t *testing.T) {
	lit, dim := cameraConfig(), cameraConfig()
	bright, dark := *lit.Camera, *lit.Camera
	dark.Dark = 0.5
	lit.Camera, dim.Camera = &bright, &dark
	dimmed, developed := 0, 0
	for seed := range uint64(400) {
		a, b := lit.shot(newGenerator(seed)), dim.shot(newGenerator(seed))
		require.Zero(t, a.light)
		light := b.light
		b.light = 0
		require.Equal(t, a, b)
		switch {
		case !a.develops:
			require.Zero(t, light)
			continue
		case light > 0:
			require.True(t, light >= 1./darkest && light <= 1)
			dimmed++
		}
		developed++
	}
	require.InDelta(t, 0.5, float64(dimmed)/float64(developed), 0.1)

	const side = 48
	scene := make([]float32, 3*side*side)
	for i := range scene {
		scene[i] = 0.5
	}
	s := shot{develops: true, light: 0.05, camera: cameranoise.Typical()}
	s.camera.ISO, s.camera.Bits, s.camera.Exposure = 0, 0, 1
	_, clean, _, err := s.take(s.camera, scene, side, 1)
	require.NoError(t, err)
	s.light = 0
	_, before, _, err := s.take(s.camera, scene, side, 1)
	require.NoError(t, err)
	require.InDelta(t, 0.5, before[0], 0.01)
	require.Less(t, clean[0], float32(0.13))
	require.Positive(t, clean[0])
}

// TestAnyShotFills: whatever is drawn, the scene lies in the picture, and a crop in what becomes of it.
func TestAnyShotFills(t *testing.T) {
	c := cameraConfig()
	rapid.Check(t, func(t *rapid.T) {
		s := c.shot(newGenerator(rapid.Uint64().Draw(t, "seed")))
		most := rapid.IntRange(c.SmallestPicture(), 400).Draw(t, "most")
		camera, side := s.fitting(c.SmallestPicture(), most)
		require.LessOrEqual(t, side, most)
		got := side
		if s.develops {
			require.NoError(t, camera.Check())
			require.LessOrEqual(t, camera.Resize*camera.Reduction, s.camera.Resize*s.camera.Reduction+1e-12)
			got, _ = camera.Size(side, side)
		}
		require.GreaterOrEqual(t, got, c.Crop)
	})
}

// TestCameraRunsGiveTheSameBits: interrupted, and with another number of threads.
func TestCameraRunsGiveTheSameBits(t *testing.T) {
	c := cameraConfig()
	c.Iterations, c.CheckpointEvery = 6, 3
	data := Data{Training: waves(t), Validation: waves(t)}
	folders := [2]string{t.TempDir(), t.TempDir()}
	for i, folder := range folders {
		run, err := Create(processor(t, cpu.Threads(1+2*i)), folder, c, data)
		require.NoError(t, err)
		if i == 1 {
			for calls := range 3 {
				require.Error(t, run.Train(&stoppingContext{Context: t.Context(), left: 9 + calls}, nil))
				require.NoError(t, run.Close())
				run, err = Open(processor(t), folder, data)
				require.NoError(t, err)
			}
		}
		end(t, run)
	}
	want := readContent(t, folders[0])
	require.Equal(t, want, readContent(t, folders[1]))
	require.Len(t, want.metrics[1].Validation, 2)
}

// TestValidationHasItsLevel: the noise of the pictures is as strong as it says.
func TestValidationHasItsLevel(t *testing.T) {
	c := cameraConfig()
	const h, w = 96, 96
	for seed := range uint64(6) {
		samples := make([]float32, 3*h*w)
		for i := range samples {
			samples[i] = 0.3 + 0.3*float32(i%w)/w
		}
		noisy, clean, err := c.validationPair(samples, h, w, seed, 0.05)
		require.NoError(t, err)
		for i := range noisy {
			noisy[i] -= clean[i]
		}
		require.InEpsilon(t, 0.05, trueLevel(noisy, 3, h, w), 0.1, "seed %d", seed)
	}
}

// TestRadiiHaveAMax: no radius is beyond it, and the gradient there asks for less only.
func TestRadiiHaveAMax(t *testing.T) {
	dev := reference(t)
	c := guidedConfig()
	c.Guide.MaxFactor = 1.25
	n := newTestAveraged(t, dev, c)
	last := n.guided.out
	for i := range last.biases.values {
		last.biases.values[i] = 3 * float32(i%2) // far beyond, or nothing
	}
	q := &devicequeue.Queue{Dev: dev}
	n.guided.prepare(q)
	require.NoError(t, q.Err)
	require.NoError(t, n.tune(0.1))
	shape := c.batchShape()
	x, r := gaussianBuffer(t, dev, shape, 1), gaussianBuffer(t, dev, shape, 2)
	out, err := dev.Alloc(shape)
	require.NoError(t, err)
	require.NoError(t, n.zeroGradients())
	require.NoError(t, n.forward(t.Context(), out, x))
	beyond := 0
	for k, b := range n.guided.blocks {
		radii := downloaded(t, dev, b.maps.radius)
		plane := n.guided.each / len(b.base)
		for i, radius := range radii {
			base := b.base[i/plane%len(b.base)]
			require.LessOrEqual(t, radius, 1.2500001*base)
			if n.guided.factors[k][i] == 1.25 {
				beyond++
			}
		}
	}
	require.Positive(t, beyond)
	require.NoError(t, n.backward(t.Context(), r))
	less, nothing := 0, 0
	for k := range n.guided.blocks {
		for image := range n.guided.images {
			for i, gradient := range n.guided.offsetsOf(image, k) {
				if n.guided.factors[k][image*n.guided.each+i] < 1.25 {
					continue
				}
				require.GreaterOrEqual(t, gradient, float32(0))
				if gradient > 0 {
					less++
				} else {
					nothing++
				}
			}
		}
	}
	require.Positive(t, less)
	require.Positive(t, nothing)
}

// TestCameraLoss: the slope is that of the loss, and the loss of a report is that of its error.
func TestCameraLoss(t *testing.T) {
	for _, mse := range []float64{0, 1e-6, 1e-4, 1e-2} {
		const step = 1e-9
		require.InEpsilon(t, (logarithmicLoss(mse+step)-logarithmicLoss(mse))/step, logarithmicLossSlope(mse), 1e-3)
	}
	trainer, err := newTrainer(processor(t), cameraConfig(), waves(t))
	require.NoError(t, err)
	defer trainer.release()
	require.NoError(t, trainer.initialise(nil))
	before := trainer.generator.clone()
	r, err := trainer.differentiate(t.Context())
	require.NoError(t, err)
	require.InEpsilon(t, logarithmicLoss(r.mse), r.loss, 1e-12)
	// Downhill the loss of the same batch falls by as much as the gradient says.
	const step = 1e-3
	want := step * r.gradientNorm
	for _, p := range trainer.network.parameters() {
		for i, g := range p.gradient {
			p.values[i] -= float32(step * float64(g) / r.gradientNorm)
		}
	}
	require.NoError(t, trainer.network.update())
	trainer.generator = before
	after, err := trainer.differentiate(t.Context())
	require.NoError(t, err)
	require.InEpsilon(t, want, r.loss-after.loss, 0.2)
}
