package denoise

import (
	"image"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise/activation"
	"github.com/averaged/imaging/denoise/refute"
	"github.com/averaged/imaging/internal/nn/guide"
)

// leveled is a random network with a guide and noise levels, at half the resolution.
func leveled(t testing.TB) *Network {
	m := smallModel(t, 9, Architecture{
		Channels: 3, Width: 16, Blocks: 3, Group: 8, Activation: activation.Balls(), Shuffle: 2, Guide: []int{5, 6}, GuideSlope: 0.2,
		Sigmas: []float64{0.02, 0.1, 0.3},
	}, 1.3)
	return certified(t, newCPU(t), m)
}

// byLevels returns Φ_ρ with the radii of a map, and those.
func byLevels(t testing.TB, n *Network, s backend.Shape, x []float32, m *LevelMap, strength float64, most int) *Network {
	photograph := upload(t, n.dev, s, x)
	defer photograph.Free()
	radii, err := n.guideLevels(t.Context(), photograph, m, strength, most)
	require.NoError(t, err)
	f, err := n.Freeze(radii)
	require.NoError(t, err)
	t.Cleanup(f.Free)
	return f
}

// A constant map is the noise level of For and Guide, to rounding, and a map of 0 the identity.
func TestConstantLevels(t *testing.T) {
	family := leveled(t)
	s := backend.Image(3, 37, 53)
	x := randomImage(1, s)
	for _, sigma := range []float64{0.02, 0.06, 0.3} {
		n, err := family.For(t.Context(), sigma)
		require.NoError(t, err)
		defer n.Free()
		photograph := upload(t, n.dev, s, x)
		radii, err := n.Guide(t.Context(), photograph, sigma, 1.2)
		require.NoError(t, err)
		photograph.Free()
		want, err := n.Freeze(radii)
		require.NoError(t, err)
		defer want.Free()
		for _, most := range []int{maxRadii, 0} { // as numbers, and in bytes
			got := denoised(t, byLevels(t, n, s, x, ConstantLevels(s.H, s.W, sigma), 1.2, most), s, x)
			require.InDeltaSlice(t, denoised(t, want, s, x), got, map[bool]float64{true: 2e-3, false: 2e-2}[most > 0])
		}
		for _, most := range []int{maxRadii, 0} {
			require.Equal(t, x, denoised(t, byLevels(t, n, s, x, ConstantLevels(s.H, s.W, 0), 1, most), s, x))
		}
	}
}

func TestConstantLevelsOfNothing(t *testing.T) {
	for _, s := range [][2]int{{-4, 3}, {0, 0}, {math.MaxInt, math.MaxInt}} {
		require.Error(t, ConstantLevels(s[0], s[1], 0.1).Check(s[0], s[1]))
	}
}

// Where a map is 0 in half of the image, pixels far from the other half stay as they are.
func TestLevelsOfAHalf(t *testing.T) {
	n := leveled(t)
	s := backend.Image(3, 64, 192)
	x := randomImage(2, s)
	m := ConstantLevels(s.H, s.W, 0.1)
	for i := range m.Sigma {
		if i%m.Columns < 6 {
			m.Sigma[i] = 0
		}
	}
	out := denoised(t, byLevels(t, n, s, x, m, 1, maxRadii), s, x)
	changed := 0
	for i, v := range out {
		if i%s.W < 48 {
			require.Equal(t, x[i], v)
		} else if v != x[i] {
			changed++
		}
	}
	require.NotZero(t, changed)
}

// The constant holds for every map: an attack finds nothing beyond it.
func TestLevelsKeepTheConstant(t *testing.T) {
	n := leveled(t)
	s := backend.Image(3, 32, 48)
	m := ConstantLevels(s.H, s.W, 0)
	for i := range m.Sigma {
		m.Sigma[i] = float32(i%3) * 0.2
	}
	f := byLevels(t, n, s, randomImage(3, s), m, 3, maxRadii)
	require.Equal(t, n.Certificate().Averagedness, f.Certificate().Averagedness)
	restarts := 2
	if testing.Short() { // under emulation; go test ./... has both
		restarts = 1
	}
	report, err := refute.Attack(t.Context(), f, s, refute.AttackOptions{Restarts: restarts})
	require.NoError(t, err)
	require.LessOrEqual(t, report.Ratio, 1+report.Rounding)
}

// Levels of pixels lie between those of the squares around them, and are those at the centres.
func TestLevelsAreInterpolated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows, columns := rapid.IntRange(1, 5).Draw(t, "rows"), rapid.IntRange(1, 5).Draw(t, "columns")
		m := &LevelMap{Side: 16, Rows: rows, Columns: columns, Sigma: rapid.SliceOfN(rapid.Float32Range(0, 1), rows*columns, rows*columns).Draw(t, "levels")}
		h, w := rapid.IntRange(16*rows-15, 16*rows).Draw(t, "height"), rapid.IntRange(16*columns-15, 16*columns).Draw(t, "width")
		require.NoError(t, m.Check(h, w))
		r := backend.Region{Y1: h, X1: w}
		got := make([]float32, h*w)
		m.levels(got, r, 1)
		for i, v := range got {
			require.GreaterOrEqual(t, float64(v), m.Quantile(0)-1e-6)
			require.LessOrEqual(t, float64(v), m.Max()+1e-6)
			if y, x := i/w, i%w; y%16 == 8 && x%16 == 8 {
				require.InDelta(t, m.Sigma[y/16*columns+x/16], v, 0.1)
			}
		}
		// A window has the same bits.
		y, x := rapid.IntRange(0, h-1).Draw(t, "top"), rapid.IntRange(0, w-1).Draw(t, "left")
		part := make([]float32, (h-y)*(w-x))
		m.levels(part, backend.Region{Y0: y, Y1: h, X0: x, X1: w}, 1)
		for i, v := range part {
			require.Equal(t, got[(y+i/(w-x))*w+x+i%(w-x)], v)
		}
	})
}

func TestLevelMapRefuses(t *testing.T) {
	n := leveled(t)
	s := backend.Image(3, 40, 40)
	x := upload(t, n.dev, s, randomImage(4, s))
	defer x.Free()
	good := ConstantLevels(40, 40, 0.1)
	for name, m := range map[string]*LevelMap{
		"none":     nil,
		"other":    ConstantLevels(40, 56, 0.1),
		"short":    {Side: 16, Rows: 3, Columns: 3, Sigma: make([]float32, 8)},
		"negative": {Side: 16, Rows: 3, Columns: 3, Sigma: append(make([]float32, 8), -1)},
		"NaN":      {Side: 16, Rows: 3, Columns: 3, Sigma: append(make([]float32, 8), float32(math.NaN()))},
		"infinite": {Side: 16, Rows: 3, Columns: 3, Sigma: append(make([]float32, 8), float32(math.Inf(1)))},
		"no side":  {Rows: 3, Columns: 3, Sigma: make([]float32, 9)},
	} {
		_, err := n.GuideLevels(t.Context(), x, m, 1)
		require.Error(t, err, name)
	}
	_, err := n.GuideLevels(t.Context(), x, good, math.NaN())
	require.Error(t, err)
	_, err = certified(t, newCPU(t), guidedModel(t, 3, 1.3)).GuideLevels(t.Context(), x, good, 1)
	require.ErrorIs(t, err, ErrNoLevels)
	part := good.Part(image.Rect(16, 16, 40, 40))
	require.NoError(t, part.Check(24, 24))
}

// A code is near the factor that it stands for.
func TestMapCode(t *testing.T) {
	require.Zero(t, mapFactor(mapCode(0)))
	for f := float32(2. / 2048); f < 2; f *= 1.013 {
		require.InEpsilon(t, f, mapFactor(mapCode(f)), 0.016)
	}
	require.Equal(t, float32(2), mapFactor(mapCode(7)))
}

// A map without squares, and a share that is none, are not a panic.
func TestEmptyLevelMaps(t *testing.T) {
	for _, m := range []*LevelMap{ConstantLevels(0, 5, 0.1), ConstantLevels(5, -1, 0.1), {}, ConstantLevels(5, 5, 0.1).Part(image.Rect(3, 3, 3, 9))} {
		require.Error(t, m.Check(5, 5))
		require.Zero(t, m.Max())
		require.Zero(t, m.Quantile(0.5))
		require.Empty(t, m.Part(image.Rect(0, 0, 5, 5)).Sigma)
	}
	m := &LevelMap{Side: 1, Rows: 1, Columns: 3, Sigma: []float32{3, 1, 2}}
	for share, want := range map[float64]float64{-1: 1, 0: 1, 0.5: 2, 1: 3, math.Inf(1): 3, math.Inf(-1): 1} {
		require.Equal(t, want, m.Quantile(share), share)
	}
	require.Equal(t, 3.0, m.Max())
	require.Equal(t, 3.0, m.Quantile(math.NaN()))
}

// The table of codes is the formula that it takes the place of, but for what rounding does where two codes meet.
func TestMapCodeIsThatOfItsFormula(t *testing.T) {
	formula := func(factor float64) float64 { return 255 - 254*math.Log(factor/guide.MaxFactor)/mapEnd }
	check := func(factor float32) {
		want := min(max(formula(float64(factor)), 0), 255)
		require.LessOrEqual(t, math.Abs(float64(mapCode(factor))-want), 0.5+1e-4, "factor %v", factor)
	}
	for f := float32(1e-6); f < 10; f *= 1.0007 {
		check(f)
	}
	for code := range 256 { // beside each border
		f := float32(guide.MaxFactor * math.Exp((255.5-float64(code))/254*mapEnd))
		for _, factor := range []float32{math.Nextafter32(f, 0), f, math.Nextafter32(f, 8)} {
			check(factor)
		}
	}
	for _, none := range []float32{0, -1, float32(math.NaN()), float32(math.Inf(-1))} {
		require.Zero(t, mapCode(none))
	}
	require.Equal(t, uint8(255), mapCode(float32(math.Inf(1))))
}

// A rectangle that no image has, or a map that is none, gives a map without squares at once.
func TestPartsWithoutSquares(t *testing.T) {
	m := ConstantLevels(40, 50, 0.1)
	require.NoError(t, m.Part(image.Rect(-100, -100, 1000, 1000)).Check(1100, 1100))
	for _, r := range []image.Rectangle{
		{}, image.Rect(0, 0, 1<<20, 1<<20), image.Rect(math.MinInt/2, 0, math.MaxInt/2, 1), image.Rect(math.MinInt, math.MinInt, math.MaxInt, math.MaxInt),
	} {
		require.Equal(t, &LevelMap{Side: MapSide}, m.Part(r), "%v", r)
	}
	require.Empty(t, (&LevelMap{Rows: 1, Columns: 1, Sigma: []float32{1}}).Part(image.Rect(0, 0, 9, 9)).Sigma)
	require.Empty(t, (&LevelMap{Side: 16, Rows: 3, Columns: 3, Sigma: []float32{1}}).Part(image.Rect(0, 0, 90, 90)).Sigma)
}
