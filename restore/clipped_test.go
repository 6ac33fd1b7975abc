package restore_test

import (
	"image"
	"math"
	"slices"
	"testing"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/restore"
	"github.com/stretchr/testify/require"
)

// Lamps many times as bright as white, under a motion and clipped: beside the lamps the picture is restored as without
// them, where it was not while clipped samples were data, and the lamps are brighter than white. So it is, with a larger
// loss, if samples were mixed with their neighbours after they were clipped, as where a photograph is reduced.
func TestLamps(t *testing.T) {
	leaveGains(t)
	mean, err := deblur.NewKernel([]float32{1. / 16, 2. / 16, 1. / 16, 2. / 16, 4. / 16, 2. / 16, 1. / 16, 2. / 16, 1. / 16}, 3, 3)
	require.NoError(t, err)
	t.Run("clipped", func(t *testing.T) { testLamps(t, 2, 1.5, func(p *restore.Planar) *restore.Planar { return p }) })
	t.Run("mixed", func(t *testing.T) {
		testLamps(t, 6, 3, func(p *restore.Planar) *restore.Planar { return blurred(t, p, mean, deblur.Circular) })
	})
}

func testLamps(t *testing.T, side int, most float64, mixed func(*restore.Planar) *restore.Planar) {
	const h, w, size = 80, 96, 9
	kernel, err := deblur.Motion(size, 60)
	require.NoError(t, err)
	plain := picture(1, h+kernel.H-1, w+kernel.W-1)
	lit := restore.NewPlanar(1, plain.Height, plain.Width)
	copy(lit.Pix, plain.Pix)
	lamps := []image.Point{{X: 30, Y: 30}, {X: 71, Y: 52}}
	for _, p := range lamps {
		for i := range side * side {
			lit.Pix[(p.Y+i/side)*lit.Width+p.X+i%side] = 10
		}
	}
	photograph := func(p *restore.Planar) *restore.Planar {
		q := noisy(blurred(t, p, kernel, deblur.Unknown), 2.55/255, 7)
		for i, v := range q.Pix {
			q.Pix[i] = min(max(v, 0), 1)
		}
		q = mixed(q)
		for i, v := range q.Pix {
			q.Pix[i] = float32(math.Round(float64(v*255)) / 255)
		}
		return q
	}
	truth := mixed(plain)
	top, left := kernel.H-1-kernel.CY, kernel.W-1-kernel.CX
	beside := func(p *restore.Planar) (psnr float64) {
		sum, n := 0.0, 0.0
		for y := range h {
			for x := range w {
				near := slices.ContainsFunc(lamps, func(l image.Point) bool {
					return max(x+left-l.X, l.X-x-left) < size+side && max(y+top-l.Y, l.Y-y-top) < size+side
				})
				if !near {
					d := float64(p.Pix[y*w+x] - truth.Pix[(y+top)*plain.Width+x+left])
					sum, n = sum+d*d, n+1
				}
			}
		}
		return 10 * math.Log10(n/sum)
	}
	run := func(p *restore.Planar) (*restore.Planar, *restore.Report) {
		out, report, err := restore.Deblur(t.Context(), p, kernel, restore.Method("tv"), restore.Sigma(2.55/255))
		require.NoError(t, err)
		return out.(*restore.Planar), report
	}
	without, report := run(photograph(plain))
	require.Zero(t, report.Noise.Clipped)
	require.True(t, report.Iteration.Run.ConvergenceProven())
	require.Equal(t, 1.0, report.Iteration.Run.Certificate.Peak)
	dark := photograph(lit)
	with, report := run(dark)
	require.True(t, report.Iteration.Run.Certificate.Converges() && report.Iteration.Run.Certificate.FixedPointExists())
	require.InDelta(t, 0.015, report.Noise.Clipped, 0.01)
	require.Greater(t, slices.Max(with.Pix), float32(2))
	require.LessOrEqual(t, slices.Max(with.Pix), float32(restore.MaxBrightness))
	require.Greater(t, beside(with), beside(without)-most)
	// What lies behind clipped samples is a small part of the image, so a network's run goes on until less is left.
	tolerance := func(p *restore.Planar) float64 {
		_, report, err := restore.Deblur(t.Context(), p, kernel, restore.Method("strict"), restore.Sigma(2.55/255), restore.Iterations(1))
		require.NoError(t, err)
		return report.Iteration.Tolerance
	}
	require.Less(t, tolerance(dark), 0.6*tolerance(photograph(plain)))
	// A photograph that holds anything above white is not clipped there: all is data.
	dark.Pix[0] = 1.001
	data, report := run(dark)
	require.Zero(t, report.Noise.Clipped)
	require.Less(t, beside(data), beside(with)-1)
}

// White that is in the picture stays white: its clipped noise is data where the image is not brighter.
func TestOverexposed(t *testing.T) {
	leaveGains(t)
	kernel, err := deblur.Gaussian(1)
	require.NoError(t, err)
	truth := restore.NewPlanar(1, 48, 48)
	for i := range truth.Pix {
		truth.Pix[i] = 0.4
		if i%48 > 20 {
			truth.Pix[i] = 1
		}
	}
	y := noisy(blurred(t, truth, kernel, deblur.Circular), 0.05, 3)
	for i, v := range y.Pix {
		y.Pix[i] = min(v, 1)
	}
	out, report, err := restore.Deblur(t.Context(), y, kernel, restore.Method("tv"), restore.Sigma(0.05), restore.Boundary(deblur.Circular))
	require.NoError(t, err)
	require.Greater(t, report.Noise.Clipped, 0.2)
	mean := 0.0
	for y := range 48 {
		for x := 28; x < 42; x++ {
			mean += float64(out.(*restore.Planar).Pix[y*48+x]) / (48 * 14)
		}
	}
	require.InDelta(t, 1, mean, 0.035)
}

// White beyond the reach of the kernel, as around an object on white paper, stays white, though every sample there is
// clipped: a network whose run had no data there made it grey.
func TestWhiteBackground(t *testing.T) {
	leaveGains(t)
	kernel, err := deblur.Motion(9, 30)
	require.NoError(t, err)
	truth := picture(1, 72, 88)
	for i := range truth.Pix {
		if y, x := i/88-36, i%88-30; y*y+x*x > 20*20 {
			truth.Pix[i] = 1
		} else {
			truth.Pix[i] *= 0.8
		}
	}
	photograph := noisy(blurred(t, truth, kernel, deblur.Unknown), 0.5/255, 3)
	for i, v := range photograph.Pix {
		photograph.Pix[i] = min(v, 1)
	}
	out, report, err := restore.Deblur(t.Context(), photograph, kernel, restore.Method("original"))
	require.NoError(t, err)
	require.Greater(t, report.Noise.Clipped, 0.2)
	x := out.(*restore.Planar)
	for y := range x.Height {
		for column := 66; column < x.Width; column++ {
			require.InDelta(t, 1, min(x.Pix[y*x.Width+column], 1), 3./255, "row %d, column %d", y, column)
		}
	}
}
