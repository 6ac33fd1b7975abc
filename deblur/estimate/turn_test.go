package estimate

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/parallel"
)

// turned is a photograph of v by a camera that turned about the point y below and x right of the middle, by the angles a with the
// weights w. What the frame shows at the side of v, where the photograph has margin samples less, is bilinear.
func turned(v plane, margin int, y, x float64, a, w []float64, sigma float64) plane {
	p := newPlane(v.h-2*margin, v.w-2*margin)
	random := rand.New(rand.NewPCG(3, 4))
	cy, cx := float64(v.h-1)/2+y, float64(v.w-1)/2+x
	for i := range p.pix {
		dy, dx := float64(i/p.w+margin)-cy, float64(i%p.w+margin)-cx
		sum := sigma * random.NormFloat64()
		for j, angle := range a {
			sin, cos := math.Sincos(angle)
			sy := min(max(cy+cos*dy-sin*dx, 0), float64(v.h-1))
			sx := min(max(cx+sin*dy+cos*dx, 0), float64(v.w-1))
			iy, ix := min(int(sy), v.h-2), min(int(sx), v.w-2)
			fy, fx := sy-float64(iy), sx-float64(ix)
			of := v.pix[iy*v.w+ix:]
			sum += w[j] * ((1-fy)*((1-fx)*float64(of[0])+fx*float64(of[1])) + fy*((1-fx)*float64(of[v.w])+fx*float64(of[v.w+1])))
		}
		p.pix[i] = float32(math.Round(min(max(sum, 0), 1)*255) / 255)
	}
	return p
}

// spreadOf is the standard deviation of the angles of a motion.
func spreadOf(m deblur.CameraMotion) float64 {
	sum := 0.0
	for _, p := range m.Poses {
		sum += p.Weight * p.Angle * p.Angle
	}
	return math.Sqrt(sum)
}

// A turn is found with its point, its angle and its speed.
func TestTurnIsFound(t *testing.T) {
	leaveWhole(t)
	for _, c := range []struct {
		y, x, late float64 // late is how much slower the camera is at the end
	}{{0, 0, 0}, {35, -50, 3}} {
		const n, angle = 61, 0.14
		var a, w []float64
		sum, mean, square := 0.0, 0.0, 0.0
		for i := range n {
			at := (float64(i)+.5)/n - .5
			a, w = append(a, angle*at), append(w, 1+c.late*(at+.5)*(at+.5))
			sum += w[i]
		}
		for i := range n {
			w[i] /= sum
			mean += w[i] * a[i]
		}
		skew := 0.0
		for i := range n {
			a[i] -= mean
			square += w[i] * a[i] * a[i]
			skew += w[i] * a[i] * a[i] * a[i]
		}
		p := turned(still(), 14, c.y, c.x, a, w, 0.01)
		found, err := Turn(context.Background(), p.pix, 1, p.h, p.w, Options{})
		require.NoError(t, err)
		require.NotNil(t, found)
		half := math.Hypot(float64(p.h), float64(p.w)) / 2
		t.Logf("point %.1f %.1f, of half the diagonal off: %.3f; spread %.4f of %.4f", found.Y, found.X, math.Hypot(found.Y-c.y, found.X-c.x)/half, spreadOf(found.Motion), math.Sqrt(square))
		require.Less(t, math.Hypot(found.Y-c.y, found.X-c.x), 0.05*half)
		require.NoError(t, found.Motion.Check())
		require.InEpsilon(t, math.Sqrt(square), spreadOf(found.Motion), 0.12)
		require.InDelta(t, angle, found.Angle(), 0.25*angle)
		if c.late > 0 {
			cube := 0.0
			for _, p := range found.Motion.Poses {
				cube += p.Weight * p.Angle * p.Angle * p.Angle
			}
			require.Less(t, cube, 0.0, "slow at the end, so that the rest of the way is on the other side")
			require.Less(t, skew, 0.0)
		}
	}
}

// A photograph that is sharp, or has the same blur all over the frame, or is unsharp at its border, shows no turn.
func TestNoTurnIsFoundWithoutOne(t *testing.T) {
	leaveWhole(t)
	none := func(p plane) {
		t.Helper()
		found, err := Turn(context.Background(), p.pix, 1, p.h, p.w, Options{})
		require.NoError(t, err)
		require.Nil(t, found)
	}
	shake, err := deblur.Shake(17, 2)
	require.NoError(t, err)
	motion, err := deblur.Motion(15, 40)
	require.NoError(t, err)
	disk, err := deblur.Disk(3)
	require.NoError(t, err)
	point, err := deblur.Motion(1, 0)
	require.NoError(t, err)
	for _, k := range []deblur.Kernel{shake, motion, disk, point} {
		none(photograph(t, still(), k, 0.01))
	}
	none(newPlane(200, 300))
	none(newPlane(40, 50))
	lens := photograph(t, still(), point, 0)
	soft := newPlane(lens.h, lens.w)
	for i := range soft.pix {
		y, x := i/lens.w, i%lens.w
		r := int(math.Hypot(float64(y-lens.h/2), float64(x-lens.w/2)) / 30)
		sum, n := float32(0), float32(0)
		for sy := max(y-r, 0); sy <= min(y+r, lens.h-1); sy++ {
			for sx := max(x-r, 0); sx <= min(x+r, lens.w-1); sx++ {
				sum += lens.pix[sy*lens.w+sx]
				n++
			}
		}
		soft.pix[i] = sum / n
	}
	none(soft)
}

// A page of lines under two images of it side by side, each moved up and down, and soft: an even motion explains its spectra as
// well as a turn about a point far beside the frame, but a search from afar ends at another blur.
func TestNoTurnIsFoundInLinesOfText(t *testing.T) {
	page := newPlane(330, 430)
	for i := range page.pix {
		page.pix[i] = 1
	}
	random := rand.New(rand.NewPCG(5, 6))
	for y := 115; y < page.h-28; y += 28 {
		for x := 10; x < page.w-10; x += 9 {
			height := 9 + random.IntN(6)
			kind := random.IntN(4)
			for i := range height {
				if kind < 2 { // an upright stroke
					page.row(y + 14 - i)[x], page.row(y + 14 - i)[x+1] = .1, .1
				}
			}
			for i := range 7 {
				if kind == 1 || kind == 2 { // a level one, above or below
					page.row(y + 14 - height*(x/9%2))[x+i] = .1
				}
			}
		}
	}
	s := newSupport(28)
	for i := range 201 {
		y := float64(i)/200*14 - 7
		s.k[(s.r+int(math.Round(y)))*s.side()+s.r-20+i/70]++
		s.k[(s.r-int(math.Round(y)))*s.side()+s.r+20+i/70] += .8
	}
	s.normalise()
	for range 4 {
		s = s.softened(binomial)
	}
	k, err := s.kernel()
	require.NoError(t, err)
	y := photograph(t, page, k, 0)
	found, err := Turn(context.Background(), y.pix, 1, y.h, y.w, Options{})
	require.NoError(t, err)
	require.Nil(t, found)
}

// Far from its point a turn is an even motion along a straight line.
func TestEvenMotionOfATurn(t *testing.T) {
	const half, far = 100, 1e6
	pool := parallel.New(1)
	defer pool.Close()
	s, err := newSpectra(context.Background(), pool, still().crop(0, 0, 100, 130), 0.01, turnSquare, lastTurnCycle)
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		sin, cos := math.Sincos(rapid.Float64Range(0, 2*math.Pi).Draw(t, "direction"))
		length := rapid.Float64Range(1, 30).Draw(t, "length")
		turn := smear{kind: turnSmear, a: far * sin, b: far * cos, size: math.Log(length / (far * half)), fall: rapid.Float64Range(1, 4).Draw(t, "fall")}
		even := turn.even(half)
		require.InDelta(t, math.Log(length), even.size, 1e-9)
		require.InEpsilon(t, s.smearMisfit(turn, half), s.smearMisfit(even, half), 1e-3)
	})
}

// About its point a turn moves all columns alike.
func TestPolarImageIsShiftedByATurn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const h, w, frequency = 90, 120, 0.05
		y, x := rapid.Float64Range(-80, 80).Draw(t, "y"), rapid.Float64Range(-80, 80).Draw(t, "x")
		angle := rapid.Float64Range(0, math.Pi).Draw(t, "direction")
		sin, cos := math.Sincos(angle)
		wave := func(sy, sx float64) float64 { return math.Sin(2 * math.Pi * frequency * (sin*sy + cos*sx)) }
		whole := part{newPlane(h, w), newPlane(h, w), newPlane(h, w)}
		p := newPolar(h, w, y, x)
		for i := range whole.v.pix {
			whole.v.pix[i] = float32(wave(float64(i/w), float64(i%w)))
		}
		round := p.of(whole)
		inside := 0
		for i := range round.v.pix {
			r, a := p.near+float64(i/p.columns), p.start+(float64(i%p.columns)+.5)/p.unit
			sy, sx := float64(h-1)/2+y+r*math.Sin(a), float64(w-1)/2+x+r*math.Cos(a)
			if round.clipped.pix[i] > 0 {
				require.False(t, sy > 1e-6 && sx > 1e-6 && sy < h-1-1e-6 && sx < w-1-1e-6)
				continue
			}
			inside++
			require.InDelta(t, wave(sy, sx), round.v.pix[i], 0.03)
		}
		require.Greater(t, inside, h*w/2)
	})
}

// The motion of a kernel's row about a point leaves the point where it is, and has the row's weights.
func TestTurnOfARow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSupport(3)
		for i := range 7 {
			s.k[3*7+i] = rapid.Float64Range(0, 1).Draw(t, "weight")
		}
		s.k[3*7+2] += 0.1
		s.normalise()
		y, x := rapid.Float64Range(-90, 90).Draw(t, "y"), rapid.Float64Range(-90, 90).Draw(t, "x")
		m := s.turn(y, x, 0.02, rapid.IntRange(1, 4).Draw(t, "parts"))
		require.NoError(t, m.Check())
		mean, square := 0.0, 0.0
		for _, p := range m.Poses {
			sin, cos := math.Sincos(p.Angle)
			require.InDelta(t, y, cos*y-sin*x+p.Y, 1e-9)
			require.InDelta(t, x, sin*y+cos*x+p.X, 1e-9)
			mean += p.Weight * p.Angle
			square += p.Weight * p.Angle * p.Angle
		}
		require.InDelta(t, 0, mean, 1e-9)
		_, xx, _ := s.variance()
		// Linear interpolation adds the variance of a triangle, at most 1/6.
		require.InDelta(t, xx+1./12, square/0.0004, 1./12+1e-6)
	})
}

// Squares cover the frame, and overlap by half or more.
func TestStartsCoverTheAxis(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		side := rapid.IntRange(2, 100).Draw(t, "side")
		n := side + rapid.IntRange(0, 500).Draw(t, "more")
		all := starts(n, side)
		require.Equal(t, 0, all[0])
		require.Equal(t, n-side, all[len(all)-1])
		for i := range all[1:] {
			require.LessOrEqual(t, all[i+1]-all[i], (side+1)/2)
		}
	})
}

// The power that is fitted to a direction is a minimum.
func TestDirectionMisfit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 30).Draw(t, "n")
		power, model := make([]float64, n), make([]float64, n)
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		scale := math.Exp(rapid.Float64Range(-3, 6).Draw(t, "scale"))
		for i := range power {
			model[i] = math.Exp(-5 * random.Float64())
			power[i] = (1 + scale*model[i]) * random.ExpFloat64()
		}
		got := directionMisfit(power, model)
		least := math.Inf(1)
		for l := -21.; l < 21; l += .02 {
			sum := 0.0
			for i, p := range power {
				v := math.Exp(l)*model[i] + 1
				sum += p/v + math.Log(v)
			}
			least = min(least, sum)
		}
		require.GreaterOrEqual(t, got, least-1e-3*float64(n))
		require.LessOrEqual(t, got, least+0.2*float64(n))
	})
}

// The search for a point has the same bits for any number of threads.
func TestThreadsChangeNoSpectrum(t *testing.T) {
	var all [2]float64
	for i := range all {
		pool := parallel.New(1 + 2*i)
		s, err := newSpectra(context.Background(), pool, still(), 0.01, turnSquare, lastTurnCycle)
		require.NoError(t, err)
		all[i] = s.smearMisfit(smear{turnSmear, .1, .2, -2, 2.5, 0}, 180)
		pool.Close()
	}
	require.Equal(t, all[0], all[1])
}
