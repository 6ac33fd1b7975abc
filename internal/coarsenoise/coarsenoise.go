// Package coarsenoise measures noise that is stronger at low frequencies, as that of cameras and of JPEG is, in
// photographs under a known blur.
package coarsenoise

import (
	"context"
	"math"
	"slices"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/clipping"
	"github.com/averaged/imaging/internal/fft"
	"github.com/averaged/imaging/internal/parallel"
	"github.com/averaged/imaging/internal/strength"
)

// The noise of a photograph under a known blur is measured where the blur leaves nothing else. In a band of frequencies f
// the power of the photograph is
//
//	P(f) = s·|K̂(f)|² + n,
//
// with the power s of the sharp image and n of the noise. Both are fitted to the logarithms of P, so that the few strong
// coefficients that edges have count little. The power of noise is n times a variable with an exponential distribution,
// whose logarithm has the mean −γ.
const (
	// LowestFrequency is that of the first band, in cycles a pixel. Below it the image is too strong; above the bands cameras and
	// JPEG leave little noise.
	LowestFrequency      = 0.1
	bandWidth, bandCount = 0.05, 4
	// fitError is the standard deviation of log n about a line that no chance explains.
	fitError = 0.03
	// Noise is white unless both of the two highest bands have more than whiteWithin times the white part along an axis, by more
	// than a standard error, also if the power of the image is s·|K̂|²ᵍ with a g of minPower to 1. A photograph's s is not the
	// same all over a band, and what few edges leave of such a curve looks like noise, but seldom in two bands.
	whiteWithin, minPower = 2.0, 0.5
	// Coefficients are counted by |K̂|², in halves of an octave.
	binsPerOctave, binCount = 2, 40
	// A photograph is looked at in tiles of at least minTile samples and tileKernels kernels a side, half over one
	// another, at most maxTiles in a row or column.
	minTile, tileKernels, maxTiles = 96, 4, 16
	// Samples that are clipped at white are not what the blur left. So one tile in minTiles is measured, those with the fewest
	// clipped samples, and all that have no more.
	minTiles = 4
)

// The axes of brightness and of two colours.
var (
	colourAxes = [][]float64{
		{1 / math.Sqrt(3), 1 / math.Sqrt(3), 1 / math.Sqrt(3)},
		{1 / math.Sqrt2, 0, -1 / math.Sqrt2},
		{1 / math.Sqrt(6), -2 / math.Sqrt(6), 1 / math.Sqrt(6)},
	}
	greyAxis = [][]float64{{1}}
)

// Noise is the noise of a photograph, as the standard deviations of white noise that is as strong, where 1 is white: at
// LowestFrequency along the axis where it is highest, and what it has at least in both of the two highest bands. Both are 0
// where nothing tells.
type Noise struct{ Lowest, Highest float64 }

// Coarse says whether the noise is not white: it is stronger than white noise that was measured at still higher frequencies.
func (n Noise) Coarse(white float64) bool {
	return n.Highest > whiteWithin*max(white, strength.MinSigma)
}

// Measure measures the noise of a photograph under the blur of the kernels of a grid. The photograph has one plane of h×w samples, or
// three of red, green and blue.
func Measure(ctx context.Context, pool *parallel.Pool, planes [][]float32, h, w int, kernels deblur.Grid) (n Noise, err error) {
	axes := colourAxes
	if len(planes) == 1 {
		axes = greyAxis
	}
	found := make([]spectrum, len(axes))
	kernels = kernels.Thinned(h/(minTile/2), w/(minTile/2)) // smaller parts have too few frequencies
	for i, k := range kernels.Kernels {
		if err := k.Check(); err != nil {
			return n, err
		}
		y, x := i/kernels.Columns, i%kernels.Columns
		ys := span{y * h / kernels.Rows, (y + 1) * h / kernels.Rows}
		xs := span{x * w / kernels.Columns, (x + 1) * w / kernels.Columns}
		if min(ys.len(), xs.len()) < minTile/2 {
			continue // too few frequencies
		}
		side := max(minTile, tileKernels*k.H, tileKernels*k.W)
		rows, columns := ys.tiles(side), xs.tiles(side)
		t, err := newTile(pool, k, rows[0].len(), columns[0].len())
		if err != nil {
			return n, err
		}
		clipped := make([]int, 0, len(rows)*len(columns))
		for _, y := range rows {
			for _, x := range columns {
				clipped = append(clipped, clippedIn(planes, w, y.wider(k.H, h), x.wider(k.W, w)))
			}
		}
		most := slices.Sorted(slices.Values(clipped))[len(clipped)/minTiles]
		for j, count := range clipped {
			if count > most {
				continue
			}
			if err := ctx.Err(); err != nil {
				return n, err
			}
			if err := t.measure(pool, found, axes, planes, w, rows[j/len(columns)][0], columns[j%len(columns)][0]); err != nil {
				return n, err
			}
		}
	}
	for i := range found {
		lowest, highest := found[i].powers()
		n.Lowest, n.Highest = max(n.Lowest, math.Sqrt(lowest)), max(n.Highest, math.Sqrt(highest))
	}
	return n, nil
}

// span is the rows or columns of a part, from the first to before the last.
type span [2]int

func (s span) len() int { return s[1] - s[0] }

// wider is the span and by more samples on both sides, of n that there are.
func (s span) wider(by, n int) span { return span{max(s[0]-by, 0), min(s[1]+by, n)} }

// tiles are those of a side, or all where it has less.
func (s span) tiles(side int) (all []span) {
	side = min(side, s.len())
	n := min(maxTiles, max(1, 2*s.len()/side-1))
	for i := range n {
		from := s[0] + (s.len()-side)*i/max(1, n-1)
		all = append(all, span{from, from + side})
	}
	return all
}

// clippedIn counts the samples of a part of planes with rows of w samples that are clipped at white.
func clippedIn(planes [][]float32, w int, ys, xs span) (n int) {
	for _, plane := range planes {
		for y := ys[0]; y < ys[1]; y++ {
			for _, v := range plane[y*w+xs[0] : y*w+xs[1]] {
				if v >= clipping.White {
					n++
				}
			}
		}
	}
	return n
}

// bin has the coefficients of a band with about the same |K̂|²: how many they are, and the sums of |K̂|² and of log P + γ.
type bin struct{ count, response, log float64 }

type band [binCount]bin

// spectrum is the power of a photograph along one axis.
type spectrum [bandCount]band

const eulerGamma = 0.57721566490153286

// tile measures parts of a photograph under one kernel.
type tile struct {
	plan         *fft.Plan
	down, across []float64 // window
	response     []float32 // |K̂|², of the half with frequencies of columns up to w/2
	at           []int16   // band·binCount + bin of each coefficient, or −1
	plane        []float32 // room
}

func newTile(pool *parallel.Pool, k deblur.Kernel, rows, columns int) (*tile, error) {
	t := &tile{down: window(rows), across: window(columns)}
	h, w := fft.GoodSize(max(rows, 2*k.H)), fft.GoodSize(max(columns, 2*k.W))
	var err error
	if t.plan, err = fft.New(h, w); err != nil {
		return nil, err
	}
	t.plane = make([]float32, h*w)
	if t.response, err = t.responseOf(pool, k); err != nil {
		return nil, err
	}
	half := w/2 + 1
	t.at = make([]int16, len(t.response))
	for i, r := range t.response {
		f := math.Hypot(float64(min(i/half, h-i/half))/float64(h), float64(i%half)/float64(w))
		band := int(math.Floor((f - LowestFrequency) / bandWidth))
		if t.at[i] = -1; band >= 0 && band < bandCount {
			t.at[i] = int16(band*binCount + int(min(max(-binsPerOctave*math.Log2(float64(r)), 0), binCount-1)))
		}
	}
	return t, nil
}

// measure adds the spectra of the tile whose first sample is in row top and column left of planes with rows of width samples.
func (t *tile) measure(pool *parallel.Pool, found []spectrum, axes [][]float64, planes [][]float32, width, top, left int) error {
	_, w := t.plan.Size()
	for a, axis := range axes {
		clear(t.plane)
		mean := 0.0
		for c, share := range axis {
			for y, of := range t.down {
				row := planes[c][(top+y)*width+left:]
				for x, by := range t.across {
					t.plane[y*w+x] += float32(share) * row[x]
					mean += share * float64(row[x]) * of * of * by * by
				}
			}
		}
		for y, of := range t.down {
			for x, by := range t.across {
				t.plane[y*w+x] = (t.plane[y*w+x] - float32(mean)) * float32(of*by)
			}
		}
		s, err := t.plan.Forward(pool, t.plane)
		if err != nil {
			return err
		}
		s.Each(func(fy, fx int, v complex64) complex64 {
			i := fy*(w/2+1) + fx
			if at := t.at[i]; at >= 0 {
				b := &found[a][at/binCount][at%binCount]
				b.count++
				b.response += float64(t.response[i])
				b.log += math.Log(max(squared(v), math.SmallestNonzeroFloat32)) + eulerGamma
			}
			return v
		})
	}
	return nil
}

// responseOf is |K̂|² as it is seen through the window, whose spectrum smears it: the transform of the product of both
// autocorrelations.
func (t *tile) responseOf(pool *parallel.Pool, k deblur.Kernel) ([]float32, error) {
	h, w := t.plan.Size()
	for i, v := range k.Weights {
		t.plane[i/k.W*w+i%k.W] = v
	}
	s, err := t.plan.Forward(pool, t.plane)
	if err != nil {
		return nil, err
	}
	s.Each(func(_, _ int, v complex64) complex64 { return complex(float32(squared(v)), 0) })
	if err := s.Inverse(pool, t.plane); err != nil {
		return nil, err
	}
	down, across := autocorrelation(t.down, k.H), autocorrelation(t.across, k.W)
	for i := range t.plane {
		y, x := i/w, i%w
		t.plane[i] *= float32(down[min(y, h-y, k.H)] * across[min(x, w-x, k.W)])
	}
	if s, err = t.plan.Forward(pool, t.plane); err != nil {
		return nil, err
	}
	response := make([]float32, h*(w/2+1))
	s.Each(func(fy, fx int, v complex64) complex64 {
		response[fy*(w/2+1)+fx] = max(real(v), 0)
		return v
	})
	return response, nil
}

// autocorrelation is that of a window for distances from 0 to n, which is beyond a kernel of that size.
func autocorrelation(v []float64, n int) []float64 {
	sums := make([]float64, n+1)
	for d := range n {
		for i := d; i < len(v); i++ {
			sums[d] += v[i] * v[i-d]
		}
	}
	return sums
}

func squared(v complex64) float64 {
	return float64(real(v))*float64(real(v)) + float64(imag(v))*float64(imag(v))
}

// window is a window of Hann whose squares sum to 1.
func window(n int) []float64 {
	v, sum := make([]float64, n), 0.0
	for i := range v {
		s := math.Sin(math.Pi * (float64(i) + 0.5) / float64(n))
		v[i] = s * s
		sum += v[i] * v[i]
	}
	for i := range v {
		v[i] /= math.Sqrt(sum)
	}
	return v
}

// powers are those of the noise at LowestFrequency, by a line through the logarithms, and the least that the two highest bands
// can have: 0 where nothing tells.
func (s *spectrum) powers() (level, fine float64) {
	var sum, f, ff, l, fl float64 // of weights, frequencies, logarithms and their products
	fine = math.Inf(1)
	for i := range s {
		log, weight := s[i].noise(1)
		if !(weight > 0) {
			continue
		}
		at := bandWidth * (float64(i) + 0.5) // above LowestFrequency
		sum += weight
		f += weight * at
		ff += weight * at * at
		l += weight * log
		fl += weight * at * log
		if i >= bandCount-2 {
			log, weight := s[i].noise(minPower)
			fine = min(fine, math.Exp(log-1/math.Sqrt(weight)))
		}
	}
	if sum == 0 || math.IsInf(fine, 1) {
		return 0, 0
	}
	slope := 0.0
	if d := sum*ff - f*f; d > 0 {
		slope = min(0, (sum*fl-f*l)/d)
	}
	return math.Exp((l - slope*f) / sum), fine
}

// noise is the logarithm of n in a band by least squares, for the power of |K̂|², least to 1, that fits best, and the inverse of
// its variance: by the information about it (Fisher's, times that of a logarithm, for s and that power unknown) and by fitError. The
// latter is 0 where |K̂|² is the same all over the band.
func (b *band) noise(least float64) (log, weight float64) {
	best := math.Inf(1)
	for twentieths := 20.0; twentieths >= 20*least; twentieths-- {
		power := twentieths / 20
		var r, slope [binCount]float64 // |K̂|² to that power, and its derivative by it
		for i, c := range b {
			if c.count > 0 {
				r[i] = math.Pow(c.response/c.count, power)
				slope[i] = r[i] * math.Log(c.response/c.count)
			}
		}
		for step := range 80 {
			ratio := 0.0 // s/n
			if step > 0 {
				ratio = math.Exp2(float64(step) / 2)
			}
			var count, sum, squares float64
			var nn, ns, ss, ng, sg, gg float64 // of the derivatives by log n, s/n and the power
			for i, c := range b {
				if c.count == 0 {
					continue
				}
				m := ratio*r[i] + 1
				l := c.log/c.count - math.Log(m)
				count += c.count
				sum += c.count * l
				squares += c.count * l * l
				n, s, g := 1/m, r[i]/m, slope[i]/m
				nn += c.count * n * n
				ns += c.count * n * s
				ss += c.count * s * s
				ng += c.count * n * g
				sg += c.count * s * g
				gg += c.count * g * g
			}
			if left := squares - sum*sum/count; count > 0 && left < best {
				information := nn - ns*ns/ss
				if own := gg - sg*sg/ss; least < 1 && own > 1e-9*gg {
					information -= (ng - ns*sg/ss) * (ng - ns*sg/ss) / own
				}
				best, log, weight = left, sum/count, 1/(1/information+fitError*fitError)
			}
		}
	}
	return log, weight
}
