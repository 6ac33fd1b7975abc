package pnp

import (
	"testing"

	"github.com/averaged/imaging/internal/cputest"
	"github.com/stretchr/testify/require"
)

// A run of a few iterations at a time, each from the result of the last, is the whole run, as Options.Progress says.
func TestPlainRunsContinueFromTheirResults(t *testing.T) {
	dev := cputest.Open(t)
	defer dev.Close()
	k := diagonal{dev, 4, 4, random(1, 16)}
	y := upload(t, dev, 4, 4, random(2, 16))
	opt := Options{MaxIterations: 9, Tolerance: -1}
	want, whole, err := Solve(t.Context(), dev, y, k, shrink(dev, 0.3), opt)
	require.NoError(t, err)
	defer want.Free()
	opt.MaxIterations, opt.TakeStart = 3, true
	var residuals []float64
	for range 3 {
		x, report, err := Solve(t.Context(), dev, y, k, shrink(dev, 0.3), opt)
		require.NoError(t, err)
		opt.Start = x
		residuals = append(residuals, report.Residuals...)
	}
	require.Equal(t, whole.Residuals, residuals)
	require.Equal(t, download(t, dev, want), download(t, dev, opt.Start))
	opt.Start.Free()
}
