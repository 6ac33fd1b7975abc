package train

import (
	"context"
	"fmt"
	"slices"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/denoise/activation"
	"github.com/averaged/imaging/denoise/dncnn"
	"github.com/averaged/imaging/internal/devicequeue"
	"github.com/averaged/imaging/weights"
)

// unconstrained is a DnCNN in training: x − project(…ReLU(norm(conv(…ReLU(lift(x))…), with batch
// normalisation over the crops of a batch.
type unconstrained struct {
	dev           backend.Device
	memory        *devicequeue.Pool
	kept          *devicequeue.Pool
	config        Config
	activation    backend.Activation
	lift, project *convolution
	convs         []*convolution
	norms         []*batchNorm

	tape []layerTape // the lift and the layers, of the last forward
	src  backend.Buffer
}

// layerTape is what the way back needs of a layer.
type layerTape struct {
	before backend.Buffer // what the normalisation is applied to; nil after the lift
	out    backend.Buffer
}

func newDnCNN(dev backend.Device, c Config) (*unconstrained, error) {
	d := &unconstrained{
		dev: dev, config: c, memory: devicequeue.NewPool(dev), kept: devicequeue.NewPool(dev),
		activation: backend.Activation{Kind: backend.LeakyReLU, Slope: minSlope},
	}
	q := &devicequeue.Queue{Dev: dev}
	d.lift = newConvolution(q, d.kept, "lift", c.Width, c.Channels, c.Kernel)
	for i := range c.Blocks {
		layer := newConvolution(q, d.kept, fmt.Sprintf("convs.%d", i), c.Width, c.Width, c.Kernel)
		layer.normalised, layer.weights.scaleFree = true, true
		d.convs = append(d.convs, layer)
		d.norms = append(d.norms, newBatchNorm(q, d.kept, normName(i), c.Width))
	}
	d.project = newConvolution(q, d.kept, "project", c.Channels, c.Width, c.Kernel)
	if q.Err != nil {
		d.release()
		return nil, q.Err
	}
	return d, nil
}

// all returns the convolutions in the order in which an image passes them.
func (d *unconstrained) all() []*convolution {
	return append(append([]*convolution{d.lift}, d.convs...), d.project)
}

func (d *unconstrained) parameters() []*Parameter {
	var list []*Parameter
	for _, c := range d.all() {
		list = append(list, c.parameters()...)
	}
	for _, n := range d.norms {
		list = append(list, n.parameters()...)
	}
	return list
}

func (d *unconstrained) initialise(g *generator) error {
	for _, c := range d.all() {
		drawUniformly(g, c.weights, c.biases)
	}
	for _, n := range d.norms {
		n.initialise()
	}
	return d.prepare()
}

// prepare brings the parameters to the device.
func (d *unconstrained) prepare() error {
	q := &devicequeue.Queue{Dev: d.dev}
	d.lift.prepare(q, nil)
	for i, c := range d.convs {
		c.prepare(q, d.norms[i].mean.values)
	}
	d.project.prepare(q, nil)
	return q.Err
}

func (d *unconstrained) forward(ctx context.Context, dst, src backend.Buffer) error {
	q := &devicequeue.Queue{Dev: d.dev}
	d.memory.Reclaim() // what a pass that did not come to its end has left
	d.tape, d.src = d.tape[:0], src
	shape := src.Shape()
	shape.C = d.config.Width
	z := d.memory.Take(q, shape)
	q.Convolve(z, src, d.lift.filter, backend.ConvEnd{Bias: d.lift.bias, Activation: d.activation})
	d.tape = append(d.tape, layerTape{out: z})
	for i, c := range d.convs {
		if err := ctx.Err(); err != nil {
			return err
		}
		t := layerTape{d.memory.Take(q, shape), d.memory.Take(q, shape)}
		q.Convolve(t.before, z, c.filter, backend.ConvEnd{Bias: c.bias})
		d.norms[i].forward(q, t.out, t.before, d.activation)
		d.tape = append(d.tape, t)
		z = t.out
	}
	q.Convolve(dst, z, d.project.filter, backend.ConvEnd{Bias: d.project.bias})
	q.Combine(dst, backend.Term{A: 1, X: src}, backend.Term{A: -1, X: dst})
	return q.Err
}

func (d *unconstrained) backward(ctx context.Context, gradient backend.Buffer) error {
	q := &devicequeue.Queue{Dev: d.dev}
	shape := gradient.Shape()
	noise := d.memory.Take(q, shape)
	q.Combine(noise, backend.Term{A: -1, X: gradient})
	shape.C = d.config.Width
	dz, dx := d.memory.Take(q, shape), d.memory.Take(q, shape)
	d.project.back(q, d.tape[len(d.tape)-1].out, noise)
	q.Adjoint(dz, noise, d.project.filter, 0, 1)
	for i := len(d.convs) - 1; i >= 0; i-- {
		if err := ctx.Err(); err != nil {
			return err
		}
		t := d.tape[i+1]
		q.ActivationGradient(dz, t.out, dz, d.activation)
		d.norms[i].backward(q, dx, t.before, dz)
		d.convs[i].back(q, d.tape[i].out, dx)
		q.Adjoint(dz, dx, d.convs[i].filter, 0, 1)
		d.memory.Give(t.before, t.out)
	}
	q.ActivationGradient(dz, d.tape[0].out, dz, d.activation)
	d.lift.back(q, d.src, dz)
	d.memory.Give(dz, dx, noise, d.tape[0].out)
	d.tape = d.tape[:0]
	return q.Err
}

func (d *unconstrained) clear() error {
	q := &devicequeue.Queue{Dev: d.dev}
	for _, c := range d.all() {
		c.clear(q)
	}
	for _, n := range d.norms {
		n.clear()
	}
	return q.Err
}

func (d *unconstrained) gradients() error {
	q := &devicequeue.Queue{Dev: d.dev}
	for _, c := range d.all() {
		c.gradients(q)
	}
	for _, n := range d.norms {
		n.gradients()
	}
	return q.Err
}

func (d *unconstrained) update() error {
	for _, n := range d.norms {
		n.update()
	}
	return d.prepare()
}

// state returns the running means and variances.
func (d *unconstrained) state() ([]array, error) {
	var list []array
	for _, n := range d.norms {
		for _, a := range n.running() {
			a.values = slices.Clone(a.values)
			list = append(list, a)
		}
	}
	return list, nil
}

func (d *unconstrained) restore(state []array) error {
	for i, n := range d.norms {
		copy(n.mean.values, state[2*i].values)
		copy(n.variance.values, state[2*i+1].values)
		n.clear()
	}
	return d.prepare()
}

func (d *unconstrained) effective() []array {
	var list []array
	for _, p := range d.parameters() {
		a := p.array
		a.values = slices.Clone(a.values)
		list = append(list, a)
	}
	state, _ := d.state() // which has no error
	return append(list, state...)
}

func (d *unconstrained) blockMetrics() []BlockMetrics { return nil }

// network returns the network of effective arrays.
func (d *unconstrained) network(arrays []array) dncnn.Model {
	values := map[string][]float32{}
	for _, a := range arrays {
		values[a.name] = a.values
	}
	convolution := func(name string) dncnn.Convolution {
		return dncnn.Convolution{Filter: values[name+".weight"], Bias: values[name+".bias"]}
	}
	n := dncnn.Model{
		Channels: d.config.Channels, Width: d.config.Width, Kernel: d.config.Kernel, Activation: activation.ReLU(),
		Lift: convolution("lift"), Project: convolution("project"),
	}
	for i := range d.convs {
		norm := normName(i)
		n.Layers = append(n.Layers, dncnn.NormalisedLayer{
			Convolution: convolution(fmt.Sprintf("convs.%d", i)),
			Scale:       values[norm+".weight"], Shift: values[norm+".bias"],
			Mean: values[norm+".running_mean"], Variance: values[norm+".running_var"],
		})
	}
	return n
}

// tune does nothing: a DnCNN does not know the noise level.
func (d *unconstrained) tune(float64) error { return nil }

func (d *unconstrained) denoiser(_ context.Context, arrays []array, _ float64) (*denoise.Network, error) {
	return denoise.NewDnCNN(d.dev, d.network(arrays))
}

func (d *unconstrained) file(_ context.Context, arrays []array, card weights.Card) (*weights.File, denoise.Certificate, error) {
	n := d.network(arrays)
	var opts []weights.FileOption
	if d.config.HalfPrecision {
		var err error
		if n, err = n.Rounded16(); err != nil {
			return nil, denoise.Certificate{}, err
		}
		opts = append(opts, weights.HalfPrecision())
	}
	f, err := n.File(card, opts...)
	return f, denoise.Certificate{Averagedness: 1, Reason: "nothing constrains a DnCNN"}, err
}

func (d *unconstrained) release() {
	for _, c := range d.all() {
		if c != nil {
			c.free()
		}
	}
	for _, n := range d.norms {
		n.free()
	}
	d.memory.Free()
	d.kept.Free()
}
