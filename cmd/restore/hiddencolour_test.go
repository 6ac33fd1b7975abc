package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// What is transparent has no part in what is not, and comes back as it was; --alpha drop makes all of it visible.
func TestHiddenColours(t *testing.T) {
	inFolder(t)
	m := picture(3, 20, 24, 8, 0.02)
	m.Alpha = make([]uint16, 20*24)
	for i := range m.Alpha {
		if i%24 < 15 {
			m.Alpha[i] = 0xffff
		}
	}
	save(t, "white.png", m)
	for i := range m.Pix {
		if m.Alpha[i%len(m.Alpha)] == 0 {
			m.Pix[i] = float32(i%2) * 0.6
		}
	}
	save(t, "striped.png", m)
	for _, args := range [][]string{
		{"denoise", "--method", "tv", "--sigma", "0.1"},
		{"upscale", "--factor", "2", "--prior", "tv", "--sigma", "0.02", "--iterations", "5"},
		{"denoise", "--method", "tv", "--sigma", "0.1", "--preview", "0,0,15,20"},
	} {
		for _, name := range []string{"white", "striped"} {
			r := restoring(t, append(args, name+".png", "-o", name+".out.png", "--force")...)
			require.Equal(t, exitDone, r.code, r.stderr)
		}
		one, other := load(t, "white.out.png"), load(t, "striped.out.png")
		require.Equal(t, one.Alpha, other.Alpha)
		for i, v := range one.Pix {
			if one.Alpha == nil || one.Alpha[i%len(one.Alpha)] > 0 {
				require.Equal(t, v, other.Pix[i], args)
			}
		}
	}
	for _, name := range []string{"white", "striped"} {
		succeedsNoted(t, "denoise", "--method", "tv", "--sigma", "0.1", name+".png", "-o", name+".tv.png")
		in, out := load(t, name+".png"), load(t, name+".tv.png")
		for i, v := range in.Pix {
			if in.Alpha[i%len(in.Alpha)] == 0 {
				require.Equal(t, v, out.Pix[i])
			}
		}
	}
	succeedsNoted(t, "denoise", "--method", "tv", "--sigma", "0.1", "--alpha", "drop", "striped.png", "-o", "drop.png")
	in, out := load(t, "striped.png"), load(t, "drop.png")
	require.Nil(t, out.Alpha)
	require.NotEqual(t, in.Pix[20], out.Pix[20], "it is visible now")
}
