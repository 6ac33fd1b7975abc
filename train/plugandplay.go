package train

import (
	"context"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/devicequeue"
	"github.com/averaged/imaging/internal/fft"
	"github.com/averaged/imaging/internal/parallel"
)

// plugAndPlay makes the runs of restore.Deblur for images that are blurred circularly,
//
//	x ← P_C(Φ(D(x))),   D(x) = argmin over v of ½‖v − x‖² + τ·½‖Kv − y‖²,
//
// from a Wiener estimate, with C the box [0,1]ⁿ, and once more, from the end of the first run,
// for y + (y − Kx) in place of y, or with a guide its annealed steps and then one run. The data step is exact:
// with Fourier transforms D(x)^ = (x̂ + τ·conj(k̂)·ŷ)/(1 + τ|k̂|²). Everything but Φ is computed on the host.
type plugAndPlay struct {
	pool   *parallel.Pool
	plan   *fft.Plan
	h, w   int
	planes int

	y     []float32   // the blurred images, of the second run with what the first has left
	fixed []float32   // of D: what y adds
	x     []float32   // the iterate
	last  []float32   // T of the one before
	point []float32   // D(x), then T(x)
	own   *fft.Filter // the derivative of D where approach has ended in a run, or nil
}

// newPlugAndPlay allocates for images of that shape.
func newPlugAndPlay(dev backend.Device, images backend.Shape) (*plugAndPlay, error) {
	plan, err := fft.New(images.H, images.W)
	if err != nil {
		return nil, err
	}
	p := &plugAndPlay{
		pool: parallel.New(dev.Description().Threads), plan: plan,
		h: images.H, w: images.W, planes: images.N * images.C,
	}
	for _, b := range []*[]float32{&p.y, &p.fixed, &p.x, &p.last, &p.point} {
		*b = make([]float32, images.Len())
	}
	return p, nil
}

func (p *plugAndPlay) close() { p.pool.Close() }

// response is the filter with the response f of a kernel's k̂ at each frequency.
func (p *plugAndPlay) response(k deblur.Kernel, f func(fy, fx int, k complex128) complex128) (*fft.Filter, error) {
	image := p.point[:p.h*p.w]
	clear(image)
	for i, v := range k.Weights {
		y, x := wrap(i/k.W-k.CY, p.h), wrap(i%k.W-k.CX, p.w)
		image[y*p.w+x] += v
	}
	spectrum, err := p.plan.Forward(p.pool, image)
	if err != nil {
		return nil, err
	}
	spectrum.Each(func(fy, fx int, k complex64) complex64 { return complex64(f(fy, fx, complex128(k))) })
	return spectrum.Filter(), nil
}

func wrap(i, n int) int { return (i%n + n) % n }

// apply filters every plane.
func (p *plugAndPlay) apply(f *fft.Filter, dst, src []float32) error {
	at := func(b []float32, plane, y int) []float32 { return b[(plane*p.h+y)*p.w:][:p.w] }
	return f.Apply(p.pool, p.planes,
		fft.Rows{H: p.h, W: p.w, Row: func(plane, y int, row []float32) { copy(at(dst, plane, y), row) }},
		fft.Rows{H: p.h, W: p.w, Row: func(plane, y int, row []float32) { copy(row, at(src, plane, y)) }}, false)
}

// blurFilters are those of one kernel and noise level.
type blurFilters struct {
	blur   *fft.Filter // k̂
	own    *fft.Filter // of x in D(x): 1/(1 + τ|k̂|²)
	data   *fft.Filter // of y in D(x): τ·conj(k̂)/(1 + τ|k̂|²)
	wiener *fft.Filter
}

// The variance of photographs, and the factor of the power spectrum of deblur.Operator.Wiener
// on images of a hundred or so pixels in height and width.
const (
	imageVariance = 0.06
	roughness     = 2
)

func (p *plugAndPlay) filters(e exposure, tau float64) (f blurFilters, err error) {
	power := func(k complex128) float64 { return real(k)*real(k) + imag(k)*imag(k) }
	conj := func(k complex128) complex128 { return complex(real(k), -imag(k)) }
	noise := e.sigma * e.sigma / imageVariance
	for _, want := range []struct {
		filter   **fft.Filter
		response func(fy, fx int, k complex128) complex128
	}{
		{&f.blur, func(_, _ int, k complex128) complex128 { return k }},
		{&f.own, func(_, _ int, k complex128) complex128 { return complex(1/(1+tau*power(k)), 0) }},
		{&f.data, func(_, _ int, k complex128) complex128 { return complex(tau/(1+tau*power(k)), 0) * conj(k) }},
		{&f.wiener, func(fy, fx int, k complex128) complex128 {
			slope := 4 - 2*math.Cos(2*math.Pi*float64(fy)/float64(p.h)) - 2*math.Cos(2*math.Pi*float64(fx)/float64(p.w))
			return complex(1/(power(k)+noise*roughness*slope), 0) * conj(k)
		}},
	} {
		if *want.filter, err = p.response(e.kernel, want.response); err != nil {
			return f, err
		}
	}
	return f, nil
}

// push is how far an iterate goes on beyond T of the one before, by the step from there: it
// saves iterations, and leaves fixed points as they are.
const push = 0.5

// solve blurs clean images, adds the noise, makes two runs of so many iterations with the
// network Φ, which has to set out to what it makes of in, and leaves the data step that
// follows in in: the images that the network is to learn from.
func (p *plugAndPlay) solve(ctx context.Context, q *devicequeue.Queue, e exposure, clean, noise []float32, iterations [2]int, in, out backend.Buffer, phi func() error) error {
	f, err := p.filters(e, e.step)
	if err != nil {
		return err
	}
	if err := p.photograph(f, clean, noise); err != nil {
		return err
	}
	for run, n := range iterations {
		if err := p.apply(f.data, p.fixed, p.y); err != nil {
			return err
		}
		for i := range n {
			if err := ctx.Err(); err != nil {
				return err
			}
			if err := p.dataStep(f, q, in); err != nil {
				return err
			}
			q.Do(phi)
			q.Download(p.point, out)
			if q.Err != nil {
				return q.Err
			}
			clip(p.point)
			p.advance(i > 0)
		}
		copy(p.x, p.last)
		if run == 0 { // y + (y − Kx)
			if err := p.apply(f.blur, p.point, p.x); err != nil {
				return err
			}
			for i, v := range p.point {
				p.y[i] += p.y[i] - v
			}
		}
	}
	return p.dataStep(f, q, in)
}

// photograph blurs clean images and adds the noise; x is a Wiener estimate.
func (p *plugAndPlay) photograph(f blurFilters, clean, noise []float32) error {
	if err := p.apply(f.blur, p.y, clean); err != nil {
		return err
	}
	for i, v := range noise {
		p.y[i] += v
	}
	if err := p.apply(f.wiener, p.x, p.y); err != nil {
		return err
	}
	clip(p.x)
	return nil
}

// dataStep sets in to D(x).
func (p *plugAndPlay) dataStep(f blurFilters, q *devicequeue.Queue, in backend.Buffer) error {
	if err := p.apply(f.own, p.point, p.x); err != nil {
		return err
	}
	for i, v := range p.fixed {
		p.point[i] += v
	}
	q.Upload(in, p.point)
	return q.Err
}

// advance goes on from T(x), and, where there is one, beyond it.
func (p *plugAndPlay) advance(beyond bool) {
	for i, v := range p.point {
		p.x[i] = v
		if beyond {
			p.x[i] = v + float32(push*(v-p.last[i]))
		}
		p.last[i] = v
	}
}

// clip projects onto [0,1]ⁿ.
func clip(x []float32) {
	for i, v := range x {
		x[i] = min(max(v, 0), 1)
	}
}
