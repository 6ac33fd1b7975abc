package deblurring

import (
	"context"
	"math"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/denoising"
	"github.com/averaged/imaging/internal/fft"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/outcome"
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
	// The bands, in cycles a pixel. Below them the image is too strong; above them cameras and JPEG leave little noise.
	lowestBand, bandWidth, bandCount = 0.1, 0.05, 4
	// fitError is the standard deviation of log n about a line that no chance explains.
	fitError = 0.03
	// Noise is white if the highest band has less than whiteWithin times the white part.
	whiteWithin = 1.5
	// Coefficients are counted by |K̂|², in halves of an octave.
	binsPerOctave, binCount = 2, 40
	// The photograph is cut into parts of at least leastPart pixels and partKernels kernels a side.
	leastPart, partKernels = 512, 8
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

// Noise measures the noise of a photograph under the blur. Where it is coarse the level is that of white noise as strong
// as it is at the lowest frequency that is measured, along the axis where that is highest, by strength.CoarseNoise: a
// denoiser knows noise that is as strong at all frequencies and along all axes, and leaves what is stronger.
func (b Blur) Noise(ctx context.Context, p *imageplanes.Planes, threads int) (outcome.Estimate, error) {
	white, err := denoising.White(p)
	if err != nil {
		return white, err
	}
	axes := colourAxes
	if p.Channels == 1 {
		axes = greyAxis
	}
	pool := parallel.New(threads)
	defer pool.Close()
	found := make([]spectrum, len(axes))
	for i, k := range b.kernels.Kernels {
		if err := k.Check(); err != nil {
			return white, err
		}
		side := max(leastPart, partKernels*k.H, partKernels*k.W)
		ys := cut(span{0, p.Height}, b.kernels.Rows)[i/b.kernels.Columns]
		xs := cut(span{0, p.Width}, b.kernels.Columns)[i%b.kernels.Columns]
		for _, y := range cut(ys, max(1, ys.len()/side)) {
			for _, x := range cut(xs, max(1, xs.len()/side)) {
				if err := ctx.Err(); err != nil {
					return white, err
				}
				if err := measure(pool, found, axes, p, y, x, k); err != nil {
					return white, err
				}
			}
		}
	}
	level, fine := 0.0, 0.0
	for i := range found {
		l, f := found[i].powers()
		level = max(level, l)
		fine += f / float64(len(axes))
	}
	if math.Sqrt(fine) <= whiteWithin*max(white.Sigma, strength.LeastSigma) {
		return white, nil
	}
	return outcome.Estimate{Kind: outcome.CoarseNoise, Sigma: strength.CoarseNoise(math.Sqrt(level)), Reliable: true}, nil
}

// span is the rows or columns of a part, from the first to before the last.
type span [2]int

func (s span) len() int { return s[1] - s[0] }

// cut returns n parts of about the same size.
func cut(s span, n int) (parts []span) {
	for i := range n {
		parts = append(parts, span{s[0] + i*s.len()/n, s[0] + (i+1)*s.len()/n})
	}
	return parts
}

// bin has the coefficients of a band with about the same |K̂|²: how many they are, and the sums of |K̂|² and of log P + γ.
type bin struct{ count, response, log float64 }

type band [binCount]bin

// spectrum is the power of a photograph along one axis.
type spectrum [bandCount]band

const eulerGamma = 0.57721566490153286

// measure adds the spectra of a part of a photograph along the axes.
func measure(pool *parallel.Pool, found []spectrum, axes [][]float64, p *imageplanes.Planes, ys, xs span, k deblur.Kernel) error {
	h, w := fft.GoodSize(max(ys.len(), 2*k.H)), fft.GoodSize(max(xs.len(), 2*k.W))
	plan, err := fft.New(h, w)
	if err != nil {
		return err
	}
	plane, down, across := make([]float32, h*w), window(ys.len()), window(xs.len())
	response, err := responseThrough(pool, plan, plane, k, down, across)
	if err != nil {
		return err
	}
	half := w/2 + 1
	for a, axis := range axes {
		clear(plane)
		mean := 0.0
		for c, share := range axis {
			for y, of := range down {
				row := p.Plane(c)[(ys[0]+y)*p.Width+xs[0]:]
				for x, by := range across {
					plane[y*w+x] += float32(share) * row[x]
					mean += share * float64(row[x]) * of * of * by * by
				}
			}
		}
		for y, of := range down {
			for x, by := range across {
				plane[y*w+x] = (plane[y*w+x] - float32(mean)) * float32(of*by)
			}
		}
		s, err := plan.Forward(pool, plane)
		if err != nil {
			return err
		}
		s.Each(func(fy, fx int, v complex64) complex64 {
			f := math.Hypot(float64(min(fy, h-fy))/float64(h), float64(fx)/float64(w))
			if i := int(math.Floor((f - lowestBand) / bandWidth)); i >= 0 && i < bandCount {
				r := float64(response[fy*half+fx])
				b := &found[a][i][int(min(max(-binsPerOctave*math.Log2(r), 0), binCount-1))]
				b.count++
				b.response += r
				b.log += math.Log(max(squared(v), math.SmallestNonzeroFloat32)) + eulerGamma
			}
			return v
		})
	}
	return nil
}

// responseThrough is |K̂|² as it is seen through a window, whose spectrum smears it: the transform of the product of both
// autocorrelations. plane is room for an image.
func responseThrough(pool *parallel.Pool, plan *fft.Plan, plane []float32, k deblur.Kernel, down, across []float64) ([]float32, error) {
	h, w := plan.Size()
	for i, v := range k.Weights {
		plane[i/k.W*w+i%k.W] = v
	}
	s, err := plan.Forward(pool, plane)
	if err != nil {
		return nil, err
	}
	s.Each(func(_, _ int, v complex64) complex64 { return complex(float32(squared(v)), 0) })
	if err := s.Inverse(pool, plane); err != nil {
		return nil, err
	}
	dy, dx := autocorrelation(down, k.H), autocorrelation(across, k.W)
	for i := range plane {
		y, x := i/w, i%w
		plane[i] *= float32(dy[min(y, h-y, k.H)] * dx[min(x, w-x, k.W)])
	}
	if s, err = plan.Forward(pool, plane); err != nil {
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

// powers are those of the noise at lowestBand, by a line through the logarithms, and in the highest band: 0 where nothing
// tells.
func (s *spectrum) powers() (level, fine float64) {
	var sum, f, ff, l, fl float64 // of weights, frequencies, logarithms and their products
	for i := range s {
		log, information := s[i].noise()
		if !(information > 0) {
			continue
		}
		weight := 1 / (1/information + fitError*fitError)
		at := bandWidth * (float64(i) + 0.5) // above lowestBand
		sum += weight
		f += weight * at
		ff += weight * at * at
		l += weight * log
		fl += weight * at * log
		fine = math.Exp(log)
	}
	if sum == 0 {
		return 0, 0
	}
	slope := 0.0
	if d := sum*ff - f*f; d > 0 {
		slope = min(0, (sum*fl-f*l)/d)
	}
	return math.Exp((l - slope*f) / sum), fine
}

// noise is the logarithm of n in a band by least squares, and the information about it (Fisher's, times that of a
// logarithm, for s unknown): 0 where |K̂|² is the same all over the band.
func (b *band) noise() (log, information float64) {
	best := math.Inf(1)
	for step := range 80 {
		ratio := 0.0 // s/n
		if step > 0 {
			ratio = math.Exp2(float64(step) / 2)
		}
		var count, sum, squares, nn, ns, ss float64
		for _, c := range b {
			if c.count == 0 {
				continue
			}
			r := c.response / c.count
			m := ratio*r + 1
			l := c.log/c.count - math.Log(m)
			count += c.count
			sum += c.count * l
			squares += c.count * l * l
			nn += c.count / (m * m)
			ns += c.count * r / (m * m)
			ss += c.count * r * r / (m * m)
		}
		if left := squares - sum*sum/count; count > 0 && left < best {
			best, log, information = left, sum/count, nn-ns*ns/ss
		}
	}
	return log, information
}
