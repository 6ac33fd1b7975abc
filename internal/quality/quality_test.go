package quality

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestMSEAndPSNRByHand(t *testing.T) {
	ref := []float32{0, 0.5, 0.25, 0.25}
	est := []float32{0.5, 0.5, 0.25, -0.25}
	mse, err := MSE(ref, est)
	require.NoError(t, err)
	require.Equal(t, 0.125, mse) // (¼ + ¼)/4

	psnr, err := PSNR(ref, est, 1)
	require.NoError(t, err)
	require.InDelta(t, 9.030899869919436, psnr, 1e-12) // 10·log₁₀ 8

	require.Equal(t, 0.5, Peak(ref))
	paper, err := PSNR(ref, est, Peak(ref))
	require.NoError(t, err)
	require.InDelta(t, 3.010299956639812, paper, 1e-12) // 10·log₁₀ 2

	same, err := PSNR(ref, ref, 1)
	require.NoError(t, err)
	require.True(t, math.IsInf(same, 1))
	require.True(t, math.IsInf(Peak(nil), -1))
}

func TestMSELongSum(t *testing.T) {
	// 2²⁴ + 1 equal errors that float32 cannot sum up.
	n := 1<<24 + 1
	ref, est := make([]float32, n), make([]float32, n)
	for i := range est {
		est[i] = 0.25
	}
	mse, err := MSE(ref, est)
	require.NoError(t, err)
	require.Equal(t, 0.0625, mse)
}

func TestErrors(t *testing.T) {
	one, two := make([]float32, 1), make([]float32, 2)
	_, err := MSE(one, two)
	require.ErrorIs(t, err, ErrShape)
	_, err = MSE(nil, nil)
	require.ErrorIs(t, err, ErrShape)
	_, err = PSNR(one, two, 1)
	require.ErrorIs(t, err, ErrShape)
	for _, peak := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		_, err = PSNR(one, one, peak)
		require.ErrorContains(t, err, "peak")
	}
	_, err = SSIM(one, two, 1, 1, 1)
	require.ErrorIs(t, err, ErrShape)
	_, err = SSIM(make([]float32, 121), make([]float32, 121), 1, 10, 12)
	require.ErrorIs(t, err, ErrShape)
	_, err = SSIM(make([]float32, 110), make([]float32, 110), 1, 10, 11)
	require.ErrorIs(t, err, ErrTooSmall)
	_, err = SSIM(make([]float32, 110), make([]float32, 110), 1, 11, 10)
	require.ErrorIs(t, err, ErrTooSmall)
	_, err = SSIM(nil, nil, 1, 0, 0)
	require.ErrorIs(t, err, ErrShape)
}

func TestSSIMByHand(t *testing.T) {
	constant := func(v float32) []float32 {
		p := make([]float32, 15*12)
		for i := range p {
			p[i] = v
		}
		return p
	}
	// Of constant images variances vanish: (2ab + C₁)/(a² + b² + C₁).
	s, err := SSIM(constant(0.5), constant(0.25), 1, 15, 12)
	require.NoError(t, err)
	require.InDelta(t, (0.25+1e-4)/(0.3125+1e-4), s, 1e-12)

	// A checkerboard against its opposite: one window, mean ½ ± e and variance
	// ¼ − e², where e = ½·(Σ (−1)ⁱ gᵢ)²; the covariance is minus the variance.
	board, inverse := make([]float32, 121), make([]float32, 121)
	for i := range board {
		board[i] = float32(i % 2)
		inverse[i] = 1 - board[i]
	}
	alternating, sum := 0.0, 0.0
	for i := -5; i <= 5; i++ {
		g := math.Exp(-float64(i*i) / 4.5)
		sum += g
		alternating += g * float64(1-2*(i&1))
	}
	e := alternating * alternating / sum / sum / 2
	a, b, v := 0.5+e, 0.5-e, 0.25-e*e
	s, err = SSIM(board, inverse, 1, 11, 11)
	require.NoError(t, err)
	require.InDelta(t, (2*a*b+1e-4)*(-2*v+9e-4)/((a*a+b*b+1e-4)*(2*v+9e-4)), s, 1e-12)
}

// naiveSSIM follows the definition: every window on its own, in two dimensions,
// variances from differences to the mean.
func naiveSSIM(x, y []float32, channels, h, w int) float64 {
	var g [11][11]float64
	sum := 0.0
	for i := range g {
		for j := range g[i] {
			g[i][j] = math.Exp(-float64((i-5)*(i-5)+(j-5)*(j-5)) / (2 * 1.5 * 1.5))
			sum += g[i][j]
		}
	}
	total, count := 0.0, 0
	for c := range channels {
		for top := 0; top+11 <= h; top++ {
			for left := 0; left+11 <= w; left++ {
				at := func(p []float32, i, j int) float64 { return float64(p[(c*h+top+i)*w+left+j]) }
				mx, my := 0.0, 0.0
				for i := range g {
					for j := range g[i] {
						mx += g[i][j] / sum * at(x, i, j)
						my += g[i][j] / sum * at(y, i, j)
					}
				}
				vx, vy, cov := 0.0, 0.0, 0.0
				for i := range g {
					for j := range g[i] {
						dx, dy := at(x, i, j)-mx, at(y, i, j)-my
						vx += g[i][j] / sum * dx * dx
						vy += g[i][j] / sum * dy * dy
						cov += g[i][j] / sum * dx * dy
					}
				}
				total += (2*mx*my + 1e-4) * (2*cov + 9e-4) / ((mx*mx + my*my + 1e-4) * (vx + vy + 9e-4))
				count++
			}
		}
	}
	return total / float64(count)
}

func TestSSIMFollowsTheDefinition(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, size := range [][3]int{{1, 11, 11}, {3, 12, 17}, {1, 90, 13}, {2, 75, 12}} {
		c, h, w := size[0], size[1], size[2]
		x, y := make([]float32, c*h*w), make([]float32, c*h*w)
		for i := range x {
			x[i] = random.Float32()
			y[i] = x[i] + 0.2*float32(random.NormFloat64())
		}
		got, err := SSIM(x, y, c, h, w)
		require.NoError(t, err)
		require.InDelta(t, naiveSSIM(x, y, c, h, w), got, 1e-12, "%v", size)
	}
}

func TestSSIMProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, w := rapid.IntRange(11, 20).Draw(t, "h"), rapid.IntRange(11, 20).Draw(t, "w")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		x, y := make([]float32, h*w), make([]float32, h*w)
		for i := range x {
			x[i], y[i] = random.Float32(), random.Float32()
		}
		same, err := SSIM(x, x, 1, h, w)
		require.NoError(t, err)
		require.InDelta(t, 1, same, 1e-9)
		xy, err := SSIM(x, y, 1, h, w)
		require.NoError(t, err)
		yx, err := SSIM(y, x, 1, h, w)
		require.NoError(t, err)
		require.InDelta(t, xy, yx, 1e-12)
		require.Less(t, xy, same)
	})
}
