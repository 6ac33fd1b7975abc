package selftest

import (
	"context"

	"github.com/averaged/imaging/backend"
)

// Probe is an operation on small arrays.
type Probe struct {
	Name string
	run  func(p *Arrays) backend.Buffer
}

// Probes go through every kernel.
var Probes = []Probe{
	{"a gradient flow", func(p *Arrays) backend.Buffer {
		return p.flow(backend.FlowStep{Bias: p.Numbers(backend.Vector(20)), Activation: backend.Activation{Kind: backend.LeakyReLU, Slope: 0.1}}, 20, 3)
	}},
	{"a gradient flow with balls", func(p *Arrays) backend.Buffer {
		return p.flow(backend.FlowStep{Radius: p.Clipped(p.Numbers(backend.Image(10, probeHeight, probeWidth)))}, 40, 3)
	}},
	{"a gradient flow of filters of 5×5", func(p *Arrays) backend.Buffer {
		return p.flow(backend.FlowStep{Radius: p.Clipped(p.Numbers(backend.Vector(4)))}, 12, 5)
	}},
	{"a projection onto balls", func(p *Arrays) backend.Buffer {
		b := p.Numbers(probeImage)
		p.check(p.Device.ProjectBalls(b, b, p.Clipped(p.Numbers(backend.Vector(2)))))
		return b
	}},
	{"pixels as channels", func(p *Arrays) backend.Buffer {
		coarse, fine := p.Alloc(probeImage.Unshuffled(2)), p.Alloc(probeImage)
		p.check(p.Device.Unshuffle(coarse, p.Numbers(probeImage), 2))
		p.check(p.Device.Clip(coarse, coarse, -0.5, 0.75))
		p.check(p.Device.Shuffle(fine, coarse, 2))
		return fine
	}},
	{"sums and products", func(p *Arrays) backend.Buffer {
		x, y := p.Numbers(probeImage), p.Numbers(probeImage)
		p.check(p.Device.Multiply(x, x, y))
		p.check(p.Device.LinearCombination(x, backend.Term{A: 0.3, X: x}, backend.Term{A: -2, X: y}))
		p.check(p.Device.MixChannels(x, x, []float32{1, 2, 3, 4, -5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, -7}))
		var sums [3]float64
		p.check(p.Device.Reduce(sums[:], backend.Reduction{Kind: backend.Dot, X: x, Y: y}, backend.Reduction{Kind: backend.SumSquares, X: x}, backend.Reduction{Kind: backend.DiffSquares, X: x, Y: y}))
		out := p.Alloc(backend.Vector(3))
		p.check(p.Device.Upload(out, []float32{float32(sums[0]), float32(sums[1]), float32(sums[2])}))
		return out
	}},
	{"a blur", func(p *Arrays) backend.Buffer { return p.blur((*Arrays).apply) }},
	{"the adjoint of a blur", func(p *Arrays) backend.Buffer { return p.blur((*Arrays).applyAdjoint) }},
	{"total variation", func(p *Arrays) backend.Buffer {
		y, u, dual := p.Numbers(probeImage), p.Alloc(probeImage), p.Alloc(backend.Image(2*probeImage.C, probeHeight, probeWidth))
		for range 3 {
			p.check(p.Device.TVIterate(u, dual, y, backend.TVProblem{Alpha: 0.2, Coupled: true}, backend.TVStep{Primal: 0.4, Extrapolation: 0.3, Dual: 0.5}))
		}
		p.check(p.Device.TVPrimal(u, dual, y, 1))
		return u
	}},
}

const probeHeight, probeWidth = 19, 37

var probeImage = backend.Image(4, probeHeight, probeWidth)

// Arrays makes what an operation on a device is tried with. The first error stays, and what follows does nothing.
type Arrays struct {
	Device backend.Device
	Err    error
	seed   uint64
	owned  []interface{ Free() }
}

// Own has Free free b.
func (p *Arrays) Own(b interface{ Free() }) { p.owned = append(p.owned, b) }

// Free gives all that was made back.
func (p *Arrays) Free() {
	for _, b := range p.owned {
		b.Free()
	}
}

func (p *Arrays) check(err error) {
	if p.Err == nil {
		p.Err = err
	}
}

// Alloc returns an array of zeros, or any one where something is wrong.
func (p *Arrays) Alloc(s backend.Shape) backend.Buffer {
	b, err := p.Device.Alloc(s)
	p.check(err)
	if err == nil {
		p.Own(b)
	}
	return b
}

// Numbers returns an array of normal numbers, the same on every device.
func (p *Arrays) Numbers(s backend.Shape) backend.Buffer {
	b := p.Alloc(s)
	if p.Err == nil {
		p.seed++
		p.check(p.Device.Gaussian(b, p.seed, 0, 0.3))
	}
	return b
}

// Clipped makes radii of numbers.
func (p *Arrays) Clipped(b backend.Buffer) backend.Buffer {
	if p.Err == nil {
		p.check(p.Device.Clip(b, b, 0.05, 1))
	}
	return b
}

// flow makes two steps with filters of so many outputs, of the given size.
func (p *Arrays) flow(s backend.FlowStep, outputs, size int) backend.Buffer {
	src, dst := p.Numbers(probeImage), p.Alloc(probeImage)
	w := p.Numbers(backend.Shape{N: outputs, C: 8, H: size, W: size})
	if p.Err != nil {
		return dst
	}
	f, err := p.Device.NewFilter(w)
	if p.check(err); err != nil {
		return dst
	}
	p.Own(f)
	s.Filter, s.Size = f, 0.2
	p.check(p.Device.GradientFlow(context.Background(), dst, src, probeImage.Whole(), []backend.FlowStep{s, s}))
	return dst
}

func (p *Arrays) blur(apply func(p *Arrays, dst, src backend.Buffer, k backend.Blur)) backend.Buffer {
	src, dst := p.Numbers(probeImage), p.Alloc(probeImage)
	if p.Err != nil {
		return dst
	}
	kernel := make([]float32, 5*7)
	for i := range kernel {
		kernel[i] = float32(i%4) / 40
	}
	k, err := p.Device.NewBlur(backend.BlurSpec{Kernel: kernel, KH: 5, KW: 7, CY: 1, CX: 4, H: probeHeight, W: probeWidth, Boundary: backend.Reflect, Method: backend.DirectBlur})
	if p.check(err); err != nil {
		return dst
	}
	p.Own(k)
	apply(p, dst, src, k)
	return dst
}

func (p *Arrays) apply(dst, src backend.Buffer, k backend.Blur) {
	p.check(p.Device.ApplyBlur(dst, src, k))
}

func (p *Arrays) applyAdjoint(dst, src backend.Buffer, k backend.Blur) {
	p.check(p.Device.ApplyBlurAdjoint(dst, src, k))
}

// Result runs a probe and downloads what it makes.
func (q Probe) Result(dev backend.Device) ([]float32, error) {
	p := &Arrays{Device: dev}
	defer p.Free()
	b := q.run(p)
	if p.Err != nil {
		return nil, p.Err
	}
	v := make([]float32, b.Shape().Len())
	return v, dev.Download(v, b)
}
