// Package selftest compares a GPU with the processor: every kind of operation on small arrays, and a tile
// of a gradient flow where it is made.
package selftest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/backend/devicekit"
)

// ErrWrong: a result differs from the processor's by more than rounding explains.
var ErrWrong = errors.New("its result differs from the processor's")

const (
	// mostDifference is the normalised mean squared difference from the processor's result that rounding
	// in float32 explains, for the depth of the networks: it is some 1e-12 where drivers work, and 1e-7
	// where one computes in half precision.
	mostDifference = 1e-9
	// comparedSide is the side of the tile of an image that is compared.
	comparedSide = 16
)

// Differs returns an error that wraps ErrWrong unless two results agree. Where the processor's is not
// finite nothing can be said.
func Differs(what string, got, want []float32) error {
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

// Tester compares what kernels compute.
type Tester[M, F any] struct {
	Kernels devicekit.Kernels[M, F]
	// Weights returns the weights of a filter, (Out, In, KH, KW).
	Weights func(F) devicekit.Array[M]

	host   backend.Device // nil before the first comparison
	canary *canary[M, F]  // nil before Hear
}

// Close closes the processor's device.
func (t *Tester[M, F]) Close() error {
	if t.host == nil {
		return nil
	}
	return t.host.Close()
}

func (t *Tester[M, F]) processor() (backend.Device, error) {
	if t.host == nil {
		host, err := cpu.Open()
		if err != nil {
			return nil, err
		}
		t.host = host
	}
	return t.host, nil
}

// Operations compares every kind of operation of a device that was made of the kernels.
func (t *Tester[M, F]) Operations(dev backend.Device) error {
	host, err := t.processor()
	if err != nil {
		return err
	}
	for _, q := range Probes {
		want, err := q.Result(host)
		if err != nil {
			return err
		}
		got, err := q.Result(dev)
		if err != nil {
			return err
		}
		if err := Differs(q.Name, got, want); err != nil {
			return err
		}
	}
	return nil
}

// Tile compares one tile in the middle of the region of a gradient flow that was made.
func (t *Tester[M, F]) Tile(ctx context.Context, dst, src devicekit.Array[M], region backend.Region, steps []devicekit.FlowStep[M, F]) error {
	host, err := t.processor()
	if err != nil {
		return err
	}
	tile := middle(region)
	cut := t.reach(tile, steps, src.Shape)
	h := &hostCopies[M, F]{Tester: t, host: host}
	defer h.free()
	from := h.copy(src, cut)
	own := make([]backend.FlowStep, len(steps))
	for k, s := range steps {
		first := slices.IndexFunc(steps, func(o devicekit.FlowStep[M, F]) bool { return any(o.Filter) == any(s.Filter) })
		if first < k {
			own[k].Filter = own[first].Filter
		} else {
			own[k].Filter = h.filter(s.Filter)
		}
		own[k].Activation, own[k].Size, own[k].Tableau = s.Activation, s.Size, s.Tableau
		if s.Bias != nil {
			own[k].Bias = h.copy(*s.Bias, s.Bias.Shape.Whole())
		}
		if s.Radius != nil {
			r := s.Radius.Shape.Whole()
			if s.Radius.Shape != backend.Vector(s.Radius.Shape.C) {
				r = cut // a map
			}
			own[k].Radius = h.copy(*s.Radius, r)
		}
	}
	s := dst.Shape
	s.H, s.W = cut.Size()
	to := h.alloc(s)
	s.H, s.W = tile.Size()
	part := h.alloc(s)
	if h.err != nil {
		return h.err
	}
	inCut := backend.Region{Y0: tile.Y0 - cut.Y0, Y1: tile.Y1 - cut.Y0, X0: tile.X0 - cut.X0, X1: tile.X1 - cut.X0}
	if err := host.GradientFlow(ctx, to, from, inCut, own); err != nil {
		return err
	}
	if err := host.CopyRegion(part, 0, 0, to, inCut); err != nil {
		return err
	}
	want := make([]float32, s.Len())
	if err := host.Download(want, part); err != nil {
		return err
	}
	got, err := t.region(dst, tile)
	if err != nil {
		return err
	}
	return Differs(fmt.Sprintf("a tile of the image at %v", tile), got, want)
}

// reach is backend.StepsReach of the steps.
func (t *Tester[M, F]) reach(r backend.Region, steps []devicekit.FlowStep[M, F], s backend.Shape) backend.Region {
	for _, step := range steps {
		w := t.Weights(step.Filter).Shape
		for range 2 * step.Tableau.Stages() {
			r = r.Reach(max(w.H, w.W)/2, 1, s)
		}
	}
	return r
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
func (t *Tester[M, F]) region(a devicekit.Array[M], r backend.Region) ([]float32, error) {
	part := a
	if r != a.Shape.Whole() {
		part.Shape.H, part.Shape.W = r.Size()
		var err error
		if part.Data, err = t.Kernels.Alloc(part.Shape); err != nil {
			return nil, err
		}
		defer t.Kernels.Free(part.Data)
		if err := t.Kernels.CopyRegion(part, 0, 0, a, r); err != nil {
			return nil, err
		}
	}
	v := make([]float32, part.Shape.Len())
	return v, t.Kernels.Download(v, part)
}

// hostCopies are copies of arrays and filters for the processor. The first error stays, and what follows
// does nothing.
type hostCopies[M, F any] struct {
	*Tester[M, F]
	host  backend.Device
	owned []interface{ Free() }
	err   error
}

func (h *hostCopies[M, F]) free() {
	for _, b := range h.owned {
		b.Free()
	}
}

func (h *hostCopies[M, F]) alloc(s backend.Shape) backend.Buffer {
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

func (h *hostCopies[M, F]) copy(a devicekit.Array[M], r backend.Region) backend.Buffer {
	if h.err != nil {
		return nil
	}
	var v []float32
	if v, h.err = h.region(a, r); h.err != nil {
		return nil
	}
	s := a.Shape
	s.H, s.W = r.Size()
	return h.upload(s, v)
}

func (h *hostCopies[M, F]) upload(s backend.Shape, v []float32) backend.Buffer {
	b := h.alloc(s)
	if h.err == nil {
		h.err = h.host.Upload(b, v)
	}
	return b
}

func (h *hostCopies[M, F]) filter(f F) backend.Filter {
	w := h.Weights(f)
	return h.newFilter(h.copy(w, w.Shape.Whole()))
}

func (h *hostCopies[M, F]) newFilter(weights backend.Buffer) backend.Filter {
	if h.err != nil {
		return nil
	}
	own, err := h.host.NewFilter(weights)
	if h.err = err; err != nil {
		return nil
	}
	h.owned = append(h.owned, own)
	return own
}

// canary is a small convolution whose result is known.
type canary[M, F any] struct {
	src, dst devicekit.Array[M]
	filter   F
	want     []float32
}

// Hear makes a small convolution, which is compared with the processor's, and whose result StillComputes
// wants to get again. It is called when the operations have been compared.
func (t *Tester[M, F]) Hear() (err error) {
	c := &canary[M, F]{src: devicekit.Array[M]{Shape: backend.Image(4, 8, 8)}, dst: devicekit.Array[M]{Shape: backend.Image(8, 8, 8)}}
	w := devicekit.Array[M]{Shape: backend.Shape{N: 8, C: 4, H: 3, W: 3}}
	for _, a := range []*devicekit.Array[M]{&c.src, &c.dst, &w} {
		if a.Data, err = t.Kernels.Alloc(a.Shape); err != nil {
			return err
		}
	}
	defer t.Kernels.Free(w.Data)
	host, err := t.processor()
	if err != nil {
		return err
	}
	h := &hostCopies[M, F]{Tester: t, host: host}
	defer h.free()
	var own [2]backend.Buffer
	for k, a := range []devicekit.Array[M]{c.src, w} {
		v := make([]float32, a.Shape.Len())
		for i := range v {
			v[i] = float32(i%11) - 4.5
		}
		if err := t.Kernels.Upload(a, v); err != nil {
			return err
		}
		own[k] = h.upload(a.Shape, v)
	}
	to, filter := h.alloc(c.dst.Shape), h.newFilter(own[1])
	if h.err != nil {
		return h.err
	}
	if err := host.Convolve(to, own[0], filter, backend.ConvEnd{}); err != nil {
		return err
	}
	want := make([]float32, c.dst.Shape.Len())
	if err := host.Download(want, to); err != nil {
		return err
	}
	if c.filter, err = t.Kernels.NewFilter(w); err != nil {
		return err
	}
	if c.want, err = t.sing(c); err != nil {
		return err
	}
	t.canary = c
	return Differs("a convolution", c.want, want)
}

// sing computes the result anew.
func (t *Tester[M, F]) sing(c *canary[M, F]) ([]float32, error) {
	if err := t.Kernels.Fill(c.dst, 0); err != nil {
		return nil, err
	}
	if err := t.Kernels.Convolve(c.dst, c.src, c.filter, devicekit.ConvEnd[M]{}); err != nil {
		return nil, err
	}
	got := make([]float32, c.dst.Shape.Len())
	return got, t.Kernels.Download(got, c.dst)
}

// StillComputes returns an error that wraps ErrWrong if the device does not give the result that it gave
// at first: it has stopped to compute, and says nothing.
func (t *Tester[M, F]) StillComputes() error {
	c := t.canary
	if c == nil {
		return nil
	}
	t.canary = nil // what it downloads itself is not to be looked at again
	got, err := t.sing(c)
	t.canary = c
	if err == nil && !slices.Equal(got, c.want) {
		err = fmt.Errorf("%w: it does not repeat a convolution", ErrWrong)
	}
	return err
}
