package restore_test

import (
	"math"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/pnp"
	"github.com/averaged/imaging/restore"
	"github.com/averaged/imaging/weights"
	"github.com/stretchr/testify/require"
)

// blurs are kernels of many kinds, from none to ones that leave little.
func blurs(t testing.TB) map[string]deblur.Kernel {
	kernels := map[string]deblur.Kernel{}
	add := func(name string) func(deblur.Kernel, error) {
		return func(k deblur.Kernel, err error) {
			require.NoError(t, err)
			kernels[name] = k
		}
	}
	add("none")(deblur.NewKernel([]float32{1}, 1, 1))
	add("Gaussian 0.4")(deblur.Gaussian(0.4))
	add("Gaussian 2")(deblur.Gaussian(2))
	add("box 7")(deblur.Box(7))
	add("disk 3")(deblur.Disk(3))
	add("motion 9")(deblur.Motion(9, 30))
	add("shake 13")(deblur.Shake(13, 4))
	return kernels
}

// shown is the part of x that a photograph of the size of y shows.
func shown(x, y *restore.Planar, k deblur.Kernel) *restore.Planar {
	if x.Height == y.Height && x.Width == y.Width {
		return x
	}
	return crop(x, k.H-1-k.CY, k.W-1-k.CX, y.Height, y.Width)
}

// With a network no kernel, boundary or noise level makes an image worse, and a noise level that
// is wrong by a factor of two costs less than 1.5 dB.
func TestDeblurByNetworkNeverHarms(t *testing.T) {
	leaveGains(t)
	n := restore.Network(loaded(t, newCPU(t), open(t, weights.Small)))
	x := picture(3, 64, 72) // large enough for an estimate of the noise
	for name, k := range blurs(t) {
		for _, c := range []struct {
			sigma    float64
			boundary deblur.Boundary
		}{{0.02, deblur.Circular}, {0.05, deblur.Unknown}, {0.1, deblur.Reflect}} {
			some := name == "Gaussian 2" || name == "shake 13"
			if !some && c.boundary != deblur.Circular { // with all kernels it takes long
				continue
			}
			y := noisy(blurred(t, x, k, c.boundary), c.sigma, 5)
			want := shown(x, y, k)
			restored := func(sigma float64) float64 {
				out, report, err := restore.Deblur(t.Context(), y, k, n, restore.Boundary(c.boundary), restore.Sigma(sigma))
				require.NoError(t, err)
				require.True(t, report.Iteration.Converged, "%s, noise of %v", name, c.sigma)
				require.True(t, report.Iteration.Run.Certificate.Converges())
				require.True(t, report.Iteration.Run.Certificate.FixedPointExists())
				return psnr(t, want, out.(*restore.Planar))
			}
			right := restored(c.sigma)
			require.Greater(t, right, psnr(t, want, y), "%s, noise of %v, %v", name, c.sigma, c.boundary)
			if !some || c.boundary != deblur.Circular {
				continue
			}
			for _, wrong := range []float64{c.sigma / 2, 2 * c.sigma} {
				require.Greater(t, restored(wrong), right-1.5, "%s, noise of %v that is said to be %v", name, c.sigma, wrong)
			}
		}
	}
}

// Deblur by a network is what it says: a run for the photograph, and one for the photograph
// and the residual of the first; and the second finds more in it.
func TestDeblurByNetworkRunsTwice(t *testing.T) {
	const sigma = 0.03
	dev := newCPU(t)
	n := loaded(t, dev, open(t, weights.Small))
	k, err := deblur.Shake(7, 4)
	require.NoError(t, err)
	photograph := noisy(blurred(t, picture(3, 40, 48), k, deblur.Circular), sigma, 5)
	out, report, err := restore.Deblur(t.Context(), photograph, k, restore.Network(n), restore.Sigma(sigma), restore.Boundary(deblur.Circular),
		restore.Start(restore.StartImage), restore.Adaptation(false))
	require.NoError(t, err)
	require.InDelta(t, restore.DeblurLevel(sigma, k), report.Network.Level, 1e-12)

	op, err := deblur.New(dev, k, deblur.Circular, photograph.Height, photograph.Width)
	require.NoError(t, err)
	defer op.Free()
	phi, err := n.For(t.Context(), report.Network.Level)
	require.NoError(t, err)
	defer phi.Free()
	shape := backend.Image(3, photograph.Height, photograph.Width)
	buffer := func() backend.Buffer {
		b, err := dev.Alloc(shape)
		require.NoError(t, err)
		t.Cleanup(b.Free)
		return b
	}
	y, twice, rest := buffer(), buffer(), buffer()
	require.NoError(t, dev.Upload(y, photograph.Pix))
	solve := func(y, start backend.Buffer, tolerance float64) (backend.Buffer, pnp.Report) {
		x, r, err := pnp.Solve(t.Context(), dev, y, op, phi, pnp.Options{
			DataStep: pnp.ProximalStep, Step: 10, Start: start, Tolerance: tolerance, Acceleration: pnp.Anderson,
		})
		require.NoError(t, err)
		t.Cleanup(x.Free)
		return x, r
	}
	left := func(x backend.Buffer) float64 {
		require.NoError(t, op.Apply(rest, x))
		var sum [1]float64
		require.NoError(t, dev.Reduce(sum[:], backend.Reduction{Kind: backend.DiffSquares, X: y, Y: rest}))
		return math.Sqrt(sum[0] / float64(shape.Len()))
	}
	first, before := solve(y, y, 4*restore.NetworkTolerance)
	leftFirst := left(first)
	require.NoError(t, dev.LinearCombination(twice, backend.Term{A: 2, X: y}, backend.Term{A: -1, X: rest}))
	second, after := solve(twice, first, restore.NetworkTolerance)
	pix := make([]float32, shape.Len())
	require.NoError(t, dev.Download(pix, second))
	require.Equal(t, pix, pixels(out))
	require.Equal(t, before.Iterations+after.Iterations, report.Iteration.Count)
	require.Equal(t, after.Residuals, report.Iteration.Run.Residuals)
	require.Less(t, left(second), leftFirst)
	require.InDelta(t, sigma, leftFirst, 0.2*sigma, "what is left is noise")
}

// The level follows the noise and the step, and what the first run leaves of a photograph
// tells where the noise is not what it was said to be.
func TestDeblurLevel(t *testing.T) {
	leaveGains(t)
	wide, err := deblur.Box(9)
	require.NoError(t, err)
	blot, err := deblur.Box(3)
	require.NoError(t, err)
	none, err := deblur.NewKernel([]float32{1}, 1, 1)
	require.NoError(t, err)
	require.InDelta(t, 2*restore.DeblurLevel(0.05, wide), restore.DeblurLevel(0.1, wide), 1e-12)
	require.Equal(t, restore.DeblurLevel(0.001, wide), restore.DeblurLevel(0, wide))
	require.InEpsilon(t, 3.24*0.05, restore.DeblurLevel(0.05, wide), 0.01)
	require.InEpsilon(t, 0.7*3.24*0.05, restore.DeblurLevel(0.05, none), 0.01)

	small := loaded(t, newCPU(t), open(t, weights.Small))
	y := noisy(blurred(t, picture(3, 80, 88), wide, deblur.Circular), 0.05, 5)
	level := func(o ...restore.Option) float64 {
		_, report, err := restore.Deblur(t.Context(), y, wide, append(o, restore.Network(small), restore.Boundary(deblur.Circular), restore.Adaptation(false))...)
		require.NoError(t, err)
		require.True(t, report.Iteration.Run.Certificate.Converges())
		return report.Network.Level
	}
	right := restore.DeblurLevel(0.05, wide)
	require.InDelta(t, right, level(restore.Sigma(0.05)), 1e-12)
	require.InDelta(t, 2*right, level(restore.Sigma(0.05), restore.Strength(2), restore.Iterations(1)), 1e-12)
	require.InDelta(t, right/2, level(restore.Sigma(0.05), restore.StepSize(2.5), restore.Iterations(1)), 1e-12)
	require.InDelta(t, right/2, level(restore.Sigma(0.025), restore.Iterations(1)), 1e-12, "one run corrects nothing")
	for _, wrong := range []float64{0.025, 0.1} {
		require.InEpsilon(t, right, level(restore.Sigma(wrong)), 0.05, "noise of 0.05 that is said to be %v", wrong)
		require.InEpsilon(t, right, level(restore.Sigma(wrong), restore.Iterations(2)), 0.05, "one run for each")
	}

	// Noise that comes in blots is underestimated, but what a run for the estimate leaves gives
	// it away.
	grain := noisy(restore.NewPlanar(3, 80, 88), 0.15, 6)
	y = blurred(t, picture(3, 80, 88), wide, deblur.Circular)
	for i, v := range blurred(t, grain, blot, deblur.Circular).Pix {
		y.Pix[i] += v
	}
	require.InDelta(t, right, level(restore.Sigma(0.05)), 1e-12)
}

// The second run follows what the first one shows.
func TestDeblurAdapts(t *testing.T) {
	leaveGains(t)
	k, err := deblur.Shake(9, 4)
	require.NoError(t, err)
	small := restore.Network(loaded(t, newCPU(t), open(t, weights.Small)))
	waves := drawn(64, 72, func(x, y int) float32 { return 0.5 + 0.3*float32(math.Sin(0.7*float64(x))*math.Sin(0.5*float64(y))) })
	factors := map[string]float64{}
	for name, x := range map[string]*restore.Planar{"edges": edges(64, 72), "waves": waves} {
		y := noisy(blurred(t, x, k, deblur.Circular), 0.02, 5)
		for _, given := range []restore.Option{restore.SigmaAuto(), restore.Sigma(0.02)} {
			_, report, err := restore.Deblur(t.Context(), y, k, small, given, restore.Boundary(deblur.Circular))
			require.NoError(t, err)
			require.InDelta(t, restore.DeblurLevel(report.Noise.Disturbance, k)*report.Network.Adaptation, report.Network.Level, 1e-12)
			require.True(t, report.Iteration.Run.Certificate.Converges())
			factors[name] = report.Network.Adaptation
		}
		_, report, err := restore.Deblur(t.Context(), y, k, small, restore.Sigma(0.02), restore.Boundary(deblur.Circular), restore.Adaptation(false))
		require.NoError(t, err)
		require.Zero(t, report.Network.Adaptation)
		require.InDelta(t, restore.DeblurLevel(0.02, k), report.Network.Level, 1e-12)
	}
	require.Greater(t, factors["edges"], 1.03*factors["waves"])
}
