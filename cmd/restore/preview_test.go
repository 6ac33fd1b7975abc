package main

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/internal/srgb"
)

// panel is one of the pictures of a preview.
func panel(pix []float32, width, h, w, i int) (part []float32) {
	for y := range h {
		part = append(part, pix[y*width+i*(w+previewGap):][:w]...)
	}
	return part
}

func TestPreviewShowsAPartOfTheWhole(t *testing.T) {
	inFolder(t)
	save(t, "a.pfm", picture(1, 150, 170, 32, 0.05))
	const w, h = 20, 16
	network := seeded(t, "euler") // sees a few pixels around each
	run := []string{"denoise", "--sigma", "0.05", "--adapt=false", "--weights", network, "a.pfm"}
	succeeds(t, append(run, "-o", "1.pfm")...)
	succeeds(t, append(run, "--strength", "1.4", "-o", "2.pfm")...)
	r := succeeds(t, append(run, "--preview", "100,90,20,16", "--strength", "normal,1.4", "-o", "p.pfm")...)
	require.Contains(t, r.stdout, "preview of 100,90,20,16, from left to right: before, normal, 1.4; ")
	p := load(t, "p.pfm")
	require.Equal(t, [2]int{3*w + 2*previewGap, h}, [2]int{p.Width, p.Height})
	for i, of := range []string{"a.pfm", "1.pfm", "2.pfm"} {
		whole := load(t, of)
		whole.Crop(h, w, 90, 100)
		require.InDeltaSlice(t, whole.Pix, panel(p.Pix, p.Width, h, w, i), 1e-6, of)
	}
	require.NotEqual(t, panel(p.Pix, p.Width, h, w, 1), panel(p.Pix, p.Width, h, w, 2))
	require.EqualValues(t, 1, p.Pix[w], "a white stripe")
}

func TestPreviewStandsBesideTheInput(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	save(t, "a.jpg", picture(3, 24, 30, 8, 0.05))
	save(t, "k.png", picture(1, 3, 3, 8, 0))
	o := objects(t, restoring(t, "denoise", "--method", "tv", "--preview", "2,3,8,6", "--json", "a.jpg").stdout)
	require.Equal(t, "a.preview.png", o[0]["output"])
	require.Equal(t, true, o[0]["sigma_estimated"])
	require.NotContains(t, o[0], "sigma_given")
	succeeds(t, "deblur", "--kernel", "k.png", "--prior", "tv", "--sigma", "0.05", "--preview", "22,18,8,6", "a.jpg", "-o", "b.png")
	m := load(t, "b.png")
	require.Equal(t, [3]int{2*8 + previewGap, 6, 3}, [3]int{m.Width, m.Height, m.Channels})
	require.Equal(t, []string{"a.jpg", "a.preview.png", "b.png", "k.png"}, files(t))

	fails(t, exitFailed, []string{"has 30×24 pixels", "X+W may be 30 and Y+H 24"}, denoising("a.jpg", "--preview", "23,3,8,6", "-o", "c.png")...)
	for _, wrong := range []string{"1,2,3", "1,2,0,4", "-1,2,3,4", "1,2,3,4,5", "a", "1,2,3,99999999999"} {
		fails(t, exitUsage, []string{"want X,Y,W,H"}, denoising("a.jpg", "--preview="+wrong)...)
	}
	fails(t, exitUsage, []string{"several strengths are for --preview"}, denoising("a.jpg", "--strength", "light,1.2")...)
	fails(t, exitUsage, []string{"--strength 1,x", "light, normal or strong"}, denoising("a.jpg", "--preview", "0,0,4,4", "--strength", "1,x")...)
	fails(t, exitUsage, []string{"leave out one of them"}, denoising("a.jpg", "--preview", "0,0,4,4", "--report", "r.html")...)
	require.Equal(t, []string{"a.jpg", "a.preview.png", "b.png", "k.png"}, files(t))
}

// A part is denoised as in the whole, whose levels it has: here it is smooth, and most of the rest is texture.
func TestPreviewHasTheLevelsOfTheWhole(t *testing.T) {
	inFolder(t)
	const h, w, smooth = 224, 400, 150
	m := picture(3, h, w, 8, 0)
	r := rand.New(rand.NewPCG(6, 7))
	for i := range h * w {
		v := 0.4 + 0.1*float64(i%w)/w
		if i%w > smooth {
			v += 0.2 * (r.Float64() - 0.5) * float64(1+(i/w/7+i%w/5)%2)
		}
		for c := range 3 {
			m.Pix[c*h*w+i] = float32(math.Round(255*v) / 255)
		}
	}
	save(t, "scene.png", m)
	succeeds(t, "degrade", "scene.png", "--camera", "--iso", "3200", "--luma-smoothing", "0.8", "--depth", "8", "-o", "a.png")
	run := []string{"denoise", "a.png", "--json", "-o"}
	whole := objects(t, succeedsNoted(t, append(run, "1.pfm")...).stdout)[0]
	part := objects(t, succeedsNoted(t, append(run, "p.pfm", "--preview", "40,60,50,40")...).stdout)[0]
	require.Equal(t, whole["method"], part["method"])
	p, of := load(t, "p.pfm"), load(t, "1.pfm")
	of.Crop(40, 50, 60, 40)
	n := len(p.Pix) / 3
	for c := range 3 {
		require.InDeltaSlice(t, of.Pix[c*2000:][:2000], panel(p.Pix[c*n:], p.Width, 40, 50, 1), 3./255)
	}
}

// The part of a photograph that was enlarged by nearest neighbour is denoised as the whole, wherever it begins.
func TestPreviewOfRepeatedPixels(t *testing.T) {
	inFolder(t)
	small := picture(3, 60, 70, 8, 0.05)
	m := picture(3, 180, 210, 8, 0)
	for i := range m.Pix {
		m.Pix[i] = small.Pix[i/210/3*70+i%210/3]
	}
	save(t, "a.png", m)
	succeeds(t, "denoise", "a.png", "-o", "1.pfm")
	succeeds(t, "denoise", "a.png", "-o", "p.pfm", "--preview", "65,70,30,20")
	p, of := load(t, "p.pfm"), load(t, "1.pfm")
	of.Crop(20, 30, 70, 65)
	n := len(p.Pix) / 3
	for c := range 3 {
		require.InDeltaSlice(t, of.Pix[c*600:][:600], panel(p.Pix[c*n:], p.Width, 20, 30, 1), 3./255)
		require.NotEqual(t, panel(p.Pix[c*n:], p.Width, 20, 30, 0), panel(p.Pix[c*n:], p.Width, 20, 30, 1))
	}
}

// A part is deblurred as in the whole: the noise is that of the whole, and so is whether light was blurred, which the part is too small to
// tell.
func TestPreviewOfDeblurHasWhatTheWholeTells(t *testing.T) {
	inFolder(t)
	const h, w = 220, 280
	r := rand.New(rand.NewPCG(1, 1))
	m := picture(1, h, w, 32, 0)
	for range h * w / 60 {
		y, x, v := r.IntN(h), r.IntN(w), float32(.05+.85*r.Float64())
		down, right := 3+r.IntN(20), 3+r.IntN(20)
		for i := y; i < min(y+down, h); i++ {
			for j := x; j < min(x+right, w); j++ {
				m.Pix[i*w+j] = v * v // of light
			}
		}
	}
	save(t, "light.pfm", m)
	succeeds(t, "kernel", "shake", "--size", "11", "--seed", "2", "-o", "k.pfm")
	succeeds(t, "degrade", "light.pfm", "--kernel", "k.pfm", "-o", "blurred.pfm")
	blurred := load(t, "blurred.pfm")
	for i, v := range blurred.Pix {
		noise := 0.004 + 0.006*float64(i%blurred.Width)/float64(blurred.Width)
		blurred.Pix[i] = float32(min(max(srgb.Encoded(float64(v))+noise*r.NormFloat64(), 0), 1))
	}
	save(t, "a.pfm", blurred)
	for _, kernel := range [][]string{{"--kernel", "k.pfm"}, {"--kernel-size", "15"}} {
		run := append([]string{"deblur", "a.pfm", "--iterations", "1", "--json"}, kernel...)
		whole := objects(t, restoring(t, append(run, "-o", "1.pfm", "--force")...).stdout)[0]
		part := objects(t, restoring(t, append(run, "-o", "p.pfm", "--force", "--preview", "20,60,9,9")...).stdout)[0]
		for _, key := range []string{"linear_light", "sigma"} {
			require.Equal(t, whole[key], part[key], "%s %v", key, kernel)
		}
		require.Equal(t, true, whole["linear_light"])
	}
}
