package train

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/internal/cputest"
)

// BenchmarkIteration is one update of the paper's Euler network, 8 crops of 64×64 pixels;
// bench/training.sh races it against PyTorch. The parts of it that PyTorch has not, which
// are the power iteration and the optimiser, are counted.
func BenchmarkIteration(b *testing.B) {
	for _, of := range []struct {
		name   string
		change func(*Config)
	}{
		{"paper", func(c *Config) { c.Group, c.Shuffle = 0, 0 }},
		{"heun", func(c *Config) { c.Group, c.Shuffle, c.Integrator = 0, 0, "heun" }},
		{"balls at half resolution", func(*Config) {}},
		{"guided", func(c *Config) { *c = GuidedConfig() }},
	} {
		b.Run(of.name, func(b *testing.B) {
			c := DefaultConfig()
			c.Blocks = 10 // the paper's
			of.change(&c)
			c.PowerIterations = 10 // what comes before the first iteration is not measured
			dev := cputest.Open(b)
			defer dev.Close() // its only error would be of work that has been waited for
			set, err := NewPictures(c.Channels, []Picture{gradientPicture(c.Channels, 200, 200, false)})
			require.NoError(b, err)
			t, err := newTrainer(dev, c, set)
			require.NoError(b, err)
			defer t.release()
			require.NoError(b, t.initialise(nil))
			for b.Loop() {
				_, err := t.iterate(b.Context())
				require.NoError(b, err)
			}
		})
	}
}
