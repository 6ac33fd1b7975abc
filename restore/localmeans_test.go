package restore_test

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/restore"
)

// wall is a dark grey wall, nearly neutral, in strong smooth noise that black limits, and the wall.
func wall() (noisy, scene *restore.Planar) {
	const side = 160
	r := rand.New(rand.NewPCG(3, 9))
	noisy, scene = restore.NewPlanar(3, side, side), restore.NewPlanar(3, side, side)
	for c := range 3 {
		white := make([]float64, (side+1)*(side+1))
		for i := range white {
			white[i] = 0.16 * r.NormFloat64()
		}
		for i := range side * side {
			y, x := i/side, i%side
			at := y*(side+1) + x
			n := (white[at] + white[at+1] + white[at+side+1] + white[at+side+2]) / 4
			v := 0.11 + 0.02*float64(c%2)
			scene.Plane(c)[i] = float32(v)
			noisy.Plane(c)[i] = float32(max(v+n, 0))
		}
	}
	return noisy, scene
}

// TestMeansKept: in the dark no colour is darker after camera than it was, but for what noise explains, and what is
// proven stays; guided, told of white noise, and total variation are left alone.
func TestMeansKept(t *testing.T) {
	noisy, scene := wall()
	kept, report, err := restore.Denoise(t.Context(), noisy, restore.Method(restore.Camera), restore.Sigma(0.11), restore.Shadows(false))
	require.NoError(t, err)
	require.Greater(t, report.MeansKept, 0.005)
	alone, without, err := restore.Denoise(t.Context(), noisy, restore.Method(restore.Guided), restore.Sigma(0.11))
	require.NoError(t, err)
	require.Zero(t, without.MeansKept)
	require.NotNil(t, alone)
	require.True(t, report.Certified)
	require.LessOrEqual(t, report.Averagedness, 1.0)
	plane := len(scene.Pix) / 3
	for c := range 3 {
		before, after := 0.0, 0.0
		for i := range plane {
			before += float64(noisy.Plane(c)[i]) / float64(plane)
			after += float64(pixels(kept)[c*plane+i]) / float64(plane)
		}
		require.Greater(t, after, before-0.006, "channel %d", c)
	}
	_, of, err := restore.Denoise(t.Context(), noisy, restore.Method(restore.TV))
	require.NoError(t, err)
	require.Zero(t, of.MeansKept, "total variation keeps them by itself")
}
