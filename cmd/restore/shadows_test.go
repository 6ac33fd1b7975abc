package main

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestShadows: a photograph whose shadows noise has darkened is raised, and the line, the object and the page say by how
// much and that it is not proven; --shadows=false and a noise level that is given leave the denoiser alone.
func TestShadows(t *testing.T) {
	const side = 128
	inFolder(t)
	m := picture(3, side, side, 16, 0)
	r := rand.New(rand.NewPCG(8, 2))
	n := m.Width * m.Height
	for i := range m.Pix {
		x, y := float64(i%n%m.Width)/side, float64(i%n/m.Width)/side
		light := math.Pow(0.4+0.15*math.Sin(5*x+float64(i/n))*math.Cos(4*y), 2.2) + 0.04*r.NormFloat64()
		m.Pix[i] = float32(math.Pow(max(light, 0), 1/2.2))
	}
	save(t, "dark.png", m)
	ran := restoring(t, "denoise", "dark.png", "-o", "a.png", "--report", "page.html", "--json")
	require.Zero(t, ran.code, ran.stderr)
	info := objects(t, ran.stdout)[0]["shadows"].(map[string]any)
	require.Greater(t, info["raised"], 0.5/255)
	require.Less(t, info["raised"], 0.1)
	require.Greater(t, info["slope"], 1.0)
	require.LessOrEqual(t, info["slope"], 1.5)
	require.Contains(t, readPage(t, "page.html"), "Shadows were brightened after that")
	require.Contains(t, pageFacts(readPage(t, "page.html")), "Shadows raised by up to")
	require.Contains(t, restoring(t, "denoise", "dark.png", "-o", "b.png").stdout, ", shadows raised by up to ")
	for _, flag := range []string{"--shadows=false", "--sigma=0.05"} {
		ran := succeeds(t, "denoise", "dark.png", "-o", "c.png", "--force", "--json", flag)
		require.NotContains(t, ran.stdout, "shadows\":")
		sum := float32(0)
		plain := load(t, "c.png").Pix
		for i, v := range load(t, "a.png").Pix {
			sum += v - plain[i]
		}
		require.Positive(t, sum, flag)
	}
}
