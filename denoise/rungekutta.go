package denoise

import (
	"context"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/averaged/imaging/denoise/tile"
)

// rungeKutta is a network of steps of any explicit tableau, made of the convolutions of a
// device: for activations that the one call of explicit does not know. With k_i = Aᵀσ(AY_i + b),
//
//	Y_i = z − h Σ_j A[i][j] k_j,   z⁺ = z − h Σ_i B[i] k_i.
type rungeKutta struct {
	dev     backend.Device
	tableau rungekutta.Tableau
	blocks  []deviceBlock
	width   int
	reach   tile.Reach
	floats  int // float32s for a pixel of a window
}

func newRungeKutta(dev backend.Device, m Model, blocks []deviceBlock) *rungeKutta {
	rk := &rungeKutta{dev: dev, tableau: m.Integrator, blocks: blocks, width: m.Width}
	for _, b := range blocks {
		for range 2 * b.steps * rk.tableau.Stages() {
			rk.reach = append(rk.reach, b.radius())
		}
	}
	rk.floats = buffers(rk.tableau)*m.Width + widest(blocks) + m.aroundBlocks()
	return rk
}

// lastUse returns the last stage that k_j goes into, or −1 if there is none.
func lastUse(t rungekutta.Tableau, j int) int {
	for i := t.Stages() - 1; i > j; i-- {
		if t.A[i][j] != 0 {
			return i
		}
	}
	return -1
}

// buffers returns how many arrays a step needs at once: z, z⁺, the k_j that a later
// stage needs, and Y_i where it cannot take the place of one of them.
func buffers(t rungekutta.Tableau) int {
	most := 1
	for i := range t.A {
		live, free := 0, false
		for j := range i {
			if lastUse(t, j) >= i {
				live++
				free = free || lastUse(t, j) == i
			}
		}
		stage := 2 + live
		if hasTerms(t, i) && !free {
			stage++
		}
		after := 2
		for j := range i + 1 {
			if lastUse(t, j) > i {
				after++
			}
		}
		if t.Stages() > 1 {
			most = max(most, stage, after)
		}
	}
	return most
}

// hasTerms tells whether Y_i is another point than z.
func hasTerms(t rungekutta.Tableau, i int) bool {
	for _, a := range t.A[i] {
		if a != 0 {
			return true
		}
	}
	return false
}

func (rk *rungeKutta) plan(backend.Buffer, backend.Shape, float64) (tile.Plan, float64, error) {
	return rk, 0, nil
}

func (rk *rungeKutta) Side(s backend.Shape, grid int) int { return rk.reach.Side(rk.floats, s, grid) }

func (rk *rungeKutta) Layers() tile.Reach { return rk.reach }

func (rk *rungeKutta) free() { freeDeviceBlocks(rk.blocks) }

func (rk *rungeKutta) Apply(ctx context.Context, dst, src backend.Buffer, r backend.Region) error {
	return tile.Window(rk.dev, dst, src, r, rk.reach, rk.width, rk.floats, func(s *tile.Scratch, z backend.Buffer) (backend.Buffer, error) {
		return rk.run(ctx, s, z)
	})
}

// run makes all steps, begun at z, and returns the end. z is not kept.
func (rk *rungeKutta) run(ctx context.Context, s *tile.Scratch, z backend.Buffer) (backend.Buffer, error) {
	stepper := &stepper{rungeKutta: rk, scratch: s, k: make([]backend.Buffer, rk.tableau.Stages())}
	for _, b := range rk.blocks {
		var err error
		if stepper.u, err = hiddenBuffer(s, stepper.u, b, z.Shape()); err != nil {
			return nil, err
		}
		for range b.steps {
			if z, err = stepper.step(ctx, b, z); err != nil {
				return nil, err
			}
		}
	}
	return z, nil
}

// stepper makes steps in a window.
type stepper struct {
	*rungeKutta
	scratch *tile.Scratch
	u       backend.Buffer   // σ(AY + b)
	k       []backend.Buffer // of the stages, nil where none is kept
	idle    []backend.Buffer // of width channels
}

func (p *stepper) take(like backend.Shape) (backend.Buffer, error) {
	if n := len(p.idle); n > 0 {
		b := p.idle[n-1]
		p.idle = p.idle[:n-1]
		return b, nil
	}
	return p.scratch.Alloc(like)
}

func (p *stepper) give(b backend.Buffer) { p.idle = append(p.idle, b) }

// step returns z⁺, and may use z's memory for it.
func (p *stepper) step(ctx context.Context, b deviceBlock, z backend.Buffer) (next backend.Buffer, err error) {
	t, h := p.tableau, float64(b.step)
	if t.Stages() == 1 {
		next = z // nothing needs z once u is there
	} else if next, err = p.take(z.Shape()); err != nil {
		return nil, err
	}
	for i := range t.Stages() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		y, err := p.point(i, h, z)
		if err != nil {
			return nil, err
		}
		if err := b.forward(p.dev, p.u, y); err != nil {
			return nil, err
		}
		if y != z {
			p.give(y)
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		from := next
		if i == 0 {
			from = z
		}
		scale := float32(-h * t.B[i])
		if lastUse(t, i) < 0 {
			if from != next {
				if err := p.dev.LinearCombination(next, backend.Term{A: 1, X: from}); err != nil {
					return nil, err
				}
			}
			if err := p.dev.ConvolveAdjoint(next, p.u, b.filter, 1, scale); err != nil {
				return nil, err
			}
			continue
		}
		if p.k[i], err = p.take(z.Shape()); err != nil {
			return nil, err
		}
		if err := p.dev.ConvolveAdjoint(p.k[i], p.u, b.filter, 0, 1); err != nil {
			return nil, err
		}
		if err := p.dev.LinearCombination(next, backend.Term{A: 1, X: from}, backend.Term{A: scale, X: p.k[i]}); err != nil {
			return nil, err
		}
	}
	if next != z {
		p.give(z)
	}
	return next, nil
}

// point returns Y_i: z itself, or a buffer that the caller gives back. A k_j that no
// later stage needs lends its memory.
func (p *stepper) point(i int, h float64, z backend.Buffer) (backend.Buffer, error) {
	t := p.tableau
	if !hasTerms(t, i) {
		return z, nil
	}
	var y backend.Buffer
	terms := []backend.Term{{A: 1, X: z}}
	for j := range i {
		if lastUse(t, j) < i {
			continue
		}
		term := backend.Term{A: float32(-h * t.A[i][j]), X: p.k[j]}
		if y == nil && lastUse(t, j) == i {
			y = p.k[j]
			// The sum may take several calls: what it overwrites must be in the first.
			terms = append([]backend.Term{terms[0], term}, terms[1:]...)
		} else if t.A[i][j] != 0 {
			terms = append(terms, term)
		}
		if lastUse(t, j) == i {
			if p.k[j] != y {
				defer p.give(p.k[j])
			}
			p.k[j] = nil
		}
	}
	if y == nil {
		var err error
		if y, err = p.take(z.Shape()); err != nil {
			return nil, err
		}
	}
	for len(terms) > 0 {
		n := min(len(terms), backend.MaxTerms)
		if err := p.dev.LinearCombination(y, terms[:n]...); err != nil {
			return nil, err
		}
		if terms = terms[n:]; len(terms) > 0 {
			terms = append([]backend.Term{{A: 1, X: y}}, terms...)
		}
	}
	return y, nil
}
