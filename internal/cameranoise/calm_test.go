package cameranoise

import (
	"math"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/stretchr/testify/require"
)

// What is smoothed keeps its edges and loses noise where it is calm; what is constant stays.
func TestSmoothed(t *testing.T) {
	const h, w = 40, 48
	for _, channels := range []int{1, 3} {
		pix, clean := make([]float32, channels*h*w), make([]float32, channels*h*w)
		for i := range pix {
			clean[i] = 0.2
			if i%w >= w/2 {
				clean[i] = 0.8
			}
			pix[i] = clean[i] + 0.02*backend.GaussianAt(1, uint64(i))
		}
		same := Smoothed(clean[:h*w/2], h/2, w, 0)
		require.InDeltaSlice(t, clean[:h*w/2], same, 1e-6)
		deviation := func(v []float32) float64 {
			sum, n := 0.0, 0
			for i, x := range v {
				if c := i % w; c > 6 && c < w/2-6 || c > w/2+6 && c < w-6 {
					sum += math.Pow(float64(x-clean[i]), 2)
					n++
				}
			}
			return math.Sqrt(sum / float64(n))
		}
		before := deviation(pix)
		last := before
		for _, strength := range []float64{0.5, 1, 3} {
			v := Smoothed(pix, h, w, strength)
			require.Less(t, deviation(v), last)
			last = deviation(v)
			require.Greater(t, v[w/2+1]-v[w/2-2], float32(0.5), "the edge stays")
		}
		require.Less(t, last, 0.7*before)
	}
}

// A Gaussian keeps constants, and widens a point to the variance that it says.
func TestBlurred(t *testing.T) {
	const side = 41
	point := make([]float64, side*side)
	point[side*side/2] = 1
	for _, std := range []float64{0.8, 1.7, 3} {
		sum, variance := 0.0, 0.0
		for i, v := range blurredPlane(point, side, side, std) {
			sum += v
			variance += v * math.Pow(float64(i%side-side/2), 2)
		}
		require.InDelta(t, 1, sum, 1e-9)
		require.InEpsilon(t, std*std, variance, 0.05)
		for _, v := range Blurred(flat(9, 7, 0.3, 0.6, 0.9)[:63], 9, 7, std) {
			require.InDelta(t, 0.3, v, 1e-6)
		}
	}
}

// The mean of many smoothed shots is what SmoothedAs makes of the scene, not the scene: texture that
// is as weak as the noise is weakened with it.
func TestSmoothedAsIsTheMeanOfShots(t *testing.T) {
	const h, w, shots, strength = 40, 48, 400, 2
	scene := make([]float32, h*w)
	for i := range scene {
		scene[i] = float32(0.5 + 0.02*math.Sin(2.2*float64(i%w))*math.Cos(1.9*float64(i/w)))
	}
	mean, as := make([]float64, h*w), make([]float64, h*w)
	for shot := range uint64(shots) {
		noisy := make([]float32, h*w)
		for i := range noisy {
			noisy[i] = scene[i] + 0.02*backend.GaussianAt(shot, uint64(i))
		}
		for i, v := range Smoothed(noisy, h, w, strength) {
			mean[i] += float64(v) / shots
		}
		for i, v := range SmoothedAs(scene, noisy, h, w, strength) {
			as[i] += float64(v) / shots
		}
	}
	square := func(from []float64, to func(i int) float64) float64 {
		sum := 0.0
		for i, v := range from {
			sum += math.Pow(v-to(i), 2)
		}
		return sum
	}
	fromScene := square(mean, func(i int) float64 { return float64(scene[i]) })
	fromAs := square(mean, func(i int) float64 { return as[i] })
	require.Less(t, fromAs, 0.2*fromScene)
}
