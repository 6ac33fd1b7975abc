package imageplanes

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// An image is dark by the quantile that sorting says, within a bin of the histogram.
func TestNormaliseExposure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := New(1, rapid.IntRange(1, 60).Draw(t, "height"), rapid.IntRange(1, 60).Draw(t, "width"))
		top := rapid.Float32Range(0.01, 1.2).Draw(t, "top")
		share := rapid.Float32Range(0, 1).Draw(t, "share")
		for i := range p.Pix {
			if p.Pix[i] = top * float32(i*7%11) / 10; float32(i%97) < 97*share {
				p.Pix[i] *= 0.3
			}
		}
		sorted := slices.Sorted(slices.Values(p.Pix))
		quantile := min(sorted[len(sorted)-1-int((1-darkShare)*float64(len(sorted)))], 1)
		before, overwrite := slices.Clone(p.Pix), rapid.Bool().Draw(t, "overwrite")
		pix, gain := NormaliseExposure(p, overwrite)
		const bin = 2.0 / (1 << 12)
		switch {
		case gain == 1:
			if quantile < darkLevel-bin {
				t.Fatalf("not brightened, and its quantile is %v", quantile)
			}
		case quantile > darkLevel+bin, 1/gain < quantile-bin, 1/gain > quantile+bin:
			t.Fatalf("brightened by %v, and its quantile is %v", gain, quantile)
		case pix[0] != gain*before[0], overwrite != (&pix[0] == &p.Pix[0]):
			t.Fatalf("%v is not %v times %v, or not where it should be", pix[0], gain, before[0])
		}
	})
}
