package pullback

import (
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/averaged/imaging/internal/devicequeue"
)

// Step is a step on a device. What it has no gradient for is not derived.
type Step struct {
	Tableau    rungekutta.Tableau
	Filter     backend.Filter // of A
	Bias       backend.Buffer // b, or nil
	Activation backend.Activation
	Radius     backend.Buffer // of balls that σ projects onto, with Activation Identity; or nil
	Size       float32        // h

	// EdgeFilter is A for the first channels alone, for a Stage.Image; or nil.
	EdgeFilter backend.Filter
	// Gradients that Back adds to, or nil. Those of Bias and Radius lack the factor −h.
	FilterGradient, EdgeGradient, BiasGradient, RadiusGradient backend.Buffer
}

// Stage is what the way back needs of a stage.
type Stage struct {
	Point backend.Buffer // Y
	Image backend.Buffer // the first channels of Y, if the others are zeros; or nil
	Owned bool           // whether Y has memory of its own, and is not an earlier z
	Inner backend.Buffer // AY + b, where σ is a projection onto balls; or nil
	Out   backend.Buffer // u
}

// Evaluate returns t with Out set to σ(AY + b), in new memory.
func (s Step) Evaluate(q *devicequeue.Queue, memory *devicequeue.Pool, t Stage) Stage {
	hidden := t.Point.Shape()
	hidden.C = s.Filter.Shape().N
	t.Out = memory.Take(q, hidden)
	to, end := t.Out, backend.ConvEnd{Bias: s.Bias, Activation: s.Activation}
	if s.Radius != nil {
		t.Inner = memory.Take(q, hidden)
		to, end.Activation = t.Inner, backend.Activation{}
	}
	if t.Image != nil {
		q.Convolve(to, t.Image, s.EdgeFilter, end)
	} else {
		q.Convolve(to, t.Point, s.Filter, end)
	}
	if s.Radius != nil {
		q.ProjectBalls(t.Out, t.Inner, s.Radius)
	}
	return t
}

// Forward sets next to z and the change in one step from it, and appends what Back needs to
// stages. image is z before it was lifted, or nil; then there is an EdgeFilter.
func (s Step) Forward(q *devicequeue.Queue, memory *devicequeue.Pool, next, z, image backend.Buffer, stages []Stage) []Stage {
	k := make([]backend.Buffer, s.Tableau.Stages())
	start := z // what is added to
	for i := range k {
		// The z of the step belongs to its first stage.
		t := Stage{Point: z, Owned: i == 0, Image: image}
		if terms := s.terms(z, s.Tableau.A[i][:i], k); len(terms) > 1 {
			t.Point, t.Owned = memory.Take(q, z.Shape()), true
			q.Combine(t.Point, terms...)
		}
		t = s.Evaluate(q, memory, t)
		scale := float32(-float64(s.Size) * s.Tableau.B[i])
		if s.feedsLater(i) {
			k[i] = memory.Take(q, z.Shape())
			q.Adjoint(k[i], t.Out, s.Filter, 0, 1)
			q.Combine(next, backend.Term{A: 1, X: start}, backend.Term{A: scale, X: k[i]})
		} else {
			q.AddAdjoint(next, start, t.Out, s.Filter, scale)
		}
		start = next
		stages = append(stages, t)
	}
	memory.Give(k...)
	return stages
}

// terms are those of z − h Σ a_j k_j.
func (s Step) terms(z backend.Buffer, a []float64, k []backend.Buffer) []backend.Term {
	terms := []backend.Term{{A: 1, X: z}}
	for j, a := range a {
		if a != 0 {
			terms = append(terms, backend.Term{A: float32(-float64(s.Size) * a), X: k[j]})
		}
	}
	return terms
}

// feedsLater tells whether a later stage of a step needs k_i.
func (s Step) feedsLater(i int) bool {
	for l := i + 1; l < s.Tableau.Stages(); l++ {
		if s.Tableau.A[l][i] != 0 {
			return true
		}
	}
	return false
}

// Back returns the gradient with respect to z of a step whose result has the gradient g, in g's
// memory or in its place, given the stages that Forward kept of it. Where last is true nobody
// asks for it, and it is not complete.
func (s Step) Back(q *devicequeue.Queue, memory *devicequeue.Pool, g backend.Buffer, stages []Stage, last bool) backend.Buffer {
	h := -s.Size
	p := memory.Take(q, stages[0].Out.Shape())
	defer memory.Give(p)
	if s.Tableau.Stages() == 1 { // κ = g, and nothing needs g once p is there
		s.stageBack(q, memory, p, g, s.Filter, s.FilterGradient, stages[0])
		if !last {
			q.Adjoint(g, p, s.Filter, 1, h)
		}
		return g
	}
	sum := memory.Take(q, g.Shape())
	kappa := memory.Take(q, g.Shape())
	q.Combine(sum, backend.Term{A: 1, X: g})
	eta := make([]backend.Buffer, s.Tableau.Stages())
	for i := len(stages) - 1; i >= 0; i-- {
		terms := []backend.Term{{A: float32(s.Tableau.B[i]), X: g}}
		for l := i + 1; l < len(stages); l++ {
			if a := s.Tableau.A[l][i]; a != 0 {
				terms = append(terms, backend.Term{A: float32(a), X: eta[l]})
			}
		}
		q.Combine(kappa, terms...)
		s.stageBack(q, memory, p, kappa, s.Filter, s.FilterGradient, stages[i])
		if i == 0 {
			if !last {
				q.Adjoint(sum, p, s.Filter, 1, h)
			}
			continue
		}
		eta[i] = memory.Take(q, g.Shape())
		q.Adjoint(eta[i], p, s.Filter, 0, h)
		q.Combine(sum, backend.Term{A: 1, X: sum}, backend.Term{A: 1, X: eta[i]})
	}
	memory.Give(eta...)
	memory.Give(kappa, g)
	return sum
}

// BackProjected is Back for one Euler step whose result is projected onto its first channels, of
// which it has the gradient, by the filter of the edge; g, the gradient lifted by zeros, becomes
// that with respect to z.
func (s Step) BackProjected(q *devicequeue.Queue, memory *devicequeue.Pool, g, gradient backend.Buffer, t Stage, last bool) {
	p := memory.Take(q, t.Out.Shape())
	s.stageBack(q, memory, p, gradient, s.EdgeFilter, s.EdgeGradient, t)
	if !last {
		q.Adjoint(g, p, s.Filter, 1, -s.Size)
	}
	memory.Give(p)
}

// stageBack sets p from κ and adds what the stage has of the gradients that are asked for.
// filter and dw are those for the channels of κ, the step's or its edge's.
func (s Step) stageBack(q *devicequeue.Queue, memory *devicequeue.Pool, p, kappa backend.Buffer, filter backend.Filter, dw backend.Buffer, t Stage) {
	q.Convolve(p, kappa, filter, backend.ConvEnd{})
	switch {
	case s.Radius == nil:
		q.ActivationGradient(p, t.Out, p, s.Activation)
	case s.RadiusGradient == nil:
		unused := memory.Take(q, s.Radius.Shape())
		q.ProjectBallsGradient(p, unused, t.Inner, p, s.Radius, 0)
		memory.Give(unused)
	default:
		q.ProjectBallsGradient(p, s.RadiusGradient, t.Inner, p, s.Radius, 1)
	}
	if s.FilterGradient != nil {
		if t.Image != nil {
			q.FilterGradient(s.EdgeGradient, t.Image, p, 1, -s.Size)
		} else {
			q.FilterGradient(s.FilterGradient, t.Point, p, 1, -s.Size)
		}
		q.FilterGradient(dw, kappa, t.Out, 1, -s.Size)
	}
	if s.BiasGradient != nil {
		q.BiasGradient(s.BiasGradient, p, 1)
	}
}

// DropPoints gives the points Y of stages back, their first z included: what only the gradient
// of a filter needs.
func DropPoints(memory *devicequeue.Pool, stages []Stage) {
	for i, s := range stages {
		if s.Owned {
			memory.Give(s.Point)
			stages[i].Owned = false
		}
	}
}

// Drop gives the arrays of stages back, all but the first z, begin; nil gives that back, too.
func Drop(memory *devicequeue.Pool, stages []Stage, begin backend.Buffer) {
	for _, s := range stages {
		memory.Give(s.Out)
		if s.Inner != nil {
			memory.Give(s.Inner)
		}
		if s.Owned && s.Point != begin {
			memory.Give(s.Point)
		}
	}
}
