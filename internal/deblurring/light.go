package deblurring

import (
	"context"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/parallel"
	"github.com/averaged/imaging/internal/srgb"
	"github.com/averaged/imaging/operator"
)

// light is what Deblur does where light was blurred, before the curve g of sRGB made samples of it: the photograph is
// y = g(K·g⁻¹(x)) + noise, while x is an image of samples, for which networks are made. The model is linearised at the image x₀ that a
// run begins with: y′ = Jx + noise, where y′ = y − g(K·g⁻¹(x₀)) + J·x₀, and J = L·K·R with the diagonals L = g′(K·g⁻¹(x₀)) and
// R = (g⁻¹)′(x₀). Both stay until the run ends: what is proven of a run with K is proven with J. Each annealed step is
// linearised anew (Gauss and Newton's method).
type light struct {
	dev            backend.Device
	k              operator.Linear
	planar         *imageplanes.Planes // the photograph
	left, right, y backend.Buffer      // y is y′, or, for the initial estimate, the photograph's light
	j              *operator.Scaled
	pool           *parallel.Pool
}

// newLight returns it without a linearisation, and with nothing in y.
func newLight(dev backend.Device, k operator.Linear, planar *imageplanes.Planes) (_ *light, err error) {
	l := &light{dev: dev, k: k, planar: planar, pool: parallel.New(dev.Description().Threads)}
	defer func() {
		if err != nil {
			l.free()
		}
	}()
	h, w := k.Domain()
	if l.right, err = dev.Alloc(backend.Image(planar.Channels, h, w)); err != nil {
		return nil, err
	}
	if l.left, err = dev.Alloc(planar.Shape()); err != nil {
		return nil, err
	}
	if l.y, err = dev.Alloc(planar.Shape()); err != nil {
		return nil, err
	}
	l.j, err = operator.Scale(dev, k, l.left, l.right)
	return l, err
}

// photographed sets y to the photograph's light.
func (l *light) photographed() error {
	host := make([]float32, l.planar.Height*l.planar.Width)
	for c := range l.planar.Channels {
		photograph := l.planar.Plane(c)
		l.each(len(host), func(i int) { host[i] = float32(srgb.Linear(float64(photograph[i]))) })
		if err := upload(l.dev, l.y, c, host); err != nil {
			return err
		}
	}
	return nil
}

// encode replaces light by samples.
func (l *light) encode(x backend.Buffer) error {
	host := make([]float32, x.Shape().Plane())
	for c := range x.Shape().C {
		if err := download(l.dev, host, x, c); err != nil {
			return err
		}
		l.each(len(host), func(i int) { host[i] = float32(srgb.Encoded(float64(max(host[i], 0)))) })
		if err := upload(l.dev, x, c, host); err != nil {
			return err
		}
	}
	return nil
}

// samples returns channel c of the image x, kept within the box.
func (l *light) samples(x backend.Buffer, c int, peak float64) ([]float32, error) {
	samples := make([]float32, x.Shape().Plane())
	if err := download(l.dev, samples, x, c); err != nil {
		return nil, err
	}
	l.each(len(samples), func(i int) { samples[i] = min(max(samples[i], 0), float32(peak)) })
	return samples, nil
}

// blur sets dst to the blurred light of samples, for which unknown is room, and returns the slopes of that light at the samples.
func (l *light) blur(dst, unknown backend.Buffer, samples []float32) (slopes []float32, err error) {
	slopes = make([]float32, len(samples))
	bright := make([]float32, len(samples))
	l.each(len(samples), func(i int) {
		light, slope := srgb.LinearWithSlope(float64(samples[i]))
		bright[i], slopes[i] = float32(light), float32(slope)
	})
	if err := l.dev.Upload(unknown, bright); err != nil {
		return nil, err
	}
	return slopes, l.k.Apply(dst, unknown)
}

// linearise sets J and y′ at x, whose samples are kept within the box.
func (l *light) linearise(ctx context.Context, x backend.Buffer, peak float64) error {
	s := x.Shape()
	unknown, err := l.dev.Alloc(backend.Image(1, s.H, s.W))
	if err != nil {
		return err
	}
	defer unknown.Free()
	seen, err := l.dev.Alloc(backend.Image(1, l.planar.Height, l.planar.Width))
	if err != nil {
		return err
	}
	defer seen.Free()
	blurred, slopes := make([]float32, seen.Shape().Len()), make([]float32, seen.Shape().Len())
	for c := range s.C {
		if err := ctx.Err(); err != nil {
			return err
		}
		at, err := l.samples(x, c, peak)
		if err != nil {
			return err
		}
		right, err := l.blur(seen, unknown, at)
		if err != nil {
			return err
		}
		if err := upload(l.dev, l.right, c, right); err != nil {
			return err
		}
		if err := l.dev.Download(blurred, seen); err != nil {
			return err
		}
		photograph := l.planar.Plane(c)
		l.each(len(blurred), func(i int) {
			sample, slope := srgb.EncodedWithSlope(float64(max(blurred[i], 0)))
			blurred[i], slopes[i] = photograph[i]-float32(sample), float32(slope)
		})
		if err := upload(l.dev, l.left, c, slopes); err != nil {
			return err
		}
		if err := l.dev.Upload(unknown, at); err != nil {
			return err
		}
		j, err := l.j.Channel(c)
		if err != nil {
			return err
		}
		if err := j.Apply(seen, unknown); err != nil {
			return err
		}
		if err := l.dev.Download(slopes, seen); err != nil {
			return err
		}
		l.each(len(blurred), func(i int) { blurred[i] += slopes[i] })
		if err := upload(l.dev, l.y, c, blurred); err != nil {
			return err
		}
	}
	l.j.Changed()
	return nil
}

// each calls f with 0 to n−1, on all threads.
func (l *light) each(n int, f func(i int)) {
	l.pool.Range(n, 1<<14, func(lo, hi int) {
		for i := lo; i < hi; i++ {
			f(i)
		}
	})
}

func (l *light) free() {
	l.pool.Close()
	if l.j != nil {
		l.j.Free()
	}
	for _, b := range []backend.Buffer{l.left, l.right, l.y} {
		if b != nil {
			b.Free()
		}
	}
}
