package denoise

import (
	"context"
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise/normbound"
	"github.com/averaged/imaging/denoise/tile"
)

// DefaultInnerError is the root mean square error, over the samples of an image, that
// Apply allows itself where a network is computed by an iteration.
const DefaultInnerError = 1e-5

// proximal is a network of backward Euler steps. A step is the proximal map
//
//	z⁺ = argmin over v of ½‖v − z‖² + h·φ(Av + b),   ∇φ = σ,
//
// the minimum of a function that is 1-strongly convex and κ-smooth, κ = 1 + h‖A‖²L. It
// is computed by a number of iterations that is known beforehand, so that a pixel
// depends on a bounded surrounding of it and tiles change nothing.
type proximal struct {
	dev    backend.Device
	blocks []deviceBlock
	width  int
	around int       // float32s for a pixel besides those of the blocks
	norms  []float64 // upper bounds of ‖A‖
	rest   []float64 // ‖σ(b)‖, Euclidean over the hidden channels
}

func newProximal(ctx context.Context, dev backend.Device, m Model, blocks []deviceBlock, c Certificate) (*proximal, error) {
	p := &proximal{dev: dev, blocks: blocks, width: m.Width, around: m.aroundBlocks()}
	for i, b := range m.Blocks {
		norm := 0.0
		if c.Proven {
			norm = c.Blocks[i].Norm.Upper
		} else {
			bound, err := normbound.Prove(ctx, b.Filter, m.filterShape(b), 0.1)
			if err != nil {
				return nil, fmt.Errorf("block %d: %w", i, err)
			}
			norm = bound.Upper
		}
		rest := 0.0
		for _, s := range m.atRest(b) {
			rest += s * s
		}
		p.norms, p.rest = append(p.norms, norm), append(p.rest, math.Sqrt(rest))
	}
	return p, nil
}

func (p *proximal) free() { freeDeviceBlocks(p.blocks) }

// leastFactor is what an error is reduced to at most: beyond float32's precision more
// iterations gain nothing.
const leastFactor = 0x1p-24

// plan chooses the numbers of iterations. Errors of the steps add up, because every
// step is nonexpansive; each may make an equal share. With R a bound of ‖z‖ and P
// pixels the way that a step has to go is
//
//	‖z − z⁺‖ ≤ ‖h·Aᵀσ(Az + b)‖ ≤ h‖A‖(L‖A‖R + √P‖σ(b)‖),
//
// and ‖z⁺‖ ≤ R + h‖A‖√P‖σ(b)‖, because the step moves 0 by no more than that. σ(b) is that
// of a pixel, so that this holds for projections of its channels, too.
func (p *proximal) plan(src backend.Buffer, s backend.Shape, maxError float64) (tile.Plan, float64, error) {
	var sum [1]float64
	if err := p.dev.Reduce(sum[:], backend.Reduction{Kind: backend.SumSquares, X: src}); err != nil {
		return nil, 0, err
	}
	size := math.Sqrt(sum[0])
	if math.IsNaN(size) || math.IsInf(size, 0) {
		return nil, 0, fmt.Errorf("%w: the image holds NaN or an infinity, for which an implicit method has no answer", backend.ErrArgument)
	}
	pixels := math.Sqrt(float64(s.N) * float64(s.Plane()))
	steps := 0
	for _, b := range p.blocks {
		steps += b.steps
	}
	share := max(0, maxError/float64(steps)) // NaN stays, and no error is as small
	q := &proximalPlan{proximal: p, iterations: make([][]inner, 0, steps)}
	total := 0.0
	for i, b := range p.blocks {
		h, norm := float64(b.step), p.norms[i]
		for range b.steps {
			way := h * norm * (norm*size + pixels*p.rest[i])
			list, factor := innerIterations(1+h*norm*norm, way, share)
			q.iterations = append(q.iterations, list)
			for range 2 * len(list) {
				q.reach = append(q.reach, b.radius())
			}
			total += factor * way
			size += h*norm*pixels*p.rest[i] + factor*way
		}
	}
	return q, total, nil
}

// inner are the coefficients of one iteration: q = 1/κ, β and q·δ.
type inner struct{ q, beta, qDelta float64 }

// innerIterations returns the iterations of the information-theoretic exact method
// (Taylor and Drori, An optimal gradient method for smooth strongly convex
// minimization, 2023, algorithm 1 and theorem 3) for a function that is 1-strongly
// convex and κ-smooth:
//
//	y = (1−β)z + βx,   x ← y − ∇f(y)/κ,   z ← (1−qδ)z + qδ(y − ∇f(y)),
//
// and the factor 1/√(1 + qA) by which ‖z − z*‖ is then below its value at the start. No
// method that sees gradients alone has a better one. They are as few as make factor·way
// at most the given error, or the factor leastFactor.
func innerIterations(kappa, way, maxError float64) (list []inner, factor float64) {
	kappa = max(kappa, 1+1e-6) // a larger κ is true, too, and keeps 1 − q away from 0
	q := 1 / kappa
	a := 0.0
	for {
		factor = 1 / math.Sqrt(1+q*a)
		if factor*way <= maxError || factor <= leastFactor {
			return list, factor
		}
		root := math.Sqrt((1 + a) * (1 + q*a))
		next := ((1+q)*a + 2*(1+root)) / ((1 - q) * (1 - q))
		list = append(list, inner{
			q:      q,
			beta:   a / ((1 - q) * next),
			qDelta: q * (1 + root) / (1 + q + q*a),
		})
		a = next
	}
}

// proximalPlan computes one image.
type proximalPlan struct {
	*proximal
	iterations [][]inner // of every step
	reach      tile.Reach
}

func (p *proximalPlan) Side(s backend.Shape, grid int) int {
	return p.reach.Side(p.floats(), s, grid)
}

func (p *proximalPlan) Layers() tile.Reach { return p.reach }

// floats counts center, z, x, y and u.
func (p *proximalPlan) floats() int { return 4*p.width + widest(p.blocks) + p.around }

func (p *proximalPlan) Apply(ctx context.Context, dst, src backend.Buffer, r backend.Region) error {
	return tile.Window(p.dev, dst, src, r, p.reach, p.width, p.floats(), func(s *tile.Scratch, center backend.Buffer) (backend.Buffer, error) {
		var others [3]backend.Buffer
		for i := range others {
			var err error
			if others[i], err = s.Alloc(center.Shape()); err != nil {
				return nil, err
			}
		}
		z, x, y := others[0], others[1], others[2]
		var u backend.Buffer
		steps := p.iterations
		for _, b := range p.blocks {
			var err error
			if u, err = hiddenBuffer(s, u, b, center.Shape()); err != nil {
				return nil, err
			}
			for range b.steps {
				for k, it := range steps[0] {
					if err := ctx.Err(); err != nil {
						return nil, err
					}
					if err := p.iterate(b, it, k == 0, center, z, x, y, u); err != nil {
						return nil, err
					}
				}
				if len(steps[0]) > 0 {
					center, z = z, center
				}
				steps = steps[1:]
			}
		}
		return center, nil
	})
}

// iterate makes one iteration, with ∇f(y) = y − center + h·Aᵀσ(Ay + b). It is the first
// of a step where z and x are the center.
func (p *proximalPlan) iterate(b deviceBlock, it inner, first bool, center, z, x, y, u backend.Buffer) error {
	h, q, d := float64(b.step), it.q, p.dev
	if first {
		if err := d.LinearCombination(z, backend.Term{A: 1, X: center}); err != nil {
			return err
		}
		if err := d.LinearCombination(y, backend.Term{A: 1, X: center}); err != nil {
			return err
		}
	} else if err := d.LinearCombination(y, backend.Term{A: float32(1 - it.beta), X: z}, backend.Term{A: float32(it.beta), X: x}); err != nil {
		return err
	}
	if err := b.forward(d, u, y); err != nil {
		return err
	}
	// x = y − q∇f(y), but for its last term; then y has served, and takes Aᵀu.
	if err := d.LinearCombination(x, backend.Term{A: float32(1 - q), X: y}, backend.Term{A: float32(q), X: center}); err != nil {
		return err
	}
	if err := d.ConvolveAdjoint(y, u, b.filter, 0, 1); err != nil {
		return err
	}
	if err := d.LinearCombination(x, backend.Term{A: 1, X: x}, backend.Term{A: float32(-q * h), X: y}); err != nil {
		return err
	}
	// y − ∇f(y) is center − h·Aᵀu.
	return d.LinearCombination(z,
		backend.Term{A: float32(1 - it.qDelta), X: z},
		backend.Term{A: float32(it.qDelta), X: center},
		backend.Term{A: float32(-it.qDelta * h), X: y})
}
