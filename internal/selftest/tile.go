package selftest

import (
	"context"
	"fmt"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/devicekit"
)

// comparedSide is the side of the tile of an image that is compared.
const comparedSide = 16

// GradientFlow runs a gradient flow of the kernels', and compares a tile in the middle of its region.
func (t *Tester[M, F]) GradientFlow(ctx context.Context, dst, src devicekit.Array[M], region backend.Region, steps []devicekit.FlowStep[M, F], run func() error) error {
	if err := run(); err != nil {
		return err
	}
	h, err := t.copies()
	if err != nil {
		return err
	}
	defer h.free()
	tile := middle(region)
	cut := t.reach(tile, steps, src.Shape)
	from := h.copy(src, cut)
	own := make([]backend.FlowStep, len(steps))
	for k, s := range steps {
		own[k] = backend.FlowStep{Filter: h.filter(s.Filter), Activation: s.Activation, Size: s.Size, Tableau: s.Tableau}
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
	to := h.allocCut(dst.Shape, cut)
	if h.err != nil {
		return h.err
	}
	if err := h.host.GradientFlow(ctx, to, from, within(tile, cut), own); err != nil {
		return err
	}
	return h.agree(tile, cut, pair[M]{dst, to})
}

// Convolution runs a convolution of the kernels', and compares a tile in the middle of its result.
func (t *Tester[M, F]) Convolution(dst, src devicekit.Array[M], f F, end devicekit.ConvEnd[M], run func() error) error {
	h, err := t.copies()
	if err != nil {
		return err
	}
	defer h.free()
	e := backend.ConvEnd{Activation: end.Activation}
	if end.Bias != nil {
		e.Bias = h.copy(*end.Bias, end.Bias.Shape.Whole())
	}
	return h.convolution(dst, src, f, nil, run, func(to, from backend.Buffer, own backend.Filter) error {
		return h.host.Convolve(to, from, own, e)
	})
}

// ConvolutionAdjoint runs dst = beta·start + scale·Aᵀ·src of the kernels', and compares a tile in the middle
// of dst. start may be dst.
func (t *Tester[M, F]) ConvolutionAdjoint(dst, start, src devicekit.Array[M], f F, beta, scale float32, run func() error) error {
	h, err := t.copies()
	if err != nil {
		return err
	}
	defer h.free()
	before := &start
	if beta == 0 {
		before = nil
	}
	return h.convolution(dst, src, f, before, run, func(to, from backend.Buffer, own backend.Filter) error {
		return h.host.ConvolveAdjoint(to, from, own, beta, scale)
	})
}

// convolution compares what run makes of dst with what onHost does. start is what dst is before it, or nil.
func (h *hostCopies[M, F]) convolution(dst, src devicekit.Array[M], f F, start *devicekit.Array[M], run func() error, onHost func(to, from backend.Buffer, f backend.Filter) error) error {
	w := h.Weights(f).Shape
	tile := middle(dst.Shape.Whole())
	cut := tile.Reach(max(w.H, w.W)/2, 1, src.Shape)
	from, own := h.copy(src, cut), h.filter(f)
	var to backend.Buffer
	if start != nil {
		to = h.copy(*start, cut)
	} else {
		to = h.allocCut(dst.Shape, cut)
	}
	if h.err != nil {
		return h.err
	}
	if err := run(); err != nil {
		return err
	}
	if err := onHost(to, from, own); err != nil {
		return err
	}
	// The source is the measure of rounding, as sums may be next to nothing.
	return h.agree(tile, cut, pair[M]{dst, to}, pair[M]{src, from})
}

// TotalVariation runs an iteration of total variation of the kernels', and compares a tile in the middle.
func (t *Tester[M, F]) TotalVariation(u, p, y devicekit.Array[M], problem backend.TVProblem, step backend.TVStep, run func() error) error {
	h, err := t.copies()
	if err != nil {
		return err
	}
	defer h.free()
	tile := middle(u.Shape.Whole())
	cut := tile.Reach(2, 1, u.Shape) // the outermost pixels have other neighbours than in the image
	ownU, ownP, ownY := h.copy(u, cut), h.copy(p, cut), h.copy(y, cut)
	if h.err != nil {
		return h.err
	}
	if err := run(); err != nil {
		return err
	}
	if err := h.host.TVIterate(ownU, ownP, ownY, problem, step); err != nil {
		return err
	}
	return h.agree(tile, cut, pair[M]{u, ownU}, pair[M]{p, ownP})
}

// pair is an array of the kernels', and what the processor has of a cut of it.
type pair[M any] struct {
	own devicekit.Array[M]
	cut backend.Buffer
}

// agree returns an error that wraps ErrWrong unless the numbers of the pairs in a tile, taken together, agree.
func (h *hostCopies[M, F]) agree(tile, cut backend.Region, pairs ...pair[M]) error {
	var got, want []float32
	for _, p := range pairs {
		part := h.allocCut(p.own.Shape, tile)
		if h.err != nil {
			return h.err
		}
		if err := h.host.CopyRegion(part, 0, 0, p.cut, within(tile, cut)); err != nil {
			return err
		}
		numbers := make([]float32, part.Shape().Len())
		if err := h.host.Download(numbers, part); err != nil {
			return err
		}
		own, err := h.region(p.own, tile)
		if err != nil {
			return err
		}
		got, want = append(got, own...), append(want, numbers...)
	}
	return h.differs(fmt.Sprintf("a tile of the image at %v", tile), got, want)
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

// within is a tile in the coordinates of a cut.
func within(tile, cut backend.Region) backend.Region {
	return backend.Region{Y0: tile.Y0 - cut.Y0, Y1: tile.Y1 - cut.Y0, X0: tile.X0 - cut.X0, X1: tile.X1 - cut.X0}
}

// middle is the tile in the middle of a region.
func middle(r backend.Region) backend.Region {
	h, w := r.Size()
	r.Y0 += (h - min(h, comparedSide)) / 2
	r.X0 += (w - min(w, comparedSide)) / 2
	r.Y1, r.X1 = r.Y0+min(h, comparedSide), r.X0+min(w, comparedSide)
	return r
}
