package deblur

import (
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/arguments"
	"github.com/averaged/imaging/internal/fft"
	"github.com/averaged/imaging/internal/parallel"
	"github.com/averaged/imaging/operator"
)

// extrapolations is how often the continuation of a photograph is made anew. By
// measurement eight times are worth up to 2.8 dB at weak noise (a long straight motion
// gains most), eight more 0.4 dB at the very best, and at strong noise nothing.
const extrapolations = 8

// Wiener sets dst to a linear estimate of the unknown image, to start iterations from. dst is one image of
// Domain size, and src the photograph, of Range size and with as many channels. The host computes it.
//
// The estimate is Wiener's filter, conj k̂/(|k̂|² + nsr·R). It assumes a power spectrum that falls as in
// natural images, 1/R with R(θ) = c·(4 − 2cos θ₁ − 2cos θ₂). The number c makes the sum of 1/R over all
// frequencies except 0 equal to 0.4 of their number, because more than half of a photograph's variance is in
// slopes slower than this model has. nsr is the ratio of the variance of the noise to that of the image (see
// NoiseToSignal), 1e-9 to 1e9.
//
// A photograph with a circular blur is filtered directly, unless a side has a prime factor above 200, which
// makes a transform slow. Any other photograph must first become periodic. It is continued beyond its frame
// according to the boundary (for Unknown by reflection), with a smooth transition to the opposite edge, so
// that no jump causes ringing. Then the continuation is replaced a few times by what the blurred estimate has
// there. This is expectation and maximisation in turn for the least squares problem of the photograph alone
// (Dempster, Laird and Rubin 1977), and its objective falls with each step.
func (o *Operator) Wiener(dst, src backend.Buffer, nsr float64) error {
	if !(nsr >= 1e-9 && nsr <= 1e9) {
		return fmt.Errorf("deblur: noise-to-signal ratio %v, want 1e-9 to 1e9", nsr)
	}
	dh, dw := o.Domain()
	from, to := arguments.ShapeOf(src), arguments.ShapeOf(dst)
	channels := from.C
	if from != backend.Image(channels, o.h, o.w) || to != backend.Image(channels, dh, dw) {
		return fmt.Errorf("deblur: estimate of %v from %v, want one image of %d×%d from one of %d×%d",
			to, from, dh, dw, o.h, o.w)
	}
	pool := parallel.New(o.device.Description().Threads)
	defer pool.Close()
	top, left := o.Offset()
	w := wiener{
		pool: pool,
		y:    o.newTorus(o.h, o.kernel.H, o.kernel.CY, top),
		x:    o.newTorus(o.w, o.kernel.W, o.kernel.CX, left),
	}
	if err := w.prepare(o.kernel, nsr); err != nil {
		return err
	}
	// One channel at a time: the memory needed is a few planes.
	photograph, estimate := make([]float32, o.h*o.w), make([]float32, dh*dw)
	return operator.EachChannel(o.device, dst, src, func(dst, src backend.Buffer) error {
		err := o.device.Download(photograph, src)
		if err == nil {
			err = w.estimate(estimate, dh, dw, photograph)
		}
		if err == nil {
			err = o.device.Upload(dst, estimate)
		}
		if err != nil {
			return fmt.Errorf("deblur: %w", err)
		}
		return nil
	})
}

// wiener estimates one channel.
type wiener struct {
	pool    *parallel.Pool
	y, x    torus
	deblur  *fft.Filter // to an estimate
	predict *fft.Filter // to the blur of the estimate; nil where nothing is continued
}

func (w *wiener) prepare(k Kernel, nsr float64) error {
	plan, err := fft.New(w.y.period, w.x.period)
	if err != nil {
		return err
	}
	image := make([]float32, w.y.period*w.x.period)
	for i, v := range k.Weights {
		y, x := wrap(i/k.W-k.CY, w.y.period), wrap(i%k.W-k.CX, w.x.period)
		image[y*w.x.period+x] += v
	}
	rough := newRoughness(w.y.period, w.x.period)
	filter := func(response func(power, noise float64, k complex128) complex128) (*fft.Filter, error) {
		spectrum, err := plan.Forward(w.pool, image)
		if err != nil {
			return nil, err
		}
		spectrum.Each(func(fy, fx int, k complex64) complex64 {
			power := float64(real(k))*float64(real(k)) + float64(imag(k))*float64(imag(k))
			noise := nsr * rough.at(fy, fx)
			if power+noise == 0 {
				return 0
			}
			return complex64(response(power, noise, complex128(k)))
		})
		return spectrum.Filter(), nil
	}
	w.deblur, err = filter(func(power, noise float64, k complex128) complex128 {
		return complex(real(k)/(power+noise), -imag(k)/(power+noise))
	})
	if err != nil || w.y.whole && w.x.whole {
		return err
	}
	w.predict, err = filter(func(power, noise float64, _ complex128) complex128 {
		return complex(power/(power+noise), 0)
	})
	return err
}

// estimate sets dst, dh×dw samples, from a photograph.
func (w *wiener) estimate(dst []float32, dh, dw int, photograph []float32) error {
	period := w.x.period
	periodic := make([]float32, w.y.period*period)
	w.pool.For(w.y.period, func(y int) {
		row := periodic[y*period : (y+1)*period]
		for _, a := range w.y.at[y] {
			line := photograph[a.from*w.x.n:][:w.x.n]
			for x := range row {
				for _, b := range w.x.at[x] {
					row[x] += a.weight * b.weight * line[b.from]
				}
			}
		}
	})
	from := fft.Rows{H: w.y.period, W: period, Row: func(_, y int, row []float32) {
		copy(row, periodic[y*period:])
	}}
	if w.predict != nil {
		beyond := fft.Rows{H: w.y.period, W: period, Row: func(_, y int, row []float32) {
			line := periodic[y*period:][:period]
			if y < w.y.lead || y >= w.y.lead+w.y.n {
				copy(line, row)
				return
			}
			copy(line[:w.x.lead], row)
			copy(line[w.x.lead+w.x.n:], row[w.x.lead+w.x.n:])
		}}
		for range extrapolations {
			if err := w.predict.Apply(w.pool, 1, beyond, from, false); err != nil {
				return err
			}
		}
	}
	// The unknown image begins at the first sample of the torus.
	to := fft.Rows{H: dh, W: dw, Row: func(_, y int, row []float32) { copy(dst[y*dw:], row) }}
	return w.deblur.Apply(w.pool, 1, to, from, false)
}

// detail is the mean of 1/R, tuned on photographs with five kernels at standard
// deviations of 0.01, 0.03 and 0.07: against 1 it is worth 0.2 dB, up to 0.7.
const detail = 0.4

// roughness is R, the inverse of the power spectrum that is expected.
type roughness struct {
	scale float64
	y, x  []float64 // 2 − 2cos θ
}

func newRoughness(h, w int) roughness {
	axis := func(n int) []float64 {
		s := make([]float64, n)
		for f := range s {
			sin := math.Sin(math.Pi * float64(f) / float64(n))
			s[f] = 4 * sin * sin
		}
		return s
	}
	r := roughness{y: axis(h), x: axis(w)}
	for i, a := range r.y {
		for j, b := range r.x {
			if i > 0 || j > 0 {
				r.scale += 1 / (a + b)
			}
		}
	}
	r.scale /= detail * float64(h) * float64(w)
	return r
}

func (r roughness) at(fy, fx int) float64 { return r.scale * (r.y[fy] + r.x[fx]) }

// NoiseToSignal returns the ratio of variances for Wiener, limited to [1e-6, 1e6]. photograph holds planes of
// n samples each, with noise of standard deviation sigma.
func NoiseToSignal(photograph []float32, n int, sigma float64) float64 {
	variance := 0.0
	planes := 0
	for ; n > 0 && len(photograph) >= n; photograph = photograph[n:] {
		mean, squares := 0.0, 0.0
		for _, v := range photograph[:n] {
			mean += float64(v)
		}
		mean /= float64(n)
		for _, v := range photograph[:n] {
			squares += (float64(v) - mean) * (float64(v) - mean)
		}
		variance += squares / float64(n)
		planes++
	}
	noise := sigma * sigma
	signal := variance/float64(max(1, planes)) - noise
	if !(signal > 1e-6*noise) {
		return 1e6
	}
	return max(noise/signal, 1e-6)
}

// torus says how one axis of a photograph becomes periodic.
type torus struct {
	n, lead, period int
	at              [][]share // of every sample, what it is a mean of
	whole           bool      // the photograph is periodic as it is
}

// share is a sample of the photograph and its weight.
type share struct {
	from   int
	weight float32
}

// newTorus continues n samples, of which the first is at lead, less than size.
func (o *Operator) newTorus(n, size, centre, lead int) torus {
	if o.boundary == Circular && largestPrime(n) <= 200 {
		t := torus{n: n, period: n, at: make([][]share, n), whole: true}
		for i := range t.at {
			t.at[i] = []share{{from: i, weight: 1}}
		}
		return t
	}
	gap := max(2*size, 32)
	period := fft.GoodSize(n + gap)
	gap = period - n
	t := torus{n: n, lead: lead, period: period, at: make([][]share, period)}
	for i := range n {
		t.at[lead+i] = []share{{from: i, weight: 1}}
	}
	for j := range gap {
		// Sample j behind the end is sample gap−1−j before the beginning.
		before := gap - 1 - j
		turn := (float64(j) + .5) / float64(gap)
		turn = turn * turn * (3 - 2*turn)
		behind := share{from: mirror(n+j, n), weight: float32(1 - turn)}
		ahead := share{from: mirror(-1-before, n), weight: float32(turn)}
		switch o.boundary {
		case Circular:
			behind.from, ahead.from = wrap(n+j, n), wrap(-1-before, n)
		case Zero:
			// Blurred, a black frame takes as long as the kernel reaches to get black.
			behind.weight = fade(j, size-1-centre)
			ahead.weight = fade(before, centre)
		}
		t.at[wrap(lead+n+j, period)] = []share{behind, ahead}
	}
	return t
}

// fade falls from 1 to 0 on the way from −1 to reach.
func fade(i, reach int) float32 {
	if i >= reach {
		return 0
	}
	t := (float64(i) + 1) / float64(reach+1)
	return float32(1 - t*t*(3-2*t))
}

func largestPrime(n int) int {
	top := 1
	for p := 2; p*p <= n; p++ {
		for n%p == 0 {
			n, top = n/p, p
		}
	}
	return max(top, n)
}
