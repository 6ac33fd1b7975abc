package guide

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/devicequeue"
	"github.com/averaged/imaging/internal/nn/ondevice"
	"github.com/averaged/imaging/internal/nn/tile"
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
// and of 2. With 64 channels a tile and its halo take some 240 MB on a processor, and are half again as
// large as the tile: a smaller one would compute more of its halo than it saves.
const tileSide = 540

// Apply calls emit with the numbers x of every pixel of src, the image as the averaged network's
// blocks see it, with noise of standard deviation sigma: tile by tile, each an array of the
// radii of a region, N×radii×rows×columns, which emit may read until it returns. They are the
// same bits for every tile. The scratch memory is that of a tile, and of two arrays of a quarter
// of the pixels for every scale but the first that one tile does not hold. It tells its progress to
// the context (backend.WithProgress), a tile at a time.
func (n *Network) Apply(ctx context.Context, src backend.Buffer, sigma float64, emit func(r backend.Region, x backend.Buffer) error) error {
	return n.apply(ctx, src, &pass{sigma: sigma}, emit)
}

// ApplyLevels is Apply with a noise level for each pixel of src: levels sets dst to those of a region,
// row by row, all above 0.
func (n *Network) ApplyLevels(ctx context.Context, src backend.Buffer, levels func(dst []float32, r backend.Region), emit func(r backend.Region, x backend.Buffer) error) error {
	return n.apply(ctx, src, &pass{levels: levels}, emit)
}

func (n *Network) apply(ctx context.Context, src backend.Buffer, p *pass, emit func(r backend.Region, x backend.Buffer) error) error {
	q := &devicequeue.Queue{Dev: n.dev}
	p.Network, p.ctx, p.q, p.kept, p.image, p.emit = n, ctx, q, devicequeue.NewPool(n.dev), src, emit
	defer p.kept.Free()
	p.work = p.costs(0, src.Shape())
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
	// levels, in the place of sigma, sets dst to the noise levels of a region's pixels.
	levels func(dst []float32, r backend.Region)
	image  backend.Buffer
	emit   func(r backend.Region, x backend.Buffer) error

	work, done float64 // in all, and so far; see cost
}

// cost is about how long a region takes on the way down and, twice as long, on the way through or
// up a scale: what matters is the product of the channels.
func (p *pass) cost(i int, r backend.Region) float64 {
	h, w := r.Size()
	return float64(h) * float64(w) * float64(p.widths[i]) * float64(p.widths[i])
}

// costs is the sum of the costs of scale i, of shape s, and all below it.
func (p *pass) costs(i int, s backend.Shape) (sum float64) {
	for ; i < len(p.widths); i++ {
		sum += 2 * p.cost(i, s.Whole())
		s = s.Unshuffled(2)
		if i+1 < len(p.widths) {
			sum += 4 * p.cost(i, s.Whole()) // in pixels of the next scale
		}
	}
	return sum
}

// did tells the context of work.
func (p *pass) did(cost float64) {
	if p.q.Err == nil {
		p.done += cost
		backend.ReportProgress(p.ctx, min(1, p.done/p.work))
	}
}

// convolution returns layer k, and block the residual block of layers k and k+1.
func (n *Network) convolution(k int) backend.Layer {
	return backend.Layer{Kind: backend.ConvolutionLayer, Filter: n.layers[k].filter, Bias: n.layers[k].bias}
}

func (n *Network) block(k int) backend.Layer {
	first, second := n.layers[k], n.layers[k+1]
	return backend.Layer{
		Kind: backend.ResidualLayer, Filter: first.filter, Bias: first.bias, Activation: n.activation,
		Second: second.filter, SecondBias: second.bias,
	}
}

// enter returns the layers from z_i, or the image, to a_i, and on to z_{i+1} where there is one.
func (n *Network) enter(i int) []backend.Layer {
	var list []backend.Layer
	if i == 0 {
		list = append(list, n.convolution(0))
	}
	return append(list, n.block(EnterAt(i)))
}

func (n *Network) down(i int) []backend.Layer {
	way := n.convolution(DownAt(i))
	way.Kind = backend.DownLayer
	return append(n.enter(i), way)
}

// leave returns the layers from a_i and b_{i+1} to b_i, or to the end. b_{i+1} is from, from row y
// and column x on, or what the layers have come to where from is nil.
func (n *Network) leave(i int, from backend.Buffer, y, x int) []backend.Layer {
	var list []backend.Layer
	if i+1 < len(n.widths) {
		way := n.convolution(UpAt(i))
		way.Kind, way.From, way.Y, way.X = backend.UpLayer, from, y, x
		list = append(list, way)
	}
	list = append(list, n.block(LeaveAt(i)))
	if i == 0 {
		list = append(list, n.convolution(len(n.layers)-1))
	}
	return list
}

// whole returns the layers from z_i to b_i, or from the image to the end.
func (n *Network) whole(i int) []backend.Layer {
	list := n.enter(i)
	if i+1 < len(n.widths) {
		list = append(n.down(i), n.whole(i+1)...)
	}
	return append(list, n.leave(i, nil, 0, 0)...)
}

// The convolutions of 3×3 on the way down and on the way through a scale.
var (
	down    = tile.Reach{1, 1}
	through = tile.Reach{1, 1, 1, 1}
)

// scale returns b_i for z_i, which it gives back; at the first, where z is nil, it is made of
// the image of shape s, and the result is emitted. What one tile holds is made in one go.
// Elsewhere what the way up adds is made again from z, which takes no memory that grows with the
// image.
func (p *pass) scale(i int, z backend.Buffer, s backend.Shape) backend.Buffer {
	s.C = p.widths[i]
	single := s.H <= p.side && s.W <= p.side
	var below, dst backend.Buffer
	if i+1 < len(p.widths) && !single {
		coarse := s.Unshuffled(2)
		coarse.C = p.widths[i+1]
		next := p.kept.Take(p.q, coarse)
		p.tiles(coarse, ceil(p.side, 2), func(memory *devicequeue.Pool, r backend.Region) {
			fine := backend.Region{Y0: 2 * r.Y0, Y1: min(s.H, 2*r.Y1), X0: 2 * r.X0, X1: min(s.W, 2*r.X1)}
			w := p.window(i, down, fine, s)
			p.apply(memory, next, r.Y0, r.X0, shift(r, halved(w)), z, w, p.down(i))
			p.did(4 * p.cost(i, r))
		})
		below = p.scale(i+1, next, coarse)
	}
	if i > 0 {
		dst = p.kept.Take(p.q, s)
	}
	reach := through
	if i == 0 {
		reach = append(tile.Reach{1}, through...) // out
	}
	p.tiles(s, p.side, func(memory *devicequeue.Pool, r backend.Region) {
		w, layers, cost := r, p.whole(i), p.costs(i, s)
		if !single {
			w = p.window(i, reach, r, s)
			layers = append(p.enter(i), p.leave(i, below, w.Y0/2, w.X0/2)...)
			cost = 2 * p.cost(i, r)
		}
		defer func() { p.did(cost) }()
		if i > 0 {
			p.apply(memory, dst, r.Y0, r.X0, shift(r, w), z, w, layers)
			return
		}
		shape := s
		shape.C = p.layers[len(p.layers)-1].filter.Shape().N
		shape.H, shape.W = r.Size()
		x := memory.Take(p.q, shape)
		p.apply(memory, x, 0, 0, shift(r, w), nil, w, layers)
		p.q.Do(func() error {
			if err := p.emit(r, x); err != nil {
				return fmt.Errorf("radii of %v: %w", r, err)
			}
			return nil
		})
	})
	p.kept.Give(z, below)
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

// halved is a window at the next scale.
func halved(w backend.Region) backend.Region {
	return backend.Region{Y0: w.Y0 / 2, Y1: (w.Y1 + 1) / 2, X0: w.X0 / 2, X1: (w.X1 + 1) / 2}
}

// shift returns the region as it lies in a window.
func shift(r, w backend.Region) backend.Region {
	return backend.Region{Y0: r.Y0 - w.Y0, Y1: r.Y1 - w.Y0, X0: r.X0 - w.X0, X1: r.X1 - w.X0}
}

// apply puts a region of what layers make of a window of z, or of the image where z is nil, into
// dst from row y and column x on.
func (p *pass) apply(memory *devicequeue.Pool, dst backend.Buffer, y, x int, r backend.Region, z backend.Buffer, window backend.Region, layers []backend.Layer) {
	if z == nil {
		z = p.input(memory, window)
		window = z.Shape().Whole()
	}
	p.q.Do(func() error { return p.dev.ApplyLayers(p.ctx, dst, y, x, r, z, window, layers) })
}

// input returns a window of the image in the guide's units, with the plane that tells the noise.
func (p *pass) input(memory *devicequeue.Pool, w backend.Region) backend.Buffer {
	image := p.image
	shape := image.Shape()
	if w != shape.Whole() {
		shape.H, shape.W = w.Size()
		image = memory.Take(p.q, shape)
		p.q.Do(func() error { return p.dev.CopyRegion(image, 0, 0, p.image, w) })
	}
	wide := shape
	wide.C++
	input := memory.Take(p.q, wide)
	if p.levels != nil {
		p.inputOfLevels(memory, input, image, w)
		return input
	}
	scale, plane := Units(p.sigma)
	p.q.Fill(input, plane)
	var scaled backend.Buffer
	if shape.N > 1 {
		scaled = memory.Take(p.q, shape)
	} else { // in place
		p.q.Do(func() (err error) {
			scaled, err = p.dev.Channels(input, 0, shape.C)
			return err
		})
	}
	p.q.Fill(scaled, -0.5)
	p.q.Combine(scaled, backend.Term{A: scale, X: image}, backend.Term{A: scale, X: scaled})
	if shape.N > 1 {
		p.q.Channels(input, scaled)
	}
	return input
}

// inputOfLevels sets input to a window of the image in the units of each pixel's noise level, and to the
// planes that tell them.
func (p *pass) inputOfLevels(memory *devicequeue.Pool, input, image backend.Buffer, w backend.Region) {
	shape := input.Shape()
	plane := shape.Plane()
	levels := make([]float32, plane)
	p.levels(levels, w)
	// What is multiplied: of each image the scale for all of its channels, and the plane.
	units := make([]float32, shape.C*plane)
	scales, planes := units[:plane], units[(shape.C-1)*plane:]
	var wait sync.WaitGroup
	pieces := min(shape.H, runtime.GOMAXPROCS(0))
	for k := range pieces {
		wait.Go(func() {
			for i := k * plane / pieces; i < (k+1)*plane/pieces; i++ {
				scales[i], planes[i] = Units(float64(levels[i]))
			}
		})
	}
	wait.Wait()
	for c := 1; c < shape.C-1; c++ {
		copy(units[c*plane:], scales)
	}
	centred := memory.Take(p.q, shape)
	p.q.Fill(centred, 1.5)
	p.q.Channels(centred, image)
	p.q.Fill(input, -0.5)
	p.q.Combine(centred, backend.Term{A: 1, X: centred}, backend.Term{A: 1, X: input})
	p.q.Upload(input, slices.Repeat(units, shape.N))
	p.q.Do(func() error { return p.dev.Multiply(input, input, centred) })
}
