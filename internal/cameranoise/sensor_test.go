package cameranoise

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
)

// moments returns mean, variance and third central moment of n numbers.
func moments(n int, at func(i int) float64) (mean, variance, third float64) {
	for i := range n {
		mean += at(i) / float64(n)
	}
	for i := range n {
		d := at(i) - mean
		variance += d * d / float64(n)
		third += d * d * d / float64(n)
	}
	return mean, variance, third
}

func TestPoisson(t *testing.T) {
	const n = 60000
	draw := func(mean float64) func(i int) float64 {
		return func(i int) float64 {
			return poisson(mean, backend.UniformAt(1, uint64(i)), backend.GaussianAt(1, uint64(i)))
		}
	}
	for _, mean := range []float64{0, 0.01, 0.7, 3, 19.9, 20.1, 100, 5000} {
		m, v, third := moments(n, draw(mean))
		// Five standard errors; the fourth central moment is μ + 3μ², the sixth below 15μ³ + 40μ² + μ.
		require.InDelta(t, mean, m, 5*math.Sqrt(mean/n), "mean %v", mean)
		require.InDelta(t, mean, v, 5*math.Sqrt((mean+2*mean*mean)/n), "mean %v", mean)
		require.InDelta(t, mean, third, 5*math.Sqrt((15*mean*mean*mean+40*mean*mean+mean)/n)+0.02*mean, "mean %v", mean)
	}
	// The whole distribution, where it is exact.
	for _, mean := range []float64{0.5, 4, 18} {
		var counts [80]float64
		at := draw(mean)
		for i := range n {
			counts[int(at(i))]++
		}
		p := math.Exp(-mean)
		for k := range counts {
			if k > 0 {
				p *= mean / float64(k)
			}
			require.InDelta(t, p, counts[k]/n, 5*math.Sqrt(p*(1-p)/n)+1e-9, "mean %v, %d", mean, k)
		}
	}
	require.Less(t, poisson(20, 1-0x1p-53, 0), 100.0, "the last uniform number ends the search")
}

func TestExponential(t *testing.T) {
	for x := 0.0; x > -64; x -= 0.37 {
		require.InEpsilon(t, math.Exp(x), exponential(x), 1e-13)
	}
	require.Zero(t, exponential(-5000))
}

// The noise of a pixel has the variance λs·x + λr, in the units of the light.
func TestNoiseIsAffine(t *testing.T) {
	const n = 40000
	for _, iso := range []float64{100, 3200, 51200} {
		c := Typical()
		c.ISO, c.Bits, c.BlackLevel, c.ReadNoise = iso, 0, 0.4, 2
		s := c.sensor(5, true)
		for _, light := range []float32{0.1, 0.3, 0.5} {
			mean, variance, _ := moments(n, func(i int) float64 { return float64(s.pixel(i, light, 0)) })
			want := c.ShotNoise()*float64(light) + c.ReadVariance()
			require.InDelta(t, float64(light), mean, 5*math.Sqrt(want/n), "ISO %v, %v", iso, light)
			require.InEpsilon(t, want, variance, 0.03, "ISO %v, %v", iso, light)
		}
	}
}

// Without a black level noise is clipped at black, and the mean of max(N(x, σ²), 0) is above x.
func TestClippingBrightensShadows(t *testing.T) {
	const n = 60000
	c := Typical()
	c.Bits, c.FullWell, c.ReadNoise = 0, 1000, 3 // Gaussian read noise counts most
	shift := func(black float64, light float32) float64 {
		c.BlackLevel = black
		s := c.sensor(9, true)
		mean, _, _ := moments(n, func(i int) float64 { return float64(s.pixel(i, light, 0)) })
		return mean - float64(light)
	}
	sigma := math.Sqrt(c.ReadVariance())
	require.InDelta(t, sigma/math.Sqrt(2*math.Pi), shift(0, 0), 5*sigma/math.Sqrt(n))
	require.InDelta(t, 0, shift(0.85, 0), 5*sigma/math.Sqrt(n), "a black level keeps what is below black")
	require.Greater(t, shift(0, 0.01), shift(0, 0.1))
}

func TestDigits(t *testing.T) {
	c := Typical()
	c.Bits, c.BlackLevel = 10, 1./16
	s := c.sensor(1, true)
	seen := map[float32]bool{}
	for i := range 5000 {
		v := s.digits(float32(i)/4000 - 0.1)
		number := (float64(v)*(1-1./16) + 1./16) * 1023
		require.InDelta(t, math.Round(number), number, 1e-3)
		require.True(t, number > -0.5 && number < 1023.5)
		seen[v] = true
	}
	require.Len(t, seen, 1024, "all numbers occur")
	require.Equal(t, float32(1), s.digits(1.3), "clipped at white")
	require.InDelta(t, -1./15, s.digits(-1), 1e-6, "clipped at the sensor's zero")
}

func TestRowNoise(t *testing.T) {
	c := Typical()
	c.RowNoise = 2
	s := c.sensor(3, true)
	_, variance, _ := moments(20000, func(i int) float64 { return float64(s.rowNoise(i)) })
	require.InEpsilon(t, 4*c.ReadVariance(), variance, 0.05)
	c.RowNoise = 0
	s = c.sensor(3, true)
	require.Zero(t, s.rowNoise(7))
}

func TestReadNoiseFollowsShotNoise(t *testing.T) {
	c := Typical()
	c.FullWell, c.ISO = 10000, 100 // λs = 1e-4
	require.InEpsilon(t, math.Exp(2.18*math.Log(1e-4)+1.2), c.ReadVariance(), 1e-6)
	c.ISO = 0
	require.Zero(t, c.ShotNoise())
	require.Zero(t, c.ReadVariance())
}
