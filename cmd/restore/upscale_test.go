package main

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/internal/metadata"
	"github.com/averaged/imaging/internal/networks"
)

// upscalingBy is a quick run of upscale.
func upscalingBy(factor int, args ...string) []string {
	return append([]string{"upscale", "--factor", fmt.Sprint(factor), "--sigma", "0.02", "--iterations", "2", "-q", "--progress", "never"}, args...)
}

// Images of every kind come back as they were, but larger.
func TestUpscale(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	alpha := picture(3, 7, 9, 16, 0)
	alpha.Alpha = make([]uint16, 7*9)
	for i := range alpha.Alpha {
		alpha.Alpha[i] = 0xffff
		if i%9 > 4 {
			alpha.Alpha[i] = 0
		}
	}
	alpha.Metadata.Resolution = metadata.Resolution{X: 300, Y: 300}
	for name, m := range map[string]*imagefile.Image{
		"alpha.png": alpha, "alpha.tif": alpha, "grey8.bmp": picture(1, 7, 9, 8, 0), "photo.jpg": picture(3, 7, 9, 8, 0),
		"colour.png": picture(3, 7, 9, 8, 0), "float.pfm": picture(3, 7, 9, 32, 0.1), "point.png": picture(1, 1, 1, 8, 0),
	} {
		before := load(t, save(t, name, m))
		for factor := 2; factor <= 4; factor++ {
			prior := networks.DefaultPrior()
			if factor > 2 {
				prior = "tv" // to be quick
			}
			succeedsNoted(t, upscalingBy(factor, name, "-o", "out-"+name, "--force", "--prior", prior)...)
			after := load(t, "out-"+name)
			require.Equal(t, [4]int{factor * before.Width, factor * before.Height, before.Channels, before.Depth},
				[4]int{after.Width, after.Height, after.Channels, after.Depth}, name)
			require.Equal(t, before.Metadata.Resolution, after.Metadata.Resolution, name)
			if before.Alpha == nil {
				require.Nil(t, after.Alpha, name)
				continue
			}
			require.EqualValues(t, 0xffff, after.Alpha[0], name)
			require.Zero(t, after.Alpha[9*factor-1], name)
		}
	}
}

func TestUpscaleReport(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	save(t, "k.png", picture(1, 3, 3, 8, 0))
	save(t, "large.png", picture(3, 40, 48, 8, 0))
	save(t, "a.png", picture(3, 20, 24, 8, 0))
	r := succeeds(t, "upscale", "a.png", "--sigma", "0.01")
	require.Contains(t, r.stdout, "a.upscaled.png: enlarged to 48×40, noise of sigma 0.01 removed by "+networks.DefaultPrior()+", converged in ")
	require.Contains(t, r.stdout, "; convergence proven for the radii frozen for this photograph, with rounding to a residual of ")
	r = succeedsNoted(t, "upscale", "-x", "2", "--json", "--reference", "large.png", "a.png", "-o", "c.png", "--iterations", "3")
	o := objects(t, r.stdout)[0]
	require.Equal(t, "upscale", o["command"])
	require.EqualValues(t, 2, o["factor"])
	require.EqualValues(t, 48, o["width"])
	require.Equal(t, "bicubic", o["antialias"])
	require.Equal(t, "reflect", o["boundary"])
	require.Equal(t, true, o["sigma_estimated"])
	require.Contains(t, o, "psnr")
	certificate := o["certificate"].(map[string]any)
	require.Equal(t, true, certificate["converges"])
	require.Less(t, certificate["operator_norm_bound"], 0.6)
	r = succeedsNoted(t, upscalingBy(3, "a.png", "-o", "d.png", "--json", "--kernel", "k.png", "--antialias", "area", "--boundary", "unknown", "--prior", "tv")...)
	o = objects(t, r.stdout)[0]
	require.Equal(t, "k.png", o["kernel"])
	require.Equal(t, "area", o["antialias"])
	require.Equal(t, "unknown", o["boundary"])
	require.Equal(t, "tv", o["method"])
	succeedsNoted(t, upscalingBy(2, "a.png", "-o", "e.png", "--antialias", "none", "--kernel", "k.png")...)

	r = restoringFrom(t, bytes.NewReader(encoded(t, imagefile.PNG)), upscalingBy(2, "-", "-o", "out.png")...)
	require.Equal(t, exitDone, r.code, r.stderr)
	require.Equal(t, 48, load(t, "out.png").Width)
}

func TestUpscaleRefuses(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	save(t, "a.png", picture(3, 20, 24, 8, 0))
	save(t, "k.png", picture(1, 3, 3, 8, 0))
	for part, args := range map[string][]string{
		"--factor 5: want 2, 3 or 4":               {"upscale", "--factor", "5", "a.png"},
		"--antialias sharp: want":                  {"upscale", "--antialias", "sharp", "a.png"},
		"none needs --kernel FILE":                 {"upscale", "--antialias", "none", "a.png"},
		"--kernel is empty":                        {"upscale", "--kernel", "", "a.png"},
		"one input or more":                        {"upscale"},
		"can be read once":                         {"upscale", "--kernel", "-", "-"},
		"the place of this file":                   {"upscale", "--kernel", "k.png", "a.png", "-o", "k.png", "--force"},
		"want a finite standard deviation above 0": {"upscale", "--sigma", "0", "a.png"},
	} {
		fails(t, exitUsage, []string{part}, args...)
	}
	fails(t, exitFailed, []string{"a.png: too many pixels", "the result would have 48×40, above the limit of 1919", "--max-pixels raises"}, "upscale", "a.png", "--max-pixels", "1919")
	fails(t, exitFailed, []string{"k.png: the reference has 3×3 pixels and the result 48×40"}, "upscale", "a.png", "--reference", "k.png")
	require.Equal(t, []string{"a.png", "k.png"}, files(t))
	require.NoError(t, os.WriteFile("a.upscaled.png", []byte("mine"), 0o666))
	fails(t, exitFailed, []string{"exists already"}, "upscale", "a.png")
}
