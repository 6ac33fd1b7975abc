package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDrawing: a screenshot comes back as it is, and the line, the object, the page and the preview say so.
func TestDrawing(t *testing.T) {
	inFolder(t)
	m := picture(3, 160, 200, 8, 0)
	for i := range m.Pix {
		y, x := i/m.Width%m.Height, i%m.Width
		m.Pix[i] = 1
		if y%17 == 0 || y%17 > 4 && y%17 < 12 && (x*7+y*3+x*y)%5 < 2 {
			m.Pix[i] = 51. / 255
		}
	}
	save(t, "screen.png", m)
	ran := succeedsNoted(t, "denoise", "screen.png", "-o", "a.png", "--report", "page.html")
	require.Contains(t, ran.stdout, "no noise found, nothing changed, ")
	require.NotContains(t, ran.stdout, "averaged")
	require.Equal(t, load(t, "screen.png").Pix, load(t, "a.png").Pix)
	require.Equal(t, "none: the picture is as it was", pageFacts(readPage(t, "page.html"))["Method"])

	o := objects(t, succeedsNoted(t, "denoise", "screen.png", "-o", "b.png", "--json").stdout)[0]
	require.Equal(t, true, o["unchanged"])
	require.Zero(t, o["sigma"])
	require.NotContains(t, o, "network")
	require.NotContains(t, o, "method")
	require.Equal(t, load(t, "screen.png").Pix, load(t, "b.png").Pix)

	// A part is left as well, since the noise is that of the whole.
	ran = succeedsNoted(t, "denoise", "screen.png", "-o", "c.png", "--preview", "40,40,64,48")
	require.Contains(t, ran.stdout, "nothing changed")

	ran = succeeds(t, "denoise", "screen.png", "-o", "d.png", "--sigma", "0.05")
	require.Contains(t, ran.stdout, "noise of sigma 0.05 removed")
	require.NotEqual(t, load(t, "screen.png").Pix, load(t, "d.png").Pix)
}
