package hostblur

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/fft"
	"github.com/averaged/imaging/internal/parallel"
)

// turning are windows of n parts of an axis that sum to 1, each 0 beyond the middles of its neighbours.
func turning(n, size int) [][]float32 {
	all := make([][]float32, n)
	for i := range all {
		all[i] = make([]float32, size)
		for s := range all[i] {
			at := (float64(s)+.5)*float64(n)/float64(size) - .5
			all[i][s] = float32(max(0, 1-math.Abs(min(max(at, 0), float64(n-1))-float64(i))))
		}
	}
	return all
}

// However an axis is cut into tiles, the blur and its adjoint are the sums of the definition, to less than Rounding.
func TestVaryingIsItsDefinition(t *testing.T) {
	pool := parallel.New(3)
	defer pool.Close()
	rapid.Check(t, func(t *rapid.T) {
		number := func(from, to int, name string) int { return rapid.IntRange(from, to).Draw(t, name) }
		rows, columns, kh, kw := number(1, 3, "rows"), number(1, 4, "columns"), number(1, 5, "kh"), number(1, 7, "kw")
		beyond := rapid.OneOf(rapid.IntRange(3, 12), rapid.IntRange(bandRows, 3*bandRows)).Draw(t, "h")
		s := backend.BlurSpec{KH: kh, KW: kw, H: kh + beyond, W: kw + number(5, 90, "w"), Boundary: backend.Valid}
		s.Rows, s.Columns = turning(rows, s.H), turning(columns, s.W)
		weight := rapid.Float32Range(-1, 1)
		s.Kernel = rapid.SliceOfN(weight, rows*columns*kh*kw, rows*columns*kh*kw).Draw(t, "kernels")
		if rapid.Bool().Draw(t, "boxes") { // of weights, around which there are none
			for i := range rows * columns {
				top, left := number(0, kh, "top"), number(0, kw, "left")
				bottom, right := number(top, kh, "bottom"), number(left, kw, "right")
				for j := range kh * kw {
					if y, x := j/kw, j%kw; y < top || y >= bottom || x < left || x >= right {
						s.Kernel[i*kh*kw+j] = 0
					}
				}
			}
		}
		s.Method = backend.BlurMethod(number(0, 2, "method"))
		require.NoError(t, s.Check())
		const planes = 2
		h, w := s.Range()
		x, y := make([]float32, planes*s.H*s.W), make([]float32, planes*h*w)
		seed := uint32(number(1, 1<<20, "seed"))
		for _, v := range [][]float32{x, y} {
			for i := range v {
				seed = seed*1664525 + 1013904223
				v[i] = float32(seed)/float32(1<<31) - 1
			}
		}

		kx, kty := make([]float64, len(y)), make([]float64, len(x))
		for i := range y {
			plane, at := i/(h*w), i%(h*w)
			for k, weight := range s.Kernel {
				of, j := k/(kh*kw), k%(kh*kw)
				v, u := at/w+kh-1-j/kw, at%w+kw-1-j%kw
				q := (plane*s.H+v)*s.W + u
				a := float64(weight) * float64(s.Rows[of/columns][v]) * float64(s.Columns[of%columns][u])
				kx[i] += a * float64(x[q])
				kty[q] += a * float64(y[i])
			}
		}

		b := newVarying(s, number(kw+kh, 60, "period"))
		kernels, err := fft.Selected()
		require.NoError(t, err)
		require.NoError(t, b.prepare(kernels, pool))
		r := b.rounding()
		require.Less(t, r, 1e-2)
		for _, c := range []struct {
			apply func(pool *parallel.Pool, planes int, dst, src []float32) error
			src   []float32
			want  []float64
		}{{b.apply, x, kx}, {b.applyAdjoint, y, kty}} {
			got := make([]float32, len(c.want))
			for i := range got {
				got[i] = float32(math.NaN()) // what was there is overwritten
			}
			require.NoError(t, c.apply(pool, planes, got, c.src))
			var off, norm float64
			for i := range got {
				off += (float64(got[i]) - c.want[i]) * (float64(got[i]) - c.want[i])
			}
			for _, v := range c.src {
				norm += float64(v) * float64(v)
			}
			require.LessOrEqual(t, math.Sqrt(off), r*math.Sqrt(norm))
		}
	})
}

// Tiles of one group, which are computed at the same time, reach no sample of the result twice.
func TestTilesApart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		windows, k := turning(rapid.IntRange(1, 6).Draw(t, "n"), rapid.IntRange(1, 200).Draw(t, "size")), rapid.IntRange(1, 30).Draw(t, "k")
		all := cut(pieces(windows, k), rapid.IntRange(1, 60).Draw(t, "length"))
		apart := distance(all, k)
		require.LessOrEqual(t, apart, len(all))
		for i, p := range all {
			for j := i + apart; j < len(all); j += apart {
				require.GreaterOrEqual(t, all[j].first-k+1, p.end)
			}
		}
	})
}

// Pieces cover an axis once, and have all windows that are not 0 in them; a sample in the very middle of a part makes no piece
// of its own.
func TestPieces(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, size, k := rapid.IntRange(1, 5).Draw(t, "n"), rapid.IntRange(1, 300).Draw(t, "size"), rapid.IntRange(1, 9).Draw(t, "k")
		windows := turning(n, size)
		all := pieces(windows, k)
		require.LessOrEqual(t, len(all), 2*n)
		length := rapid.IntRange(1, 300).Draw(t, "length")
		end := 0
		for _, p := range cut(all, length) {
			require.Equal(t, end, p.first)
			require.LessOrEqual(t, p.len(), length)
			for s := p.first; s < p.end; s++ {
				for i, w := range windows {
					require.True(t, w[s] == 0 || i >= p.lo && i < p.hi)
				}
			}
			end = p.end
		}
		require.Equal(t, size, end)
	})
}
