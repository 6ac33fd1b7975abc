package vulkan

import (
	"errors"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/devicekit"
)

// filter is a bank of weights on the GPU twice: for A, and with inputs and outputs exchanged and both
// axes reversed, which is Aᵀ written as a convolution (exactly, zero padding included: a tap that reaches
// outside the frame has no counterpart on either side).
type filter struct {
	shape            backend.Shape // Out, In, KH, KW
	data             memory
	forward, adjoint bank
	raw              memory // the weights as they came
}

// bank is what a convolution kernel reads of a filter.
type bank struct {
	tiling
	weights         memory
	inputs, outputs int
	kh, kw          int
	padded          int // outputs with padding
}

// tiling is a kernel that makes convolutions, and how.
type tiling struct {
	kernel        string
	constants     []uint32 // after those of kernels/convolution.h
	rows, columns int      // of a workgroup's pixels
	together      int      // outputs of a workgroup
}

func newBank(outputs, inputs, kh, kw int) bank {
	b := bank{tiling: tilingOf(outputs, kh, kw), inputs: inputs, outputs: outputs, kh: kh, kw: kw}
	b.padded = b.together * ceil(outputs, b.together)
	return b
}

// tilingOf chooses the kernel of a filter. It looks at the filter alone, so that images of all sizes, and
// with fewer channels than the filter, are made in the same way.
func tilingOf(outputs, kh, kw int) tiling {
	if kh != kw || kh != 1 && kh != 3 {
		return tiling{kernel: "convolve", rows: 8, columns: 32, together: 8}
	}
	blocks := 4
	switch {
	case outputs <= 8:
		blocks = 1
	case outputs <= 16:
		blocks = 2
	}
	if kh == 1 {
		return direct(blocks, 1, 4*blocks)
	}
	return direct(blocks, 3, 4)
}

// direct is the tiling of kernels/direct.comp with these constants.
func direct(blocks, size, chunk int) tiling {
	const pixels = 4 // of a thread
	return tiling{
		kernel: "direct", constants: []uint32{uint32(blocks), uint32(size), uint32(chunk)},
		rows: groupThreads / blocks * pixels / 32, columns: 32, together: 8 * blocks,
	}
}

func (b *bank) len() int { return b.inputs * b.kh * b.kw * b.padded }

// NewFilter implements devicekit.Kernels.
func (g *gpu) NewFilter(w array) (*filter, error) {
	s := w.Shape
	f := &filter{shape: s, forward: newBank(s.N, s.C, s.H, s.W), adjoint: newBank(s.C, s.N, s.H, s.W)}
	// Each begins at a multiple of a granule, so that vectors of four are where they are read.
	const aligned = granule / 4
	forward, adjoint := aligned*ceil(f.forward.len(), aligned), aligned*ceil(f.adjoint.len(), aligned)
	var err error
	if f.data, err = g.alloc(forward + adjoint + s.Len()); err != nil {
		return nil, err
	}
	f.forward.weights = f.data
	f.adjoint.weights = g.View(f.data, forward, 0)
	f.raw = g.View(f.data, forward+adjoint, 0)
	if err := g.UpdateFilter(f, w); err != nil {
		g.Free(f.data)
		return nil, err
	}
	return f, nil
}

// UpdateFilter implements devicekit.Kernels.
func (g *gpu) UpdateFilter(f *filter, w array) error {
	raw := array{Shape: w.Shape, Data: f.raw}
	if err := g.LinearCombination(raw, []devicekit.Term[memory]{{A: 1, X: w}}); err != nil {
		return err
	}
	for _, b := range []*bank{&f.forward, &f.adjoint} {
		l := g.launch()
		to, from := l.bind(b.weights, b.len()), l.array(w)
		if err := l.run("pack", nil, b.len(), 1, 1, to, from, uint32(b.outputs), uint32(b.inputs),
			uint32(b.kh*b.kw), uint32(b.padded), flag(b == &f.adjoint), uint32(b.len())); err != nil {
			return err
		}
	}
	return nil
}

// FreeFilter implements devicekit.Kernels.
func (g *gpu) FreeFilter(f *filter) { g.Free(f.data) }

// Convolve implements devicekit.Kernels.
func (g *gpu) Convolve(dst, src array, f *filter, end devicekit.ConvEnd[memory]) error {
	c := convolution{bank: &f.forward, src: planesOf(src), channels: src.Shape.C, images: src.Shape.N, height: src.Shape.H, width: src.Shape.W,
		region: src.Shape.Whole(), outputs: dst.Shape.C, dst: planesOf(dst), bias: end.Bias, slope: slope(end.Activation)}
	run := func() error { return g.convolve(&c) }
	if g.due.convolution {
		g.due.convolution = false
		return g.compareConvolution(dst, src, f, nil, run, func(host backend.Device, to, from backend.Buffer, own backend.Filter, h *hostCopies) error {
			e := backend.ConvEnd{Activation: end.Activation}
			if end.Bias != nil {
				e.Bias = h.copy(*end.Bias, end.Bias.Shape.Whole())
			}
			return errors.Join(h.err, host.Convolve(to, from, own, e))
		})
	}
	return run()
}

// ConvolveAdjoint implements devicekit.Kernels.
func (g *gpu) ConvolveAdjoint(dst, src array, f *filter, beta, scale float32) error {
	return g.addAdjoint(dst, dst, src, f, beta, scale)
}

// AddAdjoint implements devicekit.AdjointSums.
func (g *gpu) AddAdjoint(dst, start, src array, f *filter, scale float32) error {
	return g.addAdjoint(dst, start, src, f, 1, scale)
}

func (g *gpu) addAdjoint(dst, start, src array, f *filter, beta, scale float32) error {
	c := convolution{bank: &f.adjoint, src: planesOf(src), channels: src.Shape.C, images: src.Shape.N, height: src.Shape.H, width: src.Shape.W,
		region: src.Shape.Whole(), outputs: dst.Shape.C, dst: planesOf(dst),
		adds: true, start: planesOf(start), known: start.Shape.C, beta: beta, scale: scale}
	run := func() error { return g.convolve(&c) }
	if g.due.adjoint {
		g.due.adjoint = false
		before := &start
		if beta == 0 {
			before = nil
		}
		return g.compareConvolution(dst, src, f, before, run, func(host backend.Device, to, from backend.Buffer, own backend.Filter, _ *hostCopies) error {
			return host.ConvolveAdjoint(to, from, own, beta, scale)
		})
	}
	return run()
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
type planes struct {
	data                    memory
	n                       int
	at, image, plane, pitch int
}

func planesOf(a array) planes {
	s := a.Shape
	return planes{a.Data, s.Len(), 0, s.C * s.Plane(), s.Plane(), s.W}
}

// from are the planes that begin at a pixel of these.
func (p planes) from(y, x int) planes {
	p.at += y*p.pitch + x
	return p
}

// convolution is what kernels/convolution.h is told.
type convolution struct {
	bank          *bank
	src           planes
	channels      int // of the source; of the bank's inputs those beyond meet zeros
	images        int
	height, width int            // of the source
	region        backend.Region // of the source's pixels, those of the result
	outputs       int            // that are wanted, the first of the bank's
	dst           planes         // where the region begins

	// A layer.
	bias   *array
	slope  float32
	ball   int    // channels of a vector that is projected, 0 for none
	radial planes // radii, where the region begins

	// An addition.
	adds        bool
	start       planes
	known       int
	beta, scale float32
}

// convolve puts a convolution on the stream, image by image and in bands of rows of which none takes long.
func (g *gpu) convolve(c *convolution) error {
	b := c.bank
	rows, columns := c.region.Size()
	constants := append([]uint32{flag(c.adds), uint32(c.ball)}, b.constants...)
	across, down := ceil(columns, b.columns), ceil(rows, b.rows)
	channels := min(c.channels, b.inputs)
	cost := 2 * float64(b.rows*b.columns*across) * float64(channels*b.kh*b.kw) * float64(c.outputs) // of a row of tiles
	band := max(1, min(down, mostGroups/across, int(g.stream.most/cost)))
	for n := range c.images {
		l := g.launch()
		image := func(p planes) uint32 { return l.bind(p.data, p.n) + uint32(p.at+n*p.image) }
		dst, src := image(c.dst), image(c.src)
		l.bind(b.weights, b.len())
		// Kernels have all bindings, read or not.
		bias, radius, start := uint32(0), uint32(0), uint32(0)
		if c.bias != nil {
			bias = l.array(*c.bias)
		} else {
			l.bind(b.weights, b.len())
		}
		if c.ball > 0 {
			radius = image(c.radial)
		} else {
			l.bind(b.weights, b.len())
		}
		if c.adds {
			start = image(c.start)
		} else {
			l.bind(b.weights, b.len())
		}
		step := uint32(0)
		if c.radial.pitch > 0 {
			step = 1
		}
		for first := 0; first < down; first += band {
			deep := min(band, down-first)
			if err := l.groups(b.kernel, constants, across*deep, ceil(c.outputs, b.together), cost*float64(deep),
				dst, uint32(c.dst.plane), uint32(c.dst.pitch), src, uint32(c.src.plane), uint32(c.src.pitch),
				start, uint32(c.start.plane), uint32(c.start.pitch),
				radius, uint32(c.radial.plane), uint32(c.radial.pitch), step, bias, flag(c.bias != nil),
				uint32(channels), uint32(c.known), uint32(c.outputs), uint32(b.padded), uint32(c.height), uint32(c.width),
				uint32(c.region.Y0), uint32(c.region.X0), uint32(rows), uint32(columns), uint32(first*b.rows), uint32(b.kh), uint32(b.kw),
				bits(c.beta), bits(c.scale), bits(c.slope)); err != nil {
				return err
			}
		}
	}
	return nil
}
