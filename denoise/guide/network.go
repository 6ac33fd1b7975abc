package guide

import (
	"context"
	"fmt"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise/internal/ondevice"
	"github.com/averaged/imaging/denoise/tile"
	"github.com/averaged/imaging/internal/devicequeue"
)

// Network is a guide on a device. It is safe for concurrent use until Free.
type Network struct {
	dev    backend.Device
	widths []int
	layers []layer
	// activation of the blocks' first layers.
	activation backend.Activation
	side       int // of tiles, in pixels of a scale

	parameters      int
	multiplications float64
}

type layer struct {
	filter backend.Filter
	bias   backend.Buffer
}

// New puts a guide that has been checked on a device.
func New(dev backend.Device, m *Model) (_ *Network, err error) {
	n := &Network{dev: dev, widths: m.Widths, activation: Activation(m.Slope), side: tileSide, parameters: m.Parameters(), multiplications: m.Multiplications()}
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
	q := &devicequeue.Queue{Dev: n.dev}
	p := &pass{Network: n, ctx: ctx, q: q, kept: devicequeue.NewPool(n.dev), sigma: sigma, image: src, emit: emit}
	defer p.kept.Free()
	p.scale(0, nil, src.Shape())
	return q.Err
}

// pass is an image under way.
type pass struct {
	*Network
	ctx   context.Context
	q     *devicequeue.Queue
	kept  *devicequeue.Pool // what outlives a tile
	sigma float64
	image backend.Buffer
	emit  func(r backend.Region, x backend.Buffer) error
}

// The convolutions of 3×3 on the way down and on the way through a scale.
var (
	down    = tile.Reach{1, 1}
	through = tile.Reach{1, 1, 1, 1}
)

// scale returns b_i for z_i, which it gives back; at the first, where z is nil, it is made of
// the image of shape s, and the result is emitted. What the way up adds is made again from z
// unless one tile holds all of it, which takes no memory that grows with the image.
func (p *pass) scale(i int, z backend.Buffer, s backend.Shape) backend.Buffer {
	s.C = p.widths[i]
	var skip, below, dst backend.Buffer
	if i+1 < len(p.widths) {
		coarse := s.Unshuffled(2)
		coarse.C = p.widths[i+1]
		next := p.kept.Take(p.q, coarse)
		single := s.H <= p.side && s.W <= p.side
		p.tiles(coarse, ceil(p.side, 2), func(memory *devicequeue.Pool, r backend.Region) {
			a := p.wayDown(memory, i, z, s, next, r)
			if single {
				skip = p.kept.Take(p.q, s)
				p.q.Combine(skip, backend.Term{A: 1, X: a})
			}
		})
		below = p.scale(i+1, next, coarse)
	}
	if i > 0 {
		dst = p.kept.Take(p.q, s)
	}
	p.tiles(s, p.side, func(memory *devicequeue.Pool, r backend.Region) { p.wayUp(memory, i, z, s, skip, below, dst, r) })
	p.kept.Give(z, skip, below)
	return dst
}

func ceil(n, parts int) int { return (n + parts - 1) / parts }

// tiles calls f for the tiles of an image, with memory that is kept while they have one size.
func (p *pass) tiles(s backend.Shape, side int, f func(memory *devicequeue.Pool, r backend.Region)) {
	var memory *devicequeue.Pool
	size := [2]int{}
	for y := 0; y < s.H; y += side {
		for x := 0; x < s.W; x += side {
			p.q.Do(p.ctx.Err)
			if p.q.Err != nil {
				break
			}
			r := backend.Region{Y0: y, Y1: min(s.H, y+side), X0: x, X1: min(s.W, x+side)}
			if h, w := r.Size(); memory == nil || size != [2]int{h, w} {
				if memory != nil {
					memory.Free()
				}
				memory, size = devicequeue.NewPool(p.dev), [2]int{h, w}
			}
			memory.Reclaim()
			f(memory, r)
		}
	}
	if memory != nil {
		memory.Free()
	}
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

// enter returns a_i in a window.
func (p *pass) enter(memory *devicequeue.Pool, i int, z backend.Buffer, w backend.Region) backend.Buffer {
	if i > 0 {
		return p.block(memory, EnterAt(i), p.cut(memory, z, w))
	}
	image := p.cut(memory, p.image, w)
	scale, plane := Units(p.sigma)
	shape := image.Shape()
	scaled := memory.Take(p.q, shape)
	shape.C++
	input := memory.Take(p.q, shape)
	p.q.Fill(scaled, -0.5)
	p.q.Combine(scaled, backend.Term{A: scale, X: image}, backend.Term{A: scale, X: scaled})
	p.q.Fill(input, plane)
	p.q.Channels(input, scaled)
	z = p.convolve(memory, 0, input, backend.Activation{})
	memory.Give(scaled, input)
	return p.block(memory, EnterAt(0), z)
}

// cut returns a window of an array.
func (p *pass) cut(memory *devicequeue.Pool, from backend.Buffer, w backend.Region) backend.Buffer {
	shape := from.Shape()
	if w == shape.Whole() {
		return from
	}
	shape.H, shape.W = w.Size()
	b := memory.Take(p.q, shape)
	p.q.Do(func() error { return p.dev.CopyRegion(b, 0, 0, from, w) })
	return b
}

// convolve returns layer k of x.
func (p *pass) convolve(memory *devicequeue.Pool, k int, x backend.Buffer, a backend.Activation) backend.Buffer {
	l := p.layers[k]
	shape := x.Shape()
	shape.C = l.filter.Shape().N
	y := memory.Take(p.q, shape)
	p.q.Convolve(y, x, l.filter, backend.ConvEnd{Bias: l.bias, Activation: a})
	return y
}

// block returns the residual block of layers k and k+1 of x.
func (p *pass) block(memory *devicequeue.Pool, k int, x backend.Buffer) backend.Buffer {
	hidden := p.convolve(memory, k, x, p.activation)
	y := p.convolve(memory, k+1, hidden, backend.Activation{})
	p.q.Combine(y, backend.Term{A: 1, X: y}, backend.Term{A: 1, X: x})
	memory.Give(hidden)
	return y
}

// wayDown sets the region r of z_{i+1}, next, and returns a_i in its window.
func (p *pass) wayDown(memory *devicequeue.Pool, i int, z backend.Buffer, s backend.Shape, next backend.Buffer, r backend.Region) backend.Buffer {
	fine := backend.Region{Y0: 2 * r.Y0, Y1: min(s.H, 2*r.Y1), X0: 2 * r.X0, X1: min(s.W, 2*r.X1)}
	w := p.window(i, down, fine, s)
	a := p.enter(memory, i, z, w)
	coarse := memory.Take(p.q, a.Shape().Unshuffled(2))
	p.q.Do(func() error { return p.dev.Unshuffle(coarse, a, 2) })
	mixed := p.convolve(memory, DownAt(i), coarse, backend.Activation{})
	p.q.Do(func() error { return p.dev.CopyRegion(next, r.Y0, r.X0, mixed, shift(r, halved(w))) })
	return a
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
func (p *pass) wayUp(memory *devicequeue.Pool, i int, z backend.Buffer, shape backend.Shape, skip, below, dst backend.Buffer, r backend.Region) {
	reach := through
	if i == 0 {
		reach = append(tile.Reach{1}, through...) // out
	}
	w, a := shape.Whole(), skip
	if a == nil {
		w = p.window(i, reach, r, shape)
		a = p.enter(memory, i, z, w)
	}
	if below != nil {
		mixed := p.convolve(memory, UpAt(i), p.cut(memory, below, halved(w)), backend.Activation{})
		sum := memory.Take(p.q, a.Shape())
		p.q.Do(func() error { return p.dev.Shuffle(sum, mixed, 2) })
		p.q.Combine(sum, backend.Term{A: 1, X: sum}, backend.Term{A: 1, X: a})
		memory.Give(mixed)
		a = sum
	}
	b := p.block(memory, LeaveAt(i), a)
	if i > 0 {
		p.q.Do(func() error { return p.dev.CopyRegion(dst, r.Y0, r.X0, b, shift(r, w)) })
		return
	}
	x := p.convolve(memory, len(p.layers)-1, b, backend.Activation{})
	if w != r {
		s := x.Shape()
		s.H, s.W = r.Size()
		part := memory.Take(p.q, s)
		p.q.Do(func() error { return p.dev.CopyRegion(part, 0, 0, x, shift(r, w)) })
		x = part
	}
	p.q.Do(func() error {
		if err := p.emit(r, x); err != nil {
			return fmt.Errorf("radii of %v: %w", r, err)
		}
		return nil
	})
}
