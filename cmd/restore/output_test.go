package main

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/internal/networks"
)

// denoising is a quick run of denoise.
func denoising(args ...string) []string {
	return append([]string{"denoise", "--sigma", "0.05", "--progress", "never"}, args...)
}

func TestOutputStandsBesideTheInput(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	require.NoError(t, os.Mkdir("in", 0o777))
	save(t, "in/a.png", picture(1, 12, 14, 8, 0.05))
	save(t, "in/b.JPEG", picture(3, 12, 14, 8, 0.05))
	save(t, "in/c.d.tif", picture(1, 12, 14, 16, 0.05))
	r := succeeds(t, denoising("in/a.png", "in/b.JPEG", "in/c.d.tif")...)
	require.Equal(t, []string{"in/a.denoised.png", "in/a.png", "in/b.JPEG", "in/b.denoised.JPEG", "in/c.d.denoised.tif", "in/c.d.tif"}, files(t))
	require.Contains(t, r.stdout, filepath.Join("in", "a.denoised.png")+": noise of sigma 0.05 removed by "+networks.DefaultMethod()+", ")
	require.Equal(t, 3, strings.Count(r.stdout, "\n"))
	require.Equal(t, imagefile.JPEG, load(t, "in/b.denoised.JPEG").Format)
}

func TestSuffixes(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	save(t, "k.png", picture(1, 3, 3, 8, 0))
	save(t, "a.png", picture(1, 12, 14, 8, 0))
	succeeds(t, "deblur", "--kernel", "k.png", "--sigma", "0.05", "a.png")
	succeeds(t, "degrade", "--kernel", "k.png", "a.png")
	require.Equal(t, []string{"a.deblurred.png", "a.degraded.png", "a.png", "k.png"}, files(t))
}

func TestOutputInAFolder(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	save(t, "a.png", picture(1, 12, 14, 8, 0.05))
	save(t, "b.png", picture(1, 12, 14, 8, 0.05))
	succeeds(t, denoising("a.png", "b.png", "-o", "new/deep/")...)
	require.Equal(t, []string{"a.png", "b.png", "new/deep/a.png", "new/deep/b.png"}, files(t))
	// An existing folder needs no slash, and one input may go there.
	succeeds(t, denoising("a.png", "-o", "new")...)
	require.FileExists(t, "new/a.png")
}

func TestNothingIsOverwritten(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	save(t, "a.png", picture(1, 12, 14, 8, 0.05))
	save(t, "b.png", picture(1, 12, 14, 8, 0.05))
	require.NoError(t, os.WriteFile("a.denoised.png", []byte("mine"), 0o666))

	r := restoring(t, denoising("a.png", "b.png")...)
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.stderr, "restore: a.png: its result a.denoised.png exists already; --force overwrites it, --skip-existing leaves it\n")
	require.Contains(t, r.stderr, "1 done, 1 failed, 0 skipped")
	require.FileExists(t, "b.denoised.png")
	content, err := os.ReadFile("a.denoised.png")
	require.NoError(t, err)
	require.Equal(t, "mine", string(content))

	r = restoring(t, denoising("--skip-existing", "a.png", "b.png")...)
	require.Equal(t, exitNothing, r.code)
	require.Contains(t, r.stderr, "nothing to do: every result exists already")
	content, err = os.ReadFile("a.denoised.png")
	require.NoError(t, err)
	require.Equal(t, "mine", string(content))

	succeeds(t, denoising("--force", "a.png", "b.png")...)
	require.Equal(t, imagefile.PNG, load(t, "a.denoised.png").Format)
	require.Equal(t, []string{"a.denoised.png", "a.png", "b.denoised.png", "b.png"}, files(t))

	// A name that is a folder's cannot be a result's.
	require.NoError(t, os.Mkdir("c.denoised.png", 0o777))
	save(t, "c.png", picture(1, 12, 14, 8, 0.05))
	fails(t, exitFailed, []string{"c.png", "is a folder"}, denoising("--force", "c.png")...)
}

func TestSkipExistingResumes(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	save(t, "a.png", picture(1, 12, 14, 8, 0.05))
	save(t, "b.png", picture(1, 12, 14, 8, 0.05))
	succeeds(t, denoising("a.png", "-o", "out/")...)
	r := succeeds(t, denoising("--skip-existing", "--json", "a.png", "b.png", "-o", "out/")...)
	o := objects(t, r.stdout)
	require.Len(t, o, 2)
	require.Equal(t, true, o[0]["skipped"])
	require.NotContains(t, o[0], "error")
	require.NotContains(t, o[1], "skipped")
	require.FileExists(t, "out/b.png")
}

func TestInputIsNeverReplaced(t *testing.T) {
	dir := inFolder(t)
	save(t, "a.png", picture(1, 12, 14, 8, 0.05))
	before, err := os.ReadFile("a.png")
	require.NoError(t, err)
	require.NoError(t, os.Mkdir("sub", 0o777))
	ways := []string{"./a.png", "sub/../a.png", filepath.Join(dir, "a.png"), "."}
	if runtime.GOOS != "windows" { // links need a privilege there
		require.NoError(t, os.Symlink("a.png", "symbolic.png"))
		require.NoError(t, os.Link("a.png", "hard.png"))
		ways = append(ways, "symbolic.png", "hard.png")
	}
	for _, out := range ways {
		fails(t, exitUsage, []string{"place of its input"}, denoising("--force", "a.png", "-o", out)...)
	}
	after, err := os.ReadFile("a.png")
	require.NoError(t, err)
	require.Equal(t, before, after)

	// Nor is another input of the batch.
	save(t, "a.denoised.png", picture(1, 12, 14, 8, 0.05))
	fails(t, exitUsage, []string{"a.denoised.png", "this other input"}, denoising("--force", "a.png", "a.denoised.png")...)
}

func TestTwoInputsForOneOutput(t *testing.T) {
	inFolder(t)
	for _, d := range []string{"x", "y"} {
		require.NoError(t, os.Mkdir(d, 0o777))
		save(t, d+"/a.png", picture(1, 12, 14, 8, 0.05))
	}
	save(t, "y/b.png", picture(1, 12, 14, 8, 0.05))
	for _, inputs := range [][]string{{"x/a.png", "y/a.png", "y/b.png"}, {"--recursive", "x", "y"}} {
		require.NoError(t, os.RemoveAll("out"))
		r := restoring(t, denoising(append(inputs, "-o", "out/")...)...)
		require.Equal(t, exitFailed, r.code)
		require.Contains(t, filepath.ToSlash(r.stderr),
			"restore: y/a.png: its result would be that of x/a.png, too: out/a.png; give it another name or do it apart\n")
		require.Contains(t, r.stderr, "2 done, 1 failed, 0 skipped")
		require.FileExists(t, "out/b.png")
		require.Equal(t, imagefile.PNG, load(t, "out/a.png").Format)
	}
}

// An input that is named twice is done once.
func TestInputsNamedTwice(t *testing.T) {
	inFolder(t)
	save(t, "a.png", picture(1, 12, 14, 8, 0.05))
	r := restoring(t, denoising("a.png", "./a.png")...)
	require.Equal(t, exitDone, r.code)
	require.Contains(t, r.stderr, "restore: note: ./a.png: skipped, it is named twice\n")
	require.Contains(t, r.stderr, "1 done, 0 failed, 1 skipped")
}

// A GIF becomes a PNG. Where there is a PNG of that name, its own result comes first.
func TestResultsThatKeepTheirExtensionComeFirst(t *testing.T) {
	inFolder(t)
	save(t, "a.png", picture(1, 12, 14, 8, 0.05))
	for _, name := range []string{"a.gif", "b.gif"} {
		f, err := os.Create(name)
		require.NoError(t, err)
		grey := image.NewPaletted(image.Rect(0, 0, 9, 7), color.Palette{color.Black, color.White})
		require.NoError(t, gif.Encode(f, grey, nil))
		require.NoError(t, f.Close())
	}
	r := restoring(t, denoising("--recursive", ".", "-o", "out/")...)
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.stderr, "restore: a.gif: its result would be that of a.png, too")
	require.Contains(t, r.stderr, "2 done, 1 failed, 0 skipped")
	require.Equal(t, 14, load(t, filepath.Join("out", "a.png")).Width)
	require.Equal(t, 9, load(t, filepath.Join("out", "b.png")).Width)
}

func TestRecursive(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	require.NoError(t, os.MkdirAll("in/deep", 0o777))
	require.NoError(t, os.MkdirAll("in/.hidden", 0o777))
	save(t, "in/a.png", picture(1, 12, 14, 8, 0.05))
	save(t, "in/deep/b.bmp", picture(1, 12, 14, 8, 0.05))
	save(t, "in/.hidden/c.png", picture(1, 12, 14, 8, 0.05))
	save(t, "in/.d.png", picture(1, 12, 14, 8, 0.05))
	require.NoError(t, os.WriteFile("in/notes.txt", []byte("not an image"), 0o666))
	source := files(t)

	fails(t, exitFailed, []string{"in: is a folder; --recursive takes the images in it"}, denoising("in")...)
	require.Equal(t, source, files(t))

	succeeds(t, denoising("--recursive", "in", "-o", "out/")...)
	require.FileExists(t, "out/a.png")
	require.FileExists(t, "out/deep/b.bmp")
	require.Len(t, files(t), len(source)+2)

	// Results beside the inputs, and an output folder among them, are not inputs
	// of the next run.
	for range 2 {
		r := restoring(t, denoising("--recursive", "--skip-existing", "in")...)
		require.Contains(t, []int{exitDone, exitNothing}, r.code, r.stderr)
	}
	require.Len(t, files(t), len(source)+4)
	require.NoError(t, os.Remove("in/a.denoised.png"))
	require.NoError(t, os.Remove("in/deep/b.denoised.bmp"))
	for range 2 {
		r := restoring(t, denoising("--recursive", "--skip-existing", "in", "-o", "in/out/")...)
		require.Contains(t, []int{exitDone, exitNothing}, r.code, r.stderr)
	}
	require.FileExists(t, "in/out/deep/b.bmp")
	require.Len(t, files(t), len(source)+4)

	require.NoError(t, os.Mkdir("empty", 0o777))
	fails(t, exitNothing, []string{"nothing to do: no image was found"}, denoising("--recursive", "empty")...)
}

func TestStandardStreams(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	var file bytes.Buffer
	require.NoError(t, imagefile.Encode(t.Context(), &file, picture(3, 12, 14, 16, 0.05), imagefile.WriteOptions{Format: imagefile.PNG}))

	r := restoringFrom(t, bytes.NewReader(file.Bytes()), denoising("-")...)
	require.Equal(t, exitDone, r.code, r.stderr)
	m, err := imagefile.Decode(t.Context(), strings.NewReader(r.stdout), imagefile.ReadOptions{})
	require.NoError(t, err)
	require.Equal(t, [4]int{14, 12, 3, 16}, [4]int{m.Width, m.Height, m.Channels, m.Depth})
	require.Contains(t, r.stderr, "standard input -> standard output: noise of sigma 0.05 removed by "+networks.DefaultMethod())
	require.Empty(t, files(t))

	r = restoringFrom(t, bytes.NewReader(file.Bytes()), denoising("-", "-o", "x.tif")...)
	require.Equal(t, exitDone, r.code, r.stderr)
	require.Equal(t, m.Pix, load(t, "x.tif").Pix)

	r = restoringFrom(t, bytes.NewReader(file.Bytes()), denoising("-", "--depth", "32")...)
	require.Equal(t, exitFailed, r.code)
	requireOneLine(t, r.stderr, "standard output: ", "PNG has samples of 8 or 16 bits, not 32")

	r = succeeds(t, denoising("x.tif", "-o", "-", "-q")...)
	require.Empty(t, r.stderr)
	m, err = imagefile.Decode(t.Context(), strings.NewReader(r.stdout), imagefile.ReadOptions{})
	require.NoError(t, err)
	require.Equal(t, imagefile.TIFF, m.Format)

	r = succeeds(t, "kernel", "box", "--size", "3", "-o", "-")
	m, err = imagefile.Decode(t.Context(), strings.NewReader(r.stdout), imagefile.ReadOptions{})
	require.NoError(t, err)
	require.Equal(t, [2]int{3, 3}, [2]int{m.Width, m.Height})

	r = restoringFrom(t, bytes.NewReader(file.Bytes()), "compare", "x.tif", "-")
	require.Equal(t, exitDone, r.code, r.stderr)
	require.Contains(t, r.stdout, "SSIM")
}

func TestQuietAndVerbose(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	save(t, "a.png", picture(3, 12, 14, 8, 0.05))
	r := succeeds(t, denoising("-q", "a.png")...)
	require.Empty(t, r.stdout)
	require.Empty(t, r.stderr)
	// JSON is a result, asked for.
	require.Len(t, objects(t, succeeds(t, denoising("-q", "--json", "--force", "a.png")...).stdout), 1)

	save(t, "k.png", picture(1, 3, 3, 8, 0))
	r = succeeds(t, "deblur", "-v", "--sigma", "0.05", "--kernel", "k.png", "a.png", "-o", "b.jpg")
	require.Contains(t, r.stderr, "restore: a.png: operator       ‖K‖ ≤ 1")
}

func TestTileIsExplained(t *testing.T) {
	inFolder(t)
	save(t, "a.png", picture(1, 12, 14, 8, 0.05))
	r := succeeds(t, denoising("--method", "tv", "--tile", "512", "a.png")...)
	requireOneLine(t, r.stderr, "note: --tile 512 has no effect", "for the whole image at once")
	require.Empty(t, succeeds(t, denoising("--tile", "auto", "--force", "a.png")...).stderr)
	require.Empty(t, succeeds(t, denoising("--tile", "512", "--weights", seeded(t, "euler"), "--force", "a.png")...).stderr)
}
