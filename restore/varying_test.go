package restore_test

import (
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/restore"
	"github.com/stretchr/testify/require"
)

// A blur that varies from left to right is removed better with its kernels than with the one in the middle, and the
// run is proven to converge.
func TestDeblurVarying(t *testing.T) {
	leaveGains(t)
	grid := deblur.Grid{Rows: 1, Columns: 3}
	for _, angle := range []float64{20, 60, 100} {
		k, err := deblur.Motion(9, angle)
		require.NoError(t, err)
		grid.Kernels = append(grid.Kernels, k)
	}
	const h, w = 64, 96
	dev := cputest.Open(t)
	defer dev.Close()
	k, err := deblur.NewVarying(dev, grid, h, w)
	require.NoError(t, err)
	defer k.Free()
	dh, dw := k.Domain()
	truth := picture(1, dh, dw)
	x, err := dev.Wrap(backend.Image(1, dh, dw), truth.Pix)
	require.NoError(t, err)
	y := restore.NewPlanar(1, h, w)
	b, err := dev.Wrap(backend.Image(1, h, w), y.Pix)
	require.NoError(t, err)
	require.NoError(t, k.Apply(b, x))
	y = noisy(y, 2.55/255, 5)
	seen := restore.NewPlanar(1, h, w)
	require.NoError(t, k.Crop(seen.Pix, truth.Pix))

	options := []restore.Option{restore.Method("tv"), restore.Sigma(2.55 / 255)}
	many, report, err := restore.DeblurVarying(t.Context(), y, grid, options...)
	require.NoError(t, err)
	require.True(t, report.Iteration.Run.ConvergenceProven())
	require.Contains(t, report.Iteration.Run.Certificate.NormReason, "Schur")
	one, _, err := restore.Deblur(t.Context(), y, grid.Kernels[1], options...)
	require.NoError(t, err)
	require.Greater(t, psnr(t, seen, many.(*restore.Planar)), psnr(t, seen, one.(*restore.Planar))+2)
	require.Greater(t, psnr(t, seen, many.(*restore.Planar)), psnr(t, seen, y)+2)

	_, _, err = restore.DeblurVarying(t.Context(), y, grid, append(options, restore.Boundary(deblur.Circular))...)
	require.ErrorContains(t, err, "where the blur varies")
	_, _, err = restore.DeblurVarying(t.Context(), y, deblur.Grid{})
	require.ErrorContains(t, err, "grid")
}
