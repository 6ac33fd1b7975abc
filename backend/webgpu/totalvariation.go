//go:build js && wasm

package webgpu

import (
	"github.com/averaged/imaging/backend"
)

// TVIterate implements devicekit.TotalVariations. The extrapolated point ū is scratch: its neighbours are
// needed, and p, which it is made of, changes in place.
func (g *gpu) TVIterate(u, p, y array, problem backend.TVProblem, step backend.TVStep) error {
	memory := scratch{gpu: g}
	defer memory.free()
	n := u.Shape.Len()
	ahead, err := memory.alloc(n)
	if err != nil {
		return err
	}
	if err := g.tvPrimal(u, p, y, &ahead, step.Primal, step.Extrapolation, false); err != nil {
		return err
	}
	s, together := y.Shape, 1
	if problem.Coupled {
		together = s.C
	}
	l := g.launch()
	to, from := l.array(p), l.bind(ahead)
	return l.run("tvdual", nil, s.Plane(), s.C/together, float64(20*together),
		to, from, uint32(s.C), uint32(together), uint32(s.H), uint32(s.W), bitsOf(problem.Alpha), bitsOf(step.Dual))
}

// TVPrimal implements devicekit.TotalVariations.
func (g *gpu) TVPrimal(u, p, y array, step float32) error {
	return g.tvPrimal(u, p, y, nil, step, 0, step == 1)
}

func (g *gpu) tvPrimal(u, p, y array, ahead *memory, step, extrapolation float32, fresh bool) error {
	s := y.Shape
	l := g.launch()
	uAt, pAt, yAt := l.array(u), l.array(p), l.array(y)
	var aheadAt uint32
	if ahead != nil {
		aheadAt = l.bind(*ahead)
	} else {
		l.array(u) // not written
	}
	return l.run("tvprimal", map[string]uint32{"looks_ahead": flag(ahead != nil)}, s.Plane(), s.C, 10,
		uAt, pAt, yAt, aheadAt, uint32(s.C), uint32(s.H), uint32(s.W), flag(fresh), bitsOf(step), bitsOf(extrapolation))
}
