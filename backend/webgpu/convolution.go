//go:build js && wasm

package webgpu

import (
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/devicekit"
)

// filter is a bank of weights on the GPU twice: for A, and with inputs and outputs exchanged and both
// axes reversed, which is Aᵀ written as a convolution (exactly, zero padding included: a tap that reaches
// outside the frame has no counterpart on either side).
type filter struct {
	shape            backend.Shape // Out, In, KH, KW
	forward, adjoint bank
	raw              memory // the weights as they came
}

// weights are the weights as they came.
func (f *filter) weights() array { return array{Shape: f.shape, Data: f.raw} }

// bank is what a convolution kernel reads of a filter.
type bank struct {
	weights         memory
	inputs, outputs int
	kh, kw          int
	blocks          int // of eight outputs in a workgroup of convolve3; 0 for convolve
	padded          int // outputs with padding
}

func newBank(outputs, inputs, kh, kw int) bank {
	b := bank{inputs: inputs, outputs: outputs, kh: kh, kw: kw}
	together := 1
	if kh == 3 && kw == 3 {
		switch {
		case outputs <= 8:
			b.blocks = 1
		case outputs <= 16:
			b.blocks = 2
		default:
			b.blocks = 4
		}
		together = b.blocks
	}
	b.padded = 8 * together * ceil(outputs, 8*together)
	return b
}

func (b *bank) len() int { return b.inputs * b.kh * b.kw * b.padded }

// NewFilter implements devicekit.Kernels.
func (g *gpu) NewFilter(w array) (*filter, error) {
	s := w.Shape
	f := &filter{shape: s, forward: newBank(s.N, s.C, s.H, s.W), adjoint: newBank(s.C, s.N, s.H, s.W)}
	for _, part := range []struct {
		to *memory
		n  int
	}{{&f.forward.weights, f.forward.len()}, {&f.adjoint.weights, f.adjoint.len()}, {&f.raw, s.Len()}} {
		m, err := g.alloc(part.n)
		if err != nil {
			g.FreeFilter(f)
			return nil, err
		}
		*part.to = m
	}
	if err := g.UpdateFilter(f, w); err != nil {
		g.FreeFilter(f)
		return nil, err
	}
	return f, nil
}

// UpdateFilter implements devicekit.Kernels.
func (g *gpu) UpdateFilter(f *filter, w array) error {
	if err := g.CopyRegion(f.weights(), 0, 0, w, w.Shape.Whole()); err != nil {
		return err
	}
	for _, b := range []*bank{&f.forward, &f.adjoint} {
		l := g.launch()
		to, from := l.bind(b.weights), l.array(w)
		if err := l.run("pack", nil, b.len(), 1, 1,
			to, from, uint32(b.outputs), uint32(b.inputs), uint32(b.kh*b.kw), uint32(b.padded), flag(b == &f.adjoint), uint32(b.len())); err != nil {
			return err
		}
	}
	return nil
}

// FreeFilter implements devicekit.Kernels.
func (g *gpu) FreeFilter(f *filter) {
	for _, m := range []memory{f.forward.weights, f.adjoint.weights, f.raw} {
		if m.buffer != nil {
			g.Free(m)
		}
	}
}

// Convolve implements devicekit.Kernels.
func (g *gpu) Convolve(dst, src array, f *filter, end devicekit.ConvEnd[memory]) error {
	c := convolution{bank: &f.forward, src: planesOf(src), channels: src.Shape.C, images: src.Shape.N, height: src.Shape.H, width: src.Shape.W,
		region: src.Shape.Whole(), outputs: dst.Shape.C, dst: planesOf(dst), bias: end.Bias, slope: slope(end.Activation)}
	return g.convolve(&c)
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
	return g.convolve(&c)
}

// slope is that of an activation on the negative side.
func slope(a backend.Activation) float32 {
	if a.Kind == backend.LeakyReLU {
		return a.Slope
	}
	return 1
}

// planes is how a kernel sees images: they begin at a place in memory, with distances between images,
// channels and rows.
type planes struct {
	data                    memory
	at, image, plane, pitch int
}

func planesOf(a array) planes {
	s := a.Shape
	return planes{a.Data, 0, s.C * s.Plane(), s.Plane(), s.W}
}

// from are the planes that begin at a pixel of these.
func (p planes) from(y, x int) planes {
	p.at += y*p.pitch + x
	return p
}

// convolution is what kernels/convolution.wgsl is told.
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
	const tileColumns = 32
	name, tileRows, outputs := "convolve", 8, 8
	constants := map[string]uint32{"adds": flag(c.adds), "ball": uint32(c.ball)}
	if b.blocks > 0 {
		name, tileRows, outputs = "convolve3", groupThreads/b.blocks/8, 8*b.blocks
		constants["blocks"], constants["chunk"] = uint32(b.blocks), 4
		if b.blocks == 1 {
			constants["chunk"] = 2 // a larger tile
		}
	}
	across := ceil(columns, tileColumns)
	channels := min(c.channels, b.inputs)
	cost := 2 * float64(tileRows*tileColumns*across) * float64(channels*b.kh*b.kw) * float64(c.outputs) // of a row of tiles
	band := max(1, min(ceil(rows, tileRows), mostGroups/across, int(g.stream.most/cost)))
	for n := range c.images {
		l := g.launch()
		image := func(p planes) uint32 { return l.bind(p.data) + uint32(p.at+n*p.image) }
		dst, src := image(c.dst), image(c.src)
		l.bind(b.weights)
		// Kernels have all operands, read or not.
		bias, radius, start := uint32(0), uint32(0), uint32(0)
		if c.bias != nil {
			bias = l.array(*c.bias)
		} else {
			l.bind(g.nothing[0])
		}
		if c.ball > 0 {
			radius = image(c.radial)
		} else {
			l.bind(g.nothing[1])
		}
		if c.adds {
			start = image(c.start)
		} else {
			l.bind(g.nothing[2])
		}
		step := uint32(0)
		if c.radial.pitch > 0 {
			step = 1
		}
		for first := 0; first < rows; first += band * tileRows {
			x := across * min(band, ceil(rows-first, tileRows))
			if err := l.groups(name, constants, x, ceil(c.outputs, outputs), cost*float64(x/across),
				dst, uint32(c.dst.plane), uint32(c.dst.pitch), src, uint32(c.src.plane), uint32(c.src.pitch),
				start, uint32(c.start.plane), uint32(c.start.pitch),
				radius, uint32(c.radial.plane), uint32(c.radial.pitch), step, bias, flag(c.bias != nil),
				uint32(channels), uint32(c.known), uint32(c.outputs), uint32(b.padded), uint32(c.height), uint32(c.width),
				uint32(c.region.Y0), uint32(c.region.X0), uint32(rows), uint32(columns), uint32(first), uint32(b.kh), uint32(b.kw),
				bitsOf(c.beta), bitsOf(c.scale), bitsOf(c.slope)); err != nil {
				return err
			}
		}
	}
	return nil
}
