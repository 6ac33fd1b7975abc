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
	activation  backend.Activation
	side, strip int // of tiles, in pixels of a scale, and of strips at the first one

	parameters      int
	multiplications float64
}

type layer struct {
	filter backend.Filter
	bias   backend.Buffer
}

// New puts a guide that has been checked on a device.
func New(dev backend.Device, m *Model) (_ *Network, err error) {
	n := &Network{dev: dev, widths: m.Widths, activation: Activation(m.Slope), side: tileSide, strip: stripSide, parameters: m.Parameters(), multiplications: m.Multiplications()}
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

// tileSide is the height and width of a tile, in pixels of its scale, and stripSide what the rows, or columns, of a strip
// at the first scale are a multiple of: multiples of all grids and of 4. With 64 channels a tile of a strip and its halo
// take some 100 MB on a processor.
const tileSide, stripSide = 540, 96

// Photograph is what a guide looks at.
type Photograph struct {
	Image backend.Buffer
	// Channels is how many the averaged network has; an image of one channel is repeated in all of them.
	Channels int
	// Shuffle is how many pixels in a row and in a column the blocks see as channels (backend.Shuffles), at least 1.
	Shuffle int
	// Scale is what samples are multiplied by; 0 is 1.
	Scale float32
}

// shape is that of the image as the blocks see it.
func (p Photograph) shape() backend.Shape {
	s := p.Image.Shape()
	s.C = p.Channels
	return s.Unshuffled(p.Shuffle)
}

// Apply calls emit with the numbers x of every pixel of a photograph, as the averaged network's
// blocks see it, with noise of standard deviation sigma: tile by tile, each an array of the
// radii of a region, N×radii×rows×columns, which emit may read until it returns. They are the
// same bits for every tile. The scratch memory is that of a tile, and of some hundred rows or columns, across the
// longer side, of two arrays for every scale (schedule). It tells its progress to
// the context (backend.WithProgress), a tile at a time.
func (n *Network) Apply(ctx context.Context, src Photograph, sigma float64, emit func(r backend.Region, x backend.Buffer) error) error {
	return n.apply(ctx, src, &pass{sigma: sigma}, emit)
}

// ApplyLevels is Apply with a noise level for each pixel of src: levels sets dst to those of a region,
// row by row, all above 0.
func (n *Network) ApplyLevels(ctx context.Context, src Photograph, levels func(dst []float32, r backend.Region), emit func(r backend.Region, x backend.Buffer) error) error {
	return n.apply(ctx, src, &pass{levels: levels}, emit)
}

func (n *Network) apply(ctx context.Context, src Photograph, p *pass, emit func(r backend.Region, x backend.Buffer) error) error {
	q := &devicequeue.Queue{Dev: n.dev}
	p.Network, p.ctx, p.q, p.photograph, p.emit = n, ctx, q, src, emit
	p.run(src.shape())
	return q.Err
}

// pass is an image under way.
type pass struct {
	*Network
	ctx   context.Context
	q     *devicequeue.Queue
	sigma float64
	// levels, in place of sigma, sets dst to the noise levels of a region's pixels.
	levels     func(dst []float32, r backend.Region)
	photograph Photograph
	emit       func(r backend.Region, x backend.Buffer) error

	work, done float64 // in all, and so far; see cost
}

// cost is about how long a region of a scale takes in one step: what matters is the product of the channels.
func (p *pass) cost(i int, r backend.Region) float64 {
	h, w := r.Size()
	return float64(h) * float64(w) * float64(p.widths[i]) * float64(p.widths[i])
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

// enter returns the layers from a_{i−1}, or the image, to a_i.
func (n *Network) enter(i int) []backend.Layer {
	way := n.convolution(0)
	if i > 0 {
		way = n.convolution(DownAt(i - 1))
		way.Kind = backend.DownLayer
	}
	return []backend.Layer{way, n.block(EnterAt(i))}
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

// layersFrom returns the layers from a_{i−1} to b_i, or from the image to the end.
func (n *Network) layersFrom(i int) []backend.Layer {
	list := n.enter(i)
	if i+1 < len(n.widths) {
		list = append(list, n.layersFrom(i+1)...)
	}
	return append(list, n.leave(i, nil, 0, 0)...)
}

// The convolutions of 3×3 of a residual block, and of one with the first or the last layer.
var (
	block = tile.Reach{1, 1}
	three = tile.Reach{1, 1, 1}
)

// run makes the result for an image of shape s. What two tiles hold is made in one go.
func (p *pass) run(s backend.Shape) {
	// Strips of two tiles would keep nearly all of each array beside what a tile takes, and turn pixels into planes and back.
	if tile := int64(p.side); int64(s.Plane()) <= 2*tile*tile {
		memory := devicequeue.NewPool(p.dev)
		defer memory.Free()
		p.result(memory, s.Whole(), p.input(memory, s.Whole()), s.Whole(), s.Whole(), p.layersFrom(0))
		p.work = 1
		p.did(1)
		return
	}
	c := p.newSchedule(s)
	a, b := c.keep()
	arrays := devicequeue.NewPool(p.dev)
	defer arrays.Free()
	for i := range c.sizes {
		a[i].buffer = arrays.Take(p.q, part(c.sizes[i], c.region(i, 0, a[i].size)))
		if i > 0 {
			b[i].buffer = arrays.Take(p.q, part(c.sizes[i], c.region(i, 0, b[i].size)))
		}
		p.work += 2 * p.cost(i, c.sizes[i].Whole())
	}
	for k, t := range c.steps {
		i, to := t.scale, b[t.scale]
		if t.down {
			to = a[i]
		}
		if to.buffer != nil && t.to-to.first > to.size {
			p.forget(c, to, k)
		}
		p.tiles(c, t, func(memory *devicequeue.Pool, r backend.Region) {
			w := c.window(t, r)
			if !t.down {
				var below backend.Buffer
				var y, x int
				if i+1 < len(c.sizes) {
					below = b[i+1].buffer
					y, x = c.place(b[i+1], w.Y0/2, w.X0/2)
				}
				p.apply(c, to, r, a[i].buffer, c.placed(a[i], w), shift(r, w), p.leave(i, below, y, x), memory)
			} else if i > 0 {
				p.apply(c, to, r, a[i-1].buffer, c.placed(a[i-1], w), shift(r, w.Halved()), p.enter(i), memory)
			} else {
				image := p.input(memory, w)
				p.apply(c, to, r, image, part(c.sizes[0], w).Whole(), shift(r, w), p.enter(0), memory)
			}
			p.did(p.cost(i, r))
		})
	}
}

// apply puts region r of an array where it belongs, or emits it if it is of the result: inside of what layers make of a
// window of a buffer.
func (p *pass) apply(c *schedule, to *kept, r backend.Region, from backend.Buffer, window, inside backend.Region, layers []backend.Layer, memory *devicequeue.Pool) {
	if to.buffer == nil {
		p.result(memory, r, from, window, inside, layers)
		return
	}
	y, x := c.place(to, r.Y0, r.X0)
	p.q.Do(func() error { return p.dev.ApplyLayers(p.ctx, to.buffer, y, x, inside, from, window, layers) })
}

// result emits region r, which is inside of what layers make of a window of a buffer.
func (p *pass) result(memory *devicequeue.Pool, r backend.Region, from backend.Buffer, window, inside backend.Region, layers []backend.Layer) {
	shape := part(p.photograph.shape(), r)
	shape.C = p.layers[len(p.layers)-1].filter.Shape().N
	x := memory.Take(p.q, shape)
	p.q.Do(func() error { return p.dev.ApplyLayers(p.ctx, x, 0, 0, inside, from, window, layers) })
	p.q.Do(func() error {
		if err := p.emit(r, x); err != nil {
			return fmt.Errorf("radii of %v: %w", r, err)
		}
		return nil
	})
}

// forget moves what step k and later ones read of an array to its beginning.
func (p *pass) forget(c *schedule, a *kept, k int) {
	const piece = 24 // rows that are moved at a time: they are contiguous, and columns are not
	memory := devicequeue.NewPool(p.dev)
	defer memory.Free()
	i, first := c.steps[k].scale, a.from[k]
	stays := c.region(i, first, c.steps[k].from)
	for r := stays; r.Y0 < stays.Y1; r.Y0 += piece {
		r.Y1 = min(stays.Y1, r.Y0+piece)
		room := memory.Take(p.q, part(c.sizes[i], r))
		p.q.Do(func() error { return p.dev.CopyRegion(room, 0, 0, a.buffer, c.placed(a, r)) })
		moved := c.placed(&kept{first: first}, r)
		p.q.Do(func() error { return p.dev.CopyRegion(a.buffer, moved.Y0, moved.X0, room, room.Shape().Whole()) })
		memory.Give(room)
	}
	a.first = first
}

// tiles calls f for the tiles of a step, which lie side by side, with memory for each.
func (p *pass) tiles(c *schedule, t step, f func(memory *devicequeue.Pool, r backend.Region)) {
	strip := c.region(t.scale, t.from, t.to)
	across := strip.X1
	if c.wide {
		across = strip.Y1
	}
	grid := 2 * p.dev.ConvolutionGrid()
	side := ceil(ceil(across, ceil(across, p.side)), grid) * grid
	for from := 0; from < across; from += side {
		p.q.Do(p.ctx.Err)
		if p.q.Err != nil {
			return
		}
		r := strip
		if c.wide {
			r.Y0, r.Y1 = from, min(across, from+side)
		} else {
			r.X0, r.X1 = from, min(across, from+side)
		}
		memory := devicequeue.NewPool(p.dev)
		f(memory, r)
		memory.Free()
	}
}

func ceil(n, parts int) int { return (n + parts - 1) / parts }

// part is the shape of a region of an image of shape s.
func part(s backend.Shape, r backend.Region) backend.Shape {
	s.H, s.W = r.Size()
	return s
}

// window returns what a region of an array of shape s is computed from by convolutions, with the grids of its scale and of
// the next where they are in the whole image.
func (p *pass) window(c tile.Reach, r backend.Region, s backend.Shape) backend.Region {
	grid := p.dev.ConvolutionGrid()
	r = c.Window(r, grid, s)
	r.Y0 -= r.Y0 % (2 * grid)
	r.X0 -= r.X0 % (2 * grid)
	return r
}

// shift returns the region as it lies in a window.
func shift(r, w backend.Region) backend.Region {
	return backend.Region{Y0: r.Y0 - w.Y0, Y1: r.Y1 - w.Y0, X0: r.X0 - w.X0, X1: r.X1 - w.X0}
}

// crop returns a window of the image with the channels of the averaged network, before shuffling.
func (p *pass) crop(memory *devicequeue.Pool, w backend.Region) backend.Buffer {
	image, factor := p.photograph.Image, p.photograph.Shuffle
	shape := image.Shape()
	if frame := (backend.Region{Y0: factor * w.Y0, Y1: min(shape.H, factor*w.Y1), X0: factor * w.X0, X1: min(shape.W, factor*w.X1)}); frame != shape.Whole() {
		cut := memory.Take(p.q, part(shape, frame))
		p.q.Do(func() error { return p.dev.CopyRegion(cut, 0, 0, p.photograph.Image, frame) })
		image = cut
	}
	if channels := p.photograph.Channels; channels != shape.C {
		s := image.Shape()
		s.C = channels
		grey, wide := image, memory.Take(p.q, s)
		p.q.Do(func() error { return p.dev.MixChannels(wide, grey, slices.Repeat([]float32{1}, channels)) })
		image = wide
	}
	if scale := p.photograph.Scale; scale != 0 && scale != 1 {
		plain, scaled := image, memory.Take(p.q, image.Shape())
		p.q.Combine(scaled, backend.Term{A: scale, X: plain})
		image = scaled
	}
	return image
}

// shuffle sets coarse to an image as the blocks see it.
func (p *pass) shuffle(coarse, image backend.Buffer) {
	p.q.Do(func() error { return p.dev.Unshuffle(coarse, image, p.photograph.Shuffle) })
}

// input returns a window of the image in the guide's units, with the plane that tells the noise.
func (p *pass) input(memory *devicequeue.Pool, w backend.Region) backend.Buffer {
	fine := p.crop(memory, w)
	shape := fine.Shape().Unshuffled(p.photograph.Shuffle)
	wide := shape
	wide.C++
	input := memory.Take(p.q, wide)
	if shape.N == 1 {
		p.inputOfOne(memory, input, fine, w)
		return input
	}
	image := memory.Take(p.q, shape)
	p.shuffle(image, fine)
	if p.levels != nil {
		p.inputOfLevels(memory, input, image, w)
		return input
	}
	scale, plane := Units(p.sigma)
	p.q.Fill(input, plane)
	scaled := memory.Take(p.q, shape)
	p.q.Fill(scaled, -0.5)
	p.q.Combine(scaled, backend.Term{A: scale, X: image}, backend.Term{A: scale, X: scaled})
	p.q.Channels(input, scaled)
	return input
}

// inputOfOne is input of a single image, channel by channel in its place.
func (p *pass) inputOfOne(memory *devicequeue.Pool, input, fine backend.Buffer, w backend.Region) {
	channels := input.Shape().C - 1
	view := func(from, count int) (b backend.Buffer) {
		p.q.Do(func() (err error) {
			b, err = p.dev.Channels(input, from, count)
			return err
		})
		return b
	}
	p.shuffle(view(0, channels), fine)
	shape := input.Shape()
	shape.C = 1
	half, last := memory.Take(p.q, shape), view(channels, 1)
	p.q.Fill(half, -0.5)
	if p.levels == nil {
		scale, plane := Units(p.sigma)
		p.q.Fill(last, plane)
		for c := range channels {
			x := view(c, 1)
			p.q.Combine(x, backend.Term{A: scale, X: x}, backend.Term{A: scale, X: half})
		}
		return
	}
	scales, planes := p.units(w)
	scale := memory.Take(p.q, shape)
	p.q.Upload(scale, scales)
	p.q.Upload(last, planes)
	for c := range channels {
		x := view(c, 1)
		p.q.Combine(x, backend.Term{A: 1, X: x}, backend.Term{A: 1, X: half})
		p.q.Do(func() error { return p.dev.Multiply(x, x, scale) })
	}
}

// units returns the units of the noise levels in a window.
func (p *pass) units(w backend.Region) (scales, planes []float32) {
	h, width := w.Size()
	n := h * width
	levels, planes := make([]float32, n), make([]float32, n)
	p.levels(levels, w)
	var wait sync.WaitGroup
	pieces := min(h, runtime.GOMAXPROCS(0))
	for k := range pieces {
		wait.Go(func() {
			for i := k * n / pieces; i < (k+1)*n/pieces; i++ {
				levels[i], planes[i] = Units(float64(levels[i]))
			}
		})
	}
	wait.Wait()
	return levels, planes
}

// inputOfLevels sets input to a window of the image in the units of each pixel's noise level, and to the
// planes that tell them.
func (p *pass) inputOfLevels(memory *devicequeue.Pool, input, image backend.Buffer, w backend.Region) {
	shape := input.Shape()
	// What is multiplied: of each image the scale for all of its channels, and the plane.
	scales, planes := p.units(w)
	units := append(slices.Repeat(scales, shape.C-1), planes...)
	centred := memory.Take(p.q, shape)
	p.q.Fill(centred, 1.5)
	p.q.Channels(centred, image)
	p.q.Fill(input, -0.5)
	p.q.Combine(centred, backend.Term{A: 1, X: centred}, backend.Term{A: 1, X: input})
	p.q.Upload(input, slices.Repeat(units, shape.N))
	p.q.Do(func() error { return p.dev.Multiply(input, input, centred) })
}
