package train

import (
	"context"
	"math"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/internal/cameranoise"
	"github.com/averaged/imaging/internal/devicequeue"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// rawConfig is a small network that learns raw photographs.
func rawConfig() Config {
	c := cameraConfig()
	c.Camera, c.Raw = nil, &Raw{Doubt: 0.1}
	return c
}

// TestRawBatches: equal states of the generator give equal batches, and the noise of the samples that were behind a filter of their
// colour has the level that is told, which counts that demosaicking colours noise.
func TestRawBatches(t *testing.T) {
	set, c := waves(t), rawConfig()
	c.Batch, c.Crop, c.Raw.Doubt, c.SigmaMin, c.SigmaMax = 3, 32, 0, 1e-6, 1
	dev := processor(t)
	q := &devicequeue.Queue{Dev: dev}
	b, again := newBatch(q, devicequeue.NewPool(dev), c), newBatch(q, devicequeue.NewPool(dev), c)
	defer b.end()
	defer again.end()
	g, h := newGenerator(1), newGenerator(1)
	const rounds = 20
	mean, lowest, highest := 0., math.Inf(1), 0.
	for range rounds {
		level := samePhotographs(t, q, set, b, again, g, h)
		squares, n := 0., 0.
		filtered := append([]float32{}, b.noise...)
		onlyFiltered(filtered, b.samples, c.Crop, c.Crop)
		for i, v := range filtered {
			squares += math.Pow(float64(v)-float64(b.samples[i]), 2)
		}
		n = float64(len(filtered)) / 3
		mean += math.Log(1.65*math.Sqrt(squares/n)/level) / rounds
		lowest, highest = min(lowest, level), max(highest, level)
	}
	require.Equal(t, g.bits(), h.bits())
	require.InDelta(t, 0, mean, 0.06, "white and black, at which noise is cut off, are rare")
	require.Greater(t, highest, 4*lowest)
}

// TestRawDoubt: the level is off by a random factor.
func TestRawDoubt(t *testing.T) {
	c := rawConfig()
	c.Raw.Doubt = 0.3
	squares := 0.
	const n = 400
	for seed := range uint64(n) {
		f := math.Log(c.rawShot(newGenerator(seed)).factor)
		squares += f * f / n
	}
	require.InDelta(t, 0.3, math.Sqrt(squares), 0.05)
}

// TestAnyMosaicFills: whatever is drawn, a crop of any picture that is large enough is filled.
func TestAnyMosaicFills(t *testing.T) {
	c := rawConfig()
	c.Batch = 1
	rapid.Check(t, func(t *rapid.T) {
		side := c.SmallestPicture()
		h, w := rapid.IntRange(side, 3*side).Draw(t, "rows"), rapid.IntRange(side, 3*side).Draw(t, "columns")
		set, err := NewPictures(3, []Picture{{3, h, w, make([]float32, 3*h*w)}})
		require.NoError(t, err)
		for i := range set.list[0].levels {
			set.list[0].levels[i] = uint8(255 - i%3)
		}
		s := c.sitting(newGenerator(rapid.Uint64().Draw(t, "seed")))
		require.NoError(t, s.camera.Check())
		image := 3 * c.Crop * c.Crop
		sensor, err := sensorOf(s.camera)
		require.NoError(t, err)
		p := &prints{sitting: s, sensor: sensor, clean: make([]float32, image), noisy: make([]float32, image)}
		square, err := c.mosaicOne(p, 0, set)
		require.NoError(t, err)
		require.Positive(t, square)
		require.NotContains(t, p.clean[image-c.Crop:], float32(0))
		for _, v := range p.clean {
			require.True(t, v > -0.5 && v < 2.5, v)
		}
	})
}

// TestOnlyFilteredCounts: samples that no filter of their colour was before change neither loss nor gradient.
func TestOnlyFilteredCounts(t *testing.T) {
	c := rawConfig()
	c.Batch = 2
	trainer, err := newTrainer(processor(t), c, waves(t))
	require.NoError(t, err)
	defer trainer.release()
	require.NoError(t, trainer.initialise(nil))
	q := &devicequeue.Queue{Dev: trainer.dev}
	b := trainer.batch
	level, err := b.photograph(q, trainer.set, trainer.generator)
	require.NoError(t, err)
	require.NoError(t, trainer.network.tune(level))
	pass := func() (float64, float64) {
		require.NoError(t, trainer.network.zeroGradients())
		mse, err := trainer.pass(t.Context(), 1)
		require.NoError(t, err)
		require.NoError(t, trainer.network.gradients())
		return mse, gradientNorm(trainer.network.parameters())
	}
	mse, norm := pass()
	require.Positive(t, mse)
	require.Positive(t, norm)
	other := append([]float32{}, b.samples...)
	for i := range other {
		other[i] += 0.25
	}
	onlyFiltered(b.samples, other, c.Crop, c.Crop)
	q.Upload(b.clean, b.samples)
	require.NoError(t, q.Err)
	sameMSE, sameNorm := pass()
	require.Equal(t, mse, sameMSE)
	require.Equal(t, norm, sameNorm)
	q.Upload(b.clean, other)
	require.NoError(t, q.Err)
	otherMSE, otherNorm := pass()
	require.NotEqual(t, mse, otherMSE)
	require.NotEqual(t, norm, otherNorm)
}

// TestOnlyFiltered: a third of the samples stay, each of the colour of its filter.
func TestOnlyFiltered(t *testing.T) {
	const h, w = 4, 6
	pix, others := make([]float32, 2*3*h*w), make([]float32, 2*3*h*w)
	for i := range pix {
		pix[i] = 1
	}
	onlyFiltered(pix, others, h, w)
	for y := range h {
		for x := range w {
			colour := [2][2]int{{0, 1}, {1, 2}}[y%2][x%2]
			for image := range 2 {
				for c := range 3 {
					want := float32(0)
					if c == colour {
						want = 1
					}
					require.Equal(t, want, pix[((image*3+c)*h+y)*w+x])
				}
			}
		}
	}
}

// TestRawRunsGiveTheSameBits: interrupted, and with another number of threads.
func TestRawRunsGiveTheSameBits(t *testing.T) {
	c := rawConfig()
	c.Iterations, c.CheckpointEvery = 4, 2
	data := Data{Training: waves(t), Validation: waves(t)}
	folders := [2]string{t.TempDir(), t.TempDir()}
	for i, folder := range folders {
		run, err := Create(processor(t, cpu.Threads(1+2*i)), folder, c, data)
		require.NoError(t, err)
		if i == 1 {
			require.Error(t, run.Train(&stoppingContext{Context: t.Context(), left: 10}, nil))
			require.NoError(t, run.Close())
			run, err = Open(processor(t), folder, data)
			require.NoError(t, err)
		}
		end(t, run)
	}
	want := readContent(t, folders[0])
	require.Equal(t, want, readContent(t, folders[1]))
	require.Len(t, want.metrics[len(want.metrics)-1].Validation, 2)
}

// TestRawValidation: the noise of the pictures, odd ones too, is as strong as it says, and the error of a network that changes nothing
// is that noise.
func TestRawValidation(t *testing.T) {
	c := rawConfig()
	trainer, err := newTrainer(processor(t), c, waves(t))
	require.NoError(t, err)
	defer trainer.release()
	for i := range trainer.set.list {
		mse, err := trainer.meanSquaredError(t.Context(), unchanged{trainer.dev}, trainer.set, i, 0.05)
		require.NoError(t, err)
		require.InEpsilon(t, 0.05, 1.65*math.Sqrt(mse), 0.12)
	}
	// A level that no sensor reaches does not go on for ever.
	p := &trainer.set.list[0]
	h, w := p.h&^1, p.w&^1
	noisy, clean, err := rawValidationPair(p, make([]float32, 3*h*w), h, w, 1, 1e-9)
	require.NoError(t, err)
	require.Len(t, noisy, len(clean))
}

// unchanged is the network that changes nothing.
type unchanged struct{ dev backend.Device }

func (u unchanged) Apply(_ context.Context, dst, src backend.Buffer) error {
	q := &devicequeue.Queue{Dev: u.dev}
	q.Combine(dst, backend.Term{A: 1, X: src})
	return q.Err
}

// TestRawSensors: they are those of raw photographs, which begin with red.
func TestRawSensors(t *testing.T) {
	c := rawConfig()
	for seed := range uint64(50) {
		s := c.rawShot(newGenerator(seed))
		require.NoError(t, s.camera.Check())
		require.Equal(t, cameranoise.RGGB, s.camera.Pattern)
		require.True(t, s.camera.ShotNoise() >= 0.99e-4 && s.camera.ShotNoise() <= 2.51e-2)
	}
}
