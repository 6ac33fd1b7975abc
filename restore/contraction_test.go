package restore_test

import (
	"math"
	"testing"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/restore"
	"github.com/averaged/imaging/weights"
	"github.com/stretchr/testify/require"
)

// distance is the Euclidean one.
func distance(x, y []float32) float64 {
	sum := 0.0
	for i, v := range x {
		d := float64(v) - float64(y[i])
		sum += d * d
	}
	return math.Sqrt(sum)
}

// A run that ends early is as near to where one that goes on ends as its error bar says; without
// a contraction there is no bar.
func TestErrorBarHolds(t *testing.T) {
	leaveRuns(t)
	x := picture(3, 24, 28)
	k, err := deblur.Box(3)
	require.NoError(t, err)
	y := noisy(blurred(t, x, k, deblur.Circular), 0.05, 5)
	small := restore.Network(loaded(t, newCPU(t), open(t, weights.Small)))
	for name, solve := range map[string]func(o ...restore.Option) ([]float32, *restore.Report, error){
		"total variation": func(o ...restore.Option) ([]float32, *restore.Report, error) {
			out, report, err := restore.Deblur(t.Context(), y, k, append(o, restore.Method("tv"), restore.Boundary(deblur.Circular))...)
			return pixels(out), report, err
		},
		"a network": func(o ...restore.Option) ([]float32, *restore.Report, error) {
			out, report, err := restore.Upscale(t.Context(), y, 2, append(o, small)...)
			return pixels(out), report, err
		},
	} {
		const q = 0.9
		o := []restore.Option{restore.Sigma(0.05), restore.Contraction(q)}
		end, report, err := solve(append(o, restore.Tolerance(1e-6))...)
		require.NoError(t, err)
		require.True(t, report.Iteration.Run.Certificate.FixedPointExists())
		require.InDelta(t, q, report.Iteration.Run.Certificate.Contraction, 1e-6)
		rest := report.Iteration.Run.ErrorBar
		for _, tolerance := range []float64{1e-2, 1e-3, 1e-4} {
			early, report, err := solve(append(o, restore.Tolerance(tolerance))...)
			require.NoError(t, err)
			require.True(t, report.Iteration.Converged)
			require.LessOrEqual(t, distance(early, end), report.Iteration.Run.ErrorBar+rest, "%s, %v", name, tolerance)
			require.Greater(t, report.Iteration.Run.ErrorBar, 3*rest, "the bar of a run that ended early is the wider one")
		}
		_, report, err = solve(restore.Sigma(0.05), restore.Iterations(3))
		require.NoError(t, err)
		require.True(t, math.IsInf(report.Iteration.Run.ErrorBar, 1))
	}
	for _, q := range []float64{0, 1, -1, math.NaN()} {
		_, _, err := restore.Deblur(t.Context(), y, k, restore.Contraction(q))
		require.ErrorContains(t, err, "Contraction")
	}
}
