package train

import (
	"bytes"
	"testing"

	"github.com/averaged/imaging/weights"
	"github.com/stretchr/testify/require"
)

func TestConfigsAreValid(t *testing.T) {
	require.NoError(t, DefaultConfig().Check())
	require.NoError(t, DefaultConfig().ForNoiseLevels(0.01, 0.3).Check())
	require.NoError(t, DefaultConfig().ForNoiseLevels(0.01, 0.3).ForDnCNN().Check())
	require.NoError(t, DeblurringConfig().Check())
	require.NoError(t, DeblurringConfig().ForDnCNN().Check())
	require.NoError(t, CameraConfig().Check())
	require.NoError(t, CameraConfig().ForDnCNN().Check())
	require.NoError(t, RawConfig().Check())
	require.NoError(t, RawConfig().ForDnCNN().Check())
	require.NoError(t, DefaultConfig().ForDnCNN().ForNoiseLevels(0.01, 0.3).Check())
	for _, integrator := range []string{"euler", "heun", "rk4"} {
		c := PaperConfig(integrator)
		require.ErrorContains(t, c.Check(), "learning rates")
		c.Schedule.Maximum = 0.1
		require.NoError(t, c.Check())
	}
}

// A network for many noise levels knows them, an octave apart at most.
func TestForNoiseLevels(t *testing.T) {
	for _, of := range []struct{ low, high float64 }{{0.01, 0.3}, {0.1, 0.2}, {0.1, 0.1000001}, {1e-6, 1}} {
		c := DefaultConfig().ForNoiseLevels(of.low, of.high)
		require.NoError(t, c.Check())
		require.Equal(t, []float64{of.low, of.high}, []float64{c.SigmaMin, c.SigmaMax})
		require.Equal(t, []float64{of.low, of.high}, []float64{c.Levels[0], c.Levels[len(c.Levels)-1]})
		for i := range c.Levels[1:] {
			require.LessOrEqual(t, c.Levels[i+1]/c.Levels[i], 2.0000001)
		}
		require.Positive(t, c.LossExponent)
		c = c.ForNoiseLevels(0.2, 0.2)
		require.Empty(t, c.Levels, "one level needs no table")
		require.NoError(t, c.Check())
	}
	c := PaperConfig("euler")
	c.Schedule.Maximum = 0.1
	c = c.ForNoiseLevels(0.1, 0.2)
	require.NoError(t, c.Check())
	require.Empty(t, c.Levels, "the paper's constraint has no tables")
	require.Equal(t, 0.2, c.SigmaMax)
}

func TestConfigRefusals(t *testing.T) {
	for want, change := range map[string]func(c *Config){
		"kernel is 4, must be odd":                     func(c *Config) { c.Kernel = 4 },
		"width is 2, must be from 3":                   func(c *Config) { c.Width = 2 },
		"batch is 0":                                   func(c *Config) { c.Batch = 0 },
		"shuffle is -1, must be":                       func(c *Config) { c.Shuffle = -1 },
		"shuffle is 65536, must be":                    func(c *Config) { c.Shuffle = 1 << 16 },
		"width is 8, must be at least 12":              func(c *Config) { c.Width, c.Group = 8, 0 },
		"crop is 33, must be a multiple of shuffle, 2": func(c *Config) { c.Crop = 33 },
		"noise level is 0":                             func(c *Config) { c.SigmaMin = 0 },
		"sigma_min 0.3 is above":                       func(c *Config) { c.SigmaMin = 0.3 },
		"√(2r/h) = 1.414":                              func(c *Config) { c.NormLimit = 1.42 },
		"√(2r/h) = 1":                                  func(c *Config) { c.Length = 2 },
		"not known":                                    func(c *Config) { c.Integrator = "leapfrog" },
		"implicit":                                     func(c *Config) { c.Integrator = "backward-euler" },
		`constraint "none" of an avera`:                func(c *Config) { c.Constraint = Free },
		"family":                                       func(c *Config) { c.Family = "other" },
		"a DnCNN has the constraint":                   func(c *Config) { c.Family = weights.FamilyDnCNN },
		"average_decay is 1":                           func(c *Config) { c.AverageDecay = 1 },
		"momentum is 1":                                func(c *Config) { c.Optimiser = Optimiser{Name: SGD, Momentum: 1} },
		"optimiser \"\"":                               func(c *Config) { c.Optimiser.Name = "" },
		"schedule \"\"":                                func(c *Config) { c.Schedule.Name = "" },
		"warm-up of -1":                                func(c *Config) { c.Schedule.Warmup = -1 },
		"begins at a rate above 0":                     func(c *Config) { c.Schedule.Name = Exponential },
		"slope is 0":                                   func(c *Config) { c.Slope = 0 },
		"power iterations":                             func(c *Config) { c.PowerSize = 0 },
		"deblur is for a network with":                 func(c *Config) { c.Deblur = DeblurringConfig().Deblur },
		"deblur: noise from 0 to 0.095":                deblurringWith(func(d *Deblurring) { d.NoiseMin = 0 }),
		"deblur: noise from 0.1 to":                    deblurringWith(func(d *Deblurring) { d.NoiseMin = 0.1 }),
		"deblur: step is 0":                            deblurringWith(func(d *Deblurring) { d.Step = 0 }),
		"deblur: iterations is 0":                      deblurringWith(func(d *Deblurring) { d.Iterations = 0 }),
		"deblur: margin is 64":                         deblurringWith(func(d *Deblurring) { d.Margin = 64 }),
		"camera is for a network":                      func(c *Config) { c.Camera = CameraConfig().Camera },
		"camera: accumulate must be 1":                 cameraWith(func(c *Config) { c.Accumulate = 2 }),
		"reduce and saved 0":                           cameraWith(func(c *Config) { c.Reduce = 2 }),
		"saved is 1.5":                                 func(c *Config) { c.Saved = 1.5 },
		"saved is for 1 or 3 channels":                 func(c *Config) { c.Channels, c.Saved = 2, 0.5 },
		"camera: crops of 14 pixels":                   cameraWith(func(c *Config) { c.Crop = 14 }),
		"shares of white 0.9 and clean":                cameraWith(func(c *Config) { c.Camera.White, c.Camera.Clean = 0.9, 0.2 }),
		"camera: doubt is -1":                          cameraWith(func(c *Config) { c.Camera.Doubt = -1 }),
		"camera: raised is 0.5":                        cameraWith(func(c *Config) { c.Camera.Raised = 0.5 }),
		"camera: dark is 1.5":                          cameraWith(func(c *Config) { c.Camera.Dark = 1.5 }),
		"raw is for a network":                         func(c *Config) { c.Raw = RawConfig().Raw },
		"and without camera":                           rawWith(func(c *Config) { c.Camera = CameraConfig().Camera }),
		"raw: accumulate must be 1":                    rawWith(func(c *Config) { c.Accumulate = 2 }),
		"have a reduction of their own":                rawWith(func(c *Config) { c.Saved = 0.5 }),
		"raw: crops of 33 pixels":                      rawWith(func(c *Config) { c.Crop = 33 }),
		"raw: doubt is 3":                              rawWith(func(c *Config) { c.Raw.Doubt = 3 }),
		"max_factor of a guide must be":                cameraWith(func(c *Config) { c.Guide.MaxFactor = 0.5 }),
	} {
		c := DefaultConfig()
		change(&c)
		require.ErrorContains(t, c.Check(), want)
	}
}

func cameraWith(change func(c *Config)) func(c *Config) {
	return func(c *Config) {
		*c = CameraConfig()
		change(c)
	}
}

func rawWith(change func(c *Config)) func(c *Config) {
	return func(c *Config) {
		*c = RawConfig()
		change(c)
	}
}

func deblurringWith(change func(d *Deblurring)) func(c *Config) {
	return func(c *Config) {
		*c = DeblurringConfig()
		change(c.Deblur)
	}
}

// FuzzConfig: whatever the bytes are, the result is a valid configuration that survives
// being written, or an error.
func FuzzConfig(f *testing.F) {
	for _, c := range testConfigs() {
		b, err := MarshalConfig(c)
		require.NoError(f, err)
		f.Add(b)
	}
	f.Add([]byte(`{"width":1e9}`))
	f.Add([]byte(`{"other":1}`))
	f.Add([]byte(`{} {}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := UnmarshalConfig(data)
		if err != nil {
			return
		}
		require.NoError(t, c.Check())
		b, err := MarshalConfig(c)
		require.NoError(t, err)
		again, err := UnmarshalConfig(b)
		require.NoError(t, err)
		twice, err := MarshalConfig(again)
		require.NoError(t, err)
		require.Equal(t, b, twice)
	})
}

// FuzzCheckpoint: whatever a checkpoint file holds, it is taken up or refused.
func FuzzCheckpoint(f *testing.F) {
	c := smallConfig()
	c.Width, c.Blocks, c.PowerSize = 3, 1, 3
	dev := processor(f)
	data := testData(f)
	t, err := newTrainer(dev, c, data.Training)
	require.NoError(f, err)
	require.NoError(f, t.initialise(nil))
	b, err := t.encode()
	require.NoError(f, err)
	t.release()
	f.Add(b)
	f.Add(b[:len(b)-1])
	f.Add(bytes.Replace(b, []byte(`\"iteration\":0`), []byte(`\"iteration\":9`), 1))
	f.Add(bytes.Replace(b, []byte(`average.`), []byte(`averagE.`), 1))
	f.Fuzz(func(t *testing.T, b []byte) {
		file, err := weights.Decode(b)
		if err != nil {
			return
		}
		state, err := newTrainer(dev, c, data.Training)
		require.NoError(t, err)
		defer state.release()
		if state.decode(file) == nil {
			_, err = state.encode()
			require.NoError(t, err)
		}
	})
}

// FuzzMetrics: what is kept of a log are whole lines that can be read.
func FuzzMetrics(f *testing.F) {
	f.Add([]byte("{\"iteration\":1}\n{\"iteration\":3}\n{\"iter"), 2)
	f.Add([]byte("\n\n"), 0)
	f.Fuzz(func(t *testing.T, data []byte, iteration int) {
		kept := linesUntil(data, iteration)
		require.True(t, bytes.HasPrefix(data, kept))
		require.True(t, len(kept) == 0 || kept[len(kept)-1] == '\n')
		require.Equal(t, kept, linesUntil(kept, iteration))
	})
}

// TestMetricsUntil keeps the lines up to an iteration.
func TestMetricsUntil(t *testing.T) {
	log := "{\"iteration\":1}\n{\"iteration\":3}\n{\"iteration\":4}\n{\"it"
	require.Equal(t, log[:16], string(linesUntil([]byte(log), 2)))
	require.Equal(t, log[:48], string(linesUntil([]byte(log), 9)))
}
