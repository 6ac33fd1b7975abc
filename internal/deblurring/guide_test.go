package deblurring

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/denoise/refute"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/inverse"
	"github.com/averaged/imaging/internal/networks"
	"github.com/averaged/imaging/internal/outcome"
	"github.com/averaged/imaging/pnp"
	"github.com/averaged/imaging/weights"
	_ "github.com/averaged/imaging/weights/open"
)

// TestRadiiOfRunsUnderAttack: with the radii that the two runs of deblurring freeze, of a photograph's
// kind, the network keeps its constant: gradient ascent finds no pair that it moves apart, and near
// and far from what the run sees it is averaged with the α of the certificate.
func TestRadiiOfRunsUnderAttack(t *testing.T) {
	if testing.Short() {
		t.Skip("an attack on a network, of which TestCheckOfGuidedNetworks has one: go test ./... makes this, too")
	}
	dev := cputest.Open(t)
	defer dev.Close()
	const side = 28
	y := imageplanes.New(3, side, side)
	for i := range y.Pix {
		r, c := i/side%side, i%side
		y.Pix[i] = float32(0.5 + 0.3*math.Sin(float64(c*c)/40) + 0.02*float64(r%5) + 0.02*math.Cos(float64(7*i)))
	}
	kernel, err := deblur.Motion(5, 30)
	require.NoError(t, err)
	f, err := weights.Open(weights.Guided)
	require.NoError(t, err)
	job := Job{
		Options: inverse.Options{Strength: 1}, Device: dev, Adapt: true, Boundary: deblur.Circular,
		Choice: &networks.Choice{Method: weights.Guided, File: f},
	}
	d, err := job.New(t.Context(), y, OneKernel(kernel), &outcome.Report{Noise: outcome.Noise{Sigma: 0.03}})
	require.NoError(t, err)
	defer d.Free()
	x, err := d.start(t.Context(), StartWiener)
	require.NoError(t, err)
	for range 2 {
		phi, err := d.freeze(t.Context(), x)
		require.NoError(t, err)
		seen, err := d.data.Apply(t.Context(), dev, d.y, d.k, x, pnp.Options{Step: d.step})
		require.NoError(t, err)
		requireAveragedAround(t, dev, phi, seen)
		found, err := refute.Attack(t.Context(), d.network.Frozen, seen.Shape(), refute.AttackOptions{Restarts: 1, Iterations: 10})
		require.NoError(t, err)
		require.True(t, found.Gradients)
		require.False(t, found.Expansive(), "%+v", found)
		seen.Free()
		next, report, err := pnp.Solve(t.Context(), dev, d.y, d.k, phi, pnp.Options{
			DataStep: d.data, Step: d.step, Start: x, TakeStart: true, MaxIterations: 8, Acceleration: pnp.Anderson})
		require.NoError(t, err)
		alpha, proven := phi.Averagedness()
		require.True(t, proven)
		require.Equal(t, alpha, report.Certificate.Denoiser)
		require.True(t, report.Certificate.Converges())
		x = next
	}
	x.Free()
}

// requireAveragedAround checks ‖Φx − Φy‖² ≤ ‖x − y‖² − (1−α)/α·‖(x − Φx) − (y − Φy)‖² for an
// image and others at several distances from it.
func requireAveragedAround(t *testing.T, dev backend.Device, phi pnp.Denoiser, image backend.Buffer) {
	t.Helper()
	alpha, proven := phi.Averagedness()
	require.True(t, proven)
	require.Less(t, alpha, 1.0)
	shape := image.Shape()
	apply := func(x []float32) []float32 {
		src, err := dev.Alloc(shape)
		require.NoError(t, err)
		defer src.Free()
		dst, err := dev.Alloc(shape)
		require.NoError(t, err)
		defer dst.Free()
		require.NoError(t, dev.Upload(src, x))
		require.NoError(t, phi.Apply(context.Background(), dst, src))
		out := make([]float32, len(x))
		require.NoError(t, dev.Download(out, dst))
		return out
	}
	x := make([]float32, shape.Len())
	require.NoError(t, dev.Download(x, image))
	fx := apply(x)
	random := rand.New(rand.NewPCG(8, 9))
	for _, distance := range []float64{0.01, 0.1, 1} {
		for _, smooth := range []bool{false, true} {
			y := make([]float32, len(x))
			for i := range y {
				step := random.NormFloat64()
				if smooth {
					step = math.Sin(float64(i%shape.W) / 3)
				}
				y[i] = x[i] + float32(distance*step)
			}
			fy := apply(y)
			left, right, rest, size := 0.0, 0.0, 0.0, 0.0
			for i := range x {
				before, after := float64(x[i])-float64(y[i]), float64(fx[i])-float64(fy[i])
				left += after * after
				right += before * before
				rest += (before - after) * (before - after)
				size += float64(x[i]) * float64(x[i])
			}
			slack := 1e-5 * (2*math.Sqrt(size) + math.Sqrt(right)) * math.Sqrt(right)
			require.LessOrEqual(t, left, right-(1-alpha)/alpha*rest+slack, "at a distance of %v, smooth: %v", distance, smooth)
			require.Positive(t, rest, "the network does something")
		}
	}
}
