package noise_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/internal/noise"
	"github.com/averaged/imaging/internal/synthetic"
	"github.com/averaged/imaging/weights"
	_ "github.com/averaged/imaging/weights/open"
)

func shipped(t testing.TB, threads int) *noise.Network {
	f, err := weights.Open(weights.Levels)
	require.NoError(t, err)
	m, err := noise.FromFile(f)
	require.NoError(t, err)
	dev := cputest.Open(t, cpu.Threads(threads))
	n, err := noise.NewNetwork(dev, m)
	require.NoError(t, err)
	t.Cleanup(func() {
		n.Free()
		require.NoError(t, dev.Close())
	})
	return n
}

func smooth(h, w int) []float32 {
	pix := make([]float32, 3*h*w)
	for i := range pix {
		pix[i] = 0.5 + 0.3*float32(math.Sin(float64(i%w)/40)*math.Cos(float64(i/w%h)/30))
	}
	return pix
}

// White noise has the same magnitude in all bands, and what is constant none.
func TestBandsOfWhiteNoise(t *testing.T) {
	const side, sigma = 160, 0.1
	pix := synthetic.White(make([]float32, 3*side*side), sigma, 3)
	squares := (side / noise.Square) * (side / noise.Square)
	bands := noise.Bands(pix, side, side)
	require.Len(t, bands, noise.BandsOf*squares)
	for k := range noise.BandsOf {
		sum := 0.0
		for _, v := range bands[k*squares:][:squares] {
			sum += float64(v) / float64(squares)
		}
		require.InEpsilon(t, sigma*math.Sqrt(2/math.Pi), sum, 0.08, "band %d", k)
	}
	for _, v := range noise.Bands(make([]float32, 3*side*side), side, side) {
		require.Zero(t, v)
	}
}

func TestCounts(t *testing.T) {
	const side = 32
	pix := make([]float32, 3*side*side)
	for i := range pix {
		pix[i] = float32(i%side) / side
	}
	for c := range 3 { // a white square at the lower right
		for y := 16; y < side; y++ {
			for x := 16; x < side; x++ {
				pix[(c*side+y)*side+x] = 1
			}
		}
	}
	counts := noise.Counts(pix, side, side)
	require.InDelta(t, 1, counts[3], 1e-5)         // mean
	require.InDelta(t, 1./16, counts[4], 1e-5)     // black: the first column
	require.InDelta(t, 1, counts[8+3], 1e-5)       // white
	require.InDelta(t, 15./16, counts[12+3], 1e-5) // equal to the left
	require.InDelta(t, 0, counts[12+0], 1e-5)      // a ramp is not
}

func TestMagnitudes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, columns, side := rapid.IntRange(1, 4).Draw(t, "rows"), rapid.IntRange(1, 4).Draw(t, "columns"), rapid.IntRange(1, 4).Draw(t, "side")
		h, w := rows*side, columns*side
		x := rapid.SliceOfN(rapid.Float32Range(-1, 1), 2*h*w, 2*h*w).Draw(t, "x")
		got := noise.Magnitudes(x, 2, h, w, side)
		for c := range 2 {
			for i := range rows * columns {
				sum := 0.0
				for y := range side {
					for k := range side {
						sum += math.Abs(float64(x[(c*h+i/columns*side+y)*w+i%columns*side+k]))
					}
				}
				require.InDelta(t, sum/float64(side*side), got[c*rows*columns+i], 1e-5)
			}
		}
	})
}

// Levels rise with the number of the network, without a jump.
func TestLevel(t *testing.T) {
	require.Zero(t, noise.Level(-3))
	require.Zero(t, noise.Level(float32(math.NaN())))
	before := float32(0)
	for u := float32(0); u < 12; u += 0.01 {
		v := noise.Level(u)
		require.GreaterOrEqual(t, v, before)
		require.Less(t, v-before, float32(0.006))
		before = v
	}
	require.Equal(t, float32(noise.MaxLevel), before)
}

// What is said does not depend on threads, any size has an answer, and one sample changes nearly nothing.
func TestFind(t *testing.T) {
	one, two := shipped(t, 1), shipped(t, 2)
	r := rand.New(rand.NewPCG(1, 2))
	for _, size := range [][2]int{{1, 1}, {1, 40}, {15, 17}, {16, 16}, {97, 130}, {540, 70}} {
		h, w := size[0], size[1]
		pix := synthetic.White(smooth(h, w), 0.08, 5)
		a, err := one.Find(t.Context(), pix, nil, 3, h, w)
		require.NoError(t, err)
		b, err := two.Find(t.Context(), pix, nil, 3, h, w)
		require.NoError(t, err)
		require.Equal(t, a, b)
		require.Equal(t, [2]int{(h + 15) / 16, (w + 15) / 16}, [2]int{a.Rows, a.Columns})
		i := r.IntN(len(pix))
		pix[i] += 1. / 255
		b, err = one.Find(t.Context(), pix, nil, 3, h, w)
		require.NoError(t, err)
		if h > 90 {
			for k := range a.Levels {
				require.InDeltaSlice(t, a.Levels[k], b.Levels[k], 0.02)
			}
		}
	}
	grey := synthetic.White(smooth(64, 64)[:64*64], 0.08, 6)
	a, err := one.Find(t.Context(), grey, nil, 1, 64, 64)
	require.NoError(t, err)
	b, err := one.Find(t.Context(), append(append(append([]float32(nil), grey...), grey...), grey...), nil, 3, 64, 64)
	require.NoError(t, err)
	require.Equal(t, a, b)
	for _, wrong := range [][3]int{{2, 64, 32}, {3, 64, 64}, {1, 0, 5}} {
		_, err := one.Find(t.Context(), grey, nil, wrong[0], wrong[1], wrong[2])
		require.Error(t, err)
	}
}

// White noise of any level is found, about, and none in what is smooth.
func TestFindWhiteNoise(t *testing.T) {
	n := shipped(t, 2)
	const h, w = 160, 160
	for _, sigma := range []float64{0.02, 0.05, 0.1, 0.2} {
		said, err := n.Find(t.Context(), synthetic.White(smooth(h, w), sigma, 7), nil, 3, h, w)
		require.NoError(t, err)
		sum := 0.0
		for _, v := range said.Levels[0] {
			sum += float64(v) / float64(len(said.Levels[0]))
		}
		require.Greater(t, sum, 0.6*sigma, "%v", sigma)
		require.Less(t, sum, 2.5*sigma, "%v", sigma)
	}
	said, err := n.Find(t.Context(), smooth(h, w), nil, 3, h, w)
	require.NoError(t, err)
	for _, v := range said.Levels[said.Chosen] {
		require.Less(t, v, float32(0.004))
	}
}

// The levels do not depend on the tiles that they are computed in.
func TestFindInTiles(t *testing.T) {
	const h, w, side = 150, 230, 64
	n := shipped(t, 2)
	pix := smooth(h, w)
	for i, v := range synthetic.White(make([]float32, len(pix)), 0.05, 5) {
		pix[i] += v
	}
	whole, err := n.Find(t.Context(), pix, nil, 3, h, w)
	require.NoError(t, err)
	noise.UseTiles(n, side)
	tiled, err := n.Find(t.Context(), pix, nil, 3, h, w)
	require.NoError(t, err)
	require.Equal(t, whole.Chosen, tiled.Chosen)
	for k := range whole.Levels {
		require.InDeltaSlice(t, whole.Levels[k], tiled.Levels[k], 1e-6)
	}
}

// A photograph wider and higher than a tile.
func TestFindInALargeImage(t *testing.T) {
	h, w := 40, 1100
	n := shipped(t, 2)
	for range 2 {
		said, err := n.Find(t.Context(), smooth(h, w), nil, 3, h, w)
		require.NoError(t, err)
		require.Len(t, said.Levels[0], said.Rows*said.Columns)
		h, w = w, h
	}
}

// A file with other sizes, or numbers that are not finite, is an error.
func TestFromFileRefuses(t *testing.T) {
	open := func() *weights.File {
		f, err := weights.Open(weights.Levels)
		require.NoError(t, err)
		return f
	}
	card, err := open().Card()
	require.NoError(t, err)
	for name, change := range map[string]func(f *weights.File){
		"missing": func(f *weights.File) { f.Tensors = f.Tensors[1:] },
		"shape": func(f *weights.File) {
			tensor, err := weights.NewTensor("head.0.bias", weights.F32, []int{3}, make([]float32, 3))
			require.NoError(t, err)
			for i := range f.Tensors {
				if f.Tensors[i].Name == "head.0.bias" {
					f.Tensors[i] = tensor
				}
			}
		},
		"NaN": func(f *weights.File) {
			tensor, err := weights.NewTensor("choice.bias", weights.F32, []int{1}, []float32{float32(math.NaN())})
			require.NoError(t, err)
			for i := range f.Tensors {
				if f.Tensors[i].Name == "choice.bias" {
					f.Tensors[i] = tensor
				}
			}
		},
	} {
		f := open()
		change(f)
		require.NoError(t, f.SetCard(card))
		_, err := noise.FromFile(f)
		require.Error(t, err, name)
	}
	other, err := weights.Open(weights.Guided)
	require.NoError(t, err)
	_, err = noise.FromFile(other)
	require.Error(t, err)
}
