package main

import (
	"bytes"
	"encoding/binary"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// savePFM writes a grey image of 24×20 float samples, which may be NaN.
func savePFM(t *testing.T, path string, pix []float32) {
	t.Helper()
	b := []byte("Pf\n24 20\n-1\n")
	for y := 19; y >= 0; y-- { // rows from below
		for _, v := range pix[24*y : 24*y+24] {
			b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
		}
	}
	require.NoError(t, os.WriteFile(path, b, 0o600))
}

// Samples far outside [0,1] are scaled by their range, which is said, and scaled back: the result is the
// scaled one of the same picture in [0,1].
func TestFloatRange(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	plain := picture(1, 20, 24, 32, 0.1)
	low, high := plain.Pix[0], plain.Pix[0]
	for _, v := range plain.Pix {
		low, high = min(low, v), max(high, v)
	}
	for i, v := range plain.Pix {
		plain.Pix[i] = (v - low) / (high - low)
	}
	savePFM(t, "plain.pfm", plain.Pix)
	denoised := []string{"denoise", "--method", "tv", "--sigma", "0.05", "--force"}
	restoring(t, append(denoised, "plain.pfm", "-o", "want.pfm")...)
	want := load(t, "want.pfm")
	for _, c := range []struct{ scale, offset float32 }{{4300, 0}, {4000, -2000}, {5, 0.5}} {
		pix := make([]float32, len(plain.Pix))
		for i, v := range plain.Pix {
			pix[i] = v*c.scale + c.offset
		}
		savePFM(t, "counts.pfm", pix)
		r := restoring(t, append(denoised, "counts.pfm", "-o", "out.tif")...)
		require.Contains(t, r.stderr, "scaled to 0 to 1")
		for i, v := range load(t, "out.tif").Pix {
			require.InDelta(t, float64(want.Pix[i])*float64(c.scale)+float64(c.offset), v, 1e-3*float64(c.scale))
		}
		r = restoring(t, append(denoised, "counts.pfm", "-o", "out.png")...)
		require.Contains(t, r.stderr, "keeps that scale")
	}
	// Light somewhat brighter than white stays as it is.
	for i := range plain.Pix {
		plain.Pix[i] *= 3
	}
	savePFM(t, "light.pfm", plain.Pix)
	require.NotContains(t, restoring(t, append(denoised, "light.pfm", "-o", "out.tif")...).stderr, "scaled")
}

// What is under the mask may be no number, or a mark for missing data.
func TestMissingSamplesAreFilled(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	saveMask(t, "mask.png", 20, 24)
	m := picture(1, 20, 24, 32, 0)
	inside, outside := 6*24+7, 15*24+20
	for _, missing := range []float32{float32(math.NaN()), float32(math.Inf(-1)), -9999, -3.4e38} {
		m.Pix[inside] = missing
		savePFM(t, "in.pfm", m.Pix)
		r := restoring(t, inpainting("in.pfm", "-o", "out.pfm", "--force")...)
		require.NotContains(t, r.stderr, "scaled")
		got := load(t, "out.pfm")
		require.InDelta(t, 0.5, got.Pix[inside], 0.5)
		require.Equal(t, m.Pix[outside], got.Pix[outside])
	}
	m.Pix[outside] = float32(math.NaN())
	savePFM(t, "in.pfm", m.Pix)
	r := restoring(t, inpainting("in.pfm", "-o", "out.pfm", "--force")...)
	require.Equal(t, exitFailed, r.code)
	require.Contains(t, r.stderr, "row 15, column 20")
	require.Contains(t, r.stderr, "the mask may cover it")
}

// A damaged file is refused, and --damaged fill reads what is there of it.
func TestDamagedFiles(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	m := picture(3, 64, 48, 8, 0.05)
	for _, name := range []string{"in.png", "in.jpg"} {
		data, err := os.ReadFile(save(t, name, m))
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(name, bytes.Clone(data[:len(data)*2/3]), 0o600))
		args := []string{"denoise", "--method", "small", name, "-o", "out.png", "--force"}
		r := restoring(t, args...)
		require.Equal(t, exitFailed, r.code)
		require.Contains(t, r.stderr, "--damaged fill")
		r = restoring(t, append(args, "--damaged", "fill")...)
		require.Equal(t, exitDone, r.code, r.stderr)
		require.Contains(t, r.stderr, "the file is damaged: of its 64 rows")
		got := load(t, "out.png")
		require.Equal(t, [2]int{48, 64}, [2]int{got.Width, got.Height})
		require.InDelta(t, 0.5, got.Pix[63*48+20], 0.02)
		// A guide is told a level for every square of the whole image.
		r = restoring(t, "denoise", "--method", "fast", name, "-o", "out.png", "--force", "--damaged", "fill")
		require.Equal(t, exitDone, r.code, r.stderr)
		require.InDelta(t, 0.5, load(t, "out.png").Pix[63*48+20], 0.02)
	}
}

// TestFloatRangeIsMeasured: check and eval see counts as denoise does.
func TestFloatRangeIsMeasured(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	plain := picture(1, 20, 24, 32, 0.1)
	low, high := slices.Min(plain.Pix), slices.Max(plain.Pix)
	counts := make([]float32, len(plain.Pix))
	for i, v := range plain.Pix {
		plain.Pix[i] = (v - low) / (high - low)
		counts[i] = 4096 * plain.Pix[i]
	}
	for _, folder := range []string{"plain", "counts"} {
		require.NoError(t, os.Mkdir(folder, 0o700))
	}
	savePFM(t, "plain/a.pfm", plain.Pix)
	savePFM(t, "counts/a.pfm", counts)
	measured := func(folder string) map[string]any {
		r := restoring(t, "eval", folder, "--sigma", "0.1", "--method", "tv", "--json")
		require.Equal(t, exitDone, r.code, r.stderr)
		require.Equal(t, folder == "counts", strings.Contains(r.stderr, "from 0 to 4096 and are scaled to 0 to 1"), r.stderr)
		return objects(t, r.stdout)[0]
	}
	want, got := measured("plain"), measured("counts")
	require.NotEmpty(t, want["psnr"])
	require.Equal(t, want["psnr"], got["psnr"])
	r := restoring(t, "check", "counts/a.pfm", "--method", "tv", "--sigma", "0.1")
	require.Equal(t, exitDone, r.code, r.stderr)
	require.Contains(t, r.stderr, "from 0 to 4096 and are scaled to 0 to 1")
}
