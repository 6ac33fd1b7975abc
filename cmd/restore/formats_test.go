package main

import (
	"fmt"
	"image"
	"image/color"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/internal/metadata"
	"github.com/averaged/imaging/internal/quality"
)

// TestFormatsComeBackAsTheyWere restores images of every kind, and requires size,
// channels, depth and alpha of the input.
func TestFormatsComeBackAsTheyWere(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	save(t, "k.png", picture(1, 3, 3, 8, 0))
	alpha := picture(3, 21, 34, 16, 0.05)
	alpha.Alpha = make([]uint16, 21*34)
	for i := range alpha.Alpha {
		alpha.Alpha[i] = uint16(i * 91)
	}
	greyAlpha := picture(1, 21, 34, 8, 0.05)
	greyAlpha.Alpha = make([]uint16, 21*34)
	for i := range greyAlpha.Alpha {
		greyAlpha.Alpha[i] = uint16(i%256) * 257
	}
	palette := image.NewPaletted(image.Rect(0, 0, 20, 13), color.Palette{color.NRGBA{R: 255, A: 255}, color.NRGBA{G: 200, B: 20, A: 255}, color.NRGBA{B: 90, A: 255}})
	for i := range palette.Pix {
		palette.Pix[i] = uint8(i / 7 % 3)
	}
	for name, want := range map[string][4]int{ // width, height, channels, depth
		savePNG(t, "palette.png", palette):                             {20, 13, 3, 8},
		savePNG(t, "grey16.png", grey16(15, 17)):                       {17, 15, 1, 16},
		save(t, "alpha.png", alpha):                                    {34, 21, 3, 16},
		save(t, "alpha.tif", alpha):                                    {34, 21, 3, 16},
		save(t, "greyalpha.png", greyAlpha):                            {34, 21, 1, 8},
		save(t, "grey8.bmp", picture(1, 12, 15, 8, 0.05)):              {15, 12, 1, 8},
		save(t, "photo.jpg", picture(3, 33, 40, 8, 0.05)):              {40, 33, 3, 8},
		save(t, "colour.tif", picture(3, 33, 40, 16, 0.05)):            {40, 33, 3, 16},
		save(t, "float.pfm", picture(3, 11, 12, 32, 0.3)):              {12, 11, 3, 32},
		save(t, "greyfloat.pfm", picture(1, 11, 12, 32, 0.3)):          {12, 11, 1, 32},
		save(t, "point.png", picture(1, 1, 1, 8, 0)):                   {1, 1, 1, 8},
		save(t, "colourpoint.png", picture(3, 1, 1, 16, 0)):            {1, 1, 3, 16},
		save(t, "row.png", picture(3, 1, 50, 8, 0.05)):                 {50, 1, 3, 8},
		save(t, "column.png", picture(1, 50, 1, 8, 0.05)):              {1, 50, 1, 8},
		savePNG(t, "black.png", image.NewGray(image.Rect(0, 0, 9, 9))): {9, 9, 1, 8},
	} {
		for _, args := range [][]string{
			{"denoise", "--method", "small", "--sigma", "0.05"},
			{"denoise", "--method", "tv"},
			{"deblur", "--prior", "small", "--kernel", "k.png", "--sigma", "0.02", "--iterations", "2"},
			{"deblur", "--prior", "tv", "--kernel", "k.png", "--boundary", "zero", "--iterations", "2"},
		} {
			t.Run(fmt.Sprint(name, args), func(t *testing.T) {
				r := restoring(t, append(args, name, "--force", "-o", "out"+name)...)
				require.Equal(t, exitDone, r.code, r.stderr)
				in, out := load(t, name), load(t, "out"+name)
				require.Equal(t, want, [4]int{out.Width, out.Height, out.Channels, out.Depth})
				require.Equal(t, in.Alpha, out.Alpha)
				require.Equal(t, in.Format, out.Format)
			})
		}
	}
}

func TestDenoiseImproves(t *testing.T) {
	inFolder(t)
	save(t, "clean.pfm", picture(3, 64, 80, 32, 0))
	succeeds(t, "degrade", "clean.pfm", "--sigma", "0.1", "--seed", "5", "-o", "noisy.pfm")
	clean, noisy := load(t, "clean.pfm"), load(t, "noisy.pfm")
	before, err := quality.PSNR(clean.Pix, noisy.Pix, 1)
	require.NoError(t, err)
	require.InDelta(t, 20, before, 0.3)
	for _, args := range [][]string{{"--sigma", "0.1"}, {"--sigma", "25.5/255"}, {"--sigma", "auto"}, {"--threads", "1"}} {
		r := succeeds(t, append([]string{"denoise", "--method", "tv", "noisy.pfm", "-o", "out.pfm", "--force", "--reference", "clean.pfm", "--json"}, args...)...)
		o := objects(t, r.stdout)[0]
		require.Greater(t, o["psnr"], before+5)
		require.Equal(t, args[1] == "auto" || args[0] == "--threads", o["sigma_estimated"])
		require.InDelta(t, 0.1, o["sigma"], 0.02)
		// A float file holds the result as it was compared.
		out := load(t, "out.pfm")
		psnr, err := quality.PSNR(clean.Pix, out.Pix, 1)
		require.NoError(t, err)
		require.InDelta(t, psnr, o["psnr"], 1e-9)
	}
}

func TestEstimatedSigmaIsPrinted(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	save(t, "a.pfm", picture(1, 64, 80, 32, 0.08))
	require.Regexp(t, `(sigma|level) 0\.\d+ \(estimated\)`, succeeds(t, "denoise", "a.pfm").stdout)
	require.Contains(t, succeeds(t, "denoise", "--sigma", "0.08", "--force", "a.pfm").stdout, ": noise of sigma 0.08 removed by ")
}

func TestDeblurImproves(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	save(t, "clean.pfm", picture(3, 36, 44, 32, 0))
	succeeds(t, "kernel", "motion", "--length", "7", "--angle", "30", "-o", "motion.png")
	for _, boundary := range []string{"unknown", "circular", "zero", "reflect"} {
		succeeds(t, "degrade", "clean.pfm", "--kernel", "motion.png", "--sigma", "0.01", "--boundary", boundary, "-o", "blurred.pfm", "--force")
		r := succeeds(t, "compare", "clean.pfm", "blurred.pfm", "--center", "--json")
		before := objects(t, r.stdout)[0]["psnr"].(float64)
		r = succeeds(t, "deblur", "blurred.pfm", "--kernel", "motion.png", "--sigma", "0.01", "--boundary", boundary,
			"--iterations", "25", "--reference", "clean.pfm", "--json", "-o", "out.pfm", "--force")
		o := objects(t, r.stdout)[0]
		require.Greater(t, o["psnr"], before+2, boundary)
		require.Equal(t, boundary, o["boundary"])
		require.Equal(t, true, o["certificate"].(map[string]any)["proven"])
	}
}

func TestJSONOfRestorations(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	save(t, "a.png", picture(3, 20, 24, 8, 0.05))
	save(t, "clean.png", picture(3, 20, 24, 8, 0))
	save(t, "k.png", picture(1, 3, 3, 8, 0))
	const common = "channels:number command:string converged:bool height:number input:string iterations:number "
	r := succeeds(t, "denoise", "--method", "tv", "--json", "a.png")
	require.Equal(t, "{certificate:{averagedness:number map:string proven:bool} "+common+"method:string noise:{kind:string level_high:number level_low:number} output:string "+
		"residual:number schema:number seconds:number sigma:number sigma_estimated:bool sigma_reliable:bool tolerance:number weight:number width:number}",
		shape(objects(t, r.stdout)[0]))
	r = succeeds(t, "deblur", "--prior", "tv", "--json", "--kernel", "k.png", "--sigma", "0.05", "--iterations", "3", "--reference", "clean.png", "a.png")
	require.Equal(t, "{boundary:string certificate:{averagedness:number constraint:string converges:bool data_step:string data_step_averagedness:number denoiser_averagedness:number "+
		"fixed_point_exists:bool map:string operator_norm_bound:number operator_norm_reason:string proven:bool proven_residual:number rounding:number rounding_covered:bool step:number} "+
		"channels:number command:string converged:bool disturbance:number height:number input:string iterations:number kernel:string method:string notes:[string] output:string "+
		"psnr:number psnr_paper:number residual:number schema:number seconds:number sigma:number sigma_estimated:bool sigma_given:number tolerance:number weight:number width:number}",
		shape(objects(t, r.stdout)[0]))
	r = succeeds(t, "degrade", "--json", "--kernel", "k.png", "--sigma", "0.05", "a.png")
	require.Equal(t, "{boundary:string channels:number command:string height:number input:string kernel:string output:string "+
		"schema:number seconds:number seed:number sigma:number sigma_estimated:bool width:number}", shape(objects(t, r.stdout)[0]))

	r = restoring(t, "denoise", "--json", "missing.png", "a.png", "--force")
	require.Equal(t, exitFailed, r.code)
	o := objects(t, r.stdout)
	require.Len(t, o, 2)
	require.Equal(t, map[string]any{"schema": 1.0, "command": "denoise", "input": "missing.png", "error": "missing.png: no such file"}, o[0])
	require.Equal(t, "a.png", o[1]["input"])
	require.Equal(t, "a.denoised.png", o[1]["output"])
}

func TestReference(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	save(t, "a.png", picture(3, 20, 24, 8, 0.05))
	save(t, "small.png", picture(3, 19, 24, 8, 0))
	save(t, "grey.png", picture(1, 20, 24, 8, 0))
	require.Contains(t, succeeds(t, denoising("a.png", "--reference", "a.png")...).stdout, "PSNR ")
	fails(t, exitFailed, []string{"small.png: the reference has 24×19 pixels and the result 24×20"}, denoising("--force", "a.png", "--reference", "small.png")...)
	fails(t, exitFailed, []string{"grey.png: the reference is grey and the result colour"}, denoising("--force", "a.png", "--reference", "grey.png")...)
	fails(t, exitFailed, []string{"missing.png: no such file"}, denoising("--force", "a.png", "--reference", "missing.png")...)
}

func TestWritingOptions(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	m := picture(3, 20, 24, 8, 0.05)
	m.Metadata.Resolution = metadata.Resolution{X: 300, Y: 300, Unit: metadata.Inch}
	save(t, "a.png", m)
	succeeds(t, denoising("a.png", "-o", "deep.png", "--depth", "16")...)
	require.Equal(t, 16, load(t, "deep.png").Depth)
	_, known := load(t, "deep.png").Metadata.Resolution.In(metadata.Inch)
	require.True(t, known)
	succeeds(t, denoising("a.png", "-o", "bare.png", "--metadata", "none")...)
	require.Equal(t, metadata.Resolution{}, load(t, "bare.png").Metadata.Resolution)
	succeeds(t, denoising("a.png", "-o", "float.tif", "--depth", "32")...)
	require.Equal(t, 32, load(t, "float.tif").Depth)
	succeeds(t, denoising("a.png", "-o", "good.jpg", "--quality", "98")...)
	succeeds(t, denoising("a.png", "-o", "bad.jpg", "--quality", "20")...)
	good, err := os.Stat("good.jpg")
	require.NoError(t, err)
	bad, err := os.Stat("bad.jpg")
	require.NoError(t, err)
	require.Greater(t, good.Size(), bad.Size())
}

func TestAlphaThatCannotBeStored(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	m := picture(3, 20, 24, 8, 0.05)
	m.Alpha = make([]uint16, 20*24)
	save(t, "a.png", m)
	fails(t, exitFailed, []string{"a.jpg: transparency cannot be stored in JPEG", "--alpha drop"}, denoising("a.png", "-o", "a.jpg")...)
	require.NoFileExists(t, "a.jpg")
	succeeds(t, denoising("a.png", "-o", "a.jpg", "--alpha", "drop")...)
	require.Nil(t, load(t, "a.jpg").Alpha)
}

func TestSameBitsForAnyThreads(t *testing.T) {
	inFolder(t)
	save(t, "a.pfm", picture(3, 28, 36, 32, 0.05))
	save(t, "k.png", picture(1, 5, 5, 8, 0))
	for _, command := range []string{"denoise", "deblur --kernel k.png --iterations 5"} {
		for _, threads := range []string{"1", "3"} {
			args := append(fields(command), "a.pfm", "--sigma", "0.05", "--threads", threads, "-o", threads+".pfm", "--force")
			succeeds(t, append(args, "-q")...)
		}
		require.Equal(t, load(t, "1.pfm").Pix, load(t, "3.pfm").Pix, command)
	}
}
