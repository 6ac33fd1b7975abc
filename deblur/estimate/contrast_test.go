package estimate

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/deblur"
)

// No image in [0,1] has neighbours under a kernel that differ by more than the bound, and the image that is white where the
// kernel's difference is above 0 reaches it.
func TestDifferencesBoundContrast(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, w := rapid.IntRange(1, 6).Draw(t, "h"), rapid.IntRange(1, 6).Draw(t, "w")
		weights := make([]float32, h*w)
		for i := range weights {
			weights[i] = float32(rapid.IntRange(0, 9).Draw(t, "weight"))
		}
		weights[rapid.IntRange(0, h*w-1).Draw(t, "one")]++
		k, err := deblur.NewKernel(weights, h, w)
		require.NoError(t, err)
		down, across := differences(k)
		at := func(y, x int) float64 {
			if y < 0 || x < 0 || y >= k.H || x >= k.W {
				return 0
			}
			return float64(k.Weights[y*k.W+x])
		}
		// The difference of two neighbours is Σ d·x, where d is the difference of the kernel and its shift by one sample.
		for _, c := range []struct {
			y, x  int
			bound float64
		}{{1, 0, down / 2}, {0, 1, across / 2}} {
			random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 2))
			some, most := 0.0, 0.0
			for y := range k.H + 1 {
				for x := range k.W + 1 {
					d := at(y, x) - at(y-c.y, x-c.x)
					some += d * random.Float64()
					most += max(d, 0)
				}
			}
			require.LessOrEqual(t, math.Abs(some), c.bound+1e-6)
			require.InDelta(t, c.bound, most, 1e-6)
		}
	})
}

// What is reached is what a search finds.
func TestReached(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := newPlane(rapid.IntRange(1, 12).Draw(t, "h"), rapid.IntRange(1, 12).Draw(t, "w"))
		for range rapid.IntRange(0, 3).Draw(t, "lamps") {
			p.pix[rapid.IntRange(0, len(p.pix)-1).Draw(t, "at")] = rapid.Float32Range(0, 1).Draw(t, "v")
		}
		r, least := rapid.IntRange(0, 5).Draw(t, "r"), rapid.Float32Range(0, 0.5).Draw(t, "least")
		got := p.reached(r, least)
		for i := range p.pix {
			want := false
			for j, v := range p.pix {
				dy, dx := i/p.w-j/p.w, i%p.w-j%p.w
				want = want || v > least && max(dy, -dy) <= r && max(dx, -dx) <= r
			}
			require.Equal(t, want, got[i])
		}
	})
}

// A sharp photograph is sharper than the kernel of a shake leaves it, with noise and without, and one under the shake is not, nor
// is it with a few glints that a program has sharpened. A lamp beyond white does not count.
func TestSharperThan(t *testing.T) {
	k, err := deblur.Shake(11, 3)
	require.NoError(t, err)
	sharp := still()
	whole := part{sharp, newPlane(sharp.h, sharp.w), newPlane(sharp.h, sharp.w)}
	require.True(t, whole.sharperThan(k, 0))
	require.True(t, whole.sharperThan(k, 0.01))

	blurred := newPlane(sharp.h-k.H+1, sharp.w-k.W+1)
	for i := range blurred.pix {
		y, x := i/blurred.w, i%blurred.w
		for j, weight := range k.Weights {
			blurred.pix[i] += weight * sharp.pix[(y+j/k.W)*sharp.w+x+j%k.W]
		}
	}
	whole = part{blurred, newPlane(blurred.h, blurred.w), newPlane(blurred.h, blurred.w)}
	require.False(t, whole.sharperThan(k, 0))
	middle := blurred.h/2*blurred.w + blurred.w/2
	glints := int(mostContrasts*float64(2*len(blurred.pix))) / 4 // each has four differences
	require.Positive(t, glints)
	for i := range glints {
		blurred.pix[middle+3*i] = 1
	}
	require.False(t, whole.sharperThan(k, 0))
	blurred.pix[middle+3*glints] = 1
	require.True(t, whole.sharperThan(k, 0))
	whole.lamps.pix[middle-max(k.H, k.W)/2] = 1
	require.False(t, whole.sharperThan(k, 0))
}
