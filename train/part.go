package train

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/arguments"
	"github.com/averaged/imaging/internal/devicequeue"
	"github.com/averaged/imaging/weights"
)

// Part is a piece of a network that is no denoiser, such as a classifier with a part that is proven to be
// nonexpansive. Layer and Stage are parts, and Descent changes their parameters;
// experiments/internal/classifier is an example. Its arrays are batches of any size. It is for one goroutine.
type Part interface {
	// Forward sets dst to the result for src. Both must stay unchanged until Backward.
	Forward(ctx context.Context, dst, src backend.Buffer) error
	// Backward sets source to the gradient with respect to the src of the last Forward; gradient is that with
	// respect to its dst. If learn is true it adds to the gradients on the device. source may be nil if it is
	// not needed. gradient may be overwritten.
	Backward(ctx context.Context, source, gradient backend.Buffer, learn bool) error
	// Parameters returns the learned arrays, always the same ones.
	Parameters() []*Parameter
	// Initialise sets the parameters to random numbers.
	Initialise(seed uint64) error
	// Clear sets the gradients on the device to zero, Gradients copies them to the parameters, and Update
	// must follow a change of the parameters.
	Clear() error
	Gradients() error
	Update() error
	// Save adds the parameters and everything else that the next iteration depends on to a file, in tensors
	// whose names begin with prefix. Load reads them back.
	Save(f *weights.File, prefix string) error
	Load(f *weights.File, prefix string) error
	// Release gives the device's memory back.
	Release()
}

// Descent changes parameters by an Optimiser.
type Descent struct{ optimiser *optimiser }

// NewDescent returns a Descent with zero momentum. The parameters must have different names.
func NewDescent(dev backend.Device, o Optimiser, parameters []*Parameter) (*Descent, error) {
	if err := arguments.CheckDevice("train", dev); err != nil {
		return nil, err
	}
	if err := o.check(); err != nil {
		return nil, err
	}
	if slices.Contains(parameters, nil) {
		return nil, errors.New("train: a parameter is nil")
	}
	m, err := newOptimiser(dev, o, parameters)
	if err != nil {
		return nil, err
	}
	return &Descent{m}, nil
}

// Step changes the parameters along their gradients in an iteration, counted from 0, and returns the
// Euclidean norm of all gradients. If that is not finite, nothing changes and the error wraps ErrDiverged.
func (d *Descent) Step(iteration int, rate float64) (length float64, err error) {
	norm := gradientNorm(d.optimiser.parameters)
	if !isFinite(norm) {
		return norm, fmt.Errorf("%w: the norm of the gradient is %v", ErrDiverged, norm)
	}
	return norm, d.optimiser.step(iteration, rate, norm)
}

// Save adds the momenta to a file, and Load reads them back, as in Part.
func (d *Descent) Save(f *weights.File, prefix string) error {
	return addArrays(f, prefix, d.optimiser.arrays())
}

// Load: see Save.
func (d *Descent) Load(f *weights.File, prefix string) error {
	return loadArrays(f, prefix, d.optimiser.arrays())
}

// Release gives the device's memory back.
func (d *Descent) Release() { d.optimiser.release() }

// Layer is a convolution with bias and an activation. With a 1×1 kernel on images of one pixel it is a linear
// layer.
type Layer struct {
	dev         backend.Device
	kept        *devicequeue.Pool
	convolution *convolution
	activation  backend.Activation
	src, dst    backend.Buffer // of the last Forward
}

// NewLayer allocates a layer of in to out channels with weights of zero. Its parameters are
// name.weight and name.bias.
func NewLayer(dev backend.Device, name string, out, in, kernel int, a backend.Activation) (*Layer, error) {
	if err := arguments.CheckDevice("train", dev); err != nil {
		return nil, err
	}
	if err := a.Check(); err != nil {
		return nil, err
	}
	if err := arguments.CheckRoom(dev, backend.Shape{N: out, C: in, H: kernel, W: kernel}); err != nil {
		return nil, fmt.Errorf("layer %q: %w", name, err)
	}
	l := &Layer{dev: dev, kept: devicequeue.NewPool(dev), activation: a}
	q := l.queue()
	l.convolution = newConvolution(q, l.kept, name, out, in, kernel)
	if q.Err != nil {
		l.Release()
		return nil, q.Err
	}
	return l, nil
}

func (l *Layer) queue() *devicequeue.Queue { return &devicequeue.Queue{Dev: l.dev} }

// Forward is Part's.
func (l *Layer) Forward(_ context.Context, dst, src backend.Buffer) error {
	l.src, l.dst = src, dst
	return l.dev.Convolve(dst, src, l.convolution.filter, backend.ConvEnd{Bias: l.convolution.bias, Activation: l.activation})
}

// Backward is Part's.
func (l *Layer) Backward(_ context.Context, source, gradient backend.Buffer, learn bool) error {
	q := l.queue()
	if l.activation.Kind != backend.Identity {
		q.ActivationGradient(gradient, l.dst, gradient, l.activation)
	}
	if learn {
		l.convolution.back(q, l.src, gradient)
	}
	if source != nil {
		q.Adjoint(source, gradient, l.convolution.filter, 0, 1)
	}
	return q.Err
}

// Parameters are the weights and the biases.
func (l *Layer) Parameters() []*Parameter { return l.convolution.parameters() }

// Initialise draws weights and biases uniformly within ±1/√(inputs of an output), as PyTorch does by default.
func (l *Layer) Initialise(seed uint64) error {
	drawUniformly(newGenerator(seed), l.convolution.weights, l.convolution.biases)
	return l.Update()
}

// Clear is Part's.
func (l *Layer) Clear() error {
	q := l.queue()
	l.convolution.zeroGradients(q)
	return q.Err
}

// Gradients is Part's.
func (l *Layer) Gradients() error {
	q := l.queue()
	l.convolution.gradients(q)
	return q.Err
}

// Update is Part's.
func (l *Layer) Update() error {
	q := l.queue()
	l.convolution.prepare(q, nil)
	return q.Err
}

// Save is Part's.
func (l *Layer) Save(f *weights.File, prefix string) error {
	return addArrays(f, prefix, arraysOf(l.Parameters()))
}

// Load is Part's.
func (l *Layer) Load(f *weights.File, prefix string) error {
	if err := loadArrays(f, prefix, arraysOf(l.Parameters())); err != nil {
		return err
	}
	return l.Update()
}

// Release is Part's.
func (l *Layer) Release() {
	if l.convolution != nil {
		l.convolution.free()
	}
	l.kept.Free()
}

// arraysOf returns the arrays of parameters, which share their memory.
func arraysOf(parameters []*Parameter) []array {
	var list []array
	for _, p := range parameters {
		list = append(list, p.array)
	}
	return list
}

// addArrays adds arrays to a file under a prefix.
func addArrays(f *weights.File, prefix string, arrays []array) error {
	for _, a := range arrays {
		a.name = prefix + a.name
		t, err := a.tensor()
		if err != nil {
			return err
		}
		f.Tensors = append(f.Tensors, t)
	}
	return nil
}
