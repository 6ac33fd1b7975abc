// Package methodnoise tells from what a denoiser takes away whether that is noise or texture.
//
// The difference of an image and of what a denoiser makes of it is the denoiser's method noise (Buades, Coll and Morel 2005,
// "A review of image denoising algorithms, with a new one"). Where a denoiser was told the right level, it looks like noise:
// as strong beside detail as far from it, and without a trace of the detail. Where sea, grass or gravel was taken for noise,
// it is strong where detail is left, and follows it. No spectrum shows that: gravel has that of a camera's noise.
//
// So a part of an image is denoised on trial (NewSample), the difference is measured (Measure), and two rules that were learned
// from photographs by simulated cameras (package learn) say how much of it is noise (Signs.Share), square by square, and by what
// factor the strength should be changed (Factor).
package methodnoise

import (
	"math"

	"github.com/averaged/imaging/weights"
)

// Signs are what the method noise of an image says. Logarithms are natural.
type Signs struct {
	// Together is the correlation, over squares of 8×8 pixels, of the logarithms of the energy of what was taken from
	// brightness and of the detail that is left in it, both without what follows from how bright the squares are.
	Together float64
	// Along is the correlation, over pixels, of what was taken from brightness and of the Laplacian of what is left of
	// it: detail that was made weaker is taken along with itself.
	Along float64
	// Colour is the logarithm of how much more was taken along an axis of colour than along that of brightness: standard
	// deviations.
	Colour float64
	// Spread is the standard deviation over squares of the logarithm of the energy of what was taken from brightness, without
	// what follows from how bright they are.
	Spread float64
	// Coarse is the logarithm of how much was taken from an axis of colour in means over 4×4 pixels, over the level that the
	// denoiser was told: 0 would be white noise of that level.
	Coarse float64
	// Floor is the logarithm of the floor of brightness in the image at periods of FloorPeriod pixels over that level.
	Floor float64
	// Quiet is how certain it is, from 0 to 1, that a camera has smoothed its noise most where the image is calm.
	Quiet float64
	// Taken is the logarithm of how much was taken from brightness: of the standard deviation in 255ths.
	Taken float64
	// Share is how much of what was taken from brightness is noise: the logarithm of S/(1.2 − S) for a share S (ImageShare).
	Share float64
	// Grey images have neither Colour nor Coarse, and rules of their own.
	Grey bool
	// Guided is set of what the network for all noise took, and not that for cameras.
	Guided bool
	// WhiteLevel is what the denoiser was told of noise that is white; 0 of coarse noise.
	WhiteLevel float64
}

// FloorPeriod is the period of Signs.Floor, in pixels.
const FloorPeriod = 12

// Known is what the image itself says, before anything is taken from it.
type Known struct {
	// Level is what the denoiser was told, and Floor the floor of brightness at periods of FloorPeriod pixels: standard
	// deviations where 1 is white, above 0.
	Level, Floor float64
	// Quiet is Signs.Quiet.
	Quiet float64
	// White tells that the level is that of noise that is white.
	White bool
	// Method is the denoiser, by its name in package weights: one that Tries.
	Method string
}

const (
	// square is the side of the squares, in pixels, and margin what is left out around each patch, where the denoiser has
	// seen what does not belong together.
	square, margin = 8, 8
	// leastSquares is how many it takes to say anything.
	leastSquares = 24
	// Mean squares in 255ths that count as nothing: of what was taken, and of detail.
	leastTaken, leastDetail = 0.05, 0.2
	// coarse is the side of the means of Coarse, and leastCoarse the least deviation in 255ths.
	coarse, leastCoarse = 4, 0.2
)

// Measure compares a sample with what a denoiser made of its Pix; ok is false where there is too little to say anything, or nothing is
// known.
func Measure(s *Sample, denoised []float32, known Known) (_ Signs, ok bool) {
	if !(known.Floor > 0) || !(known.Level > 0) {
		return Signs{}, false
	}
	split := separate(s, denoised)
	var m moments
	for y := 0; y < s.Height; y += s.patchHeight {
		for x := 0; x < s.Width; x += s.patchWidth {
			m.add(split, y, x, s.patchHeight, s.patchWidth)
		}
	}
	if len(m.energies) < leastSquares || !(m.detail > 0) || !(m.brightness > 0) {
		return Signs{}, false
	}
	without(m.energies, m.means)
	without(m.details, m.means)
	spread, squares := 0.0, float64(len(m.energies))
	for _, v := range m.energies {
		spread += float64(v * v)
	}
	signs := Signs{
		Together: correlation(m.energies, m.details),
		Along:    m.product / math.Sqrt(float64(m.detail*m.brightness)),
		Colour:   0.5 * math.Log((m.colour/squares+leastTaken)/(m.brightness/squares+leastTaken)),
		Spread:   math.Sqrt(spread / squares),
		Coarse:   math.Log(math.Max(math.Sqrt(m.coarse/squares), leastCoarse) / (255 * known.Level)),
		Floor:    math.Log(known.Floor / known.Level),
		Quiet:    known.Quiet,
		Taken:    0.5 * math.Log(m.brightness/squares+leastTaken),
		Grey:     s.Channels == 1,
		Guided:   known.Method == weights.Guided,
	}
	if known.White {
		signs.WhiteLevel = known.Level
	}
	seen := split.squares(s, known.Level, signs)
	if len(seen) == 0 {
		return Signs{}, false
	}
	_, network := signs.learned()
	signs.Share = shareBy(network, seen)
	return signs, true
}

// moments are sums over squares, and what is known of each. What was taken is without its mean over the square: a denoiser
// that darkens says nothing of texture.
type moments struct {
	brightness, colour       float64   // mean squares of what was taken, of colour along one axis
	coarse                   float64   // the same of colour, of means over 4×4 pixels, times the 16 of them
	product, detail          float64   // means of the Laplacian times what was taken, and of its square
	energies, details, means []float64 // logarithms of mean squares, and brightness from 0 to 1
}

// add looks at a patch, but for its margin.
func (m *moments) add(of *separated, top, patchLeft, height, patchWidth int) {
	for y := top + margin; y+square+margin <= top+height; y += square {
		for x := patchLeft + margin; x+square+margin <= patchLeft+patchWidth; x += square {
			m.addSquare(of, y, x)
		}
	}
}

func (m *moments) addSquare(of *separated, top, squareLeft int) {
	width, left := of.left[0].width, of.left[0].values
	taken := [3][]float64{of.taken[0].values, of.taken[1].values, of.taken[2].values}
	const pixels = square * square
	laplacian := func(of func(i int) float64, i int) float64 {
		return float64(4*of(i)) - (of(i-1) + of(i+1) + of(i-width) + of(i+width))
	}
	plain := func(i int) float64 { return left[i] }
	smooth := func(i int) float64 { // by [1 2 1]/4 along both axes
		corners := left[i-width-1] + left[i-width+1] + left[i+width-1] + left[i+width+1]
		return (float64(4*left[i]) + float64(2*(left[i-1]+left[i+1]+left[i-width]+left[i+width])) + corners) / 16
	}
	each := func(do func(i int)) {
		for y := range square {
			for x := range square {
				do((top+y)*width + squareLeft + x)
			}
		}
	}
	brightness, mean := 0.0, [3]float64{}
	each(func(i int) {
		brightness += left[i] / pixels
		for axis := range mean {
			mean[axis] += taken[axis][i] / pixels
		}
	})
	energy, colour, detail := 0.0, 0.0, 0.0
	each(func(i int) {
		t := taken[0][i] - mean[0]
		first, second := taken[1][i]-mean[1], taken[2][i]-mean[2]
		energy += float64(t*t) / pixels
		colour += (float64(first*first) + float64(second*second)) / (2 * pixels)
		l, s := laplacian(plain, i), laplacian(smooth, i)
		m.product += float64(l*t) / pixels
		m.detail += float64(l*l) / pixels
		detail += float64(s*s) / pixels
	})
	const means = square / coarse
	for y := range means {
		for x := range means {
			for _, axis := range taken[1:] {
				sum := 0.0
				for i := range coarse * coarse {
					sum += axis[(top+y*coarse+i/coarse)*width+squareLeft+x*coarse+i%coarse]
				}
				m.coarse += float64(sum*sum) / (coarse * coarse) / (2 * means * means)
			}
		}
	}
	m.brightness += energy
	m.colour += colour
	m.energies = append(m.energies, math.Log(energy+leastTaken))
	m.details = append(m.details, math.Log(detail+leastDetail))
	m.means = append(m.means, brightness/(255*math.Sqrt(3)))
}

// without takes from values what a parabola in the other ones says of them, by least squares.
func without(values, of []float64) {
	n := float64(len(of))
	mean := 0.0
	for _, v := range of {
		mean += v / n
	}
	// Orthogonal polynomials of degree 0, 1 and 2, one after the other.
	basis := [3][]float64{}
	for d := range basis {
		p := make([]float64, len(of))
		for i, v := range of {
			p[i] = math.Pow(v-mean, float64(d))
		}
		for _, q := range basis[:d] {
			subtract(p, q)
		}
		basis[d] = p
		subtract(values, p)
	}
}

// subtract takes from values their projection onto p, which may be 0 up to rounding.
func subtract(values, p []float64) {
	const nothing = 1e-9 // of brightness that is as good as even, and its square
	product, energy := 0.0, 0.0
	for i, v := range p {
		product += float64(v * values[i])
		energy += float64(v * v)
	}
	if energy <= nothing*float64(len(p)) {
		return
	}
	for i, v := range p {
		values[i] -= float64(product / energy * v)
	}
}

// correlation is that of values with mean 0; 0 where one of the two does not vary.
func correlation(a, b []float64) float64 {
	var aa, bb, ab float64
	for i := range a {
		aa += float64(a[i] * a[i])
		bb += float64(b[i] * b[i])
		ab += float64(a[i] * b[i])
	}
	if !(aa > 0) || !(bb > 0) {
		return 0
	}
	return ab / math.Sqrt(float64(aa*bb))
}
