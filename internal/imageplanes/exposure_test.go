package imageplanes

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The brightened image has the largest factor under which sorting says that few enough samples are white or brighter.
func TestBrightened(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := New(1, rapid.IntRange(1, 60).Draw(t, "height"), rapid.IntRange(1, 60).Draw(t, "width"))
		top := rapid.Float32Range(0.001, 1.2).Draw(t, "top")
		dim := rapid.Float32Range(0, 1).Draw(t, "share of dim samples")
		for i := range p.Pix {
			if p.Pix[i] = top * float32(i*7%11) / 10; float32(i%97) < 97*dim {
				p.Pix[i] *= 0.3
			}
		}
		share, overwrite := rapid.SampledFrom([]float64{0, 0.001, 0.1}).Draw(t, "share"), rapid.Bool().Draw(t, "overwrite")
		white := rapid.SampledFrom([]float64{0.99, 1, ForPriors.White}).Draw(t, "white")
		sorted := slices.Sorted(slices.Values(p.Pix))
		brightest := float64(sorted[len(sorted)-1-int(share*float64(len(sorted)))]) // of those that are to stay below white
		before := slices.Clone(p.Pix)
		bright, factor := p.Brightened(Exposure{white, share}, overwrite)
		for i, v := range before {
			if float64(bright.Pix[i]) != factor*float64(v) {
				t.Fatalf("%v is not %v times %v", bright.Pix[i], factor, v)
			}
		}
		switch {
		case math.Exp2(math.Round(math.Log2(factor))) != factor || factor < 1:
			t.Fatalf("%v is no power of two", factor)
		case factor == 1 && bright != p, factor > 1 && overwrite != (&bright.Pix[0] == &p.Pix[0]):
			t.Fatal("the image is not where it should be")
		case factor > 1 && factor*brightest >= white:
			t.Fatalf("brightened by %v, and sample %v should stay below white", factor, brightest)
		case factor < 1<<maxDoublings && 2*factor*brightest < white:
			t.Fatalf("brightened by %v, and sample %v may be brighter", factor, brightest)
		}
	})
}

// A sixteenth of white that was rounded up to 16 bits is brightened like white by a sixteenth, and not by half of that.
func TestBrightenedRoundedWhite(t *testing.T) {
	p := New(1, 1, 1)
	p.Pix[0] = 4096. / 65535
	if _, factor := p.Brightened(ForPriors, false); factor != 16 {
		t.Fatalf("brightened by %v, want 16", factor)
	}
}
