package imageplanes_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/synthetic"
)

// tinted returns an image of a tint, rounded to 8 bits, and the grey one that it was.
func tinted(h, w int, tint [3]float64, seed uint64) (p, grey *imageplanes.Planes) {
	r := rand.New(rand.NewPCG(seed, 1))
	grey = imageplanes.New(1, h, w)
	for i := range grey.Pix {
		grey.Pix[i] = r.Float32()
	}
	p = imageplanes.New(3, h, w)
	copy(p.Pix, synthetic.Rounded(synthetic.Tinted(grey.Pix, tint), 255))
	return p, grey
}

// The line of a tinted image is found, and gives the grey image back to within rounding, whatever the tint and the range.
func TestToneOfTintedImages(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.Float64Range(0.3, 1)
		tint := [3]float64{part.Draw(t, "red"), part.Draw(t, "green"), part.Draw(t, "blue")}
		tint[rapid.IntRange(0, 2).Draw(t, "strongest")] = 1
		p, grey := tinted(rapid.IntRange(24, 40).Draw(t, "h"), rapid.IntRange(24, 40).Draw(t, "w"), tint, rapid.Uint64().Draw(t, "seed"))
		scale := float32(math.Exp(rapid.Float64Range(-8, 8).Draw(t, "scale")))
		for i := range p.Pix {
			p.Pix[i] *= scale
		}
		tone, is := p.Tone()
		require.True(t, is)
		found := tone.Grey(p)
		for i, v := range found.Pix {
			require.InDelta(t, grey.Pix[i], v/scale, 1./255)
		}
		require.Equal(t, p.Pix, tone.Restored(p, found.Pix), "what has not changed")

		// A change of grey is one along the tint.
		moved := slices.Clone(found.Pix)
		for i := range moved {
			moved[i] += scale / 4
		}
		for i, v := range tone.Restored(p, moved) {
			require.InDelta(t, tint[i/len(moved)]/4, (v-p.Pix[i])/scale, 0.01)
		}
	})
}

// One sample that differs does not take an image from its line, and stays as it is beside it. Colours do, also few or
// weak ones, and so does a channel that falls as the others rise.
func TestToneIsOfOneColourOnly(t *testing.T) {
	grey, _ := tinted(48, 64, [3]float64{1, 1, 1}, 3)
	nudged := &imageplanes.Planes{Width: 64, Height: 48, Channels: 3, Pix: synthetic.Nudged(grey.Pix, 5000)}
	tone, is := nudged.Tone()
	require.True(t, is)
	out := tone.Restored(nudged, make([]float32, 48*64))
	require.InDelta(t, math.Abs(float64(nudged.Pix[5000]-nudged.Pix[5000-64*48])), math.Abs(float64(out[5000]-out[5000-64*48])), 1e-4)

	for name, change := range map[string]func(p *imageplanes.Planes){
		"a red corner": func(p *imageplanes.Planes) {
			for y := range 6 {
				for x := range 6 {
					p.Pix[y*64+x] = 1
				}
			}
		},
		"noise of all colours": func(p *imageplanes.Planes) {
			copy(p.Pix, synthetic.White(p.Pix, 0.004, 1))
		},
		"a negative channel": func(p *imageplanes.Planes) {
			for i, v := range p.Plane(2) {
				p.Plane(2)[i] = 1 - v
			}
		},
		"one colour all over": func(p *imageplanes.Planes) {
			clear(p.Pix)
		},
		"a gap of infinity": func(p *imageplanes.Planes) {
			p.Pix[7] = float32(math.Inf(1))
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := tinted(48, 64, [3]float64{1, 1, 1}, 3)
			change(p)
			_, is := p.Tone()
			require.False(t, is)
		})
	}
	_, is = imageplanes.New(1, 4, 4).Tone()
	require.False(t, is, "grey has no line of colours")
}
