package main

import (
	"strings"
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
		got := didYouMean(typed, words)
		if want == "" {
			require.Empty(t, got, typed)
			continue
		}
		require.Equal(t, "did you mean "+want+"? ", got, typed)
	}
	require.Equal(t, "did you mean rk4 or rk5? ", didYouMean("rk6", []string{"rk4", "rk5", "rk4", "euler"}))
}

func TestMistypedWordsAreOneLineWithWhatWasMeant(t *testing.T) {
	inFolder(t)
	save(t, "a.png", picture(1, 12, 14, 8, 0))
	for args, part := range map[string]string{
		"denoise --method genral a.png":                  "--method genral: unknown method; did you mean general? there is: general, ",
		"denoise --method ssprk33 a.png":                 "did you mean ssprk3? ",
		"deblur --kernel a.png --prior deblr a.png":      "--prior deblr: unknown method; did you mean deblur? ",
		"deblur --kernel a.png --boundary refelct a.png": "--boundary refelct: did you mean reflect? want unknown, circular, zero or reflect",
		"denoise --sgima 0.1 a.png":                      "unknown flag: --sgima; did you mean --sigma? 'restore denoise --help' lists the flags",
		"upscale --width 8 a.png":                        "unknown flag: --width; the size follows from --factor 2, 3 or 4; 'restore upscale --help' lists the flags",
		"denois a.png":                                   `unknown command "denois"; did you mean denoise? `,
		"help deblurr":                                   "did you mean deblur? ",
		"kernel motoin -o k.png":                         "did you mean motion? ",
	} {
		fails(t, exitUsage, []string{part}, strings.Fields(args)...)
	}
}
