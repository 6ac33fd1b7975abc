package vulkan

import (
	"context"
	"fmt"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/internal/selftest"
)

// comparedSide is the side of the tile of an image that is compared.
const comparedSide = 16

// compare compares every kind of operation with the processor's.
func (g *gpu) compare(dev backend.Device) error {
	host, err := g.processor()
	if err != nil {
		return err
	}
	defer func() { g.due = due{} }()
	for _, q := range selftest.Probes {
		want, err := q.Result(host)
		if err != nil {
			return err
		}
		got, err := q.Result(dev)
		if err != nil {
			return err
		}
		if err := selftest.Differs(q.Name, got, want); err != nil {
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
	return h.gpu.try(selftest.Differs(fmt.Sprintf("a tile of the image at %v", pairs[0].tile), got, want))
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
