package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"image/jpeg"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/internal/imagefile"
)

// saveJPEG writes a JPEG as image/jpeg does, with 4:2:0, and segments behind its start.
func saveJPEG(t *testing.T, path string, m *imagefile.Image, quality int, segments ...[]byte) {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, jpeg.Encode(&b, m.ToImage(), &jpeg.Options{Quality: quality}))
	file := bytes.Join([][]byte{b.Bytes()[:2], bytes.Join(segments, nil), b.Bytes()[2:]}, nil)
	require.NoError(t, os.WriteFile(path, file, 0o666))
}

// stereo is the segment of a multi-picture JPEG that tells of two pictures of equal rank.
func stereo() []byte {
	le := binary.LittleEndian
	b := []byte("MPF\x00II*\x00\x08\x00\x00\x00\x01\x00")
	b = le.AppendUint16(le.AppendUint16(b, 0xb002), 7)
	b = le.AppendUint32(le.AppendUint32(le.AppendUint32(b, 32), 26), 0)
	for range 2 {
		b = append(le.AppendUint32(b, 0x020002), make([]byte, 12)...)
	}
	return append(binary.BigEndian.AppendUint16([]byte{0xff, 0xe2}, uint16(2+len(b))), b...)
}

func TestJPEGKeepsItsQuality(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	saveJPEG(t, "a.jpg", picture(3, 20, 24, 8, 0.02), 85)
	save(t, "b.png", picture(3, 20, 24, 8, 0.02))
	quality := func(path string) int {
		m := load(t, path)
		require.NotNil(t, m.JPEG)
		require.True(t, m.JPEG.Standard)
		require.Equal(t, [2]int{1, 1}, [2]int{m.JPEG.ChromaX, m.JPEG.ChromaY})
		return m.JPEG.Quality
	}
	r := succeeds(t, denoising("-v", "a.jpg")...)
	require.Equal(t, 85, quality("a.denoised.jpg"))
	require.Contains(t, r.stderr, "restore: a.denoised.jpg: JPEG with the quantisation tables of its input, quality 85, chroma at full resolution (4:2:0 before)\n")
	succeeds(t, denoising("--quality", "60", "a.jpg", "-o", "c.jpg")...)
	require.Equal(t, 60, quality("c.jpg"))
	succeeds(t, denoising("b.png", "-o", "d.jpg")...)
	require.Equal(t, imagefile.DefaultQuality, quality("d.jpg"))
	succeeds(t, "upscale", "--prior", "tv", "--sigma", "0.02", "--iterations", "2", "a.jpg", "-o", "e.jpg")
	require.Equal(t, 85, quality("e.jpg"))
	require.Contains(t, succeeds(t, "denoise", "--help").stdout, "colour always 4:4:4")
}

func TestNotesAreInJSON(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	saveJPEG(t, "mpo.jpg", picture(3, 20, 24, 8, 0.02), 85, stereo())
	save(t, "a.png", picture(3, 20, 24, 16, 0.02))
	save(t, "flat.png", &imagefile.Image{Width: 24, Height: 20, Channels: 1, Depth: 8, Pix: make([]float32, 480)})
	const lost = "only the first of 2 pictures in the file (MPO) is read, the rest is dropped"

	r := restoring(t, denoising("mpo.jpg", "--json", "-q")...)
	require.Equal(t, exitDone, r.code)
	require.Empty(t, r.stderr)
	require.Equal(t, []any{lost}, objects(t, r.stdout)[0]["notes"])
	require.Contains(t, restoring(t, denoising("mpo.jpg", "--force")...).stderr, "restore: note: mpo.jpg: "+lost+"\n")

	// Each input has its own, and those about the run; degrade has them, too.
	r = restoring(t, denoising("mpo.jpg", "a.png", "missing.png", "--json", "--method", "tv", "--tile", "64", "-o", "out/")...)
	require.Equal(t, exitFailed, r.code)
	o := objects(t, r.stdout)
	require.Len(t, o, 3)
	tile := o[2]["notes"].([]any)[0].(string)
	require.Contains(t, tile, "--tile 64 has no effect")
	require.Equal(t, []any{tile, lost}, o[0]["notes"])
	require.Equal(t, []any{tile}, o[1]["notes"])
	require.Equal(t, []any{lost}, objects(t, restoring(t, "degrade", "--sigma", "0.1", "--json", "mpo.jpg", "-o", "x.png").stdout)[0]["notes"])
	require.Equal(t, []any{"not kept in BMP: 16-bit samples are rounded to 8 bits"}, objects(t, succeeds(t, denoising("a.png", "--json", "-o", "a.bmp")...).stdout)[0]["notes"])

	// About a file that is not the input, a note says which.
	r = restoring(t, denoising("a.png", "--reference", "mpo.jpg", "--json", "-o", "b.png")...)
	require.Equal(t, []any{"mpo.jpg: " + lost}, objects(t, r.stdout)[0]["notes"])
	require.NotContains(t, objects(t, r.stdout)[0], "sigma_reliable", "it was given")

	o = objects(t, restoring(t, "denoise", "--json", "flat.png").stdout)
	require.Equal(t, true, o[0]["sigma_reliable"])
}

func TestRunsThatDoNotConvergeSayWhatHelps(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	save(t, "k.png", picture(1, 3, 5, 8, 0))
	save(t, "a.png", picture(3, 20, 24, 8, 0.02))
	r := restoring(t, "deblur", "--kernel", "k.png", "--sigma", "0.02", "--iterations", "2", "a.png")
	require.Equal(t, exitDone, r.code)
	require.NotContains(t, r.stdout, "convergence proven")
	require.Regexp(t, `^a\.png -> a\.deblurred\.png: blur and noise of sigma 0\.02 removed by original, not converged after 2 iterations, .*; with more iterations it converges in exact arithmetic \(proven\) for the radii frozen for this photograph\n$`, r.stdout)
	require.Contains(t, r.stderr, "--iterations N allows more, --tolerance T accepts more")
	r = succeeds(t, "deblur", "--kernel", "k.png", "--sigma", "0.02", "--force", "a.png")
	require.Regexp(t, `removed by original, converged in \d+ iterations, residual .* s; convergence proven for the radii frozen for this photograph, with rounding to a residual of [0-9.]+ of 255\n$`, r.stdout)
	r = succeeds(t, "deblur", "--prior", "deblur", "--kernel", "k.png", "--sigma", "0.02", "--force", "a.png")
	require.Regexp(t, `removed by deblur, converged in \d+ iterations, residual .* s; convergence proven, with rounding to a residual of [0-9.]+ of 255\n$`, r.stdout)
}

func TestBatchesCount(t *testing.T) {
	inFolder(t)
	for _, name := range []string{"a.png", "b.png"} {
		save(t, name, picture(1, 12, 14, 8, 0.05))
	}
	r := restoring(t, "denoise", "--sigma", "0.05", "--progress", "always", "a.png", "missing.png", "b.png")
	require.Equal(t, exitFailed, r.code)
	require.True(t, strings.HasPrefix(r.stdout, "1 of 3: a.png -> "), r.stdout)
	require.Contains(t, r.stdout, "\n3 of 3: b.png -> ")
	require.Contains(t, r.stderr, "restore: 3 of 3: b.png:  ")
	r = succeeds(t, denoising("--force", "a.png")...)
	require.True(t, strings.HasPrefix(r.stdout, "a.png -> "), r.stdout)
}

func TestNamesThatAreNotUTF8(t *testing.T) {
	leaveRuns(t)
	if runtime.GOOS == "windows" || runtime.GOOS == "darwin" {
		t.Skip("names of files are Unicode on this system")
	}
	inFolder(t)
	const odd = "n\xffa\x80me.png"
	if err := os.WriteFile(odd, nil, 0o666); err != nil {
		t.Skipf("this file system has no such names: %v", err)
	}
	save(t, "b.png", picture(1, 12, 14, 8, 0.05))
	require.NoError(t, os.Rename("b.png", odd))
	r := succeeds(t, denoising("--json", odd)...)
	require.True(t, utf8.ValidString(r.stdout))
	o := objects(t, r.stdout)[0]
	require.Equal(t, "n\ufffda\ufffdme.png", o["input"])
	exact := o["names_base64"].(map[string]any)
	require.Len(t, exact, 2)
	for field, want := range map[string]string{"input": odd, "output": "n\xffa\x80me.denoised.png"} {
		got, err := base64.StdEncoding.DecodeString(exact[field].(string))
		require.NoError(t, err)
		require.Equal(t, want, string(got))
		require.FileExists(t, string(got))
	}
	save(t, "c.png", picture(1, 12, 14, 8, 0.05))
	require.NotContains(t, objects(t, succeeds(t, denoising("--json", "c.png")...).stdout)[0], "names_base64")
	o = objects(t, succeeds(t, "compare", "--json", "c.png", odd).stdout)[0]
	require.Contains(t, o["names_base64"], "image")
	require.NotContains(t, o["names_base64"], "reference")
	require.Contains(t, objects(t, restoring(t, "check", "--json", "--prior", "tv", "--iterations", "2", odd).stdout)[0]["names_base64"], "input")
	require.Contains(t, objects(t, succeeds(t, "kernel", "box", "--size", "3", "--json", "-o", "k\xff.png").stdout)[0]["names_base64"], "output")
	// What people see has the bytes, too.
	require.Contains(t, succeeds(t, denoising("--force", odd)...).stdout, `n\xffa\x80me.png -> n\xffa\x80me.denoised.png: `)
}

func TestResultsForDevices(t *testing.T) {
	inFolder(t)
	save(t, "a.png", picture(1, 12, 14, 8, 0.05))
	for _, args := range [][]string{denoising("a.png"), {"degrade", "--sigma", "0.1", "a.png"}, {"kernel", "box", "--size", "3"}} {
		succeeds(t, append(args, "-o", os.DevNull)...)
	}
	require.Equal(t, []string{"a.png"}, files(t))
	info, err := os.Stat(os.DevNull)
	require.NoError(t, err)
	require.False(t, info.Mode().IsRegular(), "it is still what it was")
	// A regular file needs an extension all the same.
	require.NoError(t, os.WriteFile("plain", nil, 0o666))
	fails(t, exitUsage, []string{"has no extension"}, denoising("--force", "a.png", "-o", "plain")...)
}

func TestNetpbmOnTheCommandLine(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	require.NoError(t, os.WriteFile("a.pgm", append([]byte("P5 14 12 1023\n"), make([]byte, 2*14*12)...), 0o666))
	save(t, "b.ppm", picture(3, 12, 14, 8, 0.05))
	succeeds(t, denoising("a.pgm", "b.ppm")...)
	require.Equal(t, [3]int{1, 16, int(imagefile.PGM)}, [3]int{load(t, "a.denoised.pgm").Channels, load(t, "a.denoised.pgm").Depth, int(load(t, "a.denoised.pgm").Format)})
	require.Equal(t, imagefile.PPM, load(t, "b.denoised.ppm").Format)
	fails(t, exitFailed, []string{"c.pgm: ", "PGM holds grey only, and the image has colours (use PPM)"}, denoising("b.ppm", "-o", "c.pgm")...)
	r := restoringFrom(t, bytes.NewReader(content(t, "b.ppm")), denoising("-")...)
	require.Equal(t, exitDone, r.code, r.stderr)
	require.Equal(t, string(content(t, "b.denoised.ppm")), r.stdout)
	require.NoError(t, os.Mkdir("in", 0o777))
	save(t, "in/c.pnm", picture(1, 12, 14, 8, 0.05))
	succeeds(t, denoising("--recursive", "in")...)
	require.FileExists(t, filepath.Join("in", "c.denoised.pnm"))
}
