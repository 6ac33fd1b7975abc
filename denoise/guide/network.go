package guide

import (
	"context"
	"fmt"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise/internal/ondevice"
	"github.com/averaged/imaging/denoise/tile"
)

// ReLU is the activation of a guide; of a slope of 0 devices know nothing.
var ReLU = backend.Activation{Kind: backend.LeakyReLU, Slope: 0x1p-100}

// Network is a guide on a device. It is safe for concurrent use until Free.
type Network struct {
	dev    backend.Device
	widths []int
	layers []layer
	side   int // of tiles, in pixels of a scale

	parameters      int
	multiplications float64
}

type layer struct {
	filter backend.Filter
	bias   backend.Buffer
}

// New puts a guide that has been checked on a device.
func New(dev backend.Device, m *Model) (_ *Network, err error) {
	n := &Network{dev: dev, widths: m.Widths, side: tileSide, parameters: m.Parameters(), multiplications: m.Multiplications()}
	defer func() {
		if err != nil {
			n.Free()
		}
	}()
	for _, from := range m.Layers {
		var l layer
		if l.filter, err = ondevice.Filter(dev, backend.Shape{N: from.Out, C: from.In, H: from.Kernel, W: from.Kernel}, from.Weight); err != nil {
			return nil, err
		}
		n.layers = append(n.layers, l)
		if n.layers[len(n.layers)-1].bias, err = ondevice.Vector(dev, from.Bias); err != nil {
			return nil, err
		}
	}
	return n, nil
}

// Cost returns the numbers of parameters and of multiplications for a pixel of src in Apply.
func (n *Network) Cost() (parameters int, multiplications float64) {
	return n.parameters, n.multiplications
}

// Free gives the memory on the device back.
func (n *Network) Free() {
	for _, l := range n.layers {
		l.filter.Free()
		if l.bias != nil {
			l.bias.Free()
		}
	}
	n.layers = nil
}

// tileSide is the height and width of a tile, in pixels of its scale, a multiple of all grids
// and of 2. With 64 channels a tile and its halo take some 150 MB.
const tileSide = 360

// Apply calls emit with the numbers x of every pixel of src, the image as the averaged network's
// blocks see it, with noise of standard deviation sigma: tile by tile, each an array of the
// radii of a region, N×radii×rows×columns, which emit may read until it returns. They are the
// same bits for every tile. The scratch memory is that of a tile, and of two arrays of a quarter
// of the pixels for every scale but the first.
func (n *Network) Apply(ctx context.Context, src backend.Buffer, sigma float64, emit func(r backend.Region, x backend.Buffer) error) error {
	p := &pass{Network: n, ctx: ctx, sigma: sigma, image: src, emit: emit}
	_, err := p.scale(0, nil, src.Shape())
	return err
}

// pass is an image under way.
type pass struct {
	*Network
	ctx   context.Context
	sigma float64
	image backend.Buffer
	emit  func(r backend.Region, x backend.Buffer) error
}

// The convolutions of 3×3 on the way through a scale.
var (
	down = tile.Reach{1, 1}
	all  = tile.Reach{1, 1, 1, 1}
)

// scale returns b_i for z_i, an array that it frees; at the first, where z is nil, it is made
// of the image of shape s, and the result is emitted. What the way up adds is made again from z
// unless one tile holds all of it, which takes no memory that grows with the image.
func (p *pass) scale(i int, z backend.Buffer, s backend.Shape) (_ backend.Buffer, err error) {
	s.C = p.widths[i]
	defer func() {
		if z != nil {
			z.Free()
		}
	}()
	held := tile.NewScratch(p.dev)
	defer held.Free()
	var skip, below backend.Buffer
	last := i == len(p.widths)-1
	single := s.H <= p.side && s.W <= p.side
	if !last {
		coarse := s.Unshuffled(2)
		coarse.C = p.widths[i+1]
		next, err := p.dev.Alloc(coarse)
		if err != nil {
			return nil, err
		}
		side := p.side / 2
		if single {
			side = p.side
		}
		err = p.tiles(coarse, side, func(r backend.Region) error {
			return p.wayDown(i, z, s, next, r, func(a backend.Buffer) error {
				if !single {
					return nil
				}
				var err error
				if skip, err = held.Alloc(s); err != nil {
					return err
				}
				return p.dev.LinearCombination(skip, backend.Term{A: 1, X: a})
			})
		})
		if err != nil {
			next.Free()
			return nil, err
		}
		if below, err = p.scale(i+1, next, coarse); err != nil {
			return nil, err
		}
		defer below.Free()
	}
	var dst backend.Buffer
	if i > 0 {
		if dst, err = p.dev.Alloc(s); err != nil {
			return nil, err
		}
	}
	err = p.tiles(s, p.side, func(r backend.Region) error { return p.wayUp(i, z, s, skip, below, dst, r) })
	if err != nil && dst != nil {
		dst.Free()
		dst = nil
	}
	return dst, err
}

func (p *pass) tiles(s backend.Shape, side int, f func(r backend.Region) error) error {
	for y := 0; y < s.H; y += side {
		for x := 0; x < s.W; x += side {
			if err := p.ctx.Err(); err != nil {
				return err
			}
			if err := f(backend.Region{Y0: y, Y1: min(s.H, y+side), X0: x, X1: min(s.W, x+side)}); err != nil {
				return err
			}
		}
	}
	return nil
}

// window returns what a region of scale i is computed from, with the grids of this scale and of
// the next where they are in the whole image.
func (p *pass) window(i int, c tile.Reach, r backend.Region, s backend.Shape) backend.Region {
	grid := p.dev.ConvolutionGrid()
	if i == 0 {
		c = append(tile.Reach{1}, c...) // in
	}
	r = c.Window(r, grid, s)
	r.Y0 -= r.Y0 % (2 * grid)
	r.X0 -= r.X0 % (2 * grid)
	return r
}

// enter returns a_i in a window, and z_i there.
func (p *pass) enter(i int, s *tile.Scratch, z backend.Buffer, w backend.Region) (backend.Buffer, error) {
	if i > 0 {
		cut, err := p.cut(s, z, w)
		if err != nil {
			return nil, err
		}
		return p.block(s, EnterAt(i), cut)
	}
	image, err := p.cut(s, p.image, w)
	if err != nil {
		return nil, err
	}
	scale, plane := Units(p.sigma)
	shape := image.Shape()
	shape.C++
	input, err := s.Alloc(shape)
	if err != nil {
		return nil, err
	}
	shape.C--
	half, err := s.Alloc(shape)
	if err != nil {
		return nil, err
	}
	for _, err := range []error{
		p.dev.Fill(half, -0.5),
		p.dev.LinearCombination(half, backend.Term{A: scale, X: image}, backend.Term{A: scale, X: half}),
		p.dev.Fill(input, plane),
		p.dev.CopyRegion(input, 0, 0, half, shape.Whole()),
	} {
		if err != nil {
			return nil, err
		}
	}
	first, err := p.convolve(s, 0, input, backend.Activation{})
	if err != nil {
		return nil, err
	}
	return p.block(s, EnterAt(0), first)
}

// cut returns a window of an array.
func (p *pass) cut(s *tile.Scratch, from backend.Buffer, w backend.Region) (backend.Buffer, error) {
	shape := from.Shape()
	if w == shape.Whole() {
		return from, nil
	}
	shape.H, shape.W = w.Size()
	b, err := s.Alloc(shape)
	if err != nil {
		return nil, err
	}
	return b, p.dev.CopyRegion(b, 0, 0, from, w)
}

// convolve returns layer k of x.
func (p *pass) convolve(s *tile.Scratch, k int, x backend.Buffer, a backend.Activation) (backend.Buffer, error) {
	l := p.layers[k]
	shape := x.Shape()
	shape.C = l.filter.Shape().N
	y, err := s.Alloc(shape)
	if err != nil {
		return nil, err
	}
	return y, p.dev.Convolve(y, x, l.filter, backend.ConvEnd{Bias: l.bias, Activation: a})
}

// block returns the residual block of layers k and k+1 of x.
func (p *pass) block(s *tile.Scratch, k int, x backend.Buffer) (backend.Buffer, error) {
	inner := tile.NewScratch(p.dev)
	defer inner.Free()
	hidden, err := p.convolve(inner, k, x, ReLU)
	if err != nil {
		return nil, err
	}
	y, err := p.convolve(s, k+1, hidden, backend.Activation{})
	if err != nil {
		return nil, err
	}
	return y, p.dev.LinearCombination(y, backend.Term{A: 1, X: y}, backend.Term{A: 1, X: x})
}

// wayDown sets the region r of z_{i+1}, next. look sees a_i in its window.
func (p *pass) wayDown(i int, z backend.Buffer, shape backend.Shape, next backend.Buffer, r backend.Region, look func(a backend.Buffer) error) error {
	s := tile.NewScratch(p.dev)
	defer s.Free()
	fine := backend.Region{Y0: 2 * r.Y0, Y1: min(shape.H, 2*r.Y1), X0: 2 * r.X0, X1: min(shape.W, 2*r.X1)}
	w := p.window(i, down, fine, shape)
	a, err := p.enter(i, s, z, w)
	if err != nil {
		return err
	}
	if err := look(a); err != nil {
		return err
	}
	coarse, err := s.Alloc(a.Shape().Unshuffled(2))
	if err != nil {
		return err
	}
	if err := p.dev.Unshuffle(coarse, a, 2); err != nil {
		return err
	}
	mixed, err := p.convolve(s, DownAt(i), coarse, backend.Activation{})
	if err != nil {
		return err
	}
	return p.dev.CopyRegion(next, r.Y0, r.X0, mixed, shift(r, halved(w)))
}

// halved is a window at the next scale.
func halved(w backend.Region) backend.Region {
	return backend.Region{Y0: w.Y0 / 2, Y1: (w.Y1 + 1) / 2, X0: w.X0 / 2, X1: (w.X1 + 1) / 2}
}

// shift returns the region as it lies in a window.
func shift(r, w backend.Region) backend.Region {
	return backend.Region{Y0: r.Y0 - w.Y0, Y1: r.Y1 - w.Y0, X0: r.X0 - w.X0, X1: r.X1 - w.X0}
}

// wayUp sets the region r of b_i, dst, or emits it at the first scale. skip is a_i, or nil, and
// below is b_{i+1}, nil at the last scale.
func (p *pass) wayUp(i int, z backend.Buffer, shape backend.Shape, skip, below, dst backend.Buffer, r backend.Region) error {
	s := tile.NewScratch(p.dev)
	defer s.Free()
	reach := all
	if i == 0 {
		reach = append(tile.Reach{1}, all...) // out
	}
	w := p.window(i, reach, r, shape)
	a := skip
	var err error
	if a == nil {
		if a, err = p.enter(i, s, z, w); err != nil {
			return err
		}
	} else {
		w = shape.Whole()
	}
	if below != nil {
		coarse, err := p.cut(s, below, halved(w))
		if err != nil {
			return err
		}
		mixed, err := p.convolve(s, UpAt(i), coarse, backend.Activation{})
		if err != nil {
			return err
		}
		sum, err := s.Alloc(a.Shape())
		if err != nil {
			return err
		}
		if err := p.dev.Shuffle(sum, mixed, 2); err != nil {
			return err
		}
		if err := p.dev.LinearCombination(sum, backend.Term{A: 1, X: sum}, backend.Term{A: 1, X: a}); err != nil {
			return err
		}
		a = sum
	}
	b, err := p.block(s, LeaveAt(i), a)
	if err != nil {
		return err
	}
	if i > 0 {
		return p.dev.CopyRegion(dst, r.Y0, r.X0, b, shift(r, w))
	}
	x, err := p.convolve(s, len(p.layers)-1, b, backend.Activation{})
	if err != nil {
		return err
	}
	out, err := s.Alloc(backend.Shape{N: shape.N, C: x.Shape().C, H: r.Y1 - r.Y0, W: r.X1 - r.X0})
	if err != nil {
		return err
	}
	if err := p.dev.CopyRegion(out, 0, 0, x, shift(r, w)); err != nil {
		return err
	}
	if err := p.emit(r, out); err != nil {
		return fmt.Errorf("radii of %v: %w", r, err)
	}
	return nil
}
