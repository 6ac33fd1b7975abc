package denoise

import (
	"context"
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise/normbound"
	"github.com/averaged/imaging/internal/nn/tile"
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
		if kappa := 1 + float64(blocks[i].step)*norm*norm; !(kappa <= maxCondition) {
			return nil, fmt.Errorf("block %d: a step has the condition 1 + h‖A‖² = %.3g, at most %d can be solved in float32", i, kappa, maxCondition)
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

// maxCondition is the largest κ: of a worse one float32 cannot tell the solution of a step.
const maxCondition = 1 << 16

// minFactor is what an error is reduced to at most: beyond float32's precision more
// iterations gain nothing.
const minFactor = 0x1p-24

// plan chooses the numbers of iterations. Errors of the steps add up, because every
// step is nonexpansive; each may make an equal share. With R a bound of ‖z‖ and P
// pixels the way that a step has to go is
//
//	‖z − z⁺‖ ≤ ‖h·Aᵀσ(Az + b)‖ ≤ h‖A‖(L‖A‖R + √P‖σ(b)‖),
//
// and ‖z⁺‖ ≤ R + h‖A‖√P‖σ(b)‖, because the step moves 0 by no more than that. σ(b) is that
// of a pixel, so that this holds for projections of its channels, too.
//
// This is exact arithmetic. What is proven of the result as computed is the length of the
// gradient at it, which strong convexity makes a bound of the distance to the solution
// (proximalPlan.errorBound): it is κ times that distance at most, and the iterations are as
// many as that takes.
func (p *proximal) plan(src backend.Buffer, s backend.Shape, maxError float64) (tile.Plan, func() float64, error) {
	var sum [1]float64
	if err := p.dev.Reduce(sum[:], backend.Reduction{Kind: backend.SumSquares, X: src}); err != nil {
		return nil, nil, err
	}
	size := math.Sqrt(sum[0])
	if math.IsNaN(size) || math.IsInf(size, 0) {
		return nil, nil, fmt.Errorf("%w: the image holds NaN or an infinity, for which an implicit method has no answer", backend.ErrArgument)
	}
	pixels := math.Sqrt(float64(s.N) * float64(s.Plane()))
	steps := 0
	for _, b := range p.blocks {
		steps += b.steps
	}
	share := max(0, maxError/float64(steps)) // NaN stays, and no error is as small
	q := &proximalPlan{proximal: p, iterations: make([][]inner, 0, steps)}
	for i, b := range p.blocks {
		h, norm := float64(b.step), p.norms[i]
		for range b.steps {
			way := h * norm * (norm*size + pixels*p.rest[i])
			kappa := 1 + h*norm*norm
			list, factor := innerIterations(kappa, way, share/kappa)
			q.iterations = append(q.iterations, list)
			for range 2 * (len(list) + 1) { // and the gradient at the end
				q.reach = append(q.reach, b.radius())
			}
			size += h*norm*pixels*p.rest[i] + factor*way
		}
	}
	q.gradients, q.size = make([]float64, steps), size
	return q, q.errorBound, nil
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
// at most the given error, or the factor minFactor.
func innerIterations(kappa, way, maxError float64) (list []inner, factor float64) {
	kappa = max(kappa, 1+1e-6) // a larger κ is true, too, and keeps 1 − q away from 0
	q := 1 / kappa
	a := 0.0
	for {
		factor = 1 / math.Sqrt(1+q*a)
		if factor*way <= maxError || factor <= minFactor {
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
	gradients  []float64 // of every step, the sum of squares over the tiles that are done
	size       float64   // bounds ‖z‖ of every step
}

// Restart implements tile.Restarting.
func (p *proximalPlan) Restart() { clear(p.gradients) }

// errorBound adds up the errors of the steps. A result as far from the solution as the image is
// large is beyond what Rounding takes into account.
func (p *proximalPlan) errorBound() float64 {
	total := 0.0
	for _, square := range p.gradients {
		total += math.Sqrt(square)
	}
	if !(total <= p.size) {
		return math.Inf(1)
	}
	return total * (1 + 1e-6)
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
		inside := tile.Shift(r, p.reach.Window(r, p.dev.ConvolutionGrid(), src.Shape()))
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
				if len(steps[0]) == 0 {
					if err := p.dev.LinearCombination(z, backend.Term{A: 1, X: center}); err != nil {
						return nil, err
					}
				}
				if err := p.measure(b, len(p.iterations)-len(steps), inside, center, z, x, y, u); err != nil {
					return nil, err
				}
				center, z = z, center
				steps = steps[1:]
			}
		}
		return center, nil
	})
}

// measure adds to gradients the squares of z − center + h·Aᵀσ(Az + b) inside the tile.
func (p *proximalPlan) measure(b deviceBlock, step int, inside backend.Region, center, z, x, y, u backend.Buffer) error {
	if err := b.forward(p.dev, u, z); err != nil {
		return err
	}
	if err := p.dev.ConvolveAdjoint(y, u, b.filter, 0, 1); err != nil {
		return err
	}
	if err := p.dev.LinearCombination(x, backend.Term{A: 1, X: z}, backend.Term{A: -1, X: center}, backend.Term{A: b.step, X: y}); err != nil {
		return err
	}
	if inside != x.Shape().Whole() { // what is outside does not count
		if err := p.dev.Fill(y, 0); err != nil {
			return err
		}
		if err := p.dev.CopyRegion(y, inside.Y0, inside.X0, x, inside); err != nil {
			return err
		}
		x = y
	}
	var sum [1]float64
	err := p.dev.Reduce(sum[:], backend.Reduction{Kind: backend.SumSquares, X: x})
	p.gradients[step] += sum[0]
	return err
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
	// x = y − q∇f(y), except for its last term; then y has served, and takes Aᵀu.
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
