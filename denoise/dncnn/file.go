package dncnn

import (
	"errors"
	"fmt"
	"slices"

	"github.com/averaged/imaging/denoise/activation"
	"github.com/averaged/imaging/internal/nn/tensors"
	"github.com/averaged/imaging/weights"
)

// named is a vector or filter of a DnCNN with its name and shape in a weight file.
type named struct {
	name     string
	shape    []int
	values   *[]float32
	optional bool
}

// rounded tells whether weights.HalfPrecision stores the tensor as float16: the filters, which are
// nearly all of a DnCNN. Variances can be beyond what a float16 can hold.
func (n named) rounded() bool { return len(n.shape) > 1 }

// fields lists the tensors of a DnCNN: the names are those of PyTorch for the modules
// lift, convs (a ModuleList), norms (a ModuleList of BatchNorm2d) and project.
func (d *Model) fields() []named {
	var list []named
	convolution := func(name string, c *Convolution, out, in int) {
		list = append(list,
			named{name + ".weight", []int{out, in, d.Kernel, d.Kernel}, &c.Filter, false},
			named{name + ".bias", []int{out}, &c.Bias, true})
	}
	convolution("lift", &d.Lift, d.Width, d.Channels)
	for i := range d.Layers {
		l := &d.Layers[i]
		convolution(fmt.Sprintf("convs.%d", i), &l.Convolution, d.Width, d.Width)
		norm := fmt.Sprintf("norms.%d.", i)
		list = append(list,
			named{norm + "weight", []int{d.Width}, &l.Scale, false},
			named{norm + "bias", []int{d.Width}, &l.Shift, false},
			named{norm + "running_mean", []int{d.Width}, &l.Mean, false},
			named{norm + "running_var", []int{d.Width}, &l.Variance, false})
	}
	convolution("project", &d.Project, d.Channels, d.Width)
	return list
}

// Rounded16 returns the network with the filters rounded to the nearest float16, ties to
// even. It is an error if one of them is beyond float16's range, 65504.
func (d Model) Rounded16() (Model, error) {
	r := d
	r.Layers = slices.Clone(d.Layers)
	for _, n := range r.fields() {
		if !n.rounded() {
			continue
		}
		halves, err := tensors.RoundHalf(n.name, *n.values)
		if err != nil {
			return Model{}, err
		}
		*n.values = halves
	}
	return r, nil
}

// File returns a weight file with the tensors in float32; under weights.HalfPrecision the filters
// are in float16, and it is an error if they are not such numbers (Rounded16). The card
// gives the name, the noise level, the provenance and the licence; its other fields are
// filled in.
func (d Model) File(card weights.Card, opts ...weights.FileOption) (*weights.File, error) {
	filters := tensors.TypeOf(opts...)
	if err := d.Check(); err != nil {
		return nil, err
	}
	if len(d.Layers) == 0 {
		return nil, errors.New("a DnCNN without layers has no place in a weight file")
	}
	f := &weights.File{}
	for _, n := range d.fields() {
		if n.optional && *n.values == nil {
			continue
		}
		dtype := weights.F32
		if n.rounded() && filters == weights.F16 {
			halves, err := tensors.RoundHalf(n.name, *n.values)
			if err != nil {
				return nil, err
			}
			if !slices.Equal(halves, *n.values) {
				return nil, fmt.Errorf("%s has numbers that are no float16: round the network (Rounded16)", n.name)
			}
			dtype = weights.F16
		}
		t, err := weights.NewTensor(n.name, dtype, n.shape, *n.values)
		if err != nil {
			return nil, err
		}
		f.Tensors = append(f.Tensors, t)
	}
	card.Architecture = weights.Architecture{
		Family: weights.FamilyDnCNN, Channels: d.Channels, Width: d.Width, Blocks: len(d.Layers), Kernel: d.Kernel,
		Activation: d.Activation.Name, Slope: d.Activation.Slope,
	}
	card.Integrator, card.StepSizes, card.Steps, card.Certificate = "", nil, nil, nil
	return f, f.SetCard(card)
}

// FromFile reads the network of a weight file of the family "dncnn". It returns an
// error unless the checksum of the card is that of the tensors, the tensors are those
// of the network and no others (but for PyTorch's counters num_batches_tracked), and
// Model.Check has nothing to say.
func FromFile(f *weights.File) (Model, error) {
	card, err := f.CardOf(weights.FamilyDnCNN)
	if err != nil {
		return Model{}, err
	}
	a := card.Architecture
	if a.Blocks > maxLayers {
		return Model{}, fmt.Errorf("%d layers, must be at most %d", a.Blocks, maxLayers)
	}
	d := Model{
		Channels: a.Channels, Width: a.Width, Kernel: a.Kernel, Activation: activation.Named(a.Activation, a.Slope),
		Layers: make([]NormalisedLayer, a.Blocks),
	}
	r := tensors.NewTaker(f)
	for _, n := range d.fields() {
		if !n.optional || r.Has(n.name) {
			*n.values = r.Take(n.name, n.shape...)
		}
	}
	for i := range d.Layers {
		r.Leave(fmt.Sprintf("norms.%d.num_batches_tracked", i))
	}
	if err := r.End(); err != nil {
		return Model{}, err
	}
	return d, d.Check()
}
