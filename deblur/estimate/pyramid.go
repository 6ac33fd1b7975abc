package estimate

import (
	"context"
	"math"

	"github.com/averaged/imaging/internal/parallel"
)

// part is a piece of the photograph at full size, 1 where it is clipped, and 1 where that is at white.
type part struct {
	v, clipped, lamps plane
}

// estimation is one run from coarse to fine for a kernel that all parts have in common.
type estimation struct {
	ctx   context.Context
	pool  *parallel.Pool
	sigma float64 // of the noise
	edges edgePrior
	row   bool // kernels have a middle row only
	tell  func(work float64) error
}

// scaleStep is the ratio of the sizes of two scales.
const scaleStep = math.Sqrt2

// coarsest is the largest side of a kernel at the coarsest scale: there it is found from nearly
// nothing.
const coarsest = 5

// scales is how many scales there are below full size for kernels that reach reach samples.
func scales(reach int) int {
	n := 0
	for float64(2*reach+1)/math.Pow(scaleStep, float64(n)) > coarsest {
		n++
	}
	return n
}

// radius is how far a kernel reaches at scale i that reaches reach at full size.
func radius(reach, i int) int {
	return max(1, int(math.Ceil(float64(reach)/math.Pow(scaleStep, float64(i)))))
}

// levels are the parts at scale i, for kernels of radius r.
func (e *estimation) levels(parts []part, i, r int) ([]*level, error) {
	f := math.Pow(scaleStep, float64(i))
	var all []*level
	for _, p := range parts {
		h, w := max(2, int(math.Round(float64(p.v.h)/f))), max(2, int(math.Round(float64(p.v.w)/f)))
		l, err := newLevel(e.pool, p.v.resized(h, w), p.clipped.resized(h, w).above(maxClipped), p.lit(h, w, r), r)
		if err != nil {
			return nil, err
		}
		l.clip(p.lamps.resized(h, w))
		all = append(all, l)
	}
	return all, nil
}

const (
	// maxClipped is how much of a smaller sample may be clipped.
	maxClipped = 0.02
	// maxLit is how much of a part may be left out for lamps.
	maxLit = 0.5
)

// lit tells which samples of the part, resized to h×w, a kernel of radius r may have lit from samples clipped at white:
// nobody knows how bright these were. It is nil if there are none, and if they are most of the part, as under a white sky,
// where they are fitted.
func (p part) lit(h, w, r int) []bool {
	near := p.lamps.resized(h, w).reached(r, maxClipped)
	count := 0
	for _, of := range near {
		if of {
			count++
		}
	}
	if count == 0 || float64(count) > maxLit*float64(h*w) {
		return nil
	}
	return near
}

// alternate makes steps of the image and the kernel in turn, and returns the kernel and the moments
// of its last step.
func (e *estimation) alternate(levels []*level, s support, steps int) (_ support, m *moments, err error) {
	for range steps {
		if s, m, err = e.step(levels, s, e.edges, 0, texture{}, tuned.kernel); err != nil {
			return s, nil, err
		}
	}
	return s, m, nil
}

// step makes a step of the image and one of the kernel. The sharp image is one with the prior edges, softened by lens.
func (e *estimation) step(levels []*level, s support, edges edgePrior, lens float64, t texture, kernel kernelPrior) (support, *moments, error) {
	m := newMoments(s.r)
	m.texture = t
	for _, l := range levels {
		if err := e.ctx.Err(); err != nil {
			return s, nil, err
		}
		if err := l.sharpen(s.softened(lens), edges); err != nil {
			return s, nil, err
		}
		if lens > 0 {
			l.soften(lens)
		}
		if err := m.measure(l, s); err != nil {
			return s, nil, err
		}
		if err := e.tell(float64(l.ph * l.pw)); err != nil {
			return s, nil, err
		}
	}
	if e.row {
		kernel.within = s.inRow(kernel.within)
	}
	s, err := m.fit(e.pool, s, kernel)
	return s, &m, err
}

// atScale goes on at scale i from the kernel s of another one.
func (e *estimation) atScale(parts []part, s support, i int) (support, error) {
	levels, err := e.levels(parts, i, s.r)
	if err != nil {
		return s, err
	}
	s, _, err = e.alternate(levels, s, tuned.steps)
	if err != nil {
		return s, err
	}
	return s.cleaned(tuned.threshold, tuned.island).centred(), nil
}

// startWidth is the standard deviation of the kernel that the coarsest scale begins with.
const startWidth = 0.7

func start(r int) support {
	s := newSupport(r)
	n := s.side()
	for i := range s.k {
		y, x := float64(i/n-r), float64(i%n-r)
		s.k[i] = math.Exp(-(y*y + x*x) / (2 * startWidth * startWidth))
	}
	s.normalise()
	return s
}

// find estimates the kernel from coarse to fine, and returns the parts that it is of. Its reach is found at half size: the
// search is made in wider and wider supports, since from a small one the way to a long shake is often barred. It ends where
// the kernel of a wider support does not need that support, or at the largest one. The kernel of a wider support is taken if its
// objective is smaller by more than its additional weights may explain of the noise, and if it does not fill the support: what
// fills every one is no kernel but a failure, and the smallest one is kept, where it does least harm.
func (e *estimation) find(parts func(reach int) []part, largest int) (support, []part, error) {
	reach := min(firstReach, largest)
	s, of, _, err := e.half(parts, reach)
	if err != nil {
		return s, nil, err
	}
	for wider := reach; wider < largest; {
		wider = min(wider*8/5, largest)
		t, others, filled, err := e.half(parts, wider)
		if err != nil {
			return s, nil, err
		}
		if filled {
			continue
		}
		if t.outside(s.r) <= maxAtBorder {
			break
		}
		if better, err := e.explainedBetter(others, t, s, halfSize, t.count()-s.count()); err != nil {
			return s, nil, err
		} else if better {
			s, of, reach = t, others, wider
		}
	}
	if !e.row { // of the angles of a turn it was not measured
		if s, err = e.turnedBetter(of, s); err != nil {
			return s, nil, err
		}
	}
	reach = min(reach, int(math.Ceil(1.1*2*float64(s.reach())))+3)
	for i := halfSize - 1; i >= 0; i-- {
		s = e.scaled(s, radius(reach, i))
		if s, err = e.atScale(of, s, i); err != nil {
			return s, nil, err
		}
	}
	return s, of, nil
}

// explainedBetter says whether the objective at scale i is smaller of the kernel s than of one that reaches no farther, by more
// than Schwarz's criterion allows for additional weights.
func (e *estimation) explainedBetter(parts []part, s, than support, i, additional int) (bool, error) {
	var objectives [2]float64
	allowed := 0.0
	for j, k := range []support{s, than.scaled(1, s.r)} {
		levels, err := e.levels(parts, i, s.r) // anew: what lies beyond the frame is found for each kernel
		if err != nil {
			return false, err
		}
		m, err := explained(levels, k, e.edges)
		if err != nil {
			return false, err
		}
		objectives[j] = e.edges.objective(levels, m)
		if j == 0 {
			allowed = m.schwarz(additional)
		}
	}
	return objectives[0]+allowed < objectives[1], nil
}

// turnedBetter makes steps at half size from the kernel turned by 180 degrees, and returns what is found if it explains the
// photograph better. A turned kernel has the same magnitudes at all frequencies, and steps rarely lead from one to the other.
func (e *estimation) turnedBetter(parts []part, s support) (support, error) {
	turned, err := e.atScale(parts, s.turned(), halfSize)
	if err != nil {
		return s, err
	}
	var left [2]float64
	for i, k := range []support{s, turned} {
		if left[i], err = e.left(parts, k, halfSize); err != nil {
			return s, err
		}
	}
	if left[1] < left[0] {
		return turned, nil
	}
	return s, nil
}

// left is the mean square of the differences at scale i that a kernel and the image found for it leave.
func (e *estimation) left(parts []part, s support, i int) (float64, error) {
	levels, err := e.levels(parts, i, s.r)
	if err != nil {
		return 0, err
	}
	m, err := explained(levels, s, e.edges)
	if err != nil {
		return 0, err
	}
	return m.left / max(m.data, 1), nil
}

// explained are the moments of levels with the image that is found for a kernel.
func explained(levels []*level, s support, edges edgePrior) (*moments, error) {
	m := newMoments(s.r)
	for _, l := range levels {
		for range fillings {
			if err := l.sharpen(s, edges); err != nil {
				return nil, err
			}
		}
		if err := m.measure(l, s); err != nil {
			return nil, err
		}
	}
	return &m, nil
}

// fillings is how often the image is found until what lies beyond the frame fits it.
const fillings = 3

// scaled returns the kernel for the next scale.
func (e *estimation) scaled(s support, r int) support {
	if s = s.scaled(scaleStep, r); e.row {
		s = s.row()
	}
	return s
}

// half estimates the kernel at half size in a support of a given reach, and says whether it fills it.
func (e *estimation) half(parts func(reach int) []part, reach int) (s support, of []part, filled bool, err error) {
	of = parts(reach)
	i := max(scales(reach), halfSize)
	if s = start(radius(reach, i)); e.row {
		s = s.row()
	}
	for ; ; i-- {
		if s, err = e.atScale(of, s, i); err != nil {
			return s, nil, false, err
		}
		if i == halfSize {
			return s, of, s.outside(s.r-max(1, s.r/8)) > maxAtBorder, nil
		}
		s = e.scaled(s, radius(reach, i-1))
	}
}

const (
	// halfSize is the number of the scale of half size.
	halfSize = 2
	// firstReach is how far the support reaches at first.
	firstReach = 14
	// maxAtBorder is how much weight there may be at the border of a support that is wide enough.
	maxAtBorder = 0.01
)
