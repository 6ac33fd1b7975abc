package dispatch

import (
	"github.com/averaged/imaging/backend"
)

// TVIterate implements devicekit.TotalVariations. The extrapolated point ū is scratch, because its neighbours
// are needed while p, from which it is computed, changes in place.
func (k *Kernels[B]) TVIterate(u, p, y Array[B], problem backend.TVProblem, step backend.TVStep) error {
	return k.compared(&k.due.variation, func() error { return k.tvIterate(u, p, y, problem, step) }, func(run func() error) error {
		return k.tester.TotalVariation(u, p, y, problem, step, run)
	})
}

func (k *Kernels[B]) tvIterate(u, p, y Array[B], problem backend.TVProblem, step backend.TVStep) error {
	memory := scratch[B]{kernels: k}
	defer memory.free()
	n := u.Shape.Len()
	ahead, err := memory.alloc(n)
	if err != nil {
		return err
	}
	if err := k.tvPrimal(u, p, y, &ahead, step.Primal, step.Extrapolation, false); err != nil {
		return err
	}
	s, together := y.Shape, 1
	if problem.Coupled {
		together = s.C
	}
	l := k.launch()
	to, from := l.array(p), l.bind(ahead, n)
	return l.run("tvdual", nil, s.Plane(), s.C/together, float64(20*together),
		to, from, uint32(s.C), uint32(together), uint32(s.H), uint32(s.W), bits(problem.Alpha), bits(step.Dual))
}

// TVPrimal implements devicekit.TotalVariations.
func (k *Kernels[B]) TVPrimal(u, p, y Array[B], step float32) error {
	return k.tvPrimal(u, p, y, nil, step, 0, step == 1)
}

func (k *Kernels[B]) tvPrimal(u, p, y Array[B], ahead *Memory[B], step, extrapolation float32, fresh bool) error {
	s, n := y.Shape, y.Shape.Len()
	l := k.launch()
	uAt, pAt, yAt := l.array(u), l.array(p), l.array(y)
	var aheadAt uint32
	if ahead != nil {
		aheadAt = l.bind(*ahead, n)
	} else {
		l.none()
	}
	return l.run("tvprimal", []uint32{flag(ahead != nil)}, s.Plane(), s.C, 10,
		uAt, pAt, yAt, aheadAt, uint32(s.C), uint32(s.H), uint32(s.W), flag(fresh), bits(step), bits(extrapolation))
}
