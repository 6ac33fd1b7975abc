package dispatch

import (
	"context"
	"slices"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/devicekit"
)

type flowStep[B comparable] = devicekit.FlowStep[Memory[B], *Filter[B]]

// MakesFlow implements devicekit.Flows: steps of one stage are fused, others are computed layer by layer.
func (k *Kernels[B]) MakesFlow(steps []flowStep[B]) bool {
	return !slices.ContainsFunc(steps, func(s flowStep[B]) bool { return s.Tableau.Stages() > 1 })
}

// GradientFlow implements devicekit.Flows. A step is two kernels: the first makes the hidden layer, σ or the
// projection included, and the second its adjoint and the sum. The first kernel of all reads the source
// directly, and the last one writes to dst directly. Each makes only the pixels that later ones need.
func (k *Kernels[B]) GradientFlow(ctx context.Context, dst, src Array[B], region backend.Region, steps []flowStep[B]) error {
	return k.compared(&k.due.flow, func() error { return k.gradientFlow(ctx, dst, src, region, steps) }, func(run func() error) error {
		return k.tester.GradientFlow(ctx, dst, src, region, steps, run)
	})
}

func (k *Kernels[B]) gradientFlow(ctx context.Context, dst, src Array[B], region backend.Region, steps []flowStep[B]) error {
	f, err := k.newFlow(src.Shape, region, steps)
	if err != nil {
		return err
	}
	defer f.memory.free()
	return f.run(ctx, dst, src)
}

// flow is a GradientFlow under way. Its arrays hold the cut, the pixels of the source that decide about
// the region, in coordinates that begin at its corner.
type flow[B comparable] struct {
	*Kernels[B]
	memory        scratch[B]
	steps         []flowStep[B]
	region, cut   backend.Region
	shape         backend.Shape    // of the state, in the cut
	regions       []backend.Region // that the convolutions to come have to make, in the cut
	state, hidden planes[B]
}

// reach is backend.StepsReach of the steps.
func reach[B comparable](r backend.Region, steps []flowStep[B], s backend.Shape) backend.Region {
	for _, step := range steps {
		for range 2 * step.Tableau.Stages() {
			r = r.Reach(max(step.Filter.shape.H, step.Filter.shape.W)/2, 1, s)
		}
	}
	return r
}

func (k *Kernels[B]) newFlow(src backend.Shape, region backend.Region, steps []flowStep[B]) (f *flow[B], err error) {
	f = &flow[B]{Kernels: k, memory: scratch[B]{kernels: k}, steps: steps, region: region, cut: reach(region, steps, src)}
	f.shape = src
	f.shape.C = steps[0].Filter.shape.C
	f.shape.H, f.shape.W = f.cut.Size()
	// Backwards from the region: each convolution needs a margin.
	need := f.inCut(region)
	hidden := 0
	for _, s := range slices.Backward(steps) {
		for range 2 {
			f.regions = append(f.regions, need)
			need = need.Reach(max(s.Filter.shape.H, s.Filter.shape.W)/2, 1, f.shape)
		}
		if planes := s.Filter.shape.N; inPairs(&s) {
			hidden = max(hidden, ceil(planes, 2))
		} else {
			hidden = max(hidden, planes)
		}
	}
	slices.Reverse(f.regions)
	defer func() {
		if err != nil {
			f.memory.free()
		}
	}()
	if f.state, err = f.planes(f.shape.C); err != nil {
		return nil, err
	}
	f.hidden, err = f.planes(hidden)
	return f, err
}

// inCut is a region of the source in the coordinates of the cut.
func (f *flow[B]) inCut(r backend.Region) backend.Region {
	return backend.Region{Y0: r.Y0 - f.cut.Y0, Y1: r.Y1 - f.cut.Y0, X0: r.X0 - f.cut.X0, X1: r.X1 - f.cut.X0}
}

// planes allocates an array of the cut whose rows begin at multiples of 32 bytes.
func (f *flow[B]) planes(channels int) (planes[B], error) {
	pitch := 8 * ceil(f.shape.W, 8)
	p := planes[B]{image: channels * f.shape.H * pitch, plane: f.shape.H * pitch, pitch: pitch}
	p.n = f.shape.N * p.image
	var err error
	p.data, err = f.memory.alloc(p.n)
	return p, err
}

func (f *flow[B]) run(ctx context.Context, dst, src Array[B]) error {
	z, known := planesOf(src).from(f.cut.Y0, f.cut.X0), src.Shape.C
	for k := range f.steps {
		if err := ctx.Err(); err != nil {
			return err
		}
		s := &f.steps[k]
		if err := f.layer(s, z, known); err != nil {
			return err
		}
		to, outputs := f.state, f.shape.C
		if k == len(f.steps)-1 {
			to, outputs = planesOf(dst).from(f.region.Y0, f.region.X0), dst.Shape.C
		} else {
			to = to.from(f.regions[0].Y0, f.regions[0].X0)
		}
		c := f.convolution(&s.Filter.adjoint, f.hidden, s.Filter.shape.N)
		c.fromPairs = inPairs(s)
		c.adds, c.beta, c.scale = true, 1, backend.StepFraction(s.Size, s.Tableau.Weight(0))
		c.outputs, c.dst, c.start, c.known = outputs, to, z.from(c.region.Y0, c.region.X0), known
		if err := f.convolve(c); err != nil {
			return err
		}
		z, known = f.state, f.shape.C
		backend.ReportProgress(ctx, float64(k+1)/float64(len(f.steps)))
	}
	return nil
}

// convolution is that of the next region.
func (f *flow[B]) convolution(b *bank[B], src planes[B], channels int) *convolution[B] {
	c := &convolution[B]{bank: b, src: src, channels: channels, images: f.shape.N, height: f.shape.H, width: f.shape.W, region: f.regions[0]}
	f.regions = f.regions[1:]
	return c
}

// layer makes the hidden layer σ(A·z + b), or the projection of Az + b.
func (f *flow[B]) layer(s *flowStep[B], z planes[B], known int) error {
	c := f.convolution(&s.Filter.forward, z, known)
	c.outputs, c.dst, c.toPairs = s.Filter.shape.N, f.hidden.from(c.region.Y0, c.region.X0), inPairs(s)
	c.bias, c.slope = s.Bias, slope(s.Activation)
	if s.Radius == nil {
		return f.convolve(c)
	}
	group := s.Filter.shape.N / s.Radius.Shape.C
	radial := planes[B]{data: s.Radius.Data, n: s.Radius.Shape.Len(), plane: 1}
	if isMap(*s.Radius) {
		radial = planesOf(*s.Radius).from(f.cut.Y0+c.region.Y0, f.cut.X0+c.region.X0)
	}
	if projects(group) {
		c.ball, c.radial = group, radial
		return f.convolve(c)
	}
	if err := f.convolve(c); err != nil {
		return err
	}
	return f.project(c.dst, radial, c.region, s.Radius.Shape.C, group)
}

// projects tells whether shaders of convolutions project onto balls of so many channels.
func projects(group int) bool { return 8%group == 0 }

// inPairs tells whether a step's hidden layer is stored as pairs of channels in half precision.
func inPairs[B comparable](s *flowStep[B]) bool {
	w := s.Filter.shape
	return s.Filter.forward.Half && (s.Radius == nil || projects(w.N/s.Radius.Shape.C))
}

// project projects a region of the hidden layer in place.
func (f *flow[B]) project(p, radial planes[B], r backend.Region, groups, size int) error {
	rows, columns := r.Size()
	for n := range f.shape.N {
		l := f.launch()
		at := l.bind(p.data, p.n) + uint32(p.at+n*p.image)
		l.bind(p.data, p.n)
		radius := l.bind(radial.data, radial.n) + uint32(radial.at+n*radial.image)
		if err := l.run("ballsregion", nil, rows*columns, groups, float64(4*size),
			at, uint32(p.plane), uint32(p.pitch), radius, uint32(radial.plane), uint32(radial.pitch),
			uint32(groups), uint32(size), uint32(rows), uint32(columns)); err != nil {
			return err
		}
	}
	return nil
}
