package denoise

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/denoise/activation"
	"github.com/averaged/imaging/denoise/refute"
	"github.com/averaged/imaging/internal/devicetest"
	"github.com/averaged/imaging/weights"
)

// guidedModel is a random network with a random guide, at half the resolution.
func guidedModel(t testing.TB, seed uint64, norm float64) Model {
	return smallModel(t, seed, Architecture{Channels: 3, Width: 16, Blocks: 3, Group: 8, Activation: activation.Balls(), Shuffle: 2, Guide: []int{5, 6}, GuideSlope: 0.2}, norm)
}

// frozenFor returns Φ_ρ with the radii of the photograph x.
func frozenFor(t testing.TB, n *Network, s backend.Shape, x []float32, strength float64) *Network {
	photograph := upload(t, n.dev, s, x)
	defer photograph.Free()
	radii, err := n.Guide(t.Context(), photograph, 0.1, strength)
	require.NoError(t, err)
	f, err := n.Freeze(radii)
	require.NoError(t, err)
	t.Cleanup(f.Free)
	return f
}

// withRadii returns Φ_ρ with radii from a function of block, group and place.
func withRadii(t require.TestingT, n *Network, s backend.Shape, radius func(block, group, y, x int) float32) *Network {
	coarse := s
	if n.shuffle > 1 {
		coarse = s.Unshuffled(n.shuffle)
	}
	var values [][]float32
	for i, groups := range n.Groups() {
		var v []float32
		for range s.N {
			for g := range groups {
				for y := range coarse.H {
					for x := range coarse.W {
						v = append(v, radius(i, g, y, x))
					}
				}
			}
		}
		values = append(values, v)
	}
	r, err := n.RadiiOf(s, values)
	require.NoError(t, err)
	f, err := n.Freeze(r)
	require.NoError(t, err)
	return f
}

// TestConstantGuide: the network of today is the guided one whose radii are the same
// everywhere, to the bit.
func TestConstantGuide(t *testing.T) {
	n := certified(t, newCPU(t), guidedModel(t, 3, 1.3))
	s := backend.Image(3, 37, 51)
	x := randomImage(1, s)
	m := guidedModel(t, 3, 1.3)
	f := withRadii(t, n, s, func(block, group, _, _ int) float32 { return m.Blocks[block].Radius[group] })
	defer f.Free()
	require.Equal(t, denoised(t, n, s, x), denoised(t, f, s, x))
}

// TestStrength: 0 is the identity, and radii without end make the blocks linear.
func TestStrength(t *testing.T) {
	n := certified(t, newCPU(t), guidedModel(t, 4, 1.3))
	s := backend.Image(3, 22, 31)
	x := randomImage(2, s)
	require.Equal(t, x, denoised(t, frozenFor(t, n, s, x, 0), s, x))
	full, half := denoised(t, frozenFor(t, n, s, x, 1), s, x), denoised(t, frozenFor(t, n, s, x, 0.5), s, x)
	require.Greater(t, between(full, half), 1e-3)
	for _, r := range []float32{float32(math.Inf(1)), math.MaxFloat32} {
		f := withRadii(t, n, s, func(_, _, _, _ int) float32 { return r })
		a, b := denoised(t, f, s, x), denoised(t, f, s, make([]float32, len(x)))
		twice := make([]float32, len(x))
		for i := range x {
			twice[i] = 2 * x[i]
		}
		c := denoised(t, f, s, twice)
		for i := range c {
			require.InDelta(t, 2*a[i]-b[i], c[i], 1e-4)
		}
		f.Free()
	}
}

// TestFrozenTilesChangeNothing: frozen networks have the same bits for every tile, and guides
// give the same radii on any number of threads.
func TestFrozenTilesChangeNothing(t *testing.T) {
	s := backend.Image(3, 53, 61)
	x := randomImage(3, s)
	m := guidedModel(t, 5, 1.3)
	want := denoised(t, frozenFor(t, certified(t, newCPU(t), m), s, x, 1), s, x)
	for _, side := range []int{12, 24, 50} {
		n := certified(t, newCPU(t, cpu.Threads(1)), m, Tile(side))
		require.Equal(t, want, denoised(t, frozenFor(t, n, s, x, 1), s, x), "tiles of %d", side)
	}
}

// TestFrozenRescaled: s·Φ(·/s) has radii s times as large.
func TestFrozenRescaled(t *testing.T) {
	n := certified(t, newCPU(t), guidedModel(t, 6, 1.3))
	s := backend.Image(3, 24, 18)
	x := randomImage(4, s)
	f := frozenFor(t, n, s, x, 1)
	d, err := Rescale(f, 0.37)
	require.NoError(t, err)
	small := make([]float32, len(x))
	for i, v := range x {
		small[i] = v / 0.37
	}
	want := denoised(t, f, s, small)
	for i := range want {
		want[i] *= 0.37
	}
	got := denoised(t, d, s, x)
	for i := range want {
		require.InDelta(t, want[i], got[i], 1e-5)
	}
}

// TestGuideOfGrey: a grey photograph is one whose channels are the same.
func TestGuideOfGrey(t *testing.T) {
	n := certified(t, newCPU(t), guidedModel(t, 7, 1.3))
	grey := backend.Image(1, 20, 26)
	x := randomImage(5, grey)
	colour := grey
	colour.C = 3
	var copies []float32
	for range 3 {
		copies = append(copies, x...)
	}
	want := denoised(t, frozenFor(t, n, colour, copies, 1), colour, copies)
	d, err := Grey(frozenFor(t, n, grey, x, 1))
	require.NoError(t, err)
	got := denoised(t, d, grey, x)
	for i := range got {
		mean := (float64(want[i]) + float64(want[i+len(x)]) + float64(want[i+2*len(x)])) / 3
		require.InDelta(t, mean, got[i], 1e-6)
	}
}

// TestCertificateDoesNotSeeTheGuide: it is that of the network without one, to the byte, and
// its text says what it is frozen for.
func TestCertificateDoesNotSeeTheGuide(t *testing.T) {
	m := guidedModel(t, 8, 1.3)
	with, err := m.Certify(t.Context(), 0)
	require.NoError(t, err)
	plain := m
	plain.Guide = nil
	without, err := plain.Certify(t.Context(), 0)
	require.NoError(t, err)
	require.Equal(t, certificateText(t, without), certificateText(t, with))
	n := certified(t, newCPU(t), m)
	s := backend.Image(3, 12, 12)
	f := frozenFor(t, n, s, randomImage(1, s), 1)
	alpha, proven := f.Averagedness()
	require.True(t, proven)
	require.Equal(t, with.Averagedness, alpha)
	require.Contains(t, f.Certificate().String(), "frozen for this photograph")
	require.NotContains(t, n.Certificate().String(), "guide")
}

// hostile are radii that are chosen to hurt.
var hostile = map[string]func(block, group, y, x int) float32{
	"checkerboard": func(b, g, y, x int) float32 { return []float32{0, float32(math.Inf(1))}[(b+g+y+x)%2] },
	"columns":      func(_, _, _, x int) float32 { return []float32{0, 0.1, float32(math.Inf(1))}[x%3] },
	"groups":       func(b, g, _, _ int) float32 { return []float32{0, float32(math.Inf(1))}[(b+g)%2] },
	"an edge": func(_, _, y, x int) float32 {
		if y > x {
			return 0
		}
		return 0.3
	},
}

// requireAveraged checks ‖Φx − Φy‖² ≤ ‖x − y‖² − (1−α)/α·‖(x − Φx) − (y − Φy)‖².
func requireAveraged(t require.TestingT, n *Network, s backend.Shape, x, y []float32, fx, fy []float32, what string) {
	alpha, proven := n.Averagedness()
	require.True(t, proven)
	rest := make([]float64, len(x))
	for i := range x {
		rest[i] = float64(x[i]) - float64(fx[i]) - float64(y[i]) + float64(fy[i])
	}
	left, right := between(fx, fy), between(x, y)
	bound := right*right - (1-alpha)/alpha*norm2(rest)*norm2(rest)
	slack := 1e-5 * (norm2(x) + norm2(y)) * right
	require.LessOrEqual(t, left*left, bound+slack, "%s, images %v", what, s)
}

// TestFrozenNetworksAreAveraged: whatever the radii, of random guides, at random and chosen to
// hurt, at random pairs of images that lie far apart and close together.
func TestFrozenNetworksAreAveraged(t *testing.T) {
	dev := newCPU(t)
	var networks []*Network
	for i, norm := range []float64{0.6, 1.2, 1.41} {
		networks = append(networks, certified(t, dev, guidedModel(t, uint64(20+i), norm)))
	}
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.SampledFrom(networks).Draw(r, "network")
		s := backend.Image(3, rapid.IntRange(1, 13).Draw(r, "rows"), rapid.IntRange(1, 17).Draw(r, "columns"))
		x, y := randomImage(rapid.Uint64().Draw(r, "x"), s), randomImage(rapid.Uint64().Draw(r, "y"), s)
		if rapid.Bool().Draw(r, "close") {
			for i := range y {
				y[i] = x[i] + 0.01*y[i]
			}
		}
		kind := rapid.SampledFrom([]string{"guide", "random", "checkerboard", "columns", "groups", "an edge"}).Draw(r, "radii")
		var f *Network
		switch kind {
		case "guide":
			photograph := upload(r, dev, s, randomImage(rapid.Uint64().Draw(r, "photograph"), s))
			defer photograph.Free()
			radii, err := n.Guide(t.Context(), photograph, 0.1, rapid.Float64Range(0, 30).Draw(r, "strength"))
			require.NoError(r, err)
			f, err = n.Freeze(radii)
			require.NoError(r, err)
		case "random":
			random := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
			f = withRadii(r, n, s, func(_, _, _, _ int) float32 { return float32(random.ExpFloat64() * math.Exp(random.NormFloat64())) })
		default:
			f = withRadii(r, n, s, hostile[kind])
		}
		defer f.Free()
		requireAveraged(r, f, s, x, y, denoised(t, f, s, x), denoised(t, f, s, y), kind)
	})
}

// TestAttackOnFrozenNetworks ascends the ratio over the pair, and over the radii as well: of each
// round the radii go on at places where that lets the pair move apart further.
func TestAttackOnFrozenNetworks(t *testing.T) {
	devicetest.SkipSearch(t)
	dev := newCPU(t)
	n := certified(t, dev, guidedModel(t, 9, 1.41))
	s := backend.Image(3, 12, 12)
	for name, radius := range hostile {
		f := withRadii(t, n, s, radius)
		report, err := refute.Attack(t.Context(), f, s, refute.AttackOptions{Restarts: 2, Iterations: 15})
		require.NoError(t, err)
		require.True(t, report.Gradients)
		require.False(t, report.Expansive(), "%s: %+v", name, report)
		f.Free()
	}
	random := rand.New(rand.NewPCG(3, 4))
	radii := make([]float32, 3*2*6*6)
	for i := range radii {
		radii[i] = random.Float32()
	}
	at := func(b, g, y, x int) *float32 { return &radii[((b*2+g)*6+y)*6+x] }
	x, y := randomImage(11, s), randomImage(12, s)
	ratio := func() float64 {
		f := withRadii(t, n, s, func(b, g, y, x int) float32 { return *at(b, g, y, x) })
		defer f.Free()
		fx, fy := denoised(t, f, s, x), denoised(t, f, s, y)
		requireAveraged(t, f, s, x, y, fx, fy, "ascent over the radii")
		return between(fx, fy) / between(x, y)
	}
	best, first := ratio(), 0.0
	first = best
	for range 60 {
		b, g, row, column := random.IntN(3), random.IntN(2), random.IntN(6), random.IntN(6)
		to := []float32{0, float32(math.Inf(1)), random.Float32()}[random.IntN(3)]
		old := *at(b, g, row, column)
		*at(b, g, row, column) = to
		if r := ratio(); r > best {
			best = r
		} else {
			*at(b, g, row, column) = old
		}
	}
	require.Greater(t, best, first, "the ascent climbs")
	require.LessOrEqual(t, best, 1.0+1e-5)
}

func TestRadiiAreChecked(t *testing.T) {
	n := certified(t, newCPU(t), guidedModel(t, 10, 1))
	s := backend.Image(3, 4, 6)
	fine := func() [][]float32 { return [][]float32{make([]float32, 12), make([]float32, 12), make([]float32, 12)} }
	r, err := n.RadiiOf(s, fine())
	require.NoError(t, err)
	f, err := n.Freeze(r)
	require.NoError(t, err)
	defer f.Free()
	for _, bad := range []float32{-1e-30, float32(math.NaN()), float32(math.Inf(-1))} {
		v := fine()
		v[1][7] = bad
		_, err := n.RadiiOf(s, v)
		require.ErrorContains(t, err, "must be 0 or more")
	}
	_, err = n.RadiiOf(s, fine()[:2])
	require.ErrorIs(t, err, backend.ErrShape)
	_, err = n.RadiiOf(backend.Image(3, 4, 8), fine())
	require.ErrorIs(t, err, backend.ErrShape)
	// Only images of the photograph's shape.
	other := upload(t, n.dev, backend.Image(3, 6, 4), make([]float32, 72))
	out := upload(t, n.dev, backend.Image(3, 6, 4), make([]float32, 72))
	require.ErrorIs(t, f.Apply(t.Context(), out, other), backend.ErrShape)
	for _, c := range []struct{ sigma, strength float64 }{{0, 1}, {math.NaN(), 1}, {0.1, -1}, {0.1, math.Inf(1)}} {
		_, err := n.Guide(t.Context(), other, c.sigma, c.strength)
		require.Error(t, err)
	}
	// A guide whose weights overflow says no number.
	m := guidedModel(t, 10, 1)
	for i := range m.Guide.Layers {
		for k := range m.Guide.Layers[i].Weight {
			m.Guide.Layers[i].Weight[k] *= 1e30
		}
	}
	_, err = certified(t, newCPU(t), m).Guide(t.Context(), other, 0.1, 1)
	require.Error(t, err)
	m = guidedModel(t, 10, 1)
	m.Guide = nil
	plain := certified(t, n.dev, m)
	coarse := certified(t, n.dev, smallModel(t, 1, Architecture{Channels: 3, Width: 16, Blocks: 3, Group: 4, Activation: activation.Balls(), Shuffle: 2}, 1))
	r, err = plain.RadiiOf(s, fine())
	require.NoError(t, err)
	_, err = coarse.Freeze(r)
	require.ErrorContains(t, err, "of another network")
	require.False(t, plain.Guided())
	_, err = plain.Guide(t.Context(), other, 0.1, 1)
	require.ErrorIs(t, err, ErrNoGuide)
}

// TestGuidedFile: a file holds the guide with the network, in half precision too, and the card
// says what it is like.
func TestGuidedFile(t *testing.T) {
	m, err := guidedModel(t, 11, 1.3).Rounded16()
	require.NoError(t, err)
	c, err := m.Certify(t.Context(), 0)
	require.NoError(t, err)
	for _, opts := range [][]weights.FileOption{nil, {weights.HalfPrecision()}} {
		f, err := m.File(testCard(), c, opts...)
		require.NoError(t, err)
		card, err := f.Card()
		require.NoError(t, err)
		require.Equal(t, []int{5, 6}, card.Architecture.Guide)
		b, err := f.Encode()
		require.NoError(t, err)
		again, err := weights.Decode(b)
		require.NoError(t, err)
		read, err := FromFile(again)
		require.NoError(t, err)
		require.Equal(t, m.Guide, read.Guide)
		require.Equal(t, m.Parameters(), read.Parameters())
		n, err := Load(t.Context(), newCPU(t), again)
		require.NoError(t, err)
		require.True(t, n.Guided())
		require.True(t, n.Certificate().Proven)
		n.Free()
	}
	// The numbers have to be those of the guide that the card tells of.
	f, err := m.File(testCard(), c)
	require.NoError(t, err)
	card, err := f.Card()
	require.NoError(t, err)
	card.Architecture.Guide = []int{5}
	require.NoError(t, f.SetCard(card))
	_, err = FromFile(f)
	require.Error(t, err)
	card.Architecture.Guide, card.Architecture.GuideSlope = nil, 0
	require.NoError(t, f.SetCard(card))
	_, err = FromFile(f)
	require.ErrorContains(t, err, "tensors that are not the network's")
}

// TestCodedRadii: radii in bytes are those of the guide except for a rounding that hardly shows, they
// are covered by the same certificate, and neither windows nor threads change a bit.
func TestCodedRadii(t *testing.T) {
	m := guidedModel(t, 5, 1.3)
	s := backend.Shape{N: 2, C: 3, H: 53, W: 61}
	x, y := randomImage(3, s), randomImage(4, s)
	coded := func(n *Network) (*Network, *Radii) {
		photograph := upload(t, n.dev, s, x)
		defer photograph.Free()
		r, err := n.guideRadii(t.Context(), photograph, 0.1, 1.2, 0)
		require.NoError(t, err)
		require.NotNil(t, r.coded)
		f, err := n.Freeze(r)
		require.NoError(t, err)
		t.Cleanup(f.Free)
		return f, r
	}
	n := certified(t, newCPU(t), m)
	f, r := coded(n)
	want := denoised(t, f, s, x)
	exact := frozenFor(t, n, s, x, 1.2)
	require.Less(t, between(want, denoised(t, exact, s, x)), 0.01*between(want, x), "1.4 % of a radius at most")
	photograph := upload(t, n.dev, s, x)
	defer photograph.Free()
	numbers, err := n.Guide(t.Context(), photograph, 0.1, 1.2)
	require.NoError(t, err)
	defer numbers.Free()
	totals, err := numbers.totals(n.dev)
	require.NoError(t, err)
	for i, total := range r.coded.totals() {
		require.InEpsilon(t, totals[i], total, 0.014)
		of := make([]float32, numbers.maps[i].Shape().Len())
		require.NoError(t, n.dev.Download(of, numbers.maps[i]))
		sum := 0.0
		for k, v := range r.coded.window(nil, i, r.coded.shape.Whole()) {
			require.InEpsilon(t, of[k], v, 0.015)
			sum += float64(v) * float64(v)
		}
		require.GreaterOrEqual(t, total, math.Sqrt(sum))
	}
	requireAveraged(t, f, s, x, y, want, denoised(t, f, s, y), "coded")
	require.Equal(t, exact.Certificate(), f.Certificate())
	sides := []int{12, 24, 50}
	if testing.Short() { // under emulation; go test ./... has all
		sides = sides[1:2]
	}
	for _, side := range sides {
		g, _ := coded(certified(t, newCPU(t, cpu.Threads(1)), m, Tile(side)))
		require.Equal(t, want, denoised(t, g, s, x), "tiles of %d", side)
	}
	small, err := Rescale(f, 0.5)
	require.NoError(t, err)
	half := make([]float32, len(x))
	for i, v := range x {
		half[i] = v / 2
	}
	for i, v := range denoised(t, small, s, half) {
		require.InDelta(t, want[i]/2, v, 1e-5)
	}
	// A photograph of 12 megapixels is cut into windows of what they may take.
	flow := f.body.(*codedFlow)
	large := &codedFlow{flow: flow.flow, radii: &codedRadii{base: [][]float32{make([]float32, 40)}}}
	side := large.Side(backend.Image(12, 1500, 2000), 6)
	require.Zero(t, side%6)
	w := large.Layers().Window(backend.Region{Y0: 600, Y1: 600 + side, X0: 600, X1: 600 + side}, 6, backend.Image(12, 1500, 2000))
	h, _ := w.Size()
	require.LessOrEqual(t, 4*40*h*h, maxWindow)
	require.LessOrEqual(t, h*h, 2*side*side, "what is computed again")
}
