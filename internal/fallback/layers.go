package fallback

import (
	"context"
	"fmt"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/arguments"
)

// ApplyLayers is backend.Layered's made of the other operations of dev: what is done on a
// device that does not have it, and what fused paths are tested against.
func ApplyLayers(ctx context.Context, dev backend.Device, dst backend.Buffer, y, x int, region backend.Region, src backend.Buffer, window backend.Region, layers []backend.Layer) error {
	if dst == nil || src == nil {
		return fmt.Errorf("%w: layers need a destination and a source", backend.ErrArgument)
	}
	shapes, err := arguments.CheckLayers(dst.Shape(), y, x, region, src.Shape(), window, layers)
	if err != nil {
		return err
	}
	if err := arguments.CheckApart(dev, dst, append([]backend.Buffer{src}, buffersOf(layers)...)...); err != nil {
		return err
	}
	a := newArrays(dev)
	defer a.freeAll()
	z, err := a.cut(src, window)
	if err != nil {
		return err
	}
	var kept []backend.Buffer
	for k, l := range layers {
		if err := ctx.Err(); err != nil {
			return err
		}
		from := z
		switch l.Kind {
		case backend.ConvolutionLayer:
			z, err = a.convolve(z, l.Filter, l.Bias, l.Activation)
		case backend.ResidualLayer:
			z, err = a.residual(z, l)
		case backend.DownLayer:
			kept = append(kept, z)
			from = nil
			z, err = a.down(z, l)
		case backend.UpLayer:
			to := z
			if l.From != nil {
				s := z.Shape().Unshuffled(2)
				if from, err = a.cut(l.From, backend.Region{Y0: l.Y, Y1: l.Y + s.H, X0: l.X, X1: l.X + s.W}); err != nil {
					return err
				}
			} else {
				to, kept = kept[len(kept)-1], kept[:len(kept)-1]
			}
			if z, err = a.up(to, from, l, shapes[k]); err == nil {
				a.free(to)
			}
		}
		if err != nil {
			return err
		}
		a.free(from)
	}
	return dev.CopyRegion(dst, y, x, z, region)
}

// buffersOf returns the buffers that layers read.
func buffersOf(layers []backend.Layer) []backend.Buffer {
	var list []backend.Buffer
	for _, l := range layers {
		for _, b := range []backend.Buffer{l.Bias, l.SecondBias, l.From} {
			if b != nil {
				list = append(list, b)
			}
		}
	}
	return list
}

// cut returns a region of b.
func (a *arrays) cut(b backend.Buffer, r backend.Region) (backend.Buffer, error) {
	s := b.Shape()
	if r == s.Whole() {
		return b, nil
	}
	s.H, s.W = r.Size()
	part, err := a.alloc(s)
	if err != nil {
		return nil, err
	}
	return part, a.dev.CopyRegion(part, 0, 0, b, r)
}

func (a *arrays) convolve(z backend.Buffer, f backend.Filter, bias backend.Buffer, activation backend.Activation) (backend.Buffer, error) {
	s := z.Shape()
	s.C = f.Shape().N
	y, err := a.alloc(s)
	if err != nil {
		return nil, err
	}
	return y, a.dev.Convolve(y, z, f, backend.ConvEnd{Bias: bias, Activation: activation})
}

func (a *arrays) residual(z backend.Buffer, l backend.Layer) (backend.Buffer, error) {
	hidden, err := a.convolve(z, l.Filter, l.Bias, l.Activation)
	if err != nil {
		return nil, err
	}
	y, err := a.convolve(hidden, l.Second, l.SecondBias, backend.Activation{})
	if err != nil {
		return nil, err
	}
	a.free(hidden)
	return y, a.dev.LinearCombination(y, backend.Term{A: 1, X: y}, backend.Term{A: 1, X: z})
}

func (a *arrays) down(z backend.Buffer, l backend.Layer) (backend.Buffer, error) {
	coarse, err := a.alloc(z.Shape().Unshuffled(2))
	if err != nil {
		return nil, err
	}
	defer a.free(coarse)
	if err := a.dev.Unshuffle(coarse, z, 2); err != nil {
		return nil, err
	}
	return a.convolve(coarse, l.Filter, l.Bias, backend.Activation{})
}

func (a *arrays) up(to, from backend.Buffer, l backend.Layer, s backend.Shape) (backend.Buffer, error) {
	mixed, err := a.convolve(from, l.Filter, l.Bias, backend.Activation{})
	if err != nil {
		return nil, err
	}
	defer a.free(mixed)
	sum, err := a.alloc(s)
	if err != nil {
		return nil, err
	}
	if err := a.dev.Shuffle(sum, mixed, 2); err != nil {
		return nil, err
	}
	return sum, a.dev.LinearCombination(sum, backend.Term{A: 1, X: sum}, backend.Term{A: 1, X: to})
}
