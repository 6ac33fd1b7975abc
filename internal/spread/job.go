package spread

import (
	"context"
	"fmt"

	"github.com/averaged/imaging/backend"
)

// Worker computes jobs.
type Worker interface {
	// Do returns the numbers of a job's result (Job.Run). It may tell how much of the job is
	// done, from 0 to 1, from any goroutine until it returns. It does not change the job.
	Do(ctx context.Context, j *Job, progress func(fraction float64)) ([]float32, error)
}

// Job is a piece of a convolution, of a gradient flow or of layers, with all that it is computed from.
// It is plain data: JSON carries all but the numbers of its arrays.
type Job struct {
	// Arrays are what the rest of the job names by its index. The first is the source.
	Arrays []Array
	// Inside is the part of the source, or of what Layers make of it, that the result is.
	Inside backend.Region
	// Channels are those of the result.
	Channels int
	// Flow are the steps of a gradient flow, Layers those of backend.Layered. Without either, the
	// job is the convolution Layer.
	Flow   []Step
	Layers []Layer
	Layer  Step
}

// Array is an array with its numbers, in the order of backend.Shape.
type Array struct {
	Shape backend.Shape
	Data  []float32 `json:"-"`
}

// Step is a backend.FlowStep with arrays in place of what lies on a device. For a convolution
// it is the filter, the bias and the activation.
type Step struct {
	Filter     int
	Bias       int // or none
	Radius     int // or none
	Activation backend.Activation
	Size       float32
	Tableau    backend.Tableau
}

// Layer is a backend.Layer with arrays in place of what lies on a device. From is cut to what
// belongs to the source.
type Layer struct {
	Kind       backend.LayerKind
	Filter     int
	Bias       int // or none
	Activation backend.Activation
	Second     int // or none
	SecondBias int // or none
	From       int // or none
}

// none is the index of what is not there.
const none = -1

// Run computes the job on a device: N×Channels×rows×columns of Inside, N that of the source.
func (j *Job) Run(ctx context.Context, dev backend.Device) ([]float32, error) {
	r := &running{dev: dev, buffers: make([]backend.Buffer, len(j.Arrays)), filters: map[int]backend.Filter{}, job: j}
	defer r.free()
	return r.run(ctx)
}

// running is a job on a device.
type running struct {
	dev     backend.Device
	job     *Job
	buffers []backend.Buffer // of the arrays that were asked for
	filters map[int]backend.Filter
	own     []backend.Buffer
}

func (r *running) free() {
	for _, f := range r.filters {
		f.Free()
	}
	for _, b := range r.own {
		b.Free()
	}
}

func (r *running) alloc(s backend.Shape) (backend.Buffer, error) {
	b, err := r.dev.Alloc(s)
	if err == nil {
		r.own = append(r.own, b)
	}
	return b, err
}

// array returns an array of the job on the device, nil for none.
func (r *running) array(i int) (backend.Buffer, error) {
	if i == none {
		return nil, nil
	}
	if i < 0 || i >= len(r.buffers) {
		return nil, fmt.Errorf("%w: array %d of a job of %d", backend.ErrArgument, i, len(r.buffers))
	}
	if r.buffers[i] != nil {
		return r.buffers[i], nil
	}
	a := r.job.Arrays[i]
	if err := a.Shape.Check(); err != nil {
		return nil, err
	}
	b, err := r.alloc(a.Shape)
	if err != nil {
		return nil, err
	}
	r.buffers[i] = b
	return b, r.dev.Upload(b, a.Data)
}

// filter returns the filter that an array is, on the device.
func (r *running) filter(i int) (backend.Filter, error) {
	w, err := r.array(i)
	if err != nil {
		return nil, err
	}
	if w == nil {
		return nil, fmt.Errorf("%w: a job without a filter", backend.ErrArgument)
	}
	f := r.filters[i]
	if f == nil {
		if f, err = r.dev.NewFilter(w); err != nil {
			return nil, err
		}
		r.filters[i] = f
	}
	return f, nil
}

// step returns a step on the device.
func (r *running) step(s Step) (backend.FlowStep, error) {
	f, err := r.filter(s.Filter)
	if err != nil {
		return backend.FlowStep{}, err
	}
	step := backend.FlowStep{Filter: f, Activation: s.Activation, Size: s.Size, Tableau: s.Tableau}
	if step.Bias, err = r.array(s.Bias); err != nil {
		return backend.FlowStep{}, err
	}
	step.Radius, err = r.array(s.Radius)
	return step, err
}

// layer returns a layer on the device.
func (r *running) layer(l Layer) (backend.Layer, error) {
	layer := backend.Layer{Kind: l.Kind, Activation: l.Activation}
	var err error
	if layer.Filter, err = r.filter(l.Filter); err != nil {
		return layer, err
	}
	if l.Second != none {
		if layer.Second, err = r.filter(l.Second); err != nil {
			return layer, err
		}
	}
	if layer.Bias, err = r.array(l.Bias); err != nil {
		return layer, err
	}
	if layer.SecondBias, err = r.array(l.SecondBias); err != nil {
		return layer, err
	}
	layer.From, err = r.array(l.From)
	return layer, err
}

// applyLayers computes the layers of the job.
func (r *running) applyLayers(ctx context.Context, src backend.Buffer) ([]float32, error) {
	j := r.job
	layers := make([]backend.Layer, len(j.Layers))
	for i, l := range j.Layers {
		var err error
		if layers[i], err = r.layer(l); err != nil {
			return nil, err
		}
	}
	shape := src.Shape()
	shape.C = j.Channels
	shape.H, shape.W = j.Inside.Size()
	if err := shape.Check(); err != nil {
		return nil, err
	}
	dst, err := r.alloc(shape)
	if err != nil {
		return nil, err
	}
	if err := r.dev.ApplyLayers(ctx, dst, 0, 0, j.Inside, src, src.Shape().Whole(), layers); err != nil {
		return nil, err
	}
	a, err := cut(r.dev, dst, shape.Whole())
	return a.Data, err
}

func (r *running) run(ctx context.Context) ([]float32, error) {
	j := r.job
	src, err := r.array(0)
	if err != nil {
		return nil, err
	}
	if len(j.Layers) > 0 {
		return r.applyLayers(ctx, src)
	}
	shape := src.Shape()
	if err := j.Inside.Check(shape); err != nil {
		return nil, err
	}
	shape.C = j.Channels
	if err := shape.Check(); err != nil {
		return nil, err
	}
	dst, err := r.alloc(shape)
	if err != nil {
		return nil, err
	}
	if len(j.Flow) > 0 {
		steps := make([]backend.FlowStep, len(j.Flow))
		for i, s := range j.Flow {
			if steps[i], err = r.step(s); err != nil {
				return nil, err
			}
		}
		err = r.dev.GradientFlow(ctx, dst, src, j.Inside, steps)
	} else {
		var layer backend.FlowStep
		if layer, err = r.step(j.Layer); err == nil {
			err = r.dev.Convolve(dst, src, layer.Filter, backend.ConvEnd{Bias: layer.Bias, Activation: layer.Activation})
		}
	}
	if err != nil {
		return nil, err
	}
	a, err := cut(r.dev, dst, j.Inside)
	return a.Data, err
}

// cut returns the numbers of a region of an array.
func cut(dev backend.Device, from backend.Buffer, r backend.Region) (Array, error) {
	a := Array{Shape: from.Shape()}
	if r != a.Shape.Whole() {
		a.Shape.H, a.Shape.W = r.Size()
		part, err := dev.Alloc(a.Shape)
		if err != nil {
			return Array{}, err
		}
		defer part.Free()
		if err := dev.CopyRegion(part, 0, 0, from, r); err != nil {
			return Array{}, err
		}
		from = part
	}
	a.Data = make([]float32, a.Shape.Len())
	return a, dev.Download(a.Data, from)
}
