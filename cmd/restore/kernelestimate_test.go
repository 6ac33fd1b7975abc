package main

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/imagefile"
)

// blurredStill is the README's picture of a shake, and its kernel.
const (
	blurredStill = "../../testdata/readme/blurred.png"
	kernelStill  = "../../testdata/readme/kernel.png"
)

// fromHere copies a file of the repository into the working directory of a test.
func fromHere(t *testing.T, images ...string) []*imagefile.Image {
	t.Helper()
	var all []*imagefile.Image
	for _, path := range images {
		all = append(all, load(t, path))
	}
	inFolder(t)
	return all
}

// leaveEstimates skips a test that estimates kernels where a run with -short is one for the race detector or a CPU level. The
// loops of an estimate are raced in deblur/estimate, and no level changes which options reach it.
func leaveEstimates(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("several kernels are estimated, which takes long under the race detector and in portable Go: go test ./... estimates them")
	}
}

func TestDeblurWithoutKernel(t *testing.T) {
	if testing.Short() {
		t.Skip("a kernel is estimated in the tests of deblur/estimate too; this takes long in portable Go")
	}
	m := fromHere(t, blurredStill)[0]
	m.Crop(120, 130, 100, 120)
	save(t, "a.png", m)
	r := succeeds(t, "deblur", "--prior", "tv", "--iterations", "3", "--kernel-size", "15", "--write-kernel", "k.png", "--json", "a.png")
	o := objects(t, r.stdout)[0]
	found := o["kernel_estimate"].(map[string]any)
	require.Equal(t, "k.png", found["written"])
	require.Contains(t, []any{"good", "fair", "doubtful"}, found["trust"])
	require.Contains(t, o["notes"].([]any)[0], "kernel estimated: ")
	require.NotContains(t, o, "kernel")
	k := load(t, "k.png")
	require.EqualValues(t, found["width"], k.Width)
	require.LessOrEqual(t, max(k.Width, k.Height), 15)

	r = succeeds(t, "kernel", "estimate", "a.png", "--kernel-size", "15", "-o", "k.pfm", "--json")
	o = objects(t, r.stdout)[0]
	require.Equal(t, "estimate", o["shape"])
	require.Equal(t, found["kind"], o["estimate"].(map[string]any)["kind"])
	require.Equal(t, k.Width, load(t, "k.pfm").Width)
	fails(t, exitFailed, []string{"k.pfm", "exists"}, "kernel", "estimate", "a.png", "-o", "k.pfm")
}

// A JPEG has noise that its samples alone do not show. Both commands count it.
func TestKernelsOfAJPEG(t *testing.T) {
	leaveEstimates(t)
	m := fromHere(t, blurredStill)[0]
	m.Crop(120, 130, 100, 120)
	require.NoError(t, imagefile.Write(t.Context(), "a.jpg", m, imagefile.WriteOptions{Quality: 60}))
	save(t, "a.png", load(t, "a.jpg"))
	kernel := func(arguments ...string) []float32 {
		succeeds(t, append(arguments, "--kernel-size", "15")...)
		return load(t, arguments[len(arguments)-1]).Pix
	}
	want := kernel("kernel", "estimate", "a.jpg", "-o", "jpeg.pfm")
	require.Equal(t, want, kernel("deblur", "--prior", "tv", "--iterations", "3", "a.jpg", "--write-kernel", "deblur.pfm"))
	require.NotEqual(t, want, kernel("kernel", "estimate", "a.png", "-o", "png.pfm"), "the same samples")

	// A preview does too, and estimates once for all strengths.
	r := succeeds(t, "deblur", "--prior", "tv", "--iterations", "3", "--kernel-size", "15", "--preview", "0,0,130,120", "--strength", "1,2", "a.jpg", "--write-kernel", "preview.pfm")
	require.Equal(t, want, load(t, "preview.pfm").Pix)
	require.Equal(t, 1, strings.Count(r.stderr, "kernel estimated: "), r.stderr)
}

// What a preview shows does not depend on the inputs before it.
func TestPreviewsWithoutAKernel(t *testing.T) {
	leaveEstimates(t)
	m := fromHere(t, blurredStill)[0]
	m.Crop(120, 130, 100, 120)
	save(t, "a.png", m)
	save(t, "b.png", m)
	for _, inputs := range [][]string{{"a.png", "b.png"}, {"b.png", "-o", "alone.png"}} {
		succeeds(t, append([]string{"deblur", "--prior", "tv", "--iterations", "2", "--kernel-size", "15", "--preview", "50,50,30,20"}, inputs...)...)
	}
	require.Equal(t, content(t, "alone.png"), content(t, "b.preview.png"))
}

func TestGivenKernelIsChecked(t *testing.T) {
	if testing.Short() {
		t.Skip("a kernel is estimated in the tests of deblur/estimate too; this takes long in portable Go")
	}
	images := fromHere(t, blurredStill, kernelStill)
	images[0].Crop(200, 220, 60, 80)
	save(t, "a.png", images[0])
	kernel := images[1]
	save(t, "k.png", kernel)
	run := func(args ...string) ran {
		return succeeds(t, append([]string{"deblur", "--prior", "tv", "--iterations", "2", "--force", "a.png"}, args...)...)
	}
	require.NotContains(t, run("--kernel", "k.png").stderr, "kernel")
	require.Contains(t, run("--kernel", "k.png", "--kernel-flip").stderr, "turned by 180 degrees it fits the photograph better; --kernel-flip turns it")

	// In the corner of a larger picture, and in the alpha channel.
	wide := picture(1, kernel.Height+20, kernel.Width+20, 16, 0)
	clear(wide.Pix)
	for y := range kernel.Height {
		copy(wide.Pix[y*wide.Width:], kernel.Plane(0)[y*kernel.Width:][:kernel.Width])
	}
	save(t, "wide.png", wide)
	require.Contains(t, run("--kernel", "wide.png").stderr, "was used as the centre")
	require.NotContains(t, run("--kernel", "wide.png", "--kernel-center=false").stderr, "was used as the centre")

	hidden := picture(3, kernel.Height, kernel.Width, 16, 0)
	hidden.Alpha = make([]uint16, len(kernel.Plane(0)))
	for i, v := range kernel.Plane(0) {
		hidden.Alpha[i] = uint16(v * 65535)
		for c := range 3 {
			hidden.Plane(c)[i] = 1
		}
	}
	// What is wholly transparent may have any colour.
	for i, alpha := range hidden.Alpha {
		if alpha == 0 {
			hidden.Plane(1)[i] = 0
		}
	}
	save(t, "hidden.png", hidden)
	r := run("--kernel", "hidden.png")
	require.Contains(t, r.stderr, "taken from its alpha channel")
	require.NotContains(t, r.stderr, "fits the photograph better")
}

// A kernel on grey or on white, and one with traces below 0, give the result of the same kernel on black.
func TestKernelsOfOtherPrograms(t *testing.T) {
	fromHere(t)
	save(t, "a.png", picture(1, 20, 30, 8, 0.1))
	shake, err := deblur.Shake(9, 3)
	require.NoError(t, err)
	shown := func(name string, depth int, of func(weight float32, i int) float32) {
		k := picture(1, shake.H+6, shake.W+6, depth, 0)
		for i := range k.Pix {
			weight := float32(0)
			if y, x := i/k.Width-3, i%k.Width-3; min(y, x) >= 0 && y < shake.H && x < shake.W {
				// In steps of 12 no weight is near the background.
				weight = float32(math.Round(float64(shake.Weights[y*shake.W+x]/slices.Max(shake.Weights))*20)) * 12 / 255
			}
			k.Pix[i] = of(weight, i)
		}
		save(t, name, k)
	}
	shown("black.png", 8, func(v float32, _ int) float32 { return v })
	shown("grey.png", 8, func(v float32, _ int) float32 { return v + 7./255 })
	shown("white.png", 8, func(v float32, _ int) float32 { return 1 - v })
	shown("traces.pfm", 32, func(v float32, i int) float32 {
		if v == 0 && i%5 == 0 {
			return -1e-3
		}
		return v
	})
	shown("grey.pfm", 32, func(v float32, _ int) float32 { return v + 7./255 })
	result := func(kernel string) ([]float32, string) {
		r := succeeds(t, "deblur", "--prior", "tv", "--iterations", "5", "--force", "--kernel", kernel, "a.png", "-o", "out.png")
		return load(t, "out.png").Pix, r.stderr
	}
	want, said := result("black.png")
	require.NotContains(t, said, "background")
	for kernel, note := range map[string]string{
		"grey.png": "its background is not black and was left out", "white.png": "its background is not black and was left out",
		"traces.pfm": "its weights below 0, 0.", "grey.pfm": "",
	} {
		got, said := result(kernel)
		require.Contains(t, said, note)
		require.Equal(t, kernel != "grey.pfm", slices.Equal(want, got), kernel)
	}
	fails(t, exitFailed, []string{"want none below 0"}, "deblur", "--kernel", negative(t), "a.png", "-o", "b.png")
}

// negative is a kernel that is below 0 by as much as above it.
func negative(t *testing.T) string {
	k := picture(1, 3, 3, 32, 0)
	for i := range k.Pix {
		k.Pix[i] = float32(1 - 2*(i%2))
	}
	save(t, "negative.pfm", k)
	return "negative.pfm"
}
