package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/raw"
)

// saveRaw writes the raw photograph of a picture.
func saveRaw(t *testing.T, path, iso string) string {
	t.Helper()
	save(t, "scene.png", picture(3, 96, 128, 8, 0))
	succeeds(t, "degrade", "scene.png", "--camera", "--iso", iso, "--seed", "3", "-o", path)
	require.NoError(t, os.Remove("scene.png"))
	return path
}

func readFile(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return b
}

func readRaw(t *testing.T, path string) *raw.Image {
	t.Helper()
	b := readFile(t, path)
	f, err := raw.Read(bytes.NewReader(b), int64(len(b)), raw.Options{})
	require.NoError(t, err)
	return f.Image()
}

// A raw photograph becomes a raw photograph with less noise, beside it.
func TestRawPhotograph(t *testing.T) {
	inFolder(t)
	saveRaw(t, "photo.dng", "6400")
	before := readFile(t, "photo.dng")
	r := succeeds(t, "denoise", "photo.dng", "--json", "--report", "r.html")
	o := objects(t, r.stdout)[0]
	require.Equal(t, "photo.denoised.dng", o["output"])
	require.Equal(t, "raw", o["method"])
	require.Equal(t, "raw", o["network"].(map[string]any)["name"])
	info := o["raw"].(map[string]any)
	require.Equal(t, "RGGB", info["pattern"])
	require.Len(t, info["noise"], 3)
	require.Equal(t, before, readFile(t, "photo.dng"))
	require.Contains(t, string(readFile(t, "r.html")), "the noise has been made white")
	noisy, clean := readRaw(t, "photo.dng"), readRaw(t, "photo.denoised.dng")
	require.Equal(t, noisy.Pattern, clean.Pattern)
	truth := readRaw(t, saveRaw(t, "truth.dng", "0"))
	distance := func(m *raw.Image) (sum float64) {
		for i, v := range m.Pix {
			d := float64(v - truth.Pix[i])
			sum += d * d
		}
		return sum
	}
	require.Less(t, distance(clean), .7*distance(noisy))
	require.Contains(t, succeeds(t, "denoise", "photo.dng", "--force").stdout, "where the noise is white")

	fails(t, exitFailed, []string{"photo.denoised.dng", "--force"}, "denoise", "photo.dng")
	succeeds(t, "denoise", "photo.dng", "-o", "developed.png")
	require.Equal(t, [2]int{128, 96}, [2]int{load(t, "developed.png").Width, load(t, "developed.png").Height})
	fails(t, exitFailed, []string{"is a raw photograph", "develop it"}, "deblur", "photo.dng")
}

// Strength 0 gives the same bytes, and is for raw photographs alone.
func TestRawPhotographAtStrength0(t *testing.T) {
	inFolder(t)
	saveRaw(t, "photo.dng", "6400")
	succeeds(t, "denoise", "photo.dng", "--strength", "0", "-o", "same.dng")
	require.Equal(t, readFile(t, "photo.dng"), readFile(t, "same.dng"))
	save(t, "photo.png", picture(3, 32, 32, 8, 0))
	fails(t, exitUsage, []string{"--strength 0"}, "denoise", "photo.png", "--strength", "0")
	fails(t, exitUsage, []string{"--strength 0"}, "denoise", "photo.dng", "photo.png", "--strength", "0", "-o", "out/")
}

// Folders have raw photographs among others, for denoise.
func TestRawPhotographsInABatch(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	require.NoError(t, os.Mkdir("in", 0o777))
	saveRaw(t, filepath.Join("in", "a.DNG"), "6400")
	save(t, filepath.Join("in", "b.png"), picture(3, 64, 64, 8, .1))
	succeeds(t, "denoise", "--recursive", "in", "-o", "out/")
	readRaw(t, filepath.Join("out", "a.DNG"))
	load(t, filepath.Join("out", "b.png"))
}

func TestRawPhotographRefusals(t *testing.T) {
	inFolder(t)
	saveRaw(t, "photo.dng", "800")
	fails(t, exitUsage, []string{"--sigma is for developed pictures"}, "denoise", "photo.dng", "--sigma", "0.1")
	fails(t, exitUsage, []string{"--preview is for developed pictures"}, "denoise", "photo.dng", "--preview", "0,0,9,9")
	fails(t, exitUsage, []string{"--reference is for developed pictures"}, "denoise", "photo.dng", "--reference", "x.png")
	fails(t, exitUsage, []string{"--metadata none", "keeps the metadata"}, "denoise", "photo.dng", "--metadata", "none")
	fails(t, exitUsage, []string{"--metadata none"}, "denoise", "photo.dng", "--metadata", "none", "-o", "-")
	succeeds(t, "denoise", "photo.dng", "--metadata", "none", "-o", "developed.png")
	save(t, "photo.png", picture(3, 32, 32, 8, 0))
	fails(t, exitUsage, []string{"x.dng", "none of a raw photograph"}, "denoise", "photo.png", "-o", "x.dng")
	fails(t, exitUsage, []string{"--camera"}, "degrade", "photo.png", "--sigma", "0.1", "-o", "x.dng")
	require.NoError(t, os.WriteFile("none.dng", []byte("no DNG at all"), 0o666))
	fails(t, exitFailed, []string{"none.dng", "TIFF header"}, "denoise", "none.dng")
	whole := readFile(t, "photo.dng")
	require.NoError(t, os.WriteFile("cut.dng", whole[:len(whole)/2], 0o666))
	fails(t, exitFailed, []string{"cut.dng"}, "denoise", "cut.dng")
	_, err := imagefile.Read(t.Context(), "photo.dng", imagefile.ReadOptions{})
	require.ErrorIs(t, err, imagefile.ErrRaw)
}
