package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
)

// operation is one of those that the guided network is made of.
type operation struct {
	name string
	work float64 // floating-point operations, of direct sums, or 0
	made float64 // bytes that are read and written
	run  func() error
}

// workshop has the buffers of operations. The first error stays.
type workshop struct {
	dev   backend.Device
	owned []interface{ Free() }
	err   error
}

func (w *workshop) free() {
	for _, b := range w.owned {
		b.Free()
	}
	w.owned = nil
}

func (w *workshop) numbers(s backend.Shape) backend.Buffer {
	if w.err != nil {
		return nil
	}
	b, err := w.dev.Alloc(s)
	if w.err = err; err != nil {
		return nil
	}
	w.owned = append(w.owned, b)
	w.err = w.dev.Gaussian(b, 1, 0.5, 0.1)
	return b
}

func (w *workshop) filter(out, in, size int) backend.Filter {
	b := w.numbers(backend.Shape{N: out, C: in, H: size, W: size})
	if w.err != nil {
		return nil
	}
	f, err := w.dev.NewFilter(b)
	if w.err = err; err != nil {
		return nil
	}
	w.owned = append(w.owned, f)
	return f
}

// convolution is σ(A·x + b).
func (w *workshop) convolution(s backend.Shape, out, size int) operation {
	to := s
	to.C = out
	src, dst, f, bias := w.numbers(s), w.numbers(to), w.filter(out, s.C, size), w.numbers(backend.Vector(out))
	end := backend.ConvEnd{Bias: bias, Activation: backend.Activation{Kind: backend.LeakyReLU, Slope: 0.1}}
	pixels := float64(s.N) * float64(s.Plane())
	return operation{
		name: fmt.Sprintf("convolution of %d×%d, %d to %d channels", size, size, s.C, out),
		work: 2 * pixels * float64(size*size*s.C*out), made: 4 * pixels * float64(s.C+out),
		run: func() error { return w.dev.Convolve(dst, src, f, end) },
	}
}

// steps is the flow of blocks that project onto balls of 8 channels, with a radius for every pixel.
func (w *workshop) steps(ctx context.Context, s backend.Shape, channels, blocks int) operation {
	radii := s
	radii.C = channels / 8
	src, dst, f, radius := w.numbers(s), w.numbers(s), w.filter(channels, channels, 3), w.numbers(radii)
	list := make([]backend.FlowStep, blocks)
	for k := range list {
		list[k] = backend.FlowStep{Filter: f, Radius: radius, Size: 0.01}
	}
	pixels := float64(s.N) * float64(s.Plane())
	return operation{
		name: fmt.Sprintf("%d gradient steps of %d channels, balls of 8", blocks, channels),
		work: 4 * 9 * pixels * float64(blocks*channels*channels), made: 4 * pixels * float64(blocks*(5*channels+channels/8)),
		run: func() error { return w.dev.GradientFlow(ctx, dst, src, s.Whole(), list) },
	}
}

// timeOperations times what the guided network is made of, at the sizes that it has for a photograph.
func timeOperations(ctx context.Context, dev backend.Device, photograph backend.Shape, r result, lines *json.Encoder) error {
	half := func(s backend.Shape, channels int) backend.Shape {
		return backend.Image(channels, (s.H+1)/2, (s.W+1)/2)
	}
	fine := half(photograph, 12)
	middle, coarse := half(fine, 0), half(half(fine, 0), 0)
	at := func(s backend.Shape, channels int) backend.Shape { s.C = channels; return s }
	for _, make := range []func(w *workshop) operation{
		func(w *workshop) operation { return w.steps(ctx, fine, 64, 5) },
		func(w *workshop) operation { return w.steps(ctx, at(fine, 12), 32, 2) },
		func(w *workshop) operation { return w.convolution(at(fine, 13), 64, 3) },
		func(w *workshop) operation { return w.convolution(at(fine, 64), 64, 3) },
		func(w *workshop) operation { return w.convolution(at(fine, 64), 40, 3) },
		func(w *workshop) operation { return w.convolution(at(middle, 96), 96, 3) },
		func(w *workshop) operation { return w.convolution(at(coarse, 128), 128, 3) },
		func(w *workshop) operation { return w.convolution(at(middle, 256), 96, 1) },
		func(w *workshop) operation { return w.convolution(at(coarse, 128), 384, 1) },
		func(w *workshop) operation { // a tile, as the guide has them
			s := backend.Image(64, min(fine.H, 256), min(fine.W, 256))
			o := w.convolution(s, 64, 3)
			o.name += fmt.Sprintf(", %d×%d pixels", s.W, s.H)
			return o
		},
		func(w *workshop) operation {
			src, dst := w.numbers(photograph), w.numbers(fine)
			return operation{"pixels to channels", 0, 8 * float64(photograph.Len()), func() error { return dev.Unshuffle(dst, src, 2) }}
		},
		func(w *workshop) operation {
			x, y := w.numbers(at(fine, 64)), w.numbers(at(fine, 64))
			return operation{"x + y", 0, 12 * float64(x.Shape().Len()), func() error {
				return dev.LinearCombination(x, backend.Term{A: 1, X: x}, backend.Term{A: 1, X: y})
			}}
		},
		func(w *workshop) operation {
			b, x := w.numbers(photograph), make([]float32, photograph.Len())
			return operation{"from the host", 0, 4 * float64(len(x)), func() error { return dev.Upload(b, x) }}
		},
		func(w *workshop) operation {
			b, x := w.numbers(photograph), make([]float32, photograph.Len())
			return operation{"to the host", 0, 4 * float64(len(x)), func() error { return dev.Download(x, b) }}
		},
	} {
		if err := timeOperation(dev, make, r, lines); err != nil {
			return err
		}
	}
	return nil
}

func timeOperation(dev backend.Device, make func(w *workshop) operation, r result, lines *json.Encoder) error {
	w := &workshop{dev: dev}
	defer w.free()
	o := make(w)
	if w.err != nil {
		return errors.Join(fmt.Errorf("%s", o.name), w.err)
	}
	if err := r.time(dev, o.run); err != nil {
		return fmt.Errorf("%s: %w", o.name, err)
	}
	places := func(x float64) float64 { return math.Round(x*1e3) / 1e3 }
	return lines.Encode(speed{r.Racer, o.name, r.Precision, places(r.MedianMS), places(r.StreamMS), places(o.work / r.StreamMS / 1e6), places(o.made / r.StreamMS / 1e6)})
}

// speed is the line of an operation, by the time where only the last of many is waited for.
type speed struct {
	Racer     string  `json:"racer"`
	Operation string  `json:"operation"`
	Precision string  `json:"precision"`
	MedianMS  float64 `json:"median_ms"`
	StreamMS  float64 `json:"stream_ms"`
	GFLOPS    float64 `json:"gflops"`
	GBPS      float64 `json:"gb_per_s"`
}
