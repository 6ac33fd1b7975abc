package main

import (
	"bytes"
	"image"
	"image/color"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/internal/metadata"
	"github.com/averaged/imaging/internal/networks"
)

// saveMask writes a mask of h×w pixels with a white square.
func saveMask(t *testing.T, path string, h, w int) string {
	t.Helper()
	m := image.NewGray(image.Rect(0, 0, w, h))
	for y := h / 4; y < h/2; y++ {
		for x := w / 4; x < w/2; x++ {
			m.SetGray(x, y, color.Gray{Y: 255})
		}
	}
	return savePNG(t, path, m)
}

// inpainting is a quick run of inpaint.
func inpainting(args ...string) []string {
	return append([]string{"inpaint", "--mask", "mask.png", "--iterations", "3", "-q", "--progress", "never"}, args...)
}

// Images of every kind come back as they were, except for the pixels that were filled.
func TestInpaint(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	saveMask(t, "mask.png", 20, 24)
	alpha := picture(3, 20, 24, 16, 0)
	alpha.Alpha = make([]uint16, 20*24)
	for i := range alpha.Alpha {
		alpha.Alpha[i] = uint16(i * 91)
	}
	alpha.Metadata.Resolution = metadata.Resolution{X: 300, Y: 300}
	for name, m := range map[string]*imagefile.Image{
		"alpha.png": alpha, "alpha.tif": alpha, "grey8.bmp": picture(1, 20, 24, 8, 0),
		"colour.png": picture(3, 20, 24, 8, 0), "float.pfm": picture(3, 20, 24, 32, 0.5),
	} {
		before := load(t, save(t, name, m))
		succeedsNoted(t, inpainting(name, "-o", "out-"+name)...)
		after := load(t, "out-"+name)
		require.Equal(t, [4]int{before.Width, before.Height, before.Channels, before.Depth}, [4]int{after.Width, after.Height, after.Channels, after.Depth}, name)
		require.Equal(t, before.Alpha, after.Alpha, name)
		require.Equal(t, before.Metadata.Resolution, after.Metadata.Resolution, name)
		changed := 0
		for i, v := range before.Pix {
			y, x := i%480/24, i%24
			if y >= 5 && y < 10 && x >= 6 && x < 12 {
				if v != after.Pix[i] {
					changed++
				}
				continue
			}
			require.Equal(t, v, after.Pix[i], "%s: a pixel that is kept", name)
		}
		require.Positive(t, changed, name)
	}
}

// succeedsNoted is succeeds for runs that have something to say on the error stream.
func succeedsNoted(t *testing.T, args ...string) ran {
	t.Helper()
	r := restoring(t, args...)
	require.Equal(t, exitDone, r.code, "restore %v: %s", args, r.stderr)
	return r
}

func TestInpaintReport(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	saveMask(t, "mask.png", 20, 24)
	save(t, "k.png", picture(1, 3, 3, 8, 0))
	save(t, "a.png", picture(3, 20, 24, 8, 0))
	save(t, "b.png", picture(1, 20, 24, 16, 0.05))
	r := succeeds(t, "inpaint", "--mask", "mask.png", "a.png", "b.png")
	require.Contains(t, r.stdout, "1 of 2: a.png -> a.inpainted.png: missing pixels filled by "+networks.DefaultPrior()+", converged in ")
	require.Contains(t, r.stdout, "; convergence proven for the radii frozen for this photograph, with rounding to a residual of ")
	require.FileExists(t, "b.inpainted.png")

	r = succeeds(t, "inpaint", "--mask", "mask.png", "--json", "--reference", "a.png", "a.png", "-o", "c.png")
	o := objects(t, r.stdout)[0]
	require.Equal(t, "inpaint", o["command"])
	require.Equal(t, "mask.png", o["mask"])
	require.Zero(t, o["sigma"])
	require.Equal(t, false, o["sigma_estimated"])
	require.NotContains(t, o, "kernel")
	require.NotContains(t, o, "boundary")
	require.Contains(t, o, "psnr")
	certificate := o["certificate"].(map[string]any)
	require.Equal(t, "iteration", certificate["map"])
	require.Equal(t, true, certificate["converges"])
	require.EqualValues(t, 1, certificate["operator_norm_bound"])

	r = succeedsNoted(t, "inpaint", "--mask", "mask.png", "--json", "--sigma", "auto", "--kernel", "k.png", "--boundary", "circular", "--prior", "tv", "b.png", "-o", "d.png", "--iterations", "5")
	o = objects(t, r.stdout)[0]
	require.Equal(t, true, o["sigma_estimated"])
	require.Equal(t, "k.png", o["kernel"])
	require.Equal(t, "circular", o["boundary"])
	require.Equal(t, "tv", o["method"])
	r = succeedsNoted(t, "inpaint", "--mask", "mask.png", "--json", "--sigma", "0.1", "b.png", "-o", "e.png", "--iterations", "5")
	require.EqualValues(t, 0.1, objects(t, r.stdout)[0]["sigma"])
}

func TestInpaintFromStandardInput(t *testing.T) {
	inFolder(t)
	saveMask(t, "mask.png", 20, 24)
	r := restoringFrom(t, bytes.NewReader(encoded(t, imagefile.PNG)), inpainting("-", "-o", "out.png")...)
	require.Equal(t, exitDone, r.code, r.stderr)
	mask, err := os.ReadFile("mask.png")
	require.NoError(t, err)
	save(t, "a.png", picture(3, 20, 24, 8, 0))
	r = restoringFrom(t, bytes.NewReader(mask), "inpaint", "--mask", "-", "a.png", "-q", "--iterations", "3")
	require.Equal(t, exitDone, r.code, r.stderr)
	require.FileExists(t, "a.inpainted.png")
}

func TestInpaintRefuses(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	save(t, "a.png", picture(3, 20, 24, 8, 0))
	saveMask(t, "mask.png", 20, 24)
	saveMask(t, "other.png", 24, 20)
	savePNG(t, "black.png", image.NewGray(image.Rect(0, 0, 24, 20)))
	white := image.NewGray(image.Rect(0, 0, 24, 20))
	for i := range white.Pix {
		white.Pix[i] = 255
	}
	savePNG(t, "white.png", white)
	fails(t, exitFailed, []string{"a.png: the mask cannot be used: it has 20×24 pixels and the image 24×20", "the mask has to lie as the picture is shown"}, "inpaint", "--mask", "other.png", "a.png")
	fails(t, exitFailed, []string{"a.png: the mask cannot be used: it is black throughout", "white marks the pixels to fill"}, "inpaint", "--mask", "black.png", "a.png")
	fails(t, exitFailed, []string{"a.png: the mask cannot be used: it is white throughout", "black marks the pixels to keep"}, "inpaint", "--mask", "white.png", "a.png")
	for part, args := range map[string][]string{
		"inpaint needs --mask FILE":                {"inpaint", "a.png"},
		"--mask is empty":                          {"inpaint", "--mask", "", "a.png"},
		"one input or more":                        {"inpaint", "--mask", "mask.png"},
		"can be read once":                         {"inpaint", "--mask", "-", "-"},
		"- (standard input)":                       {"inpaint", "--mask", "-", "--kernel", "-", "a.png"},
		"the place of this file":                   {"inpaint", "--mask", "mask.png", "a.png", "-o", "mask.png", "--force"},
		"want auto":                                {"inpaint", "--mask", "mask.png", "--sigma", "x", "a.png"},
		"--prior bm3d: unknown method":             {"inpaint", "--mask", "mask.png", "--prior", "bm3d", "a.png"},
		"want unknown, circular, zero":             {"inpaint", "--mask", "mask.png", "--boundary", "torus", "a.png"},
		"want a finite standard deviation above 0": {"inpaint", "--mask", "mask.png", "--sigma", "-1", "a.png"},
	} {
		fails(t, exitUsage, []string{part}, args...)
	}
	require.Equal(t, []string{"a.png", "black.png", "mask.png", "other.png", "white.png"}, files(t))
}

// A mask in any colour is one, and a mask that covers nearly everything is noted.
func TestInpaintOtherMasks(t *testing.T) {
	inFolder(t)
	save(t, "a.png", picture(3, 20, 24, 8, 0))
	red, inverted := image.NewNRGBA(image.Rect(0, 0, 24, 20)), image.NewGray(image.Rect(0, 0, 24, 20))
	for i := range inverted.Pix {
		red.Pix[4*i+3] = 255
		if inverted.Pix[i] = 255; i%24 == 7 {
			red.Pix[4*i], inverted.Pix[i] = 255, 0
		}
	}
	savePNG(t, "red.png", red)
	savePNG(t, "inverted.png", inverted)
	r := restoring(t, "inpaint", "--mask", "red.png", "--prior", "tv", "--iterations", "5", "a.png", "-o", "b.png")
	require.Equal(t, exitDone, r.code, r.stderr)
	require.NotContains(t, r.stderr, "mask")
	before, after := load(t, "a.png"), load(t, "b.png")
	for i, v := range before.Pix {
		if i%24 != 7 {
			require.Equal(t, v, after.Pix[i])
		}
	}
	require.NotEqual(t, before.Pix, after.Pix)
	r = restoring(t, "inpaint", "--mask", "inverted.png", "--prior", "tv", "--iterations", "5", "a.png", "-o", "c.png")
	require.Equal(t, exitDone, r.code, r.stderr)
	require.Contains(t, r.stderr, "a.png: the mask covers 96 % of the picture: is it inverted?")
	require.Contains(t, r.stderr, "--mask-invert exchanges them")
	r = restoring(t, "inpaint", "--mask", "inverted.png", "--mask-invert", "--prior", "tv", "--iterations", "5", "a.png", "-o", "d.png")
	require.Equal(t, exitDone, r.code, r.stderr)
	require.NotContains(t, r.stderr, "mask")
	require.Equal(t, after.Pix, load(t, "d.png").Pix)
}
