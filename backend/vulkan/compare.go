package vulkan

import (
	"context"
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
)

const (
	// mostDifference is the normalised mean squared difference from the processor's result that rounding
	// in float32 explains, for the depth of the networks: it is some 1e-12 where drivers work, and 1e-7
	// where one computes in half precision.
	mostDifference = 1e-9
	// comparedSide is the side of the tile of an image that is compared.
	comparedSide = 16
)

// differs returns an error that wraps ErrWrong unless two results agree. Where the processor's is not
// finite nothing can be said.
func differs(what string, got, want []float32) error {
	squares, energy := 0.0, 0.0
	for i, w := range want {
		if v := float64(w); math.IsNaN(v) || math.IsInf(v, 0) {
			return nil
		}
		d := float64(got[i]) - float64(w)
		squares += d * d
		energy += float64(w) * float64(w)
	}
	if !(squares <= mostDifference*energy) {
		return fmt.Errorf("%w: %s, by %.2g of its energy, and at most %.0e is rounding", ErrWrong, what, squares/energy, mostDifference)
	}
	return nil
}

// probe is an operation on small arrays.
type probe struct {
	name string
	run  func(p *probing) backend.Buffer
}

// probes go through every kernel.
var probes = []probe{
	{"a gradient flow", func(p *probing) backend.Buffer {
		return p.flow(backend.FlowStep{Bias: p.numbers(backend.Vector(20)), Activation: backend.Activation{Kind: backend.LeakyReLU, Slope: 0.1}}, 20, 3)
	}},
	{"a gradient flow with balls", func(p *probing) backend.Buffer {
		return p.flow(backend.FlowStep{Radius: p.clipped(p.numbers(backend.Image(10, probeHeight, probeWidth)))}, 40, 3)
	}},
	{"a gradient flow of filters of 5×5", func(p *probing) backend.Buffer {
		return p.flow(backend.FlowStep{Radius: p.clipped(p.numbers(backend.Vector(4)))}, 12, 5)
	}},
	{"a projection onto balls", func(p *probing) backend.Buffer {
		b := p.numbers(probeImage)
		p.check(p.dev.ProjectBalls(b, b, p.clipped(p.numbers(backend.Vector(2)))))
		return b
	}},
	{"pixels as channels", func(p *probing) backend.Buffer {
		coarse, fine := p.alloc(probeImage.Unshuffled(2)), p.alloc(probeImage)
		p.check(p.dev.Unshuffle(coarse, p.numbers(probeImage), 2))
		p.check(p.dev.Clip(coarse, coarse, -0.5, 0.75))
		p.check(p.dev.Shuffle(fine, coarse, 2))
		return fine
	}},
	{"sums and products", func(p *probing) backend.Buffer {
		x, y := p.numbers(probeImage), p.numbers(probeImage)
		p.check(p.dev.Multiply(x, x, y))
		p.check(p.dev.LinearCombination(x, backend.Term{A: 0.3, X: x}, backend.Term{A: -2, X: y}))
		p.check(p.dev.MixChannels(x, x, []float32{1, 2, 3, 4, -5, 6, 7, 8, 9, 1, 2, 3, 4, 5, 6, -7}))
		var sums [3]float64
		p.check(p.dev.Reduce(sums[:], backend.Reduction{Kind: backend.Dot, X: x, Y: y}, backend.Reduction{Kind: backend.SumSquares, X: x}, backend.Reduction{Kind: backend.DiffSquares, X: x, Y: y}))
		out := p.alloc(backend.Vector(3))
		p.check(p.dev.Upload(out, []float32{float32(sums[0]), float32(sums[1]), float32(sums[2])}))
		return out
	}},
	{"a blur", func(p *probing) backend.Buffer { return p.blur((*probing).apply) }},
	{"the adjoint of a blur", func(p *probing) backend.Buffer { return p.blur((*probing).applyAdjoint) }},
	{"total variation", func(p *probing) backend.Buffer {
		y, u, dual := p.numbers(probeImage), p.alloc(probeImage), p.alloc(backend.Image(2*probeImage.C, probeHeight, probeWidth))
		for range 3 {
			p.check(p.dev.TVIterate(u, dual, y, backend.TVProblem{Alpha: 0.2, Coupled: true}, backend.TVStep{Primal: 0.4, Extrapolation: 0.3, Dual: 0.5}))
		}
		p.check(p.dev.TVPrimal(u, dual, y, 1))
		return u
	}},
}

const probeHeight, probeWidth = 19, 37

var probeImage = backend.Image(4, probeHeight, probeWidth)

// probing runs a probe on a device. The first error stays, and what follows does nothing.
type probing struct {
	dev   backend.Device
	seed  uint64
	owned []interface{ Free() }
	err   error
}

func (p *probing) check(err error) {
	if p.err == nil {
		p.err = err
	}
}

// alloc returns an array of zeros, or any one where something is wrong.
func (p *probing) alloc(s backend.Shape) backend.Buffer {
	b, err := p.dev.Alloc(s)
	p.check(err)
	if err == nil {
		p.owned = append(p.owned, b)
	}
	return b
}

// numbers returns an array of normal numbers, the same on every device.
func (p *probing) numbers(s backend.Shape) backend.Buffer {
	b := p.alloc(s)
	if p.err == nil {
		p.seed++
		p.check(p.dev.Gaussian(b, p.seed, 0, 0.3))
	}
	return b
}

// clipped makes radii of numbers.
func (p *probing) clipped(b backend.Buffer) backend.Buffer {
	if p.err == nil {
		p.check(p.dev.Clip(b, b, 0.05, 1))
	}
	return b
}

// flow makes two steps with filters of so many outputs, of the given size.
func (p *probing) flow(s backend.FlowStep, outputs, size int) backend.Buffer {
	src, dst := p.numbers(probeImage), p.alloc(probeImage)
	w := p.numbers(backend.Shape{N: outputs, C: 8, H: size, W: size})
	if p.err != nil {
		return dst
	}
	f, err := p.dev.NewFilter(w)
	if p.check(err); err != nil {
		return dst
	}
	p.owned = append(p.owned, f)
	s.Filter, s.Size = f, 0.2
	p.check(p.dev.GradientFlow(context.Background(), dst, src, probeImage.Whole(), []backend.FlowStep{s, s}))
	return dst
}

func (p *probing) blur(apply func(p *probing, dst, src backend.Buffer, k backend.Blur)) backend.Buffer {
	src, dst := p.numbers(probeImage), p.alloc(probeImage)
	if p.err != nil {
		return dst
	}
	kernel := make([]float32, 5*7)
	for i := range kernel {
		kernel[i] = float32(i%4) / 40
	}
	k, err := p.dev.NewBlur(backend.BlurSpec{Kernel: kernel, KH: 5, KW: 7, CY: 1, CX: 4, H: probeHeight, W: probeWidth, Boundary: backend.Reflect, Method: backend.DirectBlur})
	if p.check(err); err != nil {
		return dst
	}
	p.owned = append(p.owned, k)
	apply(p, dst, src, k)
	return dst
}

func (p *probing) apply(dst, src backend.Buffer, k backend.Blur) {
	p.check(p.dev.ApplyBlur(dst, src, k))
}

func (p *probing) applyAdjoint(dst, src backend.Buffer, k backend.Blur) {
	p.check(p.dev.ApplyBlurAdjoint(dst, src, k))
}

// result runs a probe and downloads what it makes.
func (q probe) result(dev backend.Device) ([]float32, error) {
	p := &probing{dev: dev}
	defer func() {
		for _, b := range p.owned {
			b.Free()
		}
	}()
	b := q.run(p)
	if p.err != nil {
		return nil, p.err
	}
	v := make([]float32, b.Shape().Len())
	return v, dev.Download(v, b)
}

// compare compares every kind of operation with the processor's.
func (g *gpu) compare(dev backend.Device) error {
	host, err := g.processor()
	if err != nil {
		return err
	}
	defer func() { g.due = due{} }()
	for _, q := range probes {
		want, err := q.result(host)
		if err != nil {
			return err
		}
		got, err := q.result(dev)
		if err != nil {
			return err
		}
		if err := differs(q.name, got, want); err != nil {
			return err
		}
	}
	return nil
}

// processor returns the device that results are compared with.
func (g *gpu) processor() (backend.Device, error) {
	if g.host == nil {
		host, err := cpu.Open()
		if err != nil {
			return nil, err
		}
		g.host = host
	}
	return g.host, nil
}

// compareTile compares one tile in the middle of the region of a gradient flow with the processor's.
func (g *gpu) compareTile(ctx context.Context, dst, src array, region backend.Region, steps []flowStep) error {
	host, err := g.processor()
	if err != nil {
		return err
	}
	tile := middle(region)
	cut := reach(tile, steps, src.Shape)
	h := &hostCopies{gpu: g, host: host}
	defer h.free()
	from := h.copy(src, cut)
	own := make([]backend.FlowStep, len(steps))
	for k, s := range steps {
		own[k] = backend.FlowStep{Filter: h.filter(s.Filter), Activation: s.Activation, Size: s.Size, Tableau: s.Tableau}
		if s.Bias != nil {
			own[k].Bias = h.copy(*s.Bias, s.Bias.Shape.Whole())
		}
		if s.Radius != nil {
			r := s.Radius.Shape.Whole()
			if isMap(*s.Radius) {
				r = cut
			}
			own[k].Radius = h.copy(*s.Radius, r)
		}
	}
	s := dst.Shape
	s.H, s.W = cut.Size()
	to := h.alloc(s)
	if h.err != nil {
		return h.err
	}
	if err := host.GradientFlow(ctx, to, from, within(tile, cut), own); err != nil {
		return err
	}
	return h.agrees(pair{dst, to, tile, cut})
}

// compareConvolution runs a convolution, and compares a tile in the middle of its result with the
// processor's. start is what dst is before it, or nil.
func (g *gpu) compareConvolution(dst, src array, f *filter, start *array, run func() error, onHost func(host backend.Device, to, from backend.Buffer, f backend.Filter, h *hostCopies) error) error {
	host, err := g.processor()
	if err != nil {
		return err
	}
	tile := middle(dst.Shape.Whole())
	cut := tile.Reach(max(f.shape.H, f.shape.W)/2, 1, src.Shape)
	h := &hostCopies{gpu: g, host: host}
	defer h.free()
	from, own := h.copy(src, cut), h.filter(f)
	var to backend.Buffer
	if start != nil {
		to = h.copy(*start, cut)
	} else {
		s := dst.Shape
		s.H, s.W = cut.Size()
		to = h.alloc(s)
	}
	if h.err != nil {
		return h.err
	}
	if err := run(); err != nil {
		return err
	}
	if err := onHost(host, to, from, own, h); err != nil {
		return err
	}
	// The source is the measure of rounding, as sums may be next to nothing.
	return h.agrees(pair{dst, to, tile, cut}, pair{src, from, tile, cut})
}

// compareTV runs an iteration of total variation, and compares a tile in the middle with the processor's.
func (g *gpu) compareTV(u, p, y array, problem backend.TVProblem, step backend.TVStep, run func() error) error {
	host, err := g.processor()
	if err != nil {
		return err
	}
	tile := middle(u.Shape.Whole())
	cut := tile.Reach(2, 1, u.Shape) // the outermost pixels have other neighbours than in the image
	h := &hostCopies{gpu: g, host: host}
	defer h.free()
	ownU, ownP, ownY := h.copy(u, cut), h.copy(p, cut), h.copy(y, cut)
	if h.err != nil {
		return h.err
	}
	if err := run(); err != nil {
		return err
	}
	if err := host.TVIterate(ownU, ownP, ownY, problem, step); err != nil {
		return err
	}
	return h.agrees(pair{u, ownU, tile, cut}, pair{p, ownP, tile, cut})
}

// within is a tile in the coordinates of a cut.
func within(tile, cut backend.Region) backend.Region {
	return backend.Region{Y0: tile.Y0 - cut.Y0, Y1: tile.Y1 - cut.Y0, X0: tile.X0 - cut.X0, X1: tile.X1 - cut.X0}
}

// pair is an array of the GPU's, and what the processor has of a cut of it, to be compared in a tile.
type pair struct {
	own       array
	cut       backend.Buffer
	tile, all backend.Region
}

// agrees returns an error that wraps ErrWrong unless the numbers of the pairs, taken together, agree.
func (h *hostCopies) agrees(pairs ...pair) error {
	var got, want []float32
	for _, p := range pairs {
		s := p.own.Shape
		s.H, s.W = p.tile.Size()
		part := h.alloc(s)
		if h.err != nil {
			return h.err
		}
		if err := h.host.CopyRegion(part, 0, 0, p.cut, within(p.tile, p.all)); err != nil {
			return err
		}
		numbers := make([]float32, s.Len())
		if err := h.host.Download(numbers, part); err != nil {
			return err
		}
		own, err := h.gpu.region(p.own, p.tile)
		if err != nil {
			return err
		}
		got, want = append(got, own...), append(want, numbers...)
	}
	return h.gpu.try(differs(fmt.Sprintf("a tile of the image at %v", pairs[0].tile), got, want))
}

// middle is the tile in the middle of a region.
func middle(r backend.Region) backend.Region {
	h, w := r.Size()
	r.Y0 += (h - min(h, comparedSide)) / 2
	r.X0 += (w - min(w, comparedSide)) / 2
	r.Y1, r.X1 = r.Y0+min(h, comparedSide), r.X0+min(w, comparedSide)
	return r
}

// region downloads a region of an array.
func (g *gpu) region(a array, r backend.Region) ([]float32, error) {
	if r == a.Shape.Whole() {
		return g.numbers(a)
	}
	s := scratch{gpu: g}
	defer s.free()
	part := array{Shape: a.Shape}
	part.Shape.H, part.Shape.W = r.Size()
	var err error
	if part.Data, err = s.alloc(part.Shape.Len()); err != nil {
		return nil, err
	}
	if err := g.CopyRegion(part, 0, 0, a, r); err != nil {
		return nil, err
	}
	return g.numbers(part)
}

// hostCopies are copies of arrays and filters for the processor.
type hostCopies struct {
	gpu     *gpu
	host    backend.Device
	filters map[*filter]backend.Filter
	owned   []interface{ Free() }
	err     error
}

func (h *hostCopies) free() {
	for _, b := range h.owned {
		b.Free()
	}
}

func (h *hostCopies) alloc(s backend.Shape) backend.Buffer {
	if h.err != nil {
		return nil
	}
	b, err := h.host.Alloc(s)
	if h.err = err; err != nil {
		return nil
	}
	h.owned = append(h.owned, b)
	return b
}

func (h *hostCopies) copy(a array, r backend.Region) backend.Buffer {
	if h.err != nil {
		return nil
	}
	var v []float32
	if v, h.err = h.gpu.region(a, r); h.err != nil {
		return nil
	}
	s := a.Shape
	s.H, s.W = r.Size()
	b := h.alloc(s)
	if h.err == nil {
		h.err = h.host.Upload(b, v)
	}
	return b
}

func (h *hostCopies) filter(f *filter) backend.Filter {
	if own := h.filters[f]; own != nil || h.err != nil {
		return own
	}
	w := h.copy(array{Shape: f.shape, Data: f.raw}, f.shape.Whole())
	if h.err != nil {
		return nil
	}
	own, err := h.host.NewFilter(w)
	if h.err = err; err != nil {
		return nil
	}
	if h.filters == nil {
		h.filters = map[*filter]backend.Filter{}
	}
	h.filters[f] = own
	h.owned = append(h.owned, own)
	return own
}
