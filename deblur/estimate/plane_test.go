package estimate

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

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
