package deblurring

import (
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/srgb"
	"github.com/averaged/imaging/operator"
)

// light is what Deblur does where light was blurred before the curve g made samples of it: the photograph is y = g(K·g⁻¹(x)) +
// noise. This is linearised at an image x₀, which a run or an annealed step begins with: y′ = Jx + noise with J = L·K·R, L and R the
// diagonals g′(K·g⁻¹(x₀)) and (g⁻¹)′(x₀), and y′ = y − g(K·g⁻¹(x₀)) + J·x₀. It stays until the run ends: what is
// proven of a run with K is proven with J.
type light struct {
	dev            backend.Device
	k              operator.Linear
	planar         *imageplanes.Planes
	photograph     backend.Buffer // the stored samples
	left, right, y backend.Buffer
	j              *operator.Scaled
	peak           float32
}

func newLight(dev backend.Device, k operator.Linear, planar *imageplanes.Planes, photograph backend.Buffer) (_ *light, err error) {
	l := &light{dev: dev, k: k, planar: planar, photograph: photograph, peak: 1}
	defer func() {
		if err != nil {
			l.free()
		}
	}()
	h, w := k.Domain()
	if l.right, err = dev.Alloc(backend.Image(planar.Channels, h, w)); err != nil {
		return nil, err
	}
	if l.left, err = dev.Alloc(photograph.Shape()); err != nil {
		return nil, err
	}
	if l.y, err = dev.Alloc(photograph.Shape()); err != nil {
		return nil, err
	}
	l.j, err = operator.Scale(dev, k, l.left, l.right)
	return l, err
}

// linearise at x.
func (l *light) linearise(x backend.Buffer) error {
	jx, err := l.dev.Alloc(l.y.Shape())
	if err != nil {
		return err
	}
	defer jx.Free()
	at, err := l.dev.Alloc(x.Shape())
	if err != nil {
		return err
	}
	defer at.Free()
	clamp := func(v float32) float64 { return float64(min(max(v, 0), l.peak)) }
	if err := l.curve(at, x, func(v float32) float32 { return float32(srgb.Linear(clamp(v))) }); err != nil {
		return err
	}
	if err := l.k.Apply(l.y, at); err != nil {
		return err
	}
	if err := l.curve(l.left, l.y, func(v float32) float32 { return float32(srgb.EncodedSlope(float64(max(v, 0)))) }); err != nil {
		return err
	}
	if err := l.curve(l.y, l.y, func(v float32) float32 { return float32(srgb.Encoded(float64(max(v, 0)))) }); err != nil {
		return err
	}
	if err := l.curve(l.right, x, func(v float32) float32 { return float32(srgb.LinearSlope(clamp(v))) }); err != nil {
		return err
	}
	if err := l.curve(at, x, func(v float32) float32 { return float32(clamp(v)) }); err != nil {
		return err
	}
	if err := l.j.Apply(jx, at); err != nil {
		return err
	}
	if err := l.dev.LinearCombination(l.y, backend.Term{A: -1, X: l.y}, backend.Term{A: 1, X: l.photograph}); err != nil {
		return err
	}
	if err := l.dev.LinearCombination(l.y, backend.Term{A: 1, X: l.y}, backend.Term{A: 1, X: jx}); err != nil {
		return err
	}
	return l.j.Bound()
}

// curve sets dst to f of src.
func (l *light) curve(dst, src backend.Buffer, f func(v float32) float32) error {
	host := make([]float32, src.Shape().Len())
	if err := l.dev.Download(host, src); err != nil {
		return err
	}
	for i, v := range host {
		host[i] = f(v)
	}
	return l.dev.Upload(dst, host)
}

func (l *light) free() {
	if l.j != nil {
		l.j.Free()
	}
	for _, b := range []backend.Buffer{l.left, l.right, l.y, l.photograph} {
		if b != nil {
			b.Free()
		}
	}
}
