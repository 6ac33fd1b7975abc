package dispatch

import (
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/devicekit"
)

// Filter is a bank of weights on the GPU twice: for A, and with inputs and outputs exchanged and both
// axes reversed, which is Aᵀ written as a convolution (exactly, zero padding included: a tap that reaches
// outside the frame has no counterpart on either side).
type Filter[B comparable] struct {
	shape            backend.Shape // Out, In, KH, KW
	forward, adjoint bank[B]
	raw              Memory[B] // the weights as they came
}

// weights are the weights as they came.
func (f *Filter[B]) weights() Array[B] { return Array[B]{Shape: f.shape, Data: f.raw} }

// bank is what a convolution kernel reads of a filter.
type bank[B comparable] struct {
	Tiling
	weights         Memory[B]
	inputs, outputs int
	kh, kw          int
	padded          int // outputs with padding
}

func (k *Kernels[B]) newBank(outputs, inputs, kh, kw int) bank[B] {
	b := bank[B]{Tiling: k.gpu.Shaders().Tiling(outputs, kh, kw), inputs: inputs, outputs: outputs, kh: kh, kw: kw}
	b.padded = b.Outputs * ceil(outputs, b.Outputs)
	return b
}

// len is how many words the weights take.
func (b *bank[B]) len() int {
	n := b.inputs * b.kh * b.kw * b.padded
	if b.Half {
		n /= 2
	}
	return n
}

// NewFilter implements devicekit.Kernels.
func (k *Kernels[B]) NewFilter(w Array[B]) (*Filter[B], error) {
	s := w.Shape
	f := &Filter[B]{shape: s, forward: k.newBank(s.N, s.C, s.H, s.W), adjoint: k.newBank(s.C, s.N, s.H, s.W)}
	for _, part := range []struct {
		to *Memory[B]
		n  int
	}{{&f.forward.weights, f.forward.len()}, {&f.adjoint.weights, f.adjoint.len()}, {&f.raw, s.Len()}} {
		m, err := k.alloc(part.n)
		if err != nil {
			k.FreeFilter(f)
			return nil, err
		}
		*part.to = m
	}
	if err := k.UpdateFilter(f, w); err != nil {
		k.FreeFilter(f)
		return nil, err
	}
	return f, nil
}

// UpdateFilter implements devicekit.Kernels.
func (k *Kernels[B]) UpdateFilter(f *Filter[B], w Array[B]) error {
	if err := k.CopyRegion(f.weights(), 0, 0, w, w.Shape.Whole()); err != nil {
		return err
	}
	for _, b := range []*bank[B]{&f.forward, &f.adjoint} {
		shader := "pack"
		if b.Half {
			shader = "packhalf"
		}
		l := k.launch()
		to, from := l.bind(b.weights, b.len()), l.array(w)
		if err := l.run(shader, nil, b.len(), 1, 1, to, from, uint32(b.outputs), uint32(b.inputs),
			uint32(b.kh*b.kw), uint32(b.padded), flag(b == &f.adjoint), uint32(b.len())); err != nil {
			return err
		}
	}
	return nil
}

// FreeFilter implements devicekit.Kernels.
func (k *Kernels[B]) FreeFilter(f *Filter[B]) {
	for _, m := range []Memory[B]{f.forward.weights, f.adjoint.weights, f.raw} {
		k.Free(m)
	}
}

// Convolve implements devicekit.Kernels.
func (k *Kernels[B]) Convolve(dst, src Array[B], f *Filter[B], end devicekit.ConvEnd[Memory[B]]) error {
	c := convolution[B]{bank: &f.forward, src: planesOf(src), channels: src.Shape.C, images: src.Shape.N, height: src.Shape.H, width: src.Shape.W,
		region: src.Shape.Whole(), outputs: dst.Shape.C, dst: planesOf(dst), bias: end.Bias, slope: slope(end.Activation)}
	return k.compared(&k.due.convolution, func() error { return k.convolve(&c) }, func(run func() error) error {
		return k.tester.Convolution(dst, src, f, end, run)
	})
}

// ConvolveAdjoint implements devicekit.Kernels.
func (k *Kernels[B]) ConvolveAdjoint(dst, src Array[B], f *Filter[B], beta, scale float32) error {
	return k.addAdjoint(dst, dst, src, f, beta, scale)
}

// AddAdjoint implements devicekit.AdjointSums.
func (k *Kernels[B]) AddAdjoint(dst, start, src Array[B], f *Filter[B], scale float32) error {
	return k.addAdjoint(dst, start, src, f, 1, scale)
}

func (k *Kernels[B]) addAdjoint(dst, start, src Array[B], f *Filter[B], beta, scale float32) error {
	c := convolution[B]{bank: &f.adjoint, src: planesOf(src), channels: src.Shape.C, images: src.Shape.N, height: src.Shape.H, width: src.Shape.W,
		region: src.Shape.Whole(), outputs: dst.Shape.C, dst: planesOf(dst),
		adds: true, start: planesOf(start), known: start.Shape.C, beta: beta, scale: scale}
	return k.compared(&k.due.adjoint, func() error { return k.convolve(&c) }, func(run func() error) error {
		return k.tester.ConvolutionAdjoint(dst, start, src, f, beta, scale, run)
	})
}

// slope is that of an activation on the negative side.
func slope(a backend.Activation) float32 {
	if a.Kind == backend.LeakyReLU {
		return a.Slope
	}
	return 1
}

// planes is how a kernel sees images: n numbers of memory, in which they begin at a place, with
// distances between images, channels and rows.
type planes[B comparable] struct {
	data                    Memory[B]
	n                       int
	at, image, plane, pitch int
}

func planesOf[B comparable](a Array[B]) planes[B] {
	s := a.Shape
	return planes[B]{a.Data, s.Len(), 0, s.C * s.Plane(), s.Plane(), s.W}
}

// from are the planes that begin at a pixel of these.
func (p planes[B]) from(y, x int) planes[B] {
	p.at += y*p.pitch + x
	return p
}

// convolution is what the shader of a convolution is told.
type convolution[B comparable] struct {
	bank          *bank[B]
	src           planes[B]
	channels      int // of the source; of the bank's inputs those beyond meet zeros
	images        int
	height, width int            // of the source
	region        backend.Region // of the source's pixels, those of the result
	outputs       int            // that are wanted, the first of the bank's
	dst           planes[B]      // where the region begins
	// fromPairs and toPairs say whether planes are of pairs of channels in half precision.
	fromPairs, toPairs bool

	// A layer.
	bias   *Array[B]
	slope  float32
	ball   int       // channels of a vector that is projected, 0 for none
	radial planes[B] // radii, where the region begins

	// An addition.
	adds        bool
	start       planes[B]
	known       int
	beta, scale float32
}

// convolve dispatches a convolution, image by image and in bands of rows of which none takes long.
func (k *Kernels[B]) convolve(c *convolution[B]) error {
	b := c.bank
	rows, columns := c.region.Size()
	constants := append([]uint32{flag(c.adds), uint32(c.ball)}, b.Constants...)
	if b.Half {
		constants = append(constants, flag(c.fromPairs), flag(c.toPairs))
	}
	across, down := ceil(columns, b.Columns), ceil(rows, b.Rows)
	channels := min(c.channels, b.inputs)
	cost := 2 * float64(b.Rows*b.Columns*across) * float64(channels*b.kh*b.kw) * float64(c.outputs) // of a row of tiles
	band := max(1, min(down, MaxGroups/across, int(k.gpu.Shaders().Operations/cost)))
	for n := range c.images {
		l := k.launch()
		image := func(p planes[B]) uint32 { return l.bind(p.data, p.n) + uint32(p.at+n*p.image) }
		dst, src := image(c.dst), image(c.src)
		l.bind(b.weights, b.len())
		var bias, radius, start uint32
		if c.bias != nil {
			bias = l.array(*c.bias)
		} else {
			l.none()
		}
		if c.ball > 0 {
			radius = image(c.radial)
		} else {
			l.none()
		}
		if c.adds {
			start = image(c.start)
		} else {
			l.none()
		}
		step := uint32(0)
		if c.radial.pitch > 0 {
			step = 1
		}
		for first := 0; first < down; first += band {
			deep := min(band, down-first)
			if err := l.groups(b.Shader, constants, across*deep, ceil(c.outputs, b.Outputs), cost*float64(deep),
				dst, uint32(c.dst.plane), uint32(c.dst.pitch), src, uint32(c.src.plane), uint32(c.src.pitch),
				start, uint32(c.start.plane), uint32(c.start.pitch),
				radius, uint32(c.radial.plane), uint32(c.radial.pitch), step, bias, flag(c.bias != nil),
				uint32(channels), uint32(c.known), uint32(c.outputs), uint32(b.padded), uint32(c.height), uint32(c.width),
				uint32(c.region.Y0), uint32(c.region.X0), uint32(rows), uint32(columns), uint32(first*b.Rows), uint32(b.kh), uint32(b.kw),
				bits(c.beta), bits(c.scale), bits(c.slope)); err != nil {
				return err
			}
		}
	}
	return nil
}
