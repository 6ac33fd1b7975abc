package train

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/averaged/imaging/internal/devicequeue"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// gradientPicture has samples that tell where they are, multiples of 1/255 or not.
func gradientPicture(channels, h, w int, fine bool) Picture {
	p := Picture{Channels: channels, Height: h, Width: w, Samples: make([]float32, channels*h*w)}
	for i := range p.Samples {
		p.Samples[i] = float32(i*37%256) / 255
		if fine {
			p.Samples[i] = float32(i*37%1000) / 999
		}
	}
	return p
}

func testPictures(t testing.TB, channels int) *Pictures {
	set, err := NewPictures(channels, []Picture{
		gradientPicture(channels, 12, 17, false), gradientPicture(channels, 9, 11, true), gradientPicture(1, 20, 10, false),
	})
	require.NoError(t, err)
	return set
}

func TestPicturesKeepTheirSamples(t *testing.T) {
	for _, fine := range []bool{false, true} {
		p := gradientPicture(3, 5, 7, fine)
		set, err := NewPictures(3, []Picture{p})
		require.NoError(t, err)
		require.Equal(t, fine, set.list[0].levels == nil)
		row := make([]float32, 4)
		set.list[0].row(row, 2, 3, 1)
		require.Equal(t, p.Samples[(2*5+3)*7+1:][:4], row)
	}
	grey := gradientPicture(1, 5, 7, false)
	set, err := NewPictures(3, []Picture{grey})
	require.NoError(t, err)
	row := make([]float32, 7)
	for c := range 3 {
		set.list[0].row(row, c, 4, 0)
		require.Equal(t, grey.Samples[4*7:], row)
	}
}

// TestDigest: it changes with a sample, a size, and the order.
func TestDigest(t *testing.T) {
	digest := func(list ...Picture) string {
		set, err := NewPictures(1, list)
		require.NoError(t, err)
		return set.digest
	}
	a, b := gradientPicture(1, 4, 6, false), gradientPicture(1, 4, 6, true)
	changed := gradientPicture(1, 4, 6, true)
	changed.Samples[5] += 1e-6
	turned := gradientPicture(1, 6, 4, false)
	seen := map[string]bool{}
	for _, d := range []string{digest(a), digest(b), digest(changed), digest(turned), digest(a, b), digest(b, a)} {
		require.False(t, seen[d])
		seen[d] = true
	}
	require.Equal(t, digest(a, b), digest(a, b))
}

func TestReadPictures(t *testing.T) {
	_, _, err := ReadPictures(t.Context(), t.TempDir(), nil, 3, 1)
	require.ErrorContains(t, err, "decoder")
	folder := t.TempDir()
	for _, name := range []string{"b.raw", "a.raw", "broken.raw", "small.raw", "two.raw", "below/c.raw", "notes.txt"} {
		path := filepath.Join(folder, name)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o777))
		require.NoError(t, os.WriteFile(path, nil, 0o600))
	}
	errBroken := errors.New("not an image")
	var asked []string
	decode := func(_ context.Context, path string) (Picture, error) {
		asked = append(asked, filepath.Base(path))
		switch filepath.Base(path) {
		case "a.raw":
			return gradientPicture(3, 10, 12, false), nil
		case "b.raw":
			return gradientPicture(1, 9, 9, false), nil
		case "c.raw":
			return gradientPicture(3, 11, 9, true), nil
		case "small.raw":
			return gradientPicture(3, 100, 8, false), nil
		case "two.raw":
			return gradientPicture(2, 10, 10, false), nil
		}
		return Picture{}, errBroken
	}
	set, leftOut, err := ReadPictures(t.Context(), folder, decode, 3, 9)
	require.NoError(t, err)
	require.Equal(t, 3, set.Len())
	require.Equal(t, []string{"a.raw", "b.raw", "c.raw", "broken.raw", "notes.txt", "small.raw", "two.raw"}, asked)
	var names []string
	for _, l := range leftOut {
		names = append(names, filepath.Base(l.Path))
	}
	require.Equal(t, []string{"broken.raw", "notes.txt", "small.raw", "two.raw"}, names)
	require.ErrorIs(t, leftOut[0].Reason, errBroken)
	require.ErrorContains(t, leftOut[2].Reason, "8×100 pixels, must be at least 9×9")
	require.ErrorContains(t, leftOut[3].Reason, "2 colour channels, must have 3")

	_, leftOut, err = ReadPictures(t.Context(), folder, decode, 3, 1000)
	require.ErrorContains(t, err, "7 files were left out")
	require.Len(t, leftOut, 7)
	_, _, err = ReadPictures(t.Context(), t.TempDir(), decode, 3, 1)
	require.ErrorContains(t, err, "it is empty")
	_, _, err = ReadPictures(t.Context(), filepath.Join(folder, "nowhere"), decode, 3, 1)
	require.ErrorIs(t, err, os.ErrNotExist)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = ReadPictures(ctx, folder, decode, 3, 9)
	require.ErrorIs(t, err, context.Canceled)
}

// TestBatches: crops are crops of the pictures, the noise is what the noise level says,
// and all of it follows from the generator's state.
func TestBatches(t *testing.T) {
	dev := processor(t)
	c := smallConfig()
	c.Batch, c.Crop, c.Augment = 16, 8, false
	set := testPictures(t, c.Channels)
	q := &devicequeue.Queue{Dev: dev}
	b := newBatch(q, devicequeue.NewPool(dev), c)
	g := newGenerator(5)
	twin := g.clone()
	b.draw(q, set, g, 0)
	require.NoError(t, q.Err)
	clean, noisy := downloaded(t, dev, b.clean), downloaded(t, dev, b.noisy)
	for n := range c.Batch {
		crop := clean[n*3*64:][:3*64]
		require.True(t, isCrop(set, crop, c.Crop))
		sum := 0.0
		for i, v := range crop {
			d := float64(noisy[n*3*64+i] - v)
			sum += d * d
		}
		require.GreaterOrEqual(t, b.sigmas[n], c.SigmaMin)
		require.LessOrEqual(t, b.sigmas[n], c.SigmaMax)
		require.InEpsilon(t, b.sigmas[n], math.Sqrt(sum/(3*64)), 0.25)
	}
	require.NotEqual(t, b.sigmas[0], b.sigmas[1])
	b.draw(q, set, g, 0)
	require.NotEqual(t, clean, downloaded(t, dev, b.clean))
	b.draw(q, set, twin, 0)
	require.Equal(t, clean, downloaded(t, dev, b.clean))
	require.Equal(t, noisy, downloaded(t, dev, b.noisy))
	b.draw(q, set, g, 0.125)
	require.Equal(t, 0.125, b.sigmas[0])
	require.Equal(t, 0.125, b.sigmas[c.Batch-1])
	require.NoError(t, q.Err)
	for range 100 {
		s := c.level(g)
		require.True(t, c.SigmaMin <= s && s <= c.SigmaMax, s)
	}
}

// isCrop looks for a crop in all places of all pictures.
func isCrop(set *Pictures, crop []float32, size int) bool {
	row := make([]float32, size)
	for i := range set.list {
		p := &set.list[i]
		for y := 0; y+size <= p.h; y++ {
			for x := 0; x+size <= p.w; x++ {
				same := true
				for k := 0; same && k < 3*size; k++ {
					p.row(row, k/size, y+k%size, x)
					same = [8]float32(row) == [8]float32(crop[k*size:])
				}
				if same {
					return true
				}
			}
		}
	}
	return false
}

func TestGenerator(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := newGenerator(rapid.Uint64().Draw(t, "seed"))
		for range rapid.IntRange(0, 5).Draw(t, "skip") {
			g.bits()
		}
		n := rapid.IntRange(1, math.MaxInt>>23).Draw(t, "n")
		state, err := g.state()
		require.NoError(t, err)
		twin, other := g.clone(), newGenerator(1)
		require.NoError(t, other.restore(state))
		for range 4 {
			v := g.below(n)
			require.True(t, v >= 0 && v < n)
			require.Equal(t, v, twin.below(n))
			require.Equal(t, v, other.below(n))
			u := g.uniform()
			require.True(t, u >= 0 && u < 1)
			require.Equal(t, u, twin.uniform())
			require.Equal(t, u, other.uniform())
		}
	})
	// The sequence is part of what a seed means.
	first := newGenerator(1)
	require.Equal(t, []int{477, 238}, []int{first.below(1000), first.below(1000)})
	for _, bad := range []string{"", "zz", "00"} {
		require.Error(t, newGenerator(1).restore(bad))
	}
}

func TestScene(t *testing.T) {
	set := testPictures(t, 3)
	random := rand.New(rand.NewPCG(1, 2))
	require.Len(t, set.Scene(random, 9), 3*9*9)
	for _, side := range []int{-1, 0, 10, math.MaxInt} { // the smallest picture has a side of 9
		require.Nil(t, set.Scene(random, side))
	}
	require.Nil(t, (*Pictures)(nil).Scene(random, 1))
}
