package denoise

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/averaged/imaging/averaged"
	"github.com/averaged/imaging/denoise/normbound"
	"github.com/averaged/imaging/denoise/rungekutta"
)

// ErrCertificate is wrapped by the errors about a certificate that does not belong to
// the weights, or that does not prove what it says.
var ErrCertificate = errors.New("the certificate does not hold")

// maxTotalSteps bounds the memory and the work that a file can ask for.
const maxTotalSteps = 1 << 16

// minConstant stands for that of a network without any weight: it is the identity, which is
// averaged with every constant above 0.
const minConstant = 0x1p-53

// Certify bounds the norm of every filter (normbound.Prove). tolerance is that of Prove, 0 for
// normbound.DefaultTolerance. For each block it chooses the smallest number of steps, at least Block.Steps, for which
// the block is proven to be nonexpansive. It returns what follows. A network with noise levels is certified for all
// of them at once: gains of at most 1 keep every bound (Model.At), and no bound depends on biases or radii.
//
// A filter of 64×64×3×3 takes about 50 ms on two cores. Certify returns ctx.Err() if ctx ends.
func (m Model) Certify(ctx context.Context, tolerance float64) (Certificate, error) {
	r, err := m.radius()
	if err != nil {
		return Certificate{}, err
	}
	norms, steps := make([]normbound.Bound, len(m.Blocks)), make([]int, len(m.Blocks))
	for i, b := range m.Blocks {
		if norms[i], err = normbound.Prove(ctx, b.Filter, m.filterShape(b), tolerance); err != nil {
			return Certificate{}, fmt.Errorf("block %d: %w", i, err)
		}
		needed, err := rungekutta.Steps(b.length(r), norms[i].Upper, m.Activation.Lipschitz(), r)
		if err != nil {
			return Certificate{}, fmt.Errorf("block %d: %w", i, err)
		}
		steps[i] = max(b.Steps, needed)
	}
	return m.assemble(r, norms, steps)
}

// assemble makes the certificate that follows from bounds of the norms and from
// numbers of steps that are large enough for them.
func (m Model) assemble(r float64, norms []normbound.Bound, steps []int) (Certificate, error) {
	sum, err := m.Checksum()
	if err != nil {
		return Certificate{}, err
	}
	c := Certificate{
		Weights:    sum,
		Integrator: m.Integrator.Name, Radius: r,
		Activation: m.Activation, Lipschitz: m.Activation.Lipschitz(),
		Sigmas: slices.Clone(m.Sigmas),
		Proven: true,
	}
	if m.factor() > 1 {
		c.Shuffle = m.Shuffle
	}
	total := 0
	for _, n := range steps {
		if total += min(n, maxTotalSteps+1); total > maxTotalSteps {
			return Certificate{}, fmt.Errorf("more than %d steps in all", maxTotalSteps)
		}
	}
	alphas := make([]float64, 0, total)
	for i, b := range m.Blocks {
		h := b.length(r)
		step := rungekutta.StepSize(h, steps[i])
		if step == 0 {
			return Certificate{}, fmt.Errorf("block %d: length %v in %d steps: a step is below float32's range", i, h, steps[i])
		}
		alpha := 1.0
		switch {
		case m.implicit():
			alpha = averaged.Firm
		case m.Integrator.IsEuler():
			alpha = averaged.EulerStep(float64(step), norms[i].Upper, c.Lipschitz)
		}
		c.Blocks = append(c.Blocks, BlockCertificate{Norm: norms[i], Length: h, Steps: steps[i], Averagedness: alpha})
		for range steps[i] {
			alphas = append(alphas, alpha)
		}
	}
	c.Uniform, c.Composition = averaged.UniformComposition(alphas...), averaged.Composition(alphas...)
	c.Averagedness = max(min(c.Uniform, c.Composition), minConstant)
	return c, nil
}

// Verify returns an error that wraps ErrCertificate unless c proves what it says of this model. The checksum must be
// that of the weights, every upper bound of a norm is proven again (normbound.Verify), and the rest must follow from
// these bounds. The lower ends of the norms prove nothing; they must only be below the upper ones.
func (m Model) Verify(ctx context.Context, c Certificate) error {
	r, err := m.radius()
	if err != nil {
		return err
	}
	sum, err := m.Checksum()
	if err != nil {
		return err
	}
	if len(c.Wrappers) > 0 {
		return fmt.Errorf("%w: it is that of a wrapped network (%s)", ErrCertificate, c.Wrappers[0].Name)
	}
	if c.Weights != sum {
		return fmt.Errorf("%w: it is for the weights %.80q, these are %s: weights that have changed must be certified anew", ErrCertificate, c.Weights, sum)
	}
	if len(c.Blocks) != len(m.Blocks) {
		return fmt.Errorf("%w: it has %d blocks, the network has %d", ErrCertificate, len(c.Blocks), len(m.Blocks))
	}
	norms, steps := make([]normbound.Bound, len(m.Blocks)), make([]int, len(m.Blocks))
	for i, b := range m.Blocks {
		norms[i], steps[i] = c.Blocks[i].Norm, c.Blocks[i].Steps
		if n := norms[i]; !(n.Lower >= 0 && n.Lower <= n.Upper && n.Cells >= 0) || math.IsInf(n.Upper, 1) {
			return fmt.Errorf("%w: block %d has a norm from %v to %v in %d cells", ErrCertificate, i, n.Lower, n.Upper, n.Cells)
		}
		needed, err := rungekutta.Steps(b.length(r), norms[i].Upper, m.Activation.Lipschitz(), r)
		if err != nil {
			return fmt.Errorf("%w: block %d: %w", ErrCertificate, i, err)
		}
		if needed = max(needed, b.Steps); steps[i] < needed {
			return fmt.Errorf("%w: block %d takes %d steps, must take %d", ErrCertificate, i, steps[i], needed)
		}
	}
	follows, err := m.assemble(r, norms, steps)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCertificate, err)
	}
	same, err := sameJSON(follows, c)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrCertificate, err)
	}
	if !same {
		return fmt.Errorf("%w: its constants are not those that follow from its bounds and this network", ErrCertificate)
	}
	for i, b := range m.Blocks {
		err := normbound.Verify(ctx, b.Filter, m.filterShape(b), norms[i].Upper)
		switch {
		case errors.Is(err, normbound.ErrTooSmall):
			return fmt.Errorf("%w: block %d: %w", ErrCertificate, i, err)
		case err != nil:
			return err
		}
	}
	return nil
}

// sameJSON tells whether two certificates hold the same, but for Origin.
func sameJSON(a, b Certificate) (bool, error) {
	one, err := json.Marshal(a)
	if err != nil {
		return false, err
	}
	two, err := json.Marshal(b)
	return bytes.Equal(one, two), err
}

// averagedness is what Denoiser.Averagedness returns for a certificate.
func (c Certificate) averagedness() (alpha float64, proven bool) {
	if !c.Proven {
		return 1, false
	}
	return c.Averagedness, true
}

// unproven is the certificate of what nothing is proven of.
func unproven(reason string) Certificate { return Certificate{Averagedness: 1, Reason: reason} }

// wrapped returns the certificate of a wrapper. alpha is +Inf where nothing is proven.
func (c Certificate) wrapped(name, theorem string, alpha float64) Certificate {
	c.Wrappers = append(c.Wrappers[:len(c.Wrappers):len(c.Wrappers)], WrapperCertificate{Name: name, Theorem: theorem, Averagedness: 1})
	switch {
	case !c.Proven:
		// The reason stands.
	case alpha <= 1:
		c.Averagedness = alpha
		c.Wrappers[len(c.Wrappers)-1].Averagedness = alpha
	default:
		c.Proven, c.Averagedness = false, 1
		c.Reason = name + ": no constant of 1 or less follows"
	}
	return c
}
