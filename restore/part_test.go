package restore_test

import (
	"image"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/srgb"
	"github.com/averaged/imaging/restore"
)

// A part is restored as in the whole: it is too small to tell that light was blurred, and it has less noise.
func TestOptionsForPart(t *testing.T) {
	kernel, err := deblur.Shake(11, 2)
	require.NoError(t, err)
	const h, w = 200, 260
	part := image.Rect(10, 20, 80, 90)
	p := curved(blurred(t, curved(tiles(h, w), srgb.Linear), kernel, deblur.Circular), srgb.Encoded)
	rest := noisy(p, 4./255, 7)
	for y := range h {
		for x := range w {
			if !(image.Point{X: x, Y: y}.In(part)) {
				p.Pix[y*w+x] = rest.Pix[y*w+x]
			}
		}
	}
	of := clippedToBytes(p)
	cut := restore.NewPlanar(1, part.Dy(), part.Dx())
	for i := range cut.Pix {
		cut.Pix[i] = of.Pix[(part.Min.Y+i/cut.Width)*w+part.Min.X+i%cut.Width]
	}
	run := func(p *restore.Planar, o ...restore.Option) *restore.Report {
		_, report, err := restore.Deblur(t.Context(), p, kernel, append(o, restore.Iterations(1))...)
		require.NoError(t, err)
		return report
	}
	one := deblur.OneKernel(kernel)
	options, err := restore.OptionsForPart(t.Context(), of, one)
	require.NoError(t, err)
	whole, alone, same := run(of), run(cut), run(cut, options...)
	require.True(t, whole.LinearLight && !alone.LinearLight && same.LinearLight)
	require.Less(t, alone.Noise.Sigma, 0.7*whole.Noise.Sigma)
	require.Equal(t, whole.Noise.Sigma, same.Noise.Sigma)
	require.NotNil(t, same.Noise.Estimate, "it was measured")

	// What the call says stays.
	for _, method := range []string{"original", "tv"} {
		said := []restore.Option{restore.StoredSamples(), restore.Sigma(0.01), restore.Method(method)}
		options, err = restore.OptionsForPart(t.Context(), of, one, said...)
		require.NoError(t, err)
		same = run(cut, append(said, options...)...)
		require.False(t, same.LinearLight)
		require.Equal(t, 0.01, same.Noise.Given)
	}
	options, err = restore.OptionsForPart(t.Context(), of, one, restore.Method("tv"))
	require.NoError(t, err)
	require.False(t, run(cut, append(options, restore.Method("tv"))...).LinearLight, "total variation knows samples alone")

	_, err = restore.OptionsForPart(t.Context(), of, deblur.Grid{})
	require.ErrorContains(t, err, "0 kernels")
	_, err = restore.OptionsForPart(t.Context(), nil, one)
	require.Error(t, err)
	_, err = restore.OptionsForPart(t.Context(), of, one, restore.Shadows(true))
	require.ErrorContains(t, err, "Shadows")
}
