package main

import (
	"encoding/json"
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/internal/racing"
	"github.com/averaged/imaging/weights"
)

// stack is the Euler network with everything that backpropagation keeps: z₀ is the image
// and zeros, and block k makes uₖ = σ(Aₖzₖ + bₖ) and zₖ₊₁ = zₖ − hₖAₖᵀuₖ.
type stack struct {
	dev        backend.Device
	activation backend.Activation
	size       []float32
	filter     []backend.Filter
	bias       []backend.Buffer
	z, u       []backend.Buffer
	output     backend.Buffer // the first channels of the last z
	// The gradients of ½‖output‖²: of weights and biases, and of zₖ and Aₖzₖ in the making.
	dw, db  []backend.Buffer
	dz, du  backend.Buffer
	buffers []backend.Buffer // all of the above
}

func (s *stack) alloc(shape backend.Shape) backend.Buffer {
	b, err := s.dev.Alloc(shape)
	if err != nil {
		panic(failed{err})
	}
	s.buffers = append(s.buffers, b)
	return b
}

// failed carries an error out of a stack in the making.
type failed struct{ error }

func must(err error) {
	if err != nil {
		panic(failed{err})
	}
}

// newStack reads a network of Euler steps, one a block, with LeakyReLU.
func newStack(dev backend.Device, f *weights.File, image backend.Shape) (s *stack, err error) {
	s = &stack{dev: dev}
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(failed)
			if !ok {
				panic(r)
			}
			s.free()
			s, err = nil, f.error
		}
	}()
	card, err := f.Card()
	must(err)
	a := card.Architecture
	var steps []int
	must(json.Unmarshal([]byte(f.Metadata["averaged.steps"]), &steps))
	must(json.Unmarshal([]byte(f.Metadata["averaged.step_sizes"]), &s.size))
	s.activation = backend.Activation{Kind: backend.LeakyReLU, Slope: float32(a.Slope)}
	must(s.activation.Check())
	if a.Activation != "leakyrelu" {
		must(fmt.Errorf("the network has the activation %q, must be leakyrelu", a.Activation))
	}
	if len(steps) != a.Blocks || len(s.size) != a.Blocks {
		must(fmt.Errorf("the network has %d blocks, %d numbers of steps and %d step sizes", a.Blocks, len(steps), len(s.size)))
	}
	wide := image
	wide.C = a.Width
	s.z = append(s.z, s.alloc(wide))
	for k := range a.Blocks {
		if steps[k] != 1 {
			must(fmt.Errorf("block %d makes %d steps, must be one", k, steps[k]))
		}
		shape, w, err := racing.Tensor(f, fmt.Sprintf("blocks.%d.weight", k))
		must(err)
		t, err := f.Tensor(fmt.Sprintf("blocks.%d.bias", k))
		must(err)
		b, err := t.Float32s()
		must(err)
		s.dw = append(s.dw, s.alloc(shape))
		must(dev.Upload(s.dw[k], w)) // for NewFilter, before it holds a gradient
		filter, err := dev.NewFilter(s.dw[k])
		must(err)
		s.filter = append(s.filter, filter)
		s.bias = append(s.bias, s.alloc(backend.Vector(len(b))))
		must(dev.Upload(s.bias[k], b))
		s.db = append(s.db, s.alloc(backend.Vector(len(b))))
		hidden := wide
		hidden.C = shape.N
		s.u = append(s.u, s.alloc(hidden))
		s.z = append(s.z, s.alloc(wide))
	}
	s.output, s.dz, s.du = s.alloc(image), s.alloc(wide), s.alloc(s.u[0].Shape())
	return s, nil
}

func (s *stack) free() {
	for _, f := range s.filter {
		f.Free()
	}
	for _, b := range s.buffers {
		b.Free()
	}
}

// pass makes the output of an image and the gradient of ½‖output‖² with respect to all
// weights and biases.
func (s *stack) pass(image backend.Buffer) (err error) {
	defer func() {
		if r := recover(); r != nil {
			f, ok := r.(failed)
			if !ok {
				panic(r)
			}
			err = f.error
		}
	}()
	d, shape := s.dev, image.Shape()
	must(d.Fill(s.z[0], 0))
	must(d.CopyRegion(s.z[0], 0, 0, image, shape.Whole()))
	for k, f := range s.filter {
		must(d.Convolve(s.u[k], s.z[k], f, backend.ConvEnd{Bias: s.bias[k], Activation: s.activation}))
		must(d.LinearCombination(s.z[k+1], backend.Term{A: 1, X: s.z[k]}))
		must(d.ConvolveAdjoint(s.z[k+1], s.u[k], f, 1, -s.size[k]))
	}
	must(d.CopyRegion(s.output, 0, 0, s.z[len(s.filter)], shape.Whole()))

	must(d.Fill(s.dz, 0))
	must(d.CopyRegion(s.dz, 0, 0, s.output, shape.Whole()))
	for k := len(s.filter) - 1; k >= 0; k-- {
		f, h := s.filter[k], s.size[k]
		// ⟨dz, −h·Aᵀu⟩ = −h·⟨A·dz, u⟩ depends on A here, and through u.
		must(d.FilterGradient(s.dw[k], s.dz, s.u[k], 0, -h))
		must(d.Convolve(s.du, s.dz, f, backend.ConvEnd{}))
		must(d.ActivationGradient(s.du, s.u[k], s.du, s.activation))
		must(d.FilterGradient(s.dw[k], s.z[k], s.du, 1, -h))
		must(d.BiasGradient(s.db[k], s.du, 0)) // to be times −h, as an optimiser does
		must(d.ConvolveAdjoint(s.dz, s.du, f, 1, -h))
	}
	return nil
}

// gradient returns all gradients of weights in one slice.
func (s *stack) gradient() ([]float32, error) {
	var all []float32
	for _, b := range s.dw {
		part := make([]float32, b.Shape().Len())
		if err := s.dev.Download(part, b); err != nil {
			return nil, err
		}
		all = append(all, part...)
	}
	return all, nil
}

// comparable is how many pixels the gradient is compared at: the processor takes long.
const comparable = 1 << 15

func timeBackward(dev backend.Device, file *weights.File, shape backend.Shape, input []float32, r result) (*result, error) {
	s, err := newStack(dev, file, shape)
	if err != nil {
		return nil, err
	}
	defer s.free()
	image, err := upload(dev, shape, input)
	if err != nil {
		return nil, err
	}
	defer image.Free()
	if err := r.time(dev, func() error { return s.pass(image) }); err != nil {
		return nil, err
	}
	r.Pass = "forward and backward"
	w := s.dw[0].Shape()
	a := weights.Architecture{Width: w.C, Blocks: len(s.dw), Kernel: w.H}
	r.TFLOPS = 3 * racing.Operations(a, shape) / r.MedianMS / 1e9
	// The gradient of a part of the pictures that the processor can make quickly.
	part := backend.Image(shape.C, min(shape.H, 64), min(shape.W, comparable/64))
	ours, err := gradientOf(dev, file, part, crop(input, shape, part))
	if err != nil {
		return nil, err
	}
	host, err := cpu.Open()
	if err != nil {
		return nil, err
	}
	defer host.Close() // its only error would be of work that has been waited for
	want, err := gradientOf(host, file, part, crop(input, shape, part))
	if err != nil {
		return nil, err
	}
	off, all := 0.0, 0.0
	for i, v := range want {
		off += math.Pow(float64(ours[i])-float64(v), 2)
		all += float64(v) * float64(v)
	}
	d := math.Sqrt(off / all)
	r.Difference = &d
	return &r, nil
}

// gradientOf returns the gradient at one picture.
func gradientOf(dev backend.Device, file *weights.File, shape backend.Shape, input []float32) ([]float32, error) {
	s, err := newStack(dev, file, shape)
	if err != nil {
		return nil, err
	}
	defer s.free()
	image, err := upload(dev, shape, input)
	if err != nil {
		return nil, err
	}
	defer image.Free()
	if err := s.pass(image); err != nil {
		return nil, err
	}
	return s.gradient()
}

// crop returns the upper left part of the first picture.
func crop(x []float32, from, to backend.Shape) []float32 {
	var part []float32
	for c := range to.C {
		for y := range to.H {
			at := (c*from.H + y) * from.W
			part = append(part, x[at:at+to.W]...)
		}
	}
	return part
}
