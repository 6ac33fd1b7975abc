package main

import (
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/internal/networks"
)

// TestEvalOfInpaintingAgreesWithItsParts: it is degrade, inpaint and compare in one.
func TestEvalOfInpaintingAgreesWithItsParts(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	require.NoError(t, os.Mkdir("holdout", 0o777))
	save(t, "holdout/a.png", picture(3, 20, 24, 8, 0))
	save(t, "holdout/b.tif", picture(1, 20, 24, 16, 0))
	saveMask(t, "mask.png", 20, 24)
	for _, c := range []struct{ eval, degrade, inpaint string }{
		{"", "", ""}, {" --sigma 0.05", " --sigma 0.05", " --sigma 0.05"}, {" --sigma 0.05 --blind", " --sigma 0.05", " --sigma auto"},
	} {
		got := evaluated(t, fields("holdout --task inpaint --mask mask.png --method tv --seed 5"+c.eval)...)
		require.Len(t, got, 3)
		sigma := 0.0
		if c.degrade != "" {
			sigma = 0.05
		}
		for i, input := range []string{"holdout/a.png", "holdout/b.tif"} {
			given := load(t, input)
			if c.degrade != "" {
				succeeds(t, fields(fmt.Sprintf("degrade %s%s --seed %d -o y.pfm --force", input, c.degrade, 5+i))...)
				given = load(t, "y.pfm")
			}
			for p := range given.Pix {
				if y, x := p%(20*24)/24, p%24; y >= 5 && y < 10 && x >= 6 && x < 12 {
					given.Pix[p] = 0
				}
			}
			save(t, "y.pfm", given)
			restored := succeedsNoted(t, fields("inpaint --prior tv --mask mask.png y.pfm -o x.pfm --force -q"+c.inpaint)...)
			require.Empty(t, restored.stderr)
			e := got[fmt.Sprintf("tv %v %s", sigma, input)]
			require.InDelta(t, objects(t, succeeds(t, "compare", input, "y.pfm", "--json").stdout)[0]["psnr"], e["psnr_noisy"], 1e-9)
			require.InDelta(t, objects(t, succeeds(t, "compare", input, "x.pfm", "--json").stdout)[0]["psnr"], e["psnr"], 1e-9)
			require.Equal(t, []any{"inpaint", "mask.png"}, []any{e["task"], e["mask"]})
		}
	}
}

// TestEvalOfMissingPixels: which pixels are missing follows from the seed of the image alone.
func TestEvalOfMissingPixels(t *testing.T) {
	inFolder(t)
	require.NoError(t, os.Mkdir("holdout", 0o777))
	for _, n := range []string{"a", "b"} { // equal images
		save(t, "holdout/"+n+".png", picture(1, 20, 24, 8, 0))
	}
	all := evaluated(t, fields("holdout --missing 1/4 --sigma 0,0.1 --method tv")...)
	require.Len(t, all, 6)
	a, b := all["tv 0 holdout/a.png"], all["tv 0 holdout/b.png"]
	require.Equal(t, 0.25, a["missing"])
	require.NotContains(t, a, "mask")
	require.NotEqual(t, a["psnr_noisy"], b["psnr_noisy"], "other pixels are missing")
	for _, e := range all {
		require.Greater(t, e["psnr"], e["psnr_noisy"])
	}
	require.Equal(t, a["psnr"], evaluated(t, fields("holdout/a.png --task inpaint --missing 0.25 --method tv")...)["tv 0 holdout/a.png"]["psnr"])
	require.Equal(t, b["psnr"], evaluated(t, fields("holdout/a.png --missing 0.25 --method tv --seed 2")...)["tv 0 holdout/a.png"]["psnr"])
}

// Each task has its default method, and a kernel says by itself that it is deblurring.
func TestEvalDefaultsOfTasks(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	save(t, "a.png", picture(1, 14, 16, 8, 0))
	succeeds(t, fields("kernel gaussian --std 1 -o k.pfm -q")...)
	for args, want := range map[string]string{
		"--sigma 0.1":                                 networks.DefaultMethod(),
		"--sigma 0.1 --task denoise":                  networks.DefaultMethod(),
		"--sigma 0.1 --kernel k.pfm":                  networks.DefaultPrior(),
		"--sigma 0.1 --task deblur --kernel k.pfm":    networks.DefaultPrior(),
		"--missing 0.2":                               networks.DefaultPrior(),
		"--task inpaint --missing 0.2 --sigma 0.05":   networks.DefaultPrior(),
		"--missing 0.2 --sigma 0.05 --blind --tile 8": networks.DefaultPrior(),
	} {
		o := objects(t, succeeds(t, append(fields("eval a.png --json"), fields(args)...)...).stdout)
		require.Equal(t, want, o[0]["method"], args)
		require.Contains(t, o[0], "psnr", args)
	}
	require.Equal(t, evaluated(t, fields("a.png --sigma 0.1 --kernel k.pfm --method tv")...), evaluated(t, fields("a.png --sigma 0.1 --task deblur -k k.pfm --method tv")...))
}

func TestEvalTasksHostile(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	holdout(t)
	saveMask(t, "mask.png", 20, 24) // of the size of one of them
	save(t, "black.png", &imagefile.Image{Width: 24, Height: 20, Channels: 1, Depth: 8, Pix: make([]float32, 20*24)})
	require.NoError(t, os.WriteFile("broken.png", []byte("no image"), 0o666))
	for args, part := range map[string]string{
		"--task deblur --sigma 0.1":                 "--task deblur needs --kernel FILE",
		"--task inpaint":                            "--task inpaint needs --mask FILE",
		"--task upscale --sigma 0.1":                "want denoise, deblur or inpaint",
		"--task denoise --kernel mask.png":          "--kernel is for --task deblur and not for denoise",
		"--task deblur --missing 0.1":               "--missing is for --task inpaint and not for deblur",
		"--kernel mask.png --mask mask.png":         "--mask is for --task inpaint and not for deblur",
		"--mask mask.png --missing 0.1":             "both say which pixels",
		"--missing 1":                               "between 0 and 1",
		"--missing 0":                               "between 0 and 1",
		"--missing x":                               "between 0 and 1",
		"--missing 0.1 --sigma -1":                  "above 0",
		"--missing 0.1 --adapt=false":               "--adapt is for denoising and deblurring",
		"--task deblur --kernel mask.png":           "eval needs --sigma LIST",
		"--task deblur --kernel mask.png --sigma 0": "above 0",
		"--mask=":               "--mask is empty",
		"--missing 0.1 --html=": "--html is empty",
		"--mask - --weights -":  "can be read once",
	} {
		fails(t, exitUsage, []string{part}, append([]string{"eval", "holdout"}, fields(args)...)...)
	}
	fails(t, exitFailed, []string{"broken.png: unknown image format"}, fields("eval holdout --mask broken.png")...)
	fails(t, exitFailed, []string{"missing.png: no such file"}, fields("eval holdout --mask missing.png")...)

	r := restoring(t, fields("eval holdout --mask mask.png --method tv")...)
	require.Equal(t, exitFailed, r.code)
	require.Regexp(t, `^restore: holdout.b\.tif: the mask mask\.png has 24×20 pixels and the image 19×22; give one of its size, or --missing SHARE\nrestore: holdout.more.c\.png: the mask .*\n$`, r.stderr)
	require.Contains(t, r.stdout, "\ntv ")
	fails(t, exitFailed, []string{"a.png", "black throughout"}, fields("eval holdout/a.png --mask black.png --method tv")...)
	// A share of a pixel is one, and of one pixel none can be missing.
	save(t, "two.png", picture(1, 1, 2, 8, 0))
	require.Len(t, evaluated(t, fields("two.png --missing 0.01 --method tv")...), 2)
	save(t, "one.png", picture(1, 1, 1, 8, 0))
	fails(t, exitFailed, []string{"one.png: "}, fields("eval one.png --missing 0.9 --method tv")...)
}
