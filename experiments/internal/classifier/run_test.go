package classifier

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/experiments/internal/cifar"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/train"
)

// striped is a set of n pictures of two classes that anybody can tell apart.
func striped(n int) cifar.Set {
	var s cifar.Set
	g := rand.New(rand.NewPCG(3, 4))
	for i := range n {
		y := i % 2
		for c := range inputs {
			for p := range side * side {
				v := 60 + g.IntN(20)
				if y == 1 && c == 2 && p/side%4 < 2 {
					v += 120
				}
				s.Levels = append(s.Levels, uint8(v))
			}
		}
		s.Labels = append(s.Labels, uint8(3+y))
	}
	return s
}

func smallData() *cifar.Data {
	return &cifar.Data{Training: striped(24), HeldOut: striped(6), Test: striped(6)}
}

func smallRun(k Kind) Config {
	c := PaperConfig(k, 9)
	c.Form, c.Batch = Form{Kind: k, Widths: []int{3, 4}, Blocks: 1}, 6
	c.Schedule = train.Schedule{Name: train.Constant, Maximum: 0.05}
	return c
}

func open(t *testing.T, dev backend.Device, folder string, c Config, d *cifar.Data) *Run {
	r, err := OpenRun(t.Context(), dev, folder, c, d)
	require.NoError(t, err)
	t.Cleanup(r.Release)
	return r
}

func checksum(t *testing.T, r *Run) string {
	sum, err := r.Checksum()
	require.NoError(t, err)
	return sum
}

// TestAnInterruptedRunGoesOnToTheSameBits, whatever the number of threads, with and without
// attacks, and whether it was stopped by its context in the middle or between two iterations.
func TestAnInterruptedRunGoesOnToTheSameBits(t *testing.T) {
	data := smallData()
	configs := map[string]Config{"nonexpnet": smallRun(NonExpNet), "resnet": smallRun(ResNet)}
	attacked := smallRun(ResNet).Adversarial(2)
	attacked.Iterations = 5
	configs["resnet-at"] = attacked
	for name, c := range configs {
		t.Run(name, func(t *testing.T) {
			one, three := cputest.Open(t, cpu.Threads(1)), cputest.Open(t, cpu.Threads(3))
			defer one.Close()
			defer three.Close()
			whole := open(t, one, t.TempDir(), c, data)
			require.NoError(t, whole.Train(t.Context(), func(Progress) error { return nil }))
			require.Equal(t, c.Iterations, whole.Iteration())

			folder := t.TempDir()
			first := open(t, three, folder, c, data)
			ctx, cancel := context.WithCancel(t.Context())
			go cancel()
			require.ErrorIs(t, first.Train(ctx, func(Progress) error { return nil }), context.Canceled)
			stop := errors.New("stop")
			second := open(t, one, folder, c, data)
			require.ErrorIs(t, second.Train(t.Context(), func(p Progress) error { return stop }), stop)
			require.Positive(t, second.Iteration())
			third := open(t, three, folder, c, data)
			require.Equal(t, second.Iteration(), third.Iteration())
			require.NoError(t, third.Train(t.Context(), func(Progress) error { return nil }))
			require.Equal(t, checksum(t, whole), checksum(t, third))
			require.Equal(t, whole.Lines(), third.Lines())
		})
	}
}

func TestItLearns(t *testing.T) {
	c := smallRun(NonExpNet)
	c.Iterations = 40
	r := open(t, processor(t), t.TempDir(), c, smallData())
	require.NoError(t, r.Train(t.Context(), func(Progress) error { return nil }))
	_, accuracy, err := r.evaluate(t.Context(), &r.data.Test)
	require.NoError(t, err)
	require.Equal(t, 1.0, accuracy)
	require.Equal(t, 1.0, r.Lines()[len(r.Lines())-1].HeldOutAccuracy)
}

func TestFoldersOfOthersAreRefused(t *testing.T) {
	dev, folder, data := processor(t), t.TempDir(), smallData()
	c := smallRun(ResNet)
	open(t, dev, folder, c, data)
	other := c
	other.Seed = 9
	_, err := OpenRun(t.Context(), dev, folder, other, data)
	require.ErrorContains(t, err, "another configuration")
	changed := smallData()
	changed.Training.Levels[0]++
	_, err = OpenRun(t.Context(), dev, folder, c, changed)
	require.ErrorContains(t, err, "other pictures")
	require.NoError(t, os.WriteFile(filepath.Join(folder, checkpointFile), []byte("nothing"), 0o666))
	_, err = OpenRun(t.Context(), dev, folder, c, data)
	require.Error(t, err)
	for _, wrong := range []func(*Config){
		func(c *Config) { c.Batch = 25 }, func(c *Config) { c.Batch = 0 }, func(c *Config) { c.Margin = 0 },
		func(c *Config) { c.Attack.Iterations = 1 }, func(c *Config) { c.Optimiser.Name = "x" }, func(c *Config) { c.Form.Blocks = 0 },
	} {
		bad := c
		wrong(&bad)
		_, err := OpenRun(t.Context(), dev, t.TempDir(), bad, data)
		require.Error(t, err)
	}
}

// TestAugmentation: what is left of a picture are its own samples, moved by at most the margin.
func TestAugmentation(t *testing.T) {
	g := rand.New(rand.NewPCG(5, 6))
	levels := make([]uint8, Samples)
	for i := range levels {
		levels[i] = uint8(1 + i%251)
	}
	dst := make([]float32, Samples)
	flipped, black := 0, 0.0
	const tries = 400
	for range tries {
		augment(dst, levels, g)
		found := false
		for _, flip := range []bool{false, true} {
			for dy := -margin; dy <= margin && !found; dy++ {
				for dx := -margin; dx <= margin && !found; dx++ {
					found = true
					seen := 0
					for i, v := range dst {
						if v == 0 {
							continue
						}
						c, y, x := i/(side*side), i/side%side, i%side
						if flip {
							x = side - 1 - x
						}
						y, x = y+dy, x+dx
						if y < 0 || y >= side || x < 0 || x >= side || float32(levels[(c*side+y)*side+x])/255 != v {
							found = false
							break
						}
						seen++
					}
					found = found && seen > Samples/3
					if found && flip {
						flipped++
					}
				}
			}
		}
		require.True(t, found)
		for _, v := range dst {
			if v == 0 {
				black++
			}
		}
	}
	require.InDelta(t, tries/2, flipped, 60)
	share := black / tries / Samples // an eighth by crops, and half of some 17 % by erasing
	require.InDelta(t, 0.21, share, 0.06)
}
