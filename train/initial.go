package train

import (
	"errors"
	"fmt"
	"math"

	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/devicequeue"
	"github.com/averaged/imaging/weights"
)

// beginWith sets the parameters to the network of a weight file of the same form, with any
// integrator, in place of drawn ones. A network with levels may begin with one that has
// none, trained for the noise level sigma of its card: it then begins as that network
// rescaled to each level. A guided one may begin with one without a guide, whose guide is then a
// drawn one, which says nothing yet, or with one whose guide is narrower. And one without may
// begin with one that has some, as that network at the noise level SigmaMax.
func (a *averaged) beginWith(f *weights.File) error {
	m, err := denoise.FromFile(f)
	if err != nil {
		return err
	}
	card, err := f.Card()
	if err != nil {
		return err
	}
	c := a.config
	if m.Channels != c.Channels || m.Width != c.Width || m.Kernel != c.Kernel || max(1, m.Shuffle) != c.shuffle() || len(m.Blocks) != c.Blocks {
		return fmt.Errorf("weights %q: a network of %d blocks of %d channels, %d×%d, shuffle %d, on images of %d channels cannot begin a run with another form",
			card.Name, len(m.Blocks), m.Width, m.Kernel, m.Kernel, max(1, m.Shuffle), m.Channels)
	}
	sigma := card.Sigma
	if len(m.Sigmas) > 0 && len(c.Levels) == 0 {
		sigma = c.SigmaMax
		if m, err = m.At(sigma); err != nil {
			return fmt.Errorf("weights %q: %w", card.Name, err)
		}
	}
	if (c.Group > 0) != (len(m.Blocks[0].Radius) > 0) || c.Group > 0 && len(m.Blocks[0].Radius) != max(1, len(m.Sigmas))*c.groups() {
		return fmt.Errorf("weights %q have another activation than the run", card.Name)
	}
	if len(m.Sigmas) > 0 && !equalLevels(m.Sigmas, c.Levels) {
		return fmt.Errorf("weights %q have the levels %v, the run %v", card.Name, m.Sigmas, c.Levels)
	}
	if m.Guide != nil {
		if a.guided == nil || !c.Guide.widens(m.Guide.Widths) {
			return fmt.Errorf("weights %q have a guide of %v channels, and the run none or another that is not wider", card.Name, m.Guide.Widths)
		}
		if m.Guide.Slope != c.Guide.Slope {
			return fmt.Errorf("weights %q have a guide with the slope %v, and the run %v", card.Name, m.Guide.Slope, c.Guide.Slope)
		}
		a.guided.beginWith(m.Guide)
	}
	return a.all(func(q *devicequeue.Queue, b *flowBlock) {
		i := a.index(b)
		q.Do(func() error {
			if len(m.Blocks[i].Filter) != len(b.weights.values) {
				return fmt.Errorf("weights %q: block %d has %d weights, must have %d", card.Name, i, len(m.Blocks[i].Filter), len(b.weights.values))
			}
			return nil
		})
		b.begin(q, m.Blocks[i], len(m.Sigmas) > 0, sigma, c.PowerIterations)
		b.update(q)
	}, (*guideNet).prepare)
}

// equalLevels allows for the last digits, which files and processors round differently.
func equalLevels(a, b []float64) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if math.Abs(a[i]-b[i]) > 1e-9*b[i] {
			return false
		}
	}
	return true
}

// index returns which block b is.
func (a *averaged) index(b *flowBlock) int {
	for i := range a.flow.blocks {
		if a.flow.blocks[i] == b {
			return i
		}
	}
	return -1
}

// nearLimit keeps a budget or gain that is begun with off the ends of the sigmoid, where
// nothing is learned.
const nearLimit = 0.995

// begin sets the parameters to a block of a weight file, which may have a table of levels,
// or biases for the noise level sigma.
func (b *flowBlock) begin(q *devicequeue.Queue, from denoise.Block, table bool, sigma float64, iterations int) {
	if q.Err != nil {
		return
	}
	copy(b.weights.values, from.Filter)
	q.Upload(b.upload, b.weights.values)
	q.UpdateFilter(b.plain, b.upload)
	b.power.converge(q, iterations)
	if q.Err != nil {
		return
	}
	share := min(nearLimit, b.power.norm/b.limit) // of the norm that is allowed
	if b.theta != nil {
		b.theta.values[0] = float32(logit(share))
		share = 1 // of c
	}
	switch {
	case b.table == nil:
		clear(b.biases.values)
		copy(b.biases.values, from.Bias)
		b.beginRadii(b.radii, from)
	case table:
		copy(b.table.biases.values, from.Bias)
		b.beginRadii(b.table.radii, from)
		for i := range b.gainCount() {
			g := 1.0
			if from.Gain != nil {
				g = float64(from.Gain[i])
			}
			b.table.gains.values[i] = float32(logit(min(nearLimit, max(1-nearLimit, g))))
		}
	default: // A = diag(√g)·W with W of the norm that is allowed, b = √g·σ·b̂
		biases := make([]float32, len(b.biases.values))
		copy(biases, from.Bias)
		b.beginRadii(b.radii, from)
		b.table.initialise(biases, b.logRadii(), share*sigma, share*share)
	}
}

// beginRadii sets ℓ from the radii of a block of a weight file.
func (b *flowBlock) beginRadii(p *Parameter, from denoise.Block) {
	if p == nil {
		return
	}
	for i, r := range from.Radius {
		p.values[i] = float32(math.Log(max(float64(r), smallestRadius)))
	}
}

// smallestRadius is one from which a radius can still grow.
const smallestRadius = 1e-6

func (b *flowBlock) gainCount() int {
	if b.table.gains == nil {
		return 0
	}
	return len(b.table.gains.values)
}

// errInitial is about a file for a network that cannot begin with one.
var errInitial = errors.New("only averaged networks can begin with the weights of a file")
