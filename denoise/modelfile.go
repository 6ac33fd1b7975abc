package denoise

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/averaged/imaging/weights"
)

// Families of architectures that weight files know.
const (
	FamilyAveraged = "averaged"
	FamilyDnCNN    = "dncnn"
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

// Checksum returns weights.File.Checksum of the weights, biases, gains and radii as float32
// tensors, in whatever type a file has them. It does not cover the rest of the model,
// which the certificate repeats.
func (m Model) Checksum() (string, error) {
	list, err := m.tensors(weights.F32)
	if err != nil {
		return "", err
	}
	f := weights.File{Tensors: list}
	return f.Checksum(), nil
}

// File returns a weight file with the model's tensors in float32, or as the options say.
// The card gives the name, the noise level, the provenance and the licence; its other
// fields are filled in from the model and the certificate. The zero Certificate leaves
// the file without one; another must be for these weights, and its numbers of steps go
// into the card. It is written as it is: Load verifies it.
func (m Model) File(card weights.Card, c Certificate, opts ...FileOption) (*weights.File, error) {
	dtype := fileType(opts)
	r, err := m.radius()
	if err != nil {
		return nil, err
	}
	if !m.Integrator.IsNamed() {
		return nil, fmt.Errorf("integrator %.40q is not one of Integrators: a weight file has no place for its tableau", m.Integrator.Name)
	}
	card.Architecture = weights.Architecture{
		Family: FamilyAveraged, Channels: m.Channels, Width: m.Width, Blocks: len(m.Blocks), Kernel: m.Kernel,
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
	f := &weights.File{Tensors: list}
	return f, f.SetCard(card)
}

// FromFile reads the model of a weight file of the family "averaged". It returns an
// error unless the checksum of the card is that of the tensors, the tensors are those
// of the architecture and no others, and Model.Check has nothing to say. Tensors of
// 16 bits become float32 exactly, those of 64 are rounded. The certificate of the file
// is not looked at.
func FromFile(f *weights.File) (Model, error) {
	card, err := readCard(f, FamilyAveraged)
	if err != nil {
		return Model{}, err
	}
	a := card.Architecture
	m := Model{Channels: a.Channels, Width: a.Width, Kernel: a.Kernel, Activation: activationOf(a), Shuffle: a.Shuffle, Sigmas: a.Sigmas}
	if m.Integrator, err = rungekutta.Named(card.Integrator); err != nil {
		return Model{}, err
	}
	if a.Blocks > maxBlocks || a.Width > maxSide || a.Kernel > maxSide {
		return Model{}, fmt.Errorf("%d blocks of %d channels, %d×%d, at most %d and %d are allowed", a.Blocks, a.Width, a.Kernel, a.Kernel, maxBlocks, maxSide)
	}
	r := newTensorReader(f)
	for i := range a.Blocks {
		b := Block{
			Filter: r.take(weightName(i), -1, a.Width, a.Kernel, a.Kernel),
		}
		table := m.tableShape(len(b.Filter) / (a.Width * a.Kernel * a.Kernel))
		if r.has(biasName(i)) {
			b.Bias = r.take(biasName(i), table...)
		}
		if r.has(gainName(i)) {
			b.Gain = r.take(gainName(i), table...)
		}
		if r.has(radiusName(i)) {
			b.Radius = r.take(radiusName(i), m.tableShape(-1)...)
		}
		if len(card.StepSizes) > 0 {
			b.Length = card.StepSizes[i]
		}
		if len(card.Steps) > 0 {
			b.Steps = card.Steps[i]
		}
		m.Blocks = append(m.Blocks, b)
	}
	if err := r.end(); err != nil {
		return Model{}, err
	}
	return m, m.Check()
}

// readCard returns the card of a file, of the given family.
func readCard(f *weights.File, family string) (weights.Card, error) {
	if f == nil {
		return weights.Card{}, errors.New("no weight file")
	}
	card, err := f.Card()
	if err != nil {
		return weights.Card{}, err
	}
	if card.Architecture.Family != family {
		return weights.Card{}, fmt.Errorf("the weights %q are of the family %q, not %q", card.Name, card.Architecture.Family, family)
	}
	return card, nil
}

func activationOf(a weights.Architecture) Activation {
	switch {
	case a.Activation == leakyReLU:
		return LeakyReLU(a.Slope)
	case a.Activation == linear && a.Slope == 1:
		return Linear()
	}
	return Activation{Name: a.Activation, Slope: a.Slope}
}

// tensorReader takes tensors out of a file by name. The first thing found wrong stays.
type tensorReader struct {
	left map[string]weights.Tensor
	err  error
}

func newTensorReader(f *weights.File) *tensorReader {
	r := &tensorReader{left: make(map[string]weights.Tensor, len(f.Tensors))}
	for _, t := range f.Tensors {
		r.left[t.Name] = t
	}
	return r
}

func (r *tensorReader) has(name string) bool {
	_, ok := r.left[name]
	return ok
}

// take returns the values of a tensor of that shape; a size of −1 may be any.
func (r *tensorReader) take(name string, shape ...int) []float32 {
	t, ok := r.left[name]
	if r.err != nil {
		return nil
	}
	if !ok {
		r.err = fmt.Errorf("the weight file has no tensor %q", name)
		return nil
	}
	delete(r.left, name)
	fits := len(t.Shape) == len(shape)
	for i := range min(len(shape), len(t.Shape)) {
		fits = fits && (t.Shape[i] == shape[i] || shape[i] == -1 && t.Shape[i] > 0)
	}
	if !fits {
		want := strings.ReplaceAll(fmt.Sprint(shape), "-1", "any")
		r.err = fmt.Errorf("tensor %q has the shape %v, must have %s", name, t.Shape, want)
		return nil
	}
	var values []float32
	values, r.err = t.Float32s()
	return values
}

// end returns the first error, or one about a tensor that nobody took.
func (r *tensorReader) end() error {
	if r.err != nil {
		return r.err
	}
	first := ""
	for name := range r.left {
		if first == "" || name < first {
			first = name
		}
	}
	if len(r.left) > 0 {
		return fmt.Errorf("the weight file has %d tensors that are not the network's, such as %.80q", len(r.left), first)
	}
	return nil
}
