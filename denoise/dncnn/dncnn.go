package dncnn

import (
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise/activation"
	"github.com/averaged/imaging/denoise/normbound"
)

// Model is the unconstrained network that the paper compares with, as plain numbers on
// no device (Zhang, Zuo, Chen, Meng and Zhang 2017; the paper, section 3.3): it
// estimates the noise, x − project(σ(…σ(norm(conv(…σ(lift(x))…), by a convolution with
// activation that lifts the image to Width channels, layers of a convolution, batch
// normalisation and activation, and a convolution that projects. The paper's has 64
// channels, 18 layers and 670531 parameters. Nothing is proven of it.
type Model struct {
	Channels, Width, Kernel int // Kernel is odd
	Activation              activation.Function
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

// maxLayers, maxSide and maxChannels keep numbers from a file within reason.
const (
	maxLayers   = 1 << 12
	maxSide     = 1 << 16
	maxChannels = 1 << 12
)

// BatchNormEpsilon is what is added to a variance, PyTorch's default.
const BatchNormEpsilon = 1e-5

// Parameters returns the number of trainable ones: weights, biases, and the scale and
// the shift of the normalisations.
func (d Model) Parameters() int {
	n := len(d.Lift.Filter) + len(d.Lift.Bias) + len(d.Project.Filter) + len(d.Project.Bias)
	for _, l := range d.Layers {
		n += len(l.Filter) + len(l.Bias) + len(l.Scale) + len(l.Shift)
	}
	return n
}

// Check returns an error unless the sizes agree, all numbers are finite, and no
// variance is negative.
func (d Model) Check() error {
	switch {
	case d.Channels < 1 || d.Channels > maxChannels || d.Width < 1 || d.Width > maxChannels:
		return fmt.Errorf("a DnCNN of %d channels on images of %d, both must be from 1 to %d", d.Width, d.Channels, maxChannels)
	case d.Kernel < 1 || d.Kernel%2 == 0 || d.Kernel > maxSide:
		return fmt.Errorf("a kernel of %d×%d, must be odd", d.Kernel, d.Kernel)
	case len(d.Layers) > maxLayers:
		return fmt.Errorf("%d layers, must be at most %d", len(d.Layers), maxLayers)
	}
	if err := d.Activation.Check(); err != nil {
		return err
	}
	if a := d.Activation; a == activation.HardTanh() || a == activation.Balls() {
		return fmt.Errorf("activation %q is for averaged networks only", a.Name)
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

func (d Model) shape(out, in int) backend.Shape {
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
