package train

import (
	"context"
	"fmt"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/arguments"
	"github.com/averaged/imaging/weights"
)

// Stage is an averaged network under the constraint Adaptive as a part of another network: its blocks split
// their steps as their norms grow, so that it stays nonexpansive.
type Stage struct{ averaged *averaged }

// NewStage allocates a stage with the blocks, channels and integrator of a configuration, without levels,
// balls or shuffle. Its width is the number of channels of its images. Its parameters are
// name.blocks.0.weight, name.blocks.0.bias, name.blocks.1.weight, ...
func NewStage(dev backend.Device, name string, c Config) (*Stage, error) {
	if err := arguments.CheckDevice("train", dev); err != nil {
		return nil, err
	}
	if err := c.Check(); err != nil {
		return nil, err
	}
	if c.Family != weights.FamilyAveraged || c.Constraint != Adaptive || c.Width != c.Channels || c.shuffle() > 1 || c.Group > 0 || len(c.Levels) > 0 {
		return nil, fmt.Errorf("a stage is an averaged network under the constraint %q, as wide as its images, without shuffle, groups and levels", Adaptive)
	}
	a, err := newAveraged(dev, c)
	if err != nil {
		return nil, err
	}
	for _, p := range a.parameters() {
		p.name = name + "." + p.name
	}
	return &Stage{a}, nil
}

// Forward is Part's.
func (s *Stage) Forward(ctx context.Context, dst, src backend.Buffer) error {
	return s.averaged.flow.forward(ctx, dst, src)
}

// Backward is Part's.
func (s *Stage) Backward(ctx context.Context, source, gradient backend.Buffer, learn bool) error {
	return s.averaged.flow.backwardTo(ctx, source, gradient, learn)
}

// Parameters are the weights and the biases of the blocks.
func (s *Stage) Parameters() []*Parameter { return s.averaged.parameters() }

// Initialise draws the parameters as the paper does, with norms of 1.
func (s *Stage) Initialise(seed uint64) error { return s.averaged.initialise(newGenerator(seed)) }

// Clear is Part's.
func (s *Stage) Clear() error { return s.averaged.zeroGradients() }

// Gradients is Part's.
func (s *Stage) Gradients() error { return s.averaged.gradients() }

// Update must follow a change of the parameters. It makes one power iteration for each new norm and sets the
// number of steps accordingly. A certificate of Certify no longer holds.
func (s *Stage) Update() error {
	return s.averaged.update()
}

// Blocks describes the blocks.
func (s *Stage) Blocks() []BlockMetrics { return s.averaged.blockMetrics() }

// Certify proves bounds of the norms and returns the certificate of the stage. Until the next Update the
// blocks take as many steps as these bounds need. A power iteration bounds a norm only from below, so a block
// may need one step more than in training.
func (s *Stage) Certify(ctx context.Context) (denoise.Certificate, error) {
	c, err := s.averaged.modelOf(s.averaged.effective(), true).Certify(ctx, 0)
	if err != nil {
		return denoise.Certificate{}, err
	}
	for i, b := range s.averaged.flow.blocks {
		b.setSteps(c.Blocks[i].Steps)
	}
	return c, nil
}

// Denoiser returns a network with the present parameters and steps, without a certificate. It computes a
// result if no backward pass is needed.
func (s *Stage) Denoiser(ctx context.Context) (*denoise.Network, error) {
	return s.averaged.denoiser(ctx, s.averaged.effective(), s.averaged.config.SigmaMax)
}

// Save is Part's.
func (s *Stage) Save(f *weights.File, prefix string) error {
	state, err := s.averaged.state()
	if err != nil {
		return err
	}
	return addArrays(f, prefix, append(arraysOf(s.Parameters()), state...))
}

// Load is Part's.
func (s *Stage) Load(f *weights.File, prefix string) error {
	state := s.averaged.arrays()
	if err := loadArrays(f, prefix, append(arraysOf(s.Parameters()), state...)); err != nil {
		return err
	}
	return s.averaged.restore(state)
}

// Release is Part's.
func (s *Stage) Release() { s.averaged.release() }

var (
	_ Part = (*Stage)(nil)
	_ Part = (*Layer)(nil)
)
