package devicekit

import (
	"context"
	"fmt"

	"github.com/averaged/imaging/backend"
)

// CheckLayers returns the shapes of z after every layer, or an error that wraps ErrShape or
// ErrArgument unless the arguments of ApplyLayers go together. It looks at shapes and numbers
// only.
func CheckLayers(dst backend.Shape, y, x int, region backend.Region, src backend.Shape, window backend.Region, layers []backend.Layer) ([]backend.Shape, error) {
	if err := window.Check(src); err != nil {
		return nil, err
	}
	if len(layers) == 0 {
		return nil, fmt.Errorf("%w: no layers", backend.ErrArgument)
	}
	z := src
	z.H, z.W = window.Size()
	var shapes, kept []backend.Shape
	for k, l := range layers {
		if err := checkOneLayer(&z, &kept, l); err != nil {
			return nil, fmt.Errorf("layer %d: %w", k, err)
		}
		shapes = append(shapes, z)
	}
	if z.C != dst.C {
		return nil, fmt.Errorf("%w: layers that end at %v for %v", backend.ErrShape, z, dst)
	}
	return shapes, CheckCopyRegion(dst, y, x, z, region)
}

// checkOneLayer brings z and what is kept to the end of a layer.
func checkOneLayer(z *backend.Shape, kept *[]backend.Shape, l backend.Layer) error {
	filter := func(f backend.Filter, bias backend.Buffer, in, size int) (out int, err error) {
		if f == nil {
			return 0, fmt.Errorf("%w: no filter", backend.ErrArgument)
		}
		s := f.Shape()
		if s.C != in || size > 0 && (s.H != size || s.W != size) {
			return 0, fmt.Errorf("%w: a filter %v for %d channels", backend.ErrShape, s, in)
		}
		if bias == nil {
			return s.N, nil
		}
		return s.N, CheckBias(bias.Shape(), s.N)
	}
	if err := l.Activation.Check(); err != nil {
		return err
	}
	var err error
	switch l.Kind {
	case backend.ConvolutionLayer:
		z.C, err = filter(l.Filter, l.Bias, z.C, 0)
	case backend.ResidualLayer:
		var hidden, out int
		if hidden, err = filter(l.Filter, l.Bias, z.C, 0); err != nil {
			return err
		}
		if out, err = filter(l.Second, l.SecondBias, hidden, 0); err == nil && out != z.C {
			err = fmt.Errorf("%w: a residual block from %d to %d channels", backend.ErrShape, z.C, out)
		}
	case backend.DownLayer:
		*kept = append(*kept, *z)
		*z = z.Unshuffled(2)
		z.C, err = filter(l.Filter, l.Bias, z.C, 1)
	case backend.UpLayer:
		below, to := *z, *z
		if l.From != nil {
			from := l.From.Shape()
			below = z.Unshuffled(2)
			below.C = from.C
			if err := CheckCopyRegion(from, l.Y, l.X, below, below.Whole()); err != nil {
				return err
			}
		} else {
			n := len(*kept)
			if n == 0 {
				return fmt.Errorf("%w: a way up without a way down", backend.ErrArgument)
			}
			to, *kept = (*kept)[n-1], (*kept)[:n-1]
		}
		if below.C, err = filter(l.Filter, l.Bias, below.C, 1); err != nil {
			return err
		}
		*z = to
		err = CheckShuffle(to, below, 2)
	default:
		err = fmt.Errorf("%w: layer of kind %d", backend.ErrArgument, l.Kind)
	}
	return err
}

// LayersOneByOne is backend.Layered made of the other operations of dev: what is done on a
// device that does not have it, and what fused paths are tested against.
func LayersOneByOne(ctx context.Context, dev backend.Device, dst backend.Buffer, y, x int, region backend.Region, src backend.Buffer, window backend.Region, layers []backend.Layer) error {
	if dst == nil || src == nil {
		return fmt.Errorf("%w: layers need a destination and a source", backend.ErrArgument)
	}
	shapes, err := CheckLayers(dst.Shape(), y, x, region, src.Shape(), window, layers)
	if err != nil {
		return err
	}
	for _, b := range append([]backend.Buffer{src}, buffersOf(layers)...) {
		if shared, err := dev.Overlaps(dst, b); err != nil {
			return err
		} else if shared {
			return fmt.Errorf("%w: layers to %v from %v", backend.ErrAlias, dst.Shape(), b.Shape())
		}
	}
	a := &arrays{dev: dev, own: map[backend.Buffer]bool{}}
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

// arrays are those of a call, freed with it at the latest.
type arrays struct {
	dev backend.Device
	own map[backend.Buffer]bool
}

func (a *arrays) alloc(s backend.Shape) (backend.Buffer, error) {
	b, err := a.dev.Alloc(s)
	if err == nil {
		a.own[b] = true
	}
	return b, err
}

// free frees an array of the call; others it leaves alone.
func (a *arrays) free(b backend.Buffer) {
	if b != nil && a.own[b] {
		delete(a.own, b)
		b.Free()
	}
}

func (a *arrays) freeAll() {
	for b := range a.own {
		b.Free()
	}
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

// ApplyLayers implements backend.Layered.
func (d *Device[M, F]) ApplyLayers(ctx context.Context, dst backend.Buffer, y, x int, region backend.Region, src backend.Buffer, window backend.Region, layers []backend.Layer) error {
	if fused, err := d.fusedLayers(ctx, dst, y, x, region, src, window, layers); fused || err != nil {
		return err
	}
	return LayersOneByOne(ctx, d, dst, y, x, region, src, window, layers)
}

// fusedLayers applies layers if the kernels take them.
func (d *Device[M, F]) fusedLayers(ctx context.Context, dst backend.Buffer, y, x int, region backend.Region, src backend.Buffer, window backend.Region, layers []backend.Layer) (bool, error) {
	c := d.begin()
	defer c.end()
	to, from := c.buffer(dst), c.buffer(src)
	own, reads := c.layers(layers)
	c.apart(to, append(reads, from)...)
	if c.err != nil {
		return false, c.err
	}
	after, err := CheckLayers(to.shape, y, x, region, from.shape, window, layers)
	if err != nil {
		return false, err
	}
	before := from.shape
	before.H, before.W = window.Size()
	for k := range own {
		own[k].Before, own[k].After = before, after[k]
		before = after[k]
	}
	k, ok := d.kernels.(Layerings[M, F])
	if !ok || !k.MakesLayers(own) {
		return false, nil
	}
	return true, k.ApplyLayers(ctx, to.array(), y, x, region, from.array(), window, own)
}

// layers returns the device's own of layers, and the buffers that they read.
func (c *call[M, F]) layers(layers []backend.Layer) ([]Layer[M, F], []*buffer[M, F]) {
	own := make([]Layer[M, F], len(layers))
	var reads []*buffer[M, F]
	filter := func(f backend.Filter) (none F) {
		if f == nil { // where one is needed, CheckLayers says so
			return none
		}
		return c.filter(f).own
	}
	for k, l := range layers {
		o := Layer[M, F]{Kind: l.Kind, Filter: filter(l.Filter), Second: filter(l.Second), Activation: l.Activation, Y: l.Y, X: l.X}
		for _, v := range []struct {
			from backend.Buffer
			to   **Array[M]
		}{{l.Bias, &o.Bias}, {l.SecondBias, &o.SecondBias}, {l.From, &o.From}} {
			var read *buffer[M, F]
			read, *v.to = c.optional(v.from)
			reads = append(reads, read)
		}
		own[k] = o
	}
	return own, reads
}
