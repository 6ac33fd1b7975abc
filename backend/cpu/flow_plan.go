package cpu

import (
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu/internal/winograd"
)

// flowStep is a backend.FlowStep as the fused path wants it.
type flowStep struct {
	// forward makes the hidden layer, and back what is added up: Aᵀ, or the second filter of a
	// residual block, which may have a bias.
	forward, back *bank
	bias          []float32 // with padding
	backBias      []float32 // with padding; nil for none
	slope, size   float32
	tableau       backend.Tableau
	// radius is that of every channel's group, with padding, and group the channels of
	// one; nil where the activation is not a projection, or where radii has them for every
	// pixel.
	radius []float32
	radii  *radiusMap
	group  int
}

// project lets a step project its hidden layer onto balls of these radii. Padding, which
// is zero, gets balls that it stays in.
func (s *flowStep) project(b *buffer) {
	if b.Shape != backend.Vector(b.Shape.C) {
		s.projectMap(&radiusMap{shape: b.Shape, numbers: b.Data})
		return
	}
	s.group = s.forward.out / b.Shape.C
	s.radius = make([]float32, s.forward.padded())
	for c := range s.radius {
		s.radius[c] = 1
		if c < s.forward.out {
			s.radius[c] = b.Data[c/s.group]
		}
	}
}

// projectMap is project with radii for every pixel.
func (s *flowStep) projectMap(m *radiusMap) {
	s.group, s.radii = s.forward.out/m.shape.C, m
}

// flowPlan is a sequence of steps taken apart into stages. A stage reads one array of
// Width channels, makes a hidden layer of it, and adds multiples of the layer's adjoint
// convolution to others.
type flowPlan struct {
	stages   []stage
	arrays   int // of width channels
	channels int // of an array, with padding
	hidden   int // the most channels that a hidden layer has, with padding
}

// stage is u = σ(A·from + b) and, for every sum, to = start + scale·Aᵀu.
type stage struct {
	step *flowStep
	from int // array
	in   int // channels of from that are not all zero
	out  int // channels that are asked for
	sums []sum
}

// sum says where a multiple of a stage's Aᵀu goes. The array start has only
// the first known channels; the others are zero.
type sum struct {
	to, start, known int
	scale            float32
}

// newFlowPlan plans steps that begin at in channels and of which out are asked for in
// the end.
//
// The state z is array 0 as long as steps have one stage: they update it in place. A
// step of several stages makes the next state in array 1 while its stages still need
// z, and from there the two change roles. The points Y_i are in further arrays, and
// two of them share one if the first is read before anything is put into the second.
func newFlowPlan(steps []flowStep, in, out int) *flowPlan {
	p := &flowPlan{arrays: 1, channels: winograd.Padded(steps[0].forward.in)}
	state := 0
	for k := range steps {
		s := &steps[k]
		p.hidden = max(p.hidden, s.forward.padded())
		known, reads := p.channels, s.forward.in
		if k == 0 {
			known, reads = winograd.Padded(in), in
		}
		p.step(s, &state, known, reads)
	}
	p.stages[len(p.stages)-1].out = out
	return p
}

// step plans one step, of whose state known channels with their padding are there.
func (p *flowPlan) step(s *flowStep, state *int, known, reads int) {
	stages := s.tableau.Stages()
	z, next := *state, *state
	if stages > 1 {
		next = 1 - z
		p.arrays = max(p.arrays, 2)
	}
	// busy[a] is the stage that reads what is in array a; -1 for none.
	busy := []int{stages, stages}
	point := make([]int, stages) // the array of Y_i; 0 if it is still z
	started := false
	for i := range stages {
		g := stage{step: s, from: z, in: reads, out: s.back.out}
		if i > 0 {
			g.from, g.in = point[i], s.forward.in
		}
		add := func(to int, begun bool, coefficient float64) {
			a := sum{to: to, start: to, known: p.channels, scale: backend.StepFraction(s.size, coefficient)}
			if !begun {
				a.start, a.known = z, known
			}
			g.sums = append(g.sums, a)
		}
		for j := i + 1; j < stages; j++ {
			a := s.tableau.A[j][i]
			begun := point[j] != 0
			if a == 0 && (begun || j > i+1) {
				continue
			}
			if !begun { // at the latest now, with the multiple 0 of this stage
				point[j] = -1
				for k := 2; k < len(busy); k++ {
					if busy[k] <= i {
						point[j] = k
						break
					}
				}
				if point[j] < 0 {
					point[j] = len(busy)
					busy = append(busy, 0)
				}
				busy[point[j]] = j
			}
			add(point[j], begun, a)
		}
		if b := s.tableau.Weight(i); b != 0 || i == stages-1 {
			add(next, started, b)
			started = true
		}
		p.stages = append(p.stages, g)
	}
	p.arrays = max(p.arrays, len(busy)*min(1, stages-1))
	*state = next
}
