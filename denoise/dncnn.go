package denoise

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise/normbound"
	"github.com/averaged/imaging/denoise/tile"
	"github.com/averaged/imaging/weights"
)

// DnCNN is the unconstrained network that the paper compares with, as plain numbers on
// no device (Zhang, Zuo, Chen, Meng and Zhang 2017; the paper, section 3.3): it
// estimates the noise, x − project(σ(…σ(norm(conv(…σ(lift(x))…), by a convolution with
// activation that lifts the image to Width channels, layers of a convolution, batch
// normalisation and activation, and a convolution that projects. The paper's has 64
// channels, 18 layers and 670531 parameters. Nothing is proven of it.
type DnCNN struct {
	Channels, Width, Kernel int // Kernel is odd
	Activation              Activation
	Lift                    Convolution // from Channels to Width channels
	Layers                  []NormalisedLayer
	Project                 Convolution // from Width to Channels channels
}

// Convolution are the weights, of shape (Out, In, Kernel, Kernel), and the biases, Out
// or none, of a layer.
type Convolution struct{ Filter, Bias []float32 }

// NormalisedLayer is a convolution from Width to Width channels with batch
// normalisation as it is after training, (z − Mean)/√(Variance + BatchNormEpsilon)·Scale
// + Shift, a number each for every channel.
type NormalisedLayer struct {
	Convolution
	Scale, Shift, Mean, Variance []float32
}

// BatchNormEpsilon is what is added to a variance, PyTorch's default.
const BatchNormEpsilon = 1e-5

// Parameters returns the number of trainable ones: weights, biases, and the scale and
// the shift of the normalisations.
func (d DnCNN) Parameters() int {
	n := len(d.Lift.Filter) + len(d.Lift.Bias) + len(d.Project.Filter) + len(d.Project.Bias)
	for _, l := range d.Layers {
		n += len(l.Filter) + len(l.Bias) + len(l.Scale) + len(l.Shift)
	}
	return n
}

// Check returns an error unless the sizes agree, all numbers are finite, and no
// variance is negative.
func (d DnCNN) Check() error {
	switch {
	case d.Channels < 1 || d.Channels > maxChannels || d.Width < 1 || d.Width > maxChannels:
		return fmt.Errorf("a DnCNN of %d channels on images of %d, both must be from 1 to %d", d.Width, d.Channels, maxChannels)
	case d.Kernel < 1 || d.Kernel%2 == 0 || d.Kernel > maxSide:
		return fmt.Errorf("a kernel of %d×%d, must be odd", d.Kernel, d.Kernel)
	case len(d.Layers) > maxBlocks:
		return fmt.Errorf("%d layers, must be at most %d", len(d.Layers), maxBlocks)
	}
	if err := d.Activation.Check(); err != nil {
		return err
	}
	if d.Activation.Name == hardTanh {
		return fmt.Errorf("activation %q is for averaged networks only", hardTanh)
	}
	if err := d.Lift.check(d.shape(d.Width, d.Channels)); err != nil {
		return fmt.Errorf("lift: %w", err)
	}
	for i, l := range d.Layers {
		if err := l.check(d.shape(d.Width, d.Width)); err != nil {
			return fmt.Errorf("layer %d: %w", i, err)
		}
	}
	if err := d.Project.check(d.shape(d.Channels, d.Width)); err != nil {
		return fmt.Errorf("project: %w", err)
	}
	return nil
}

func (d DnCNN) shape(out, in int) backend.Shape {
	return backend.Shape{N: out, C: in, H: d.Kernel, W: d.Kernel}
}

func (c Convolution) check(shape backend.Shape) error {
	if err := normbound.CheckFilter(c.Filter, shape); err != nil {
		return err
	}
	if c.Bias == nil {
		return nil
	}
	return checkVector("biases", c.Bias, shape.N)
}

func (l NormalisedLayer) check(shape backend.Shape) error {
	if err := l.Convolution.check(shape); err != nil {
		return err
	}
	for _, v := range []struct {
		what   string
		values []float32
	}{{"scales", l.Scale}, {"shifts", l.Shift}, {"means", l.Mean}, {"variances", l.Variance}} {
		if err := checkVector(v.what, v.values, shape.N); err != nil {
			return err
		}
	}
	for i, v := range l.Variance {
		if v < 0 {
			return fmt.Errorf("variance %d is %v, must not be negative", i, v)
		}
	}
	return nil
}

func checkVector(what string, values []float32, n int) error {
	if len(values) != n {
		return fmt.Errorf("%d %s, must be %d", len(values), what, n)
	}
	for i, v := range values {
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("number %d of the %s is %v, must be finite", i, what, v)
		}
	}
	return nil
}

// folded returns the layer as one convolution, normalisation included.
func (l NormalisedLayer) folded() Convolution {
	n := len(l.Scale)
	f := Convolution{Filter: make([]float32, len(l.Filter)), Bias: make([]float32, n)}
	per := len(l.Filter) / n
	for o := range n {
		scale := float64(l.Scale[o]) / math.Sqrt(float64(l.Variance[o])+BatchNormEpsilon)
		for i := range per {
			f.Filter[o*per+i] = float32(scale * float64(l.Filter[o*per+i]))
		}
		bias := 0.0
		if l.Bias != nil {
			bias = float64(l.Bias[o])
		}
		f.Bias[o] = float32(scale*(bias-float64(l.Mean[o])) + float64(l.Shift[o]))
	}
	return f
}

// named is a vector or filter of a DnCNN with its name and shape in a weight file.
type named struct {
	name     string
	shape    []int
	values   *[]float32
	optional bool
}

// rounded tells whether HalfPrecision stores the tensor as float16: the filters, which are
// nearly all of a DnCNN. Variances can be beyond what a float16 can hold.
func (n named) rounded() bool { return len(n.shape) > 1 }

// fields lists the tensors of a DnCNN: the names are those of PyTorch for the modules
// lift, convs (a ModuleList), norms (a ModuleList of BatchNorm2d) and project.
func (d *DnCNN) fields() []named {
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
func (d DnCNN) Rounded16() (DnCNN, error) {
	r := d
	r.Layers = slices.Clone(d.Layers)
	for _, n := range r.fields() {
		if !n.rounded() {
			continue
		}
		halves, err := roundHalf(n.name, *n.values)
		if err != nil {
			return DnCNN{}, err
		}
		*n.values = halves
	}
	return r, nil
}

// File returns a weight file with the tensors in float32; under HalfPrecision the filters
// are in float16, and it is an error if they are not such numbers (Rounded16). The card
// gives the name, the noise level, the provenance and the licence; its other fields are
// filled in.
func (d DnCNN) File(card weights.Card, opts ...FileOption) (*weights.File, error) {
	filters := fileType(opts)
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
			halves, err := roundHalf(n.name, *n.values)
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
		Family: FamilyDnCNN, Channels: d.Channels, Width: d.Width, Blocks: len(d.Layers), Kernel: d.Kernel,
		Activation: d.Activation.Name, Slope: d.Activation.Slope,
	}
	card.Integrator, card.StepSizes, card.Steps, card.Certificate = "", nil, nil, nil
	return f, f.SetCard(card)
}

// DnCNNFromFile reads the network of a weight file of the family "dncnn". It returns an
// error unless the checksum of the card is that of the tensors, the tensors are those
// of the network and no others (but for PyTorch's counters num_batches_tracked), and
// DnCNN.Check has nothing to say.
func DnCNNFromFile(f *weights.File) (DnCNN, error) {
	card, err := readCard(f, FamilyDnCNN)
	if err != nil {
		return DnCNN{}, err
	}
	a := card.Architecture
	if a.Blocks > maxBlocks {
		return DnCNN{}, fmt.Errorf("%d layers, must be at most %d", a.Blocks, maxBlocks)
	}
	d := DnCNN{
		Channels: a.Channels, Width: a.Width, Kernel: a.Kernel, Activation: activationOf(a),
		Layers: make([]NormalisedLayer, a.Blocks),
	}
	r := newTensorReader(f)
	for _, n := range d.fields() {
		if !n.optional || r.has(n.name) {
			*n.values = r.take(n.name, n.shape...)
		}
	}
	for i := range d.Layers {
		delete(r.left, fmt.Sprintf("norms.%d.num_batches_tracked", i))
	}
	if err := r.end(); err != nil {
		return DnCNN{}, err
	}
	return d, d.Check()
}

// RandomDnCNN returns a DnCNN with ReLU and independent Gaussian weights that depend on
// the seed alone, on every machine, of a size at which activations neither die out nor
// grow (He, Zhang, Ren and Sun 2015): for tests, and to try things out where there are
// no trained weights. It restores nothing. The paper's has 3 channels, width 64 and 18
// layers.
func RandomDnCNN(seed uint64, channels, width, layers int) (DnCNN, error) {
	const kernel = 3
	if channels < 1 || width < 1 || layers < 1 || channels > maxChannels || width > maxChannels || layers > maxBlocks {
		return DnCNN{}, fmt.Errorf("a DnCNN of %d layers of %d channels on images of %d: all must be at least 1", layers, width, channels)
	}
	g := gaussians{seed: seed}
	convolution := func(out, in int) Convolution {
		return Convolution{
			Filter: g.take(out*in*kernel*kernel, math.Sqrt(2/float64(in*kernel*kernel))),
			Bias:   g.take(out, 0.05),
		}
	}
	around := func(center, deviation float64) []float32 {
		x := g.take(width, deviation)
		for i, v := range x {
			x[i] = float32(math.Abs(center + float64(v)))
		}
		return x
	}
	d := DnCNN{Channels: channels, Width: width, Kernel: kernel, Activation: ReLU(), Lift: convolution(width, channels)}
	for range layers {
		d.Layers = append(d.Layers, NormalisedLayer{
			Convolution: convolution(width, width),
			Scale:       around(1, 0.1), Shift: g.take(width, 0.1), Mean: g.take(width, 0.1), Variance: around(1, 0.2),
		})
	}
	d.Project = convolution(channels, width)
	return d, d.Check()
}

// NewDnCNN puts a DnCNN on a device, which stays the caller's.
func NewDnCNN(dev backend.Device, d DnCNN, opts ...Option) (*Network, error) {
	o, err := collect(opts)
	if err != nil {
		return nil, err
	}
	if dev == nil {
		return nil, errors.New("a network needs a device")
	}
	if err := d.Check(); err != nil {
		return nil, err
	}
	return newDnCNN(dev, d, o)
}

func newDnCNN(dev backend.Device, d DnCNN, o options) (_ *Network, err error) {
	r := &residual{dev: dev, width: d.Width, channels: d.Channels}
	defer func() {
		if err != nil {
			r.free()
		}
	}()
	r.activation, _ = d.Activation.device()
	add := func(c Convolution, shape backend.Shape) error {
		filter, err := newFilter(dev, shape, c.Filter)
		if err != nil {
			return err
		}
		r.filters = append(r.filters, filter)
		r.reach = append(r.reach, d.Kernel/2)
		bias, err := newVector(dev, c.Bias)
		r.biases = append(r.biases, bias)
		return err
	}
	if err := add(d.Lift, d.shape(d.Width, d.Channels)); err != nil {
		return nil, err
	}
	for _, l := range d.Layers {
		if err := add(l.folded(), d.shape(d.Width, d.Width)); err != nil {
			return nil, err
		}
	}
	if err := add(d.Project, d.shape(d.Channels, d.Width)); err != nil {
		return nil, err
	}
	return &Network{
		dev: dev, channels: d.Channels, tile: o.tile, body: r,
		certificate: unproven("the architecture DnCNN has no constraint: nothing is proven of it"),
	}, nil
}

// residual is a DnCNN on a device.
type residual struct {
	dev             backend.Device
	channels, width int
	activation      backend.Activation
	filters         []backend.Filter
	biases          []backend.Buffer // some may be nil
	reach           tile.Reach
}

func (r *residual) free() {
	for _, f := range r.filters {
		f.Free()
	}
	for _, b := range r.biases {
		if b != nil {
			b.Free()
		}
	}
}

func (r *residual) plan(backend.Buffer, backend.Shape, float64) (tile.Plan, float64, error) {
	return r, 0, nil
}

func (r *residual) Layers() tile.Reach { return r.reach }

func (r *residual) Side(s backend.Shape, grid int) int {
	return r.reach.Side(r.floats(), s, grid)
}

// floats counts two arrays of Width channels, x and the noise.
func (r *residual) floats() int { return 2 * (r.width + r.channels) }

func (r *residual) Apply(ctx context.Context, dst, src backend.Buffer, region backend.Region) error {
	return tile.Window(r.dev, dst, src, region, r.reach, r.channels, r.floats(), func(s *tile.Scratch, x backend.Buffer) (backend.Buffer, error) {
		wide := x.Shape()
		wide.C = r.width
		u, err := s.Alloc(wide)
		if err != nil {
			return nil, err
		}
		v, err := s.Alloc(wide)
		if err != nil {
			return nil, err
		}
		noise, err := s.Alloc(x.Shape())
		if err != nil {
			return nil, err
		}
		from := x
		for k := range r.filters {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			to := u
			if k == len(r.filters)-1 {
				to = noise
			}
			if err := r.dev.Convolve(to, from, r.filters[k], r.end(k)); err != nil {
				return nil, err
			}
			from = to
			u, v = v, u
		}
		return noise, r.dev.LinearCombination(noise, backend.Term{A: 1, X: x}, backend.Term{A: -1, X: noise})
	})
}

// end is what follows convolution k.
func (r *residual) end(k int) backend.ConvEnd {
	end := backend.ConvEnd{Bias: r.biases[k]}
	if k < len(r.filters)-1 {
		end.Activation = r.activation
	}
	return end
}
