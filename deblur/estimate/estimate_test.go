package estimate

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/parallel"
)

// still is a picture of leaves: disks of any size that lie on each other, whose edges and sizes are as
// in photographs (Lee, Mumford and Huang 2001).
var still = sync.OnceValue(func() plane {
	const h, w, leaves, grain = 230, 300, 900, 3
	random := rand.New(rand.NewPCG(5, 6))
	fine := newPlane(grain*h, grain*w)
	for i := range fine.pix {
		fine.pix[i] = 0.5
	}
	for range leaves {
		// Radii of density r⁻³ from 3 to 60 samples.
		r := grain / math.Sqrt(1./3600+random.Float64()*(1./9-1./3600))
		cy, cx := random.Float64()*float64(fine.h), random.Float64()*float64(fine.w)
		grey := 0.05 + 0.9*random.Float32()
		for y := max(0, int(cy-r)); y < min(fine.h, int(cy+r)+1); y++ {
			for x := max(0, int(cx-r)); x < min(fine.w, int(cx+r)+1); x++ {
				if math.Hypot(float64(y)-cy, float64(x)-cx) <= r {
					fine.pix[y*fine.w+x] = grey
				}
			}
		}
	}
	p := newPlane(h, w)
	for i, v := range fine.pix {
		p.pix[i/fine.w/grain*w+i%fine.w/grain] += v / (grain * grain)
	}
	return p
})

// photograph blurs a scene beyond the frame, adds noise and rounds to 8 bits.
func photograph(t *testing.T, v plane, k deblur.Kernel, sigma float64) plane {
	t.Helper()
	p := newPlane(v.h-k.H+1, v.w-k.W+1)
	random := rand.New(rand.NewPCG(1, 2))
	for y := range p.h {
		for x := range p.w {
			sum := 0.0
			for i, w := range k.Weights {
				if w != 0 {
					sum += float64(w) * float64(v.pix[(y+k.H-1-i/k.W)*v.w+x+k.W-1-i%k.W])
				}
			}
			sum += sigma * random.NormFloat64()
			p.pix[y*p.w+x] = float32(math.Round(min(max(sum, 0), 1)*255) / 255)
		}
	}
	return p
}

// Two halves under motions of their own are told from one motion all over the frame.
func TestVariationOverTheFrame(t *testing.T) {
	leaveWhole(t)
	var photographs [2]plane
	for i := range photographs {
		k, err := deblur.Motion(9, 20+90*float64(i))
		require.NoError(t, err)
		framed := deblur.Kernel{H: 9, W: 9, CY: 4, CX: 4, Weights: make([]float32, 81)}
		for j, w := range k.Weights {
			framed.Weights[(j/k.W-k.CY+4)*9+j%k.W-k.CX+4] = w
		}
		photographs[i] = photograph(t, still(), framed, 0.01)
	}
	one := estimated(t, photographs[0], Options{Size: 31})
	require.Less(t, one.Variation, 0.05)

	halves := plane{photographs[0].h, photographs[0].w, append([]float32(nil), photographs[0].pix...)}
	for y := range halves.h {
		copy(halves.row(y)[halves.w/2:], photographs[1].row(y)[halves.w/2:])
	}
	two := estimated(t, halves, Options{Size: 31})
	require.Greater(t, two.Variation, 0.1)
	require.LessOrEqual(t, two.Spreads[0], two.Spreads[1])
	require.InDelta(t, 9/math.Sqrt(12), two.Spreads[0], 1.5)
}

func estimated(t *testing.T, p plane, opt Options) *Estimate {
	t.Helper()
	e, err := Kernel(context.Background(), p.pix, 1, p.h, p.w, opt)
	require.NoError(t, err)
	return e
}

// leaveWhole skips a test of what comes out for whole photographs where a run with -short is one for
// the race detector, under which each takes half a minute. What is concurrent are loops over rows and over squares of
// spectra: TestThreadsChangeNoBit, TestGridThreadsChangeNoBit, TestThreadsChangeNoSpectrum and
// TestNoTurnIsFoundInLinesOfText race them.
func leaveWhole(t *testing.T) {
	if testing.Short() {
		t.Skip("an estimate of a whole photograph takes half a minute under the race detector: go test ./... makes it, and -short small ones alone")
	}
}

func TestShakeIsFound(t *testing.T) {
	leaveWhole(t)
	k, err := deblur.Shake(17, 2)
	require.NoError(t, err)
	e := estimated(t, photograph(t, still(), k, 0.01), Options{})
	require.Equal(t, Free, e.Shape.Kind)
	found := likeness(supportOf(e.Kernel, 24).softened(binomial), supportOf(k, 24).softened(binomial), 2)
	require.Greater(t, found, 0.85)
	require.LessOrEqual(t, max(e.Kernel.H, e.Kernel.W), 27, "the size is found")
	require.NotEmpty(t, e.Likeness)

	sum := 0.0
	for _, w := range e.Kernel.Weights {
		require.GreaterOrEqual(t, w, float32(0))
		sum += float64(w)
	}
	require.Equal(t, 1.0, sum)
}

// The first support has 29 samples. A shake of 45 does not fill it: from there steps end at a short kernel in its middle.
func TestLongShakeIsFound(t *testing.T) {
	leaveWhole(t)
	k, err := deblur.Shake(45, 2)
	require.NoError(t, err)
	e := estimated(t, photograph(t, still(), k, 0.004), Options{})
	require.Equal(t, Free, e.Shape.Kind)
	require.Greater(t, likeness(supportOf(e.Kernel, 40).softened(binomial), supportOf(k, 40).softened(binomial), 2), 0.95)
}

// In a support that a kernel does not need noise and texture make false weights. The shake of 17 samples is found in the first one,
// and the second one agrees.
func TestTheSearchEndsWhereTheSupportIsWideEnough(t *testing.T) {
	leaveWhole(t)
	k, err := deblur.Shake(17, 2)
	require.NoError(t, err)
	v := photograph(t, still(), k, 0.01)
	p, err := newPhoto(t.Context(), v.pix, 1, v.h, v.w, Options{})
	require.NoError(t, err)
	pool := parallel.New(0)
	defer pool.Close()
	var reaches []int
	_, _, err = p.estimation(t.Context(), pool).find(func(reach int) []part {
		reaches = append(reaches, reach)
		return pieces(p.whole, reach)
	}, p.largest())
	require.NoError(t, err)
	require.Equal(t, []int{firstReach, 22}, reaches)
	require.Greater(t, p.largest(), 22, "there is a wider support")
}

func TestSimpleShapesAreRecognised(t *testing.T) {
	leaveWhole(t)
	motion, err := deblur.Motion(13, 40)
	require.NoError(t, err)
	e := estimated(t, photograph(t, still(), motion, 0.005), Options{})
	require.Equal(t, Motion, e.Shape.Kind)
	require.InDelta(t, 13, e.Shape.Length, 1.5)
	require.InDelta(t, 40, e.Shape.Angle, 4)

	disk, err := deblur.Disk(4)
	require.NoError(t, err)
	e = estimated(t, photograph(t, still(), disk, 0.005), Options{})
	require.Equal(t, Disk, e.Shape.Kind)
	require.InDelta(t, 4, e.Shape.Radius, 0.5)
}

func TestSharpPhotographIsToldSo(t *testing.T) {
	leaveWhole(t)
	point, err := deblur.Motion(1, 0)
	require.NoError(t, err)
	for _, sigma := range []float64{0, 0.02} {
		e := estimated(t, photograph(t, still(), point, sigma), Options{})
		require.Equal(t, None, e.Shape.Kind)
		require.Empty(t, e.Note)
		require.Equal(t, []float32{1}, e.Kernel.Weights)
	}
}

func TestClippedSamplesAreNotFitted(t *testing.T) {
	leaveWhole(t)
	k, err := deblur.Shake(15, 5)
	require.NoError(t, err)
	v := plane{still().h, still().w, append([]float32(nil), still().pix...)}
	for i := range v.pix { // lamps, far brighter than white
		if y, x := i/v.w%70, i%v.w%70; y < 4 && x < 4 {
			v.pix[i] = 12
		}
	}
	e := estimated(t, photograph(t, v, k, 0.005), Options{Size: 31})
	found := likeness(supportOf(e.Kernel, 24).softened(binomial), supportOf(k, 24).softened(binomial), 2)
	require.Greater(t, found, 0.9)
}

func TestAnySizeHasAResult(t *testing.T) {
	if testing.Short() {
		t.Skip("estimates of many sizes, whose threads TestThreadsChangeNoBit races: go test ./... makes them")
	}
	for _, s := range [][2]int{{1, 1}, {1, 50}, {3, 1000}, {24, 24}, {25, 260}, {64, 31}} {
		p := newPlane(s[0], s[1])
		random := rand.New(rand.NewPCG(3, 4))
		for i := range p.pix {
			p.pix[i] = random.Float32()
		}
		e := estimated(t, p, Options{})
		require.NoError(t, e.Kernel.Check(), "%v", s)
		require.LessOrEqual(t, 2*max(e.Kernel.H, e.Kernel.W), max(2, s[0], s[1]))
	}
	for _, v := range []float32{0, 0.5, 1, 7} {
		p := newPlane(60, 80)
		for i := range p.pix {
			p.pix[i] = v
		}
		e := estimated(t, p, Options{})
		require.Equal(t, None, e.Shape.Kind)
		require.NotEmpty(t, e.Note)
	}
}

// Noise that a camera has smoothed is hardly there at high frequencies, and is found under the kernel.
func TestSmoothedNoiseIsSeen(t *testing.T) {
	k, err := deblur.Shake(15, 4)
	require.NoError(t, err)
	soft, err := deblur.Gaussian(0.9)
	require.NoError(t, err)
	y := photograph(t, still(), k, 0)
	white := newPlane(y.h+soft.H-1, y.w+soft.W-1)
	random := rand.New(rand.NewPCG(3, 4))
	for i := range white.pix {
		white.pix[i] = float32(0.5 + 0.06*random.NormFloat64())
	}
	for i, v := range photograph(t, white, soft, 0).pix {
		y.pix[i] += v - 0.5
	}
	measured, err := noiseIn(part{v: y})
	require.NoError(t, err)
	require.Less(t, measured, calm)
	p := photo{whole: part{v: y}, sigma: measured}
	pool := parallel.New(1)
	defer pool.Close()
	level, err := p.noiseUnder(t.Context(), pool, supportOf(k, 12))
	require.NoError(t, err)
	require.Greater(t, level, 0.01)
	p.opt.Sigma = 0.002
	p.sigma = 0.002
	level, err = p.noiseUnder(t.Context(), pool, supportOf(k, 12))
	require.NoError(t, err)
	require.Equal(t, 0.002, level, "a level that is given is all")
	// White noise is measured well where photographs are smooth.
	y = photograph(t, still(), k, 0.01)
	if measured, err = noiseIn(part{v: y}); err != nil {
		t.Fatal(err)
	}
	p = photo{whole: part{v: y}, sigma: measured}
	level, err = p.noiseUnder(t.Context(), pool, supportOf(k, 12))
	require.NoError(t, err)
	require.Equal(t, measured, level)
}

func TestWrongInputIsRefused(t *testing.T) {
	ctx := context.Background()
	nan := make([]float32, 900)
	nan[31] = float32(math.NaN())
	_, err := Kernel(ctx, nan, 1, 30, 30, Options{})
	require.ErrorContains(t, err, "row 1, column 1 is NaN")
	for _, wrong := range []Options{{Size: -1}, {Size: MaxSize + 1}, {Sigma: -1}, {Sigma: math.NaN()}, {Sigma: math.Inf(1)}, {Coding: -1}, {Coding: math.NaN()}} {
		_, err = Kernel(ctx, make([]float32, 900), 1, 30, 30, wrong)
		require.Error(t, err, "%+v", wrong)
	}
	_, err = Kernel(ctx, make([]float32, 900), 2, 15, 30, Options{})
	require.Error(t, err)
	_, err = Kernel(ctx, make([]float32, 899), 1, 30, 30, Options{})
	require.Error(t, err)
	side := math.MaxInt/2 + 1 // whose square is 0 in an int
	_, err = Kernel(ctx, nil, 1, side, side, Options{})
	require.Error(t, err)
	k, err := deblur.Box(3)
	require.NoError(t, err)
	for _, size := range [][3]int{{1, 30, 31}, {0, 30, 30}, {1, math.MaxInt, math.MaxInt}} {
		_, _, err = Check(ctx, make([]float32, 900), size[0], size[1], size[2], k, 0.1, 1)
		require.Error(t, err, size)
	}
}

func TestItStopsWhenAsked(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	p := still().crop(60, 60, 120, 140)
	last := 0.0
	_, err := Kernel(ctx, p.pix, 1, p.h, p.w, Options{Progress: func(p backend.Progress) error {
		require.GreaterOrEqual(t, p.Fraction, last)
		require.LessOrEqual(t, p.Fraction, 1.0)
		last = p.Fraction
		cancel()
		return nil
	}})
	require.ErrorIs(t, err, context.Canceled)
	require.Greater(t, last, 0.0)

	stop, calls := errors.New("stop"), 0
	_, err = Kernel(context.Background(), p.pix, 1, p.h, p.w, Options{Progress: func(backend.Progress) error {
		calls++
		return stop
	}})
	require.ErrorIs(t, err, stop)
	require.Equal(t, 1, calls)
}

func TestThreadsChangeNoBit(t *testing.T) {
	k, err := deblur.Motion(7, 20)
	require.NoError(t, err)
	p := photograph(t, still().crop(60, 60, 80, 90), k, 0.01)
	one, three := estimated(t, p, Options{Size: 15, Threads: 1}), estimated(t, p, Options{Size: 15, Threads: 3})
	require.Equal(t, one, three)
}

// Of a large photograph the parts are taken that have edges, none of them twice.
func TestPieces(t *testing.T) {
	whole := part{newPlane(1500, 1800), newPlane(1500, 1800), newPlane(1500, 1800)}
	for y := 800; y < 1200; y++ {
		for x := 1000; x < 1500; x++ {
			whole.v.pix[y*1800+x] = float32((y/9+x/7)%2) / 2
		}
	}
	parts := pieces(whole, 14)
	require.Len(t, parts, maxParts)
	require.Equal(t, [2]int{minSide, minSide}, [2]int{parts[0].v.h, parts[0].v.w})
	energy := edgeMap(parts[0])
	require.Greater(t, energy.over(0, 0, minSide), 1000.0)

	require.Len(t, pieces(part{newPlane(100, 9000), newPlane(100, 9000), newPlane(100, 9000)}, 14), 1)
	quarters := parts[0].quarters()
	require.Len(t, quarters, 4)
	require.Equal(t, minSide*minSide/4, len(quarters[3].v.pix))
}

// drawnLevel draws a photograph of h×w samples, a sharp image of it, and two kernels of radius r.
func drawnLevel(t *rapid.T, pool *parallel.Pool, h, w, r int) (l *level, v plane, s, other support) {
	random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
	v = newPlane(h, w)
	for i := range v.pix {
		v.pix[i] = random.Float32()
	}
	l, err := newLevel(pool, v, make([]bool, h*w), nil, r)
	require.NoError(t, err)
	for c := range l.x {
		for i := range l.x[c] {
			l.x[c][i] = random.Float32() - .5
		}
	}
	draw := func() support {
		s := newSupport(r)
		for i := range s.k {
			s.k[i] = random.Float64()
		}
		s.normalise()
		return s
	}
	return l, v, draw(), draw()
}

// The moments are those of the plain sums.
func TestMomentsAreTheQuadraticForm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, w, r := rapid.IntRange(6, 20).Draw(t, "h"), rapid.IntRange(6, 20).Draw(t, "w"), rapid.IntRange(1, 3).Draw(t, "r")
		pool := parallel.New(1)
		defer pool.Close()
		l, v, s, other := drawnLevel(t, pool, h, w, r)
		m := newMoments(r)
		require.NoError(t, m.measure(l, s))

		// ‖y − x∗k‖², where what is not known is as s gives it.
		convolved := func(c int, k support, y, x int) float64 {
			sum := 0.0
			for i, a := range k.k {
				sum += a * float64(l.x[c][wrap(y-i/k.side()+r, l.ph)*l.pw+wrap(x-i%k.side()+r, l.pw)])
			}
			return sum
		}
		want, left, data := 0.0, 0.0, 0.0
		for c := range l.x {
			for y := range l.ph {
				for x := range l.pw {
					own, of := convolved(c, s, y, x), convolved(c, other, y, x)
					target := own
					if y+c < h && x+1-c < w {
						target = float64(v.pix[(y+c)*w+x+1-c] - v.pix[y*w+x])
						left += (target - own) * (target - own)
						data++
					}
					want += (target-of)*(target-of) - (target-own)*(target-own)
				}
			}
		}
		require.InDelta(t, want, m.excess(other, s), 1e-3*(1+math.Abs(want)))
		require.InEpsilon(t, left, m.left, 1e-4)
		require.Equal(t, data, m.data)

		// What the kernel step finds is no worse than where it began, nor than others.
		found, err := m.fit(pool, s, kernelPrior{})
		require.NoError(t, err)
		require.InDelta(t, 1, found.normalise(), 1e-9)
		for _, v := range found.k {
			require.GreaterOrEqual(t, v, 0.0)
		}
	})
}

// Where the sharp image is right the kernel step finds the kernel.
func TestKernelStepFindsTheKernel(t *testing.T) {
	pool := parallel.New(2)
	defer pool.Close()
	k, err := deblur.Shake(9, 3)
	require.NoError(t, err)
	v := still().crop(40, 40, 128, 128)
	y := photograph(t, v, k, 0)
	l, err := newLevel(pool, y, make([]bool, len(y.pix)), nil, 6)
	require.NoError(t, err)
	for i := range v.h - 1 { // the scene itself, which goes on beyond the photograph
		for j := range v.w - 1 {
			at := wrap(i-k.H+1+k.CY, l.ph)*l.pw + wrap(j-k.W+1+k.CX, l.pw)
			l.x[0][at] = v.pix[i*v.w+j+1] - v.pix[i*v.w+j]
			l.x[1][at] = v.pix[(i+1)*v.w+j] - v.pix[i*v.w+j]
		}
	}
	truth := supportOf(k, 6)
	found := start(6)
	for range 20 { // what is beyond the frame follows from the kernel
		m := newMoments(6)
		require.NoError(t, m.measure(l, found))
		found, err = m.fit(pool, found, kernelPrior{})
		require.NoError(t, err)
	}
	for i, want := range truth.k {
		require.InDelta(t, want, found.k[i], 0.01, "weight %d", i)
	}
}

func TestSupport(t *testing.T) {
	k, err := deblur.Shake(13, 1)
	require.NoError(t, err)
	s := supportOf(k, 8)
	require.InDelta(t, 1, likeness(s, s.moved(1, -1), 2), 1e-9)
	require.Equal(t, s, s.moved(2, 1).centred())
	large := s.scaled(2, 16)
	ayy, axx, _ := s.variance()
	byy, bxx, _ := large.variance()
	require.InEpsilon(t, 4*(ayy+axx), byy+bxx, 0.1)

	s = point(4)
	s.k[0], s.k[1], s.k[40+20] = 0.03, 0.03, 0.001
	require.Equal(t, point(4), s.cleaned(0.01, 0.1))
	require.Equal(t, 4, s.reach())
	require.InDelta(t, 0.061, s.outside(1), 1e-9)
}

// Kernels of photographs without blur, with an island, and kernels of the mildest blurs that count.
func TestSharpKernels(t *testing.T) {
	s := point(12)
	require.True(t, s.sharp())
	s.k[3*25+3] = 0.2
	s.normalise()
	require.True(t, s.sharp(), "an island")
	for name, make := range map[string]func() (deblur.Kernel, error){
		"motion":   func() (deblur.Kernel, error) { return deblur.Motion(5, 0) },
		"disk":     func() (deblur.Kernel, error) { return deblur.Disk(1.6) },
		"gaussian": func() (deblur.Kernel, error) { return deblur.Gaussian(0.8) },
		"shake":    func() (deblur.Kernel, error) { return deblur.Shake(7, 2) },
	} {
		k, err := make()
		require.NoError(t, err)
		require.False(t, supportOf(k, 12).sharp(), name)
	}
}

func TestResizedKeepsConstantsAndRamps(t *testing.T) {
	for _, n := range [][2]int{{40, 20}, {33, 24}, {24, 33}, {7, 2}} {
		p := newPlane(n[0], 5)
		for i := range p.pix {
			p.pix[i] = float32(i / 5)
		}
		q := p.resized(n[1], 5)
		step := float64(n[0]) / float64(n[1])
		for y := 2; y < n[1]-2; y++ {
			require.InDelta(t, (float64(y)+.5)*step-.5, q.pix[y*5+2], 0.35, fmt.Sprint(n))
		}
		for i := range p.pix {
			p.pix[i] = 3
		}
		for _, v := range p.resized(n[1], 3).pix {
			require.InDelta(t, 3, v, 1e-5)
		}
	}
}

// A shape is drawn as package deblur makes it.
func TestDrawnShapes(t *testing.T) {
	for _, s := range []Shape{{Kind: Motion, Length: 9, Angle: 25}, {Kind: Disk, Radius: 3.3}, {Kind: Gaussian, Std: 1.5}} {
		k, err := s.Kernel()
		require.NoError(t, err)
		want, got := supportOf(k, 10), drawn(s, 10, 0, 0)
		for i := range want.k {
			require.InDelta(t, want.k[i], got.k[i], 0.006, "%v %d", s.Kind, i)
		}
	}
	require.Equal(t, "motion", Motion.String())
}

// TestNarrow: what is fitted is no blur where its variance is that of sharp photographs.
func TestNarrow(t *testing.T) {
	for shape, want := range map[Shape]bool{
		{Kind: Gaussian, Std: 0.6}: true, {Kind: Gaussian, Std: 0.7}: false,
		{Kind: Disk, Radius: 1.3}: true, {Kind: Disk, Radius: 1.5}: false,
		{Kind: Motion, Length: 3, Angle: 30}: true, {Kind: Motion, Length: 4, Angle: 30}: false,
		{}: false,
	} {
		require.Equal(t, want, shape.narrow(), "%+v", shape)
		if shape.Kind != Free {
			k, err := shape.Kernel()
			require.NoError(t, err)
			s := newSupport(k.W / 2)
			for i, v := range k.Weights {
				s.k[i] = float64(v)
			}
			yy, xx, _ := s.variance()
			require.InDelta(t, shape.variance(), yy+xx, 0.35, "%+v: samples have a width", shape)
		}
	}
}

// TestLit: what is within the radius of a sample that is clipped at white is left out, unless that is most of the part or
// nothing.
func TestLit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h, w, r := rapid.IntRange(4, 30).Draw(t, "h"), rapid.IntRange(4, 30).Draw(t, "w"), rapid.IntRange(1, 5).Draw(t, "r")
		pix := make([]float32, h*w)
		for i := range pix {
			pix[i] = 0.5 + 0.1*float32((i/w+i%w)%2) // rows of one colour are a frame
		}
		for range rapid.IntRange(0, 3).Draw(t, "lamps") {
			pix[rapid.IntRange(0, h*w-1).Draw(t, "lamp")] = 1
		}
		pix[rapid.IntRange(0, h*w-1).Draw(t, "black")] = 0
		near, count := make([]bool, h*w), 0
		for i := range near {
			for j, v := range pix {
				if v == 1 && max(i/w-j/w, j/w-i/w) <= r && max(i%w-j%w, j%w-i%w) <= r {
					near[i] = true
				}
			}
			if near[i] {
				count++
			}
		}
		if count == 0 || 2*count > h*w {
			near = nil
		}
		require.Equal(t, near, grey(pix, 1, h, w).lit(h, w, r))
	})
}

// TestWhiteIsBright: under any kernel, what is filled in for a sample that is clipped at white is at least as bright as that.
// A white frame says nothing.
func TestWhiteIsBright(t *testing.T) {
	pool := parallel.New(1)
	defer pool.Close()
	e := &estimation{pool: pool}
	rapid.Check(t, func(t *rapid.T) {
		h, w := rapid.IntRange(24, 40).Draw(t, "h"), rapid.IntRange(24, 40).Draw(t, "w")
		sides := rapid.SliceOfN(rapid.IntRange(0, 5), 4, 4).Draw(t, "frame")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		framed := func(i int) bool {
			y, x := i/w, i%w
			return y < sides[0] || y >= h-sides[1] || x < sides[2] || x >= w-sides[3]
		}
		pix := make([]float32, h*w)
		for i := range pix {
			if pix[i] = 1; !framed(i) {
				pix[i] = min(1.2*random.Float32(), 1)
			}
		}
		levels, err := e.levels([]part{grey(pix, 1, h, w)}, 0, 2)
		require.NoError(t, err)
		l := levels[0]
		taken := slices.Clone(l.v)
		require.NoError(t, l.sharpen(start(2), edgesFor(0)))
		frame, darker := 0, 0
		for i, v := range pix {
			at := i/w*l.pw + i%w
			switch {
			case framed(i):
				frame++
				if l.v[at] < taken[at] {
					darker++
				}
			case v == 1:
				require.GreaterOrEqual(t, l.v[at], taken[at])
			}
		}
		require.True(t, frame == 0 || darker > 0)
	})
}

// TestFrame: rows and columns of one colour at the border are left out, also frames in frames, and nothing inside them.
func TestFrame(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const inside = 8
		channels := rapid.SampledFrom([]int{1, 3}).Draw(t, "channels")
		sides := rapid.SliceOfN(rapid.IntRange(0, 3), 4, 4).Draw(t, "sides")
		h, w := sides[0]+inside+sides[1], sides[2]+inside+sides[3]
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		pix := make([]float32, channels*h*w)
		rings := []float32{random.Float32(), random.Float32(), random.Float32(), random.Float32(), random.Float32()}
		framed := make([]bool, h*w)
		for i := range pix {
			y, x := i%(h*w)/w, i%w
			ring := max(sides[0]-y, y-(h-1-sides[1]), sides[2]-x, x-(w-1-sides[3]), 0)
			if framed[i%(h*w)] = ring > 0; ring > 0 {
				pix[i] = rings[ring]
			} else {
				pix[i] = 0.1 + 0.8*random.Float32()
			}
		}
		p := grey(pix, channels, h, w)
		for i, of := range framed {
			require.Equal(t, of, p.clipped.pix[i] == 1)
			require.Equal(t, of, p.lamps.pix[i] == 1)
		}
	})
}

// TestMeasureLeavesOutLamps: whatever a lamp is like, and however bright, the moments are those of the other differences,
// if the sharp image has it right.
func TestMeasureLeavesOutLamps(t *testing.T) {
	pool := parallel.New(1)
	defer pool.Close()
	rapid.Check(t, func(t *rapid.T) {
		const h, w, r = 20, 24, 2
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		s := newSupport(r)
		for i := range s.k {
			s.k[i] = random.Float64()
		}
		s.normalise()
		lit := make([]bool, h*w)
		for range rapid.IntRange(1, 60).Draw(t, "lit") {
			lit[random.IntN(h*w)] = true
		}
		l, err := newLevel(pool, newPlane(h, w), make([]bool, h*w), lit, r)
		require.NoError(t, err)
		for i := range l.u {
			l.u[i] = random.Float32()
		}
		measure := func() moments {
			k, _, err := l.blurring(s)
			require.NoError(t, err)
			require.NoError(t, l.apply(k, l.v, l.u, false))
			l.difference(0)
			m := newMoments(r)
			require.NoError(t, m.measure(l, s))
			return m
		}
		m := measure()
		require.Less(t, m.left, 1e-9*m.data)
		n, lags := s.side(), 4*r+1
		for i, b := range m.b { // A·s = b: from the kernel that explains the photograph nothing leads away
			sum := 0.0
			for j, v := range s.k {
				sum += v * m.a[(i/n-j/n+2*r)*lags+i%n-j%n+2*r]
			}
			require.InDelta(t, sum, b, 1e-4*m.a[len(m.a)/2])
		}
		for i, lamp := range l.lit { // where all differences are left out
			if lamp && l.lit[wrap(i-1, len(l.lit))] && l.lit[wrap(i-l.pw, len(l.lit))] {
				l.u[i] += 10 * random.Float32()
			}
		}
		other := measure()
		require.InDeltaSlice(t, m.a, other.a, 1e-3)
		require.InDeltaSlice(t, m.b, other.b, 1e-3)
	})
}
