package message

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestSlips(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"abc", "ab", 1}, {"abc", "xbc", 1}, {"ca", "abc", 3}, {"ärger", "rger", 1}} {
		require.Equal(t, c.want, slips(c.a, c.b), "%q %q", c.a, c.b)
	}
	word := rapid.StringMatching(`[abc]{0,6}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := word.Draw(t, "a"), word.Draw(t, "b")
		d := slips(a, b)
		require.Equal(t, d, slips(b, a))
		require.Equal(t, d == 0, a == b)
		require.LessOrEqual(t, d, max(len(a), len(b)))
		require.GreaterOrEqual(t, d, max(len(a)-len(b), len(b)-len(a)))
	})
}

func TestWhatWasMeant(t *testing.T) {
	words := []string{"general", "deblur", "fast", "tv", "euler", "heun", "rk4"}
	for typed, want := range map[string]string{
		"genral": "general", "gen": "general", "DEBLUR": "deblur", "debulr": "deblur", "fats": "fast", "rk5": "rk4", "eulers": "euler", "tvv": "tv",
		"bm3d": "", "": "", "x": "", "something": "",
	} {
		got := DidYouMean(typed, words)
		if want == "" {
			require.Empty(t, got, typed)
			continue
		}
		require.Equal(t, "did you mean "+want+"? ", got, typed)
	}
	require.Equal(t, "did you mean rk4 or rk5? ", DidYouMean("rk6", []string{"rk4", "rk5", "rk4", "euler"}))
}
