package denoise

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/averaged/imaging/denoise/activation"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/averaged/imaging/internal/nn/tensors"
	"github.com/averaged/imaging/weights"
)

// The names of a block's tensors: those that PyTorch gives to the convolutions of a
// torch.nn.ModuleList called blocks.
func weightName(block int) string { return fmt.Sprintf("blocks.%d.weight", block) }
func biasName(block int) string   { return fmt.Sprintf("blocks.%d.bias", block) }
func gainName(block int) string   { return fmt.Sprintf("blocks.%d.gain", block) }
func radiusName(block int) string { return fmt.Sprintf("blocks.%d.radius", block) }

// tensors returns the weights, biases, gains and radii as tensors of the given type.
func (m Model) tensors(dtype weights.DType) ([]weights.Tensor, error) {
	var list []weights.Tensor
	add := func(name string, shape []int, values []float32) error {
		t, err := weights.NewTensor(name, dtype, shape, values)
		list = append(list, t)
		return err
	}
	for i, b := range m.Blocks {
		s := m.filterShape(b)
		if err := add(weightName(i), []int{s.N, s.C, s.H, s.W}, b.Filter); err != nil {
			return nil, err
		}
		for _, table := range []struct {
			name   string
			row    int
			values []float32
		}{{biasName(i), s.N, b.Bias}, {gainName(i), s.N, b.Gain}, {radiusName(i), m.groups(b), b.Radius}} {
			if table.values == nil {
				continue
			}
			if err := add(table.name, m.tableShape(table.row), table.values); err != nil {
				return nil, err
			}
		}
	}
	return list, nil
}

// tableShape is the shape of a block's biases, gains or radii: (columns), or with noise
// levels (len(Sigmas), columns), where columns is the number of hidden channels or groups.
func (m Model) tableShape(columns int) []int {
	if len(m.Sigmas) == 0 {
		return []int{columns}
	}
	return []int{len(m.Sigmas), columns}
}

// Checksum returns weights.File.Checksum of the weights, biases, gains and radii as float32 tensors, whatever types a
// file has. It does not cover the rest of the model, which the certificate repeats, or the guide, of which nothing is
// proven.
func (m Model) Checksum() (string, error) {
	list, err := m.tensors(weights.F32)
	if err != nil {
		return "", err
	}
	f := weights.File{Tensors: list}
	return f.Checksum(), nil
}

// File returns a weight file with the model's tensors, in float32 unless opts say otherwise. card gives the name, the
// noise level, the provenance and the licence; File fills in its other fields from the model and the certificate. The
// zero Certificate makes a file without one. Another certificate must be for these weights, and its numbers of steps
// go into the card. File does not verify it; Load does.
func (m Model) File(card weights.Card, c Certificate, opts ...weights.FileOption) (*weights.File, error) {
	dtype := tensors.TypeOf(opts...)
	r, err := m.radius()
	if err != nil {
		return nil, err
	}
	if !m.Integrator.IsNamed() {
		return nil, fmt.Errorf("integrator %.40q is not one of Integrators: a weight file has no place for its tableau", m.Integrator.Name)
	}
	card.Architecture = weights.Architecture{
		Family: weights.FamilyAveraged, Channels: m.Channels, Width: m.Width, Blocks: len(m.Blocks), Kernel: m.Kernel,
		Activation: m.Activation.Name, Slope: m.Activation.Slope, Sigmas: slices.Clone(m.Sigmas),
	}
	if m.factor() > 1 {
		card.Architecture.Shuffle = m.Shuffle
	}
	card.Integrator = m.Integrator.Name
	card.StepSizes, card.Steps, card.Certificate = nil, nil, nil
	known := true
	for i, b := range m.Blocks {
		steps := b.Steps
		if c.Proven && i < len(c.Blocks) {
			steps = c.Blocks[i].Steps
		}
		card.StepSizes, card.Steps = append(card.StepSizes, b.length(r)), append(card.Steps, steps)
		known = known && steps > 0
	}
	if !known {
		card.Steps = nil
	}
	if c.Proven {
		sum, err := m.Checksum()
		if err != nil {
			return nil, err
		}
		if c.Weights != sum || len(c.Wrappers) > 0 {
			return nil, fmt.Errorf("%w: it is not for these weights", ErrCertificate)
		}
		if card.Certificate, err = json.Marshal(c); err != nil {
			return nil, err
		}
	}
	if dtype != weights.F32 {
		if rounded, err := m.Rounded16(); err != nil {
			return nil, err
		} else if at := m.firstDifference(rounded); at != "" {
			return nil, fmt.Errorf("%s is not a float16: round the model and certify it again (Rounded16)", at)
		}
	}
	list, err := m.tensors(dtype)
	if err != nil {
		return nil, err
	}
	if m.Guide != nil {
		card.Architecture.Guide = slices.Clone(m.Guide.Widths)
		card.Architecture.GuideSlope = m.Guide.Slope
		if list, err = m.addGuide(list, dtype); err != nil {
			return nil, err
		}
	}
	f := &weights.File{Tensors: list}
	return f, f.SetCard(card)
}

// FromFile reads the model of a weight file of the family "averaged". It returns an error if the checksum of the card
// is not that of the tensors, if tensors are missing or not of the architecture, or if Model.Check returns one.
// Tensors of 16 bits become float32 exactly; those of 64 bits are rounded. FromFile does not look at the certificate
// of the file.
func FromFile(f *weights.File) (Model, error) {
	card, err := f.CardOf(weights.FamilyAveraged)
	if err != nil {
		return Model{}, err
	}
	a := card.Architecture
	m := Model{Channels: a.Channels, Width: a.Width, Kernel: a.Kernel, Activation: activation.Named(a.Activation, a.Slope), Shuffle: a.Shuffle, Sigmas: a.Sigmas}
	if m.Integrator, err = rungekutta.Named(card.Integrator); err != nil {
		return Model{}, err
	}
	if a.Blocks > maxBlocks || a.Width > maxSide || a.Kernel > maxSide {
		return Model{}, fmt.Errorf("%d blocks of %d channels, %d×%d, at most %d and %d are allowed", a.Blocks, a.Width, a.Kernel, a.Kernel, maxBlocks, maxSide)
	}
	r := tensors.NewTaker(f)
	for i := range a.Blocks {
		b := Block{
			Filter: r.Take(weightName(i), -1, a.Width, a.Kernel, a.Kernel),
		}
		table := m.tableShape(len(b.Filter) / (a.Width * a.Kernel * a.Kernel))
		if r.Has(biasName(i)) {
			b.Bias = r.Take(biasName(i), table...)
		}
		if r.Has(gainName(i)) {
			b.Gain = r.Take(gainName(i), table...)
		}
		if r.Has(radiusName(i)) {
			b.Radius = r.Take(radiusName(i), m.tableShape(-1)...)
		}
		if len(card.StepSizes) > 0 {
			b.Length = card.StepSizes[i]
		}
		if len(card.Steps) > 0 {
			b.Steps = card.Steps[i]
		}
		m.Blocks = append(m.Blocks, b)
	}
	if len(a.Guide) > 0 {
		if m.Guide, err = m.takeGuide(r, a.Guide, a.GuideSlope); err != nil {
			return Model{}, err
		}
	}
	if err := r.End(); err != nil {
		return Model{}, err
	}
	return m, m.Check()
}
