package cuda

import (
	"context"
	"slices"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/devicekit"
)

// step is a step of a gradient flow.
type step = devicekit.FlowStep[address, *filter]

// MakesFlow implements devicekit.Flows: the fused path has no maps of radii.
func (d *gpu) MakesFlow(steps []step) bool {
	for _, s := range steps {
		if s.Radius != nil && isMap(ownUnlessNil(s.Radius)) {
			return false
		}
	}
	return true
}

// GradientFlow implements devicekit.Flows. A stage of a step is two kernels: the first makes the hidden
// layer, σ included. The second makes its adjoint and up to two of the sums that use it. The first kernel of
// all reads the source directly, and the last one writes to dst directly. Each makes only the pixels that
// later ones need.
func (d *gpu) GradientFlow(ctx context.Context, dst, src devicekit.Array[address], region backend.Region, steps []step) error {
	to, from := own(dst), own(src)
	all := ownSteps(steps)
	reach := region
	for _, s := range slices.Backward(all) {
		for range 2 * s.tableau.Stages() {
			reach = reach.Reach(max(s.filter.shape.H, s.filter.shape.W)/2, 1, from.Shape)
		}
	}
	fresh := func() *flow { return newFlow(d, all, reach, region, from.Shape) }
	f := fresh()
	if err := checkSize(f.padded); err != nil {
		return err
	}
	return d.graphs.run(ctx, f, graphKey(to, from, region, all), func(ctx context.Context, f *flow) error {
		return f.run(ctx, to.array().from(region.Y0, region.X0), to.Shape.C, from.array().from(f.cut.Y0, f.cut.X0), from.Shape.C)
	}, fresh)
}

// flowStep is a step with the numbers that kernels take.
type flowStep struct {
	filter       *filter
	bias, radius *buffer // or nil
	slope, size  float32
	tableau      backend.Tableau
}

func ownSteps(steps []step) []flowStep {
	all := make([]flowStep, len(steps))
	for k, s := range steps {
		all[k] = flowStep{
			filter: s.Filter, bias: ownUnlessNil(s.Bias), radius: ownUnlessNil(s.Radius),
			slope: slope(s.Activation), size: s.Size, tableau: s.Tableau,
		}
	}
	return all
}

// half tells whether the step's convolutions read pairs of channels in half precision.
func (s *flowStep) half() bool { return s.filter.forward.form == half }

// flow is a GradientFlow under way. Its arrays hold the cut, the pixels of the source that
// decide about the region, in coordinates that begin at its corner.
type flow struct {
	*gpu
	memory  *scratch
	steps   []flowStep
	cut     backend.Region
	shape   backend.Shape    // of the state, in the cut
	padded  backend.Shape    // of its arrays: rows begin at multiples of 32 bytes, which the GPU reads and writes at once
	half    bool             // some step reads pairs
	regions []backend.Region // that the convolutions to come have to make
	spare   []*state         // that nobody needs
	hidden  map[int]state    // by their channels
}

// state is an array of the state, or a hidden layer: as numbers, as pairs of channels in
// half precision, or as both.
type state struct {
	numbers, pairs array
	known          int // channels; those beyond are zero
}

func newFlow(d *gpu, steps []flowStep, cut, region backend.Region, src backend.Shape) *flow {
	f := &flow{gpu: d, memory: d.scratch(), steps: steps, cut: cut, shape: src, hidden: map[int]state{}}
	f.shape.C = steps[0].filter.shape.C
	f.shape.H, f.shape.W = cut.Size()
	f.padded = f.shape
	f.padded.W = 8 * ceil(f.shape.W, 8)
	// Backwards from the region: each convolution needs a margin.
	need := backend.Region{Y0: region.Y0 - cut.Y0, Y1: region.Y1 - cut.Y0, X0: region.X0 - cut.X0, X1: region.X1 - cut.X0}
	for k := len(steps) - 1; k >= 0; k-- {
		f.half = f.half || steps[k].half()
		s := steps[k].filter.shape
		for range 2 * steps[k].tableau.Stages() {
			f.regions = append(f.regions, need)
			need = need.Reach(max(s.H, s.W)/2, 1, f.shape)
		}
	}
	slices.Reverse(f.regions)
	return f
}

// stages counts those of all steps.
func (f *flow) stages() (n int) {
	for _, s := range f.steps {
		n += s.tableau.Stages()
	}
	return n
}

// run makes the steps, from the known first channels of src, and puts the wanted first
// channels of the end to dst, where the region begins.
func (f *flow) run(ctx context.Context, dst array, wanted int, src array, known int) error {
	z := &state{numbers: src, known: known}
	if f.steps[0].half() {
		s := f.shape
		s.C = known
		var err error
		if z.pairs, err = newPairs(f.memory, s); err != nil {
			return err
		}
		if err := f.pack(z.pairs, src, s); err != nil {
			return err
		}
	}
	own := false // z is not the caller's
	for k := range f.steps {
		s, last := &f.steps[k], k == len(f.steps)-1
		stages := s.tableau.Stages()
		points := make([]*state, stages) // Y_i; from z on, as far as they are begun
		points[0] = z
		var next *state // z⁺, as far as it is made
		for i := range stages {
			if err := ctx.Err(); err != nil {
				return err
			}
			u, err := f.layer(s, points[i])
			if err != nil {
				return err
			}
			if i > 0 {
				f.spare = append(f.spare, points[i]) // has been read
			}
			var sums []flowSum
			for j := i + 1; j < stages; j++ {
				a := s.tableau.A[j][i]
				if a == 0 && (points[j] != nil || j > i+1) {
					continue // at the latest a stage begins when the one before it ends
				}
				start := points[j]
				if start == nil {
					start = z
					if points[j], err = f.newState(); err != nil {
						return err
					}
				}
				sums = append(sums, f.sum(points[j], start, s, a, s.half()))
			}
			b := s.tableau.Weight(i)
			switch {
			case i == stages-1 && last:
				start := next
				if start == nil {
					start = z
				}
				sum := f.sum(start, start, s, b, false)
				sum.dst = dst
				sums = append(sums, sum)
			case b != 0 || i == stages-1:
				start := next
				if start == nil {
					start, next = z, z
					if stages > 1 || !own {
						if next, err = f.newState(); err != nil {
							return err
						}
					}
				}
				sums = append(sums, f.sum(next, start, s, b, !last && f.steps[k+1].half()))
			}
			outputs := f.shape.C
			if i == stages-1 && last {
				outputs = wanted
			}
			if err := f.adjoint(s, u, outputs, sums); err != nil {
				return err
			}
		}
		if own && next != z {
			f.spare = append(f.spare, z)
		}
		z, own = next, true
	}
	return nil
}

// newState returns an array of the state.
func (f *flow) newState() (*state, error) {
	if n := len(f.spare); n > 0 {
		s := f.spare[n-1]
		f.spare = f.spare[:n-1]
		return s, nil
	}
	p, err := f.memory.alloc(4 * int64(f.padded.Len()))
	if err != nil {
		return nil, err
	}
	s := &state{numbers: arrayAt(p, f.padded), known: f.shape.C}
	if f.half {
		if s.pairs, err = newPairs(f.memory, f.padded); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// flowSum is an addition to a state, of which pairs are wanted too.
type flowSum struct {
	addition
	to    *state
	pairs bool
}

// sum is to = start − size·coefficient·Aᵀu in the region of the next convolution.
func (f *flow) sum(to, start *state, s *flowStep, coefficient float64, pairs bool) flowSum {
	r := f.regions[0]
	a := addition{
		beta: 1, scale: backend.StepFraction(s.size, coefficient),
		dst: to.numbers.from(r.Y0, r.X0), start: start.numbers.from(r.Y0, r.X0), known: start.known,
	}
	if pairs && s.filter.adjoint.tensor {
		a.pairs = to.pairs.from(r.Y0, r.X0)
	}
	return flowSum{a, to, pairs}
}

// convolution is that of the next region, by a bank, of images like the state.
func (f *flow) convolution(b *bank, src *state, outputs int) *convolution {
	c := &convolution{
		bank: b, src: src.numbers, channels: src.known, outputs: outputs,
		images: f.shape.N, height: f.shape.H, width: f.shape.W, region: f.regions[0],
	}
	if b.form == half {
		c.src = src.pairs
	}
	f.regions = f.regions[1:]
	return c
}

// layer makes the hidden layer σ(A·y + b).
func (f *flow) layer(s *flowStep, y *state) (*state, error) {
	b := &s.filter.forward
	u, err := f.hiddenLayer(s)
	if err != nil {
		return nil, err
	}
	c := f.convolution(b, y, b.outputs)
	r := c.region
	e := layerEnd{slope: s.slope}
	if s.bias != nil {
		e.bias = s.bias.pointer()
	}
	apart := false // the projection is a kernel of its own
	if s.radius != nil {
		e.group = b.outputs / s.radius.Shape.Len()
		if apart = !b.projects(e.group); !apart {
			e.radius = s.radius.pointer()
		}
	}
	if b.form == half && !apart {
		e.pairs = u.pairs.from(r.Y0, r.X0)
	} else {
		e.dst = u.numbers.from(r.Y0, r.X0)
	}
	if err := f.gpu.layer(c, e); err != nil || !apart {
		return u, err
	}
	// All of the array is projected, be it made or not.
	shape := f.padded
	shape.C = b.outputs
	if err := f.projectBalls(u.numbers.pointer, u.numbers.pointer, s.radius, shape); err != nil {
		return nil, err
	}
	if b.form == half {
		return u, f.pack(u.pairs, u.numbers, shape)
	}
	return u, nil
}

// hiddenLayer returns an array for the hidden layer of a step.
func (f *flow) hiddenLayer(s *flowStep) (*state, error) {
	b := &s.filter.forward
	u := f.hidden[b.outputs]
	u.known = b.outputs
	shape := f.padded
	shape.C = b.outputs
	if b.form == half && u.pairs.pointer == 0 {
		var err error
		if u.pairs, err = newPairs(f.memory, shape); err != nil {
			return nil, err
		}
	}
	apart := s.radius != nil && !b.projects(b.outputs/s.radius.Shape.Len())
	if (b.form != half || apart) && u.numbers.pointer == 0 {
		p, err := f.memory.alloc(4 * int64(shape.Len()))
		if err != nil {
			return nil, err
		}
		u.numbers = arrayAt(p, shape)
	}
	f.hidden[b.outputs] = u
	return &u, nil
}

// adjoint makes the sums of a hidden layer's Aᵀu, two at a time. Kernels without tensor cores
// know nothing of pairs; these are made from the sums then.
func (f *flow) adjoint(s *flowStep, u *state, outputs int, sums []flowSum) error {
	c := f.convolution(&s.filter.adjoint, u, outputs)
	for two := range slices.Chunk(sums, 2) {
		var a []addition
		for _, sum := range two {
			a = append(a, sum.addition)
		}
		if err := f.add(c, a...); err != nil {
			return err
		}
	}
	for _, sum := range sums {
		if sum.pairs && !c.bank.tensor {
			if err := f.pack(sum.to.pairs, sum.to.numbers, f.padded); err != nil {
				return err
			}
		}
	}
	return nil
}
