package cpu

import (
	"context"
	"fmt"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu/internal/vectors"
	"github.com/averaged/imaging/backend/cpu/internal/winograd"
	"github.com/averaged/imaging/backend/devicekit"
)

// layer is a layer of a network.
type layer = devicekit.Layer[[]float32, *filter]

// MakesLayers implements devicekit.Layerings: layers whose 3×3 filters Winograd's algorithm applies
// to. It looks at filters only, so that a network has the same bits at any size of image.
func (d *host) MakesLayers(layers []layer) bool {
	for _, l := range layers {
		switch l.Kind {
		case backend.ConvolutionLayer:
			if !l.Filter.fast() {
				return false
			}
		case backend.ResidualLayer:
			if !l.Filter.fast() || !l.Second.fast() {
				return false
			}
		}
	}
	return true
}

// ApplyLayers implements devicekit.Layerings. Layers are computed in arrays of pixels, with the
// channels of a pixel side by side. Residual blocks and ways up change one array in place. Only the tiles of
// a layer that the region of the result needs are computed.
func (d *host) ApplyLayers(ctx context.Context, dst buffer, y, x int, region backend.Region, src buffer, window backend.Region, layers []layer) error {
	own := make([]ownLayer, len(layers))
	for k, l := range layers {
		own[k] = ownLayer{layer: l, bias: paddedBias(l.Filter, l.Bias)}
		if l.Kind == backend.ResidualLayer {
			own[k].secondBias = paddedBias(l.Second, l.SecondBias)
		}
		if l.Kind != backend.UpLayer {
			own[k].From = nil
		}
	}
	h, w := region.Size()
	part := backend.Region{Y0: y, Y1: y + h, X0: x, X1: x + w}
	for n := range src.Shape.N {
		c := layering{device: d, n: n, layers: own, from: windowOf(&src, n, window), to: windowOf(&dst, n, part), region: region}
		if err := c.run(ctx); err != nil {
			return err
		}
	}
	return nil
}

// ownLayer is a layer as the fused path wants it.
type ownLayer struct {
	layer
	bias, secondBias []float32 // with padding, or the bias of a 1×1 convolution
}

// paddedBias returns the bias of a filter, or zeros.
func paddedBias(f *filter, bias *buffer) []float32 {
	list := make([]float32, winograd.Padded(f.shape.N))
	if bias != nil {
		copy(list, bias.Data)
	}
	return list
}

// slope is that of the activation for negative arguments.
func (l *ownLayer) slope() float32 {
	if l.Activation.Kind == backend.LeakyReLU {
		return l.Activation.Slope
	}
	return 1
}

// layering is a call of ApplyLayers under way on one image.
type layering struct {
	device   *host
	n        int
	layers   []ownLayer
	from, to planarWindow
	region   backend.Region // that to is of the result
	needed   []area         // tiles of the source, and then of the result of each layer
	memory   []float32      // that is left
	hidden   []float32      // of residual blocks
	zeros    []float32      // a row of pixels
}

// pixels is z, with all of its tile rows.
type pixels struct {
	ring
	unpadded, h, w int // channels, rows and columns
}

// run applies the layers.
func (c *layering) run(ctx context.Context) error {
	array, hidden := c.sizes()
	memory, err := c.device.borrow(array + hidden)
	if err != nil {
		return fmt.Errorf("%d layers of %d×%d pixels: %w", len(c.layers), c.from.h, c.from.w, err)
	}
	defer memory.giveBack()
	c.memory, c.hidden = memory.floats[:array], memory.floats[array:]
	c.needed = c.needs()

	var z *pixels // nil while it is still the window of the source
	here := func() *pixels {
		if z == nil {
			z = c.load(c.from, c.needed[0].rows)
		}
		return z
	}
	var kept []*pixels
	for k := range c.layers {
		if err := ctx.Err(); err != nil {
			return err
		}
		l, needed := &c.layers[k], c.needed[k+1]
		switch l.Kind {
		case backend.ConvolutionLayer:
			if k == len(c.layers)-1 {
				c.convolve(l, z, nil, needed)
				return nil
			}
			next := c.pixels(l.After)
			c.convolve(l, z, next, needed)
			z = next
		case backend.ResidualLayer:
			if err := c.residual(ctx, l, here(), needed); err != nil {
				return err
			}
		case backend.DownLayer:
			kept = append(kept, here())
			next := c.pixels(l.After)
			c.down(l, next, z, needed.rows)
			z = next
		case backend.UpLayer:
			below, to, rows := here(), z, halved(needed).rows
			if l.From != nil {
				s := l.coarse()
				below = c.load(windowOf(l.From, c.n, backend.Region{Y0: l.Y, Y1: l.Y + s.H, X0: l.X, X1: l.X + s.W}), rows)
			} else {
				to, kept = kept[len(kept)-1], kept[:len(kept)-1]
			}
			c.up(l, to, below, rows)
			z = to
		}
	}
	c.store(z)
	return nil
}

// coarse returns the shape of what the way up is made of.
func (l *ownLayer) coarse() backend.Shape {
	s := l.After.Unshuffled(2)
	s.C = l.Filter.shape.C
	return s
}

// needs returns the tiles that the region of the result is made of: of the source, and of the result of each layer.
func (c *layering) needs() []area {
	list := make([]area, len(c.layers)+1)
	z := area{tilesOf(c.region.Y0, c.region.Y1), tilesOf(c.region.X0, c.region.X1)}
	var kept []area // of the arrays that ways up add to
	for k := len(c.layers) - 1; k >= 0; k-- {
		list[k+1] = z
		l := &c.layers[k]
		down, across := tilesOf(0, l.Before.H).to, tilesOf(0, l.Before.W).to
		switch l.Kind {
		case backend.ConvolutionLayer:
			z = area{z.rows.grow(1, down), z.columns.grow(1, across)}
		case backend.ResidualLayer:
			z = area{z.rows.grow(2, down), z.columns.grow(2, across)}
		case backend.DownLayer:
			z = area{interval{2 * z.rows.from, min(2*z.rows.to, down)}, interval{2 * z.columns.from, min(2*z.columns.to, across)}}
			if n := len(kept); n > 0 {
				z, kept = area{z.rows.with(kept[n-1].rows), z.columns.with(kept[n-1].columns)}, kept[:n-1]
			}
		case backend.UpLayer:
			if l.From == nil {
				kept = append(kept, z)
				z = halved(z)
			}
		}
	}
	list[0] = z
	return list
}

// halved returns the tiles that have the pixels of an area at half the resolution.
func halved(a area) area {
	return area{interval{a.rows.from / 2, (a.rows.to + 1) / 2}, interval{a.columns.from / 2, (a.columns.to + 1) / 2}}
}

// sizes returns how many floats all arrays have, and those of hidden layers at most.
func (c *layering) sizes() (arrays, hidden int) {
	add := func(s backend.Shape) {
		r := newRing(s)
		arrays += r.size()
	}
	if c.layers[0].Kind != backend.ConvolutionLayer {
		add(c.layers[0].Before)
	}
	for k := range c.layers {
		l := &c.layers[k]
		switch {
		case l.Kind == backend.ConvolutionLayer && k < len(c.layers)-1, l.Kind == backend.DownLayer:
			add(l.After)
		case l.Kind == backend.ResidualLayer:
			h := hiddenOf(l, c.device.pool.Threads())
			hidden = max(hidden, h.size())
		case l.From != nil:
			add(l.coarse())
		}
	}
	return arrays, hidden
}

// newRing returns a ring of all tile rows of an image, without memory.
func newRing(s backend.Shape) ring {
	channels := winograd.Padded(s.C)
	return ring{slots: tilesOf(0, s.H).to, row: (tilesOf(0, s.W).to*winograd.Tile + 2) * channels, channels: channels}
}

// hiddenOf returns the ring of the hidden layer of a residual block, without memory.
func hiddenOf(l *ownLayer, threads int) ring {
	s := l.Before
	s.C = l.Filter.shape.N
	r := newRing(s)
	r.slots = hiddenRows(bandOf(r.slots, tilesOf(0, s.W).to, threads))
	return r
}

// pixels returns an array with zeros beside the image.
func (c *layering) pixels(s backend.Shape) *pixels {
	z := &pixels{newRing(s), s.C, s.H, s.W}
	z.data, c.memory = c.memory[:z.size()], c.memory[z.size():]
	z.frame()
	if len(c.zeros) < z.row {
		c.zeros = make([]float32, z.row)
	}
	return z
}

// inside returns the pixels of row y of the image.
func (z *pixels) inside(y int) []float32 {
	return z.ring.pixels(y)[z.channels:][:z.w*z.channels]
}

// end puts zeros beside the image where the last tile reaches over it.
func (z *pixels) end(y int) {
	z.clear(y, 1, z.w+1, z.row/z.channels)
}

// blocks calls do for tile rows of an image of h rows, as the first row and their number, in
// parallel.
func (c *layering) blocks(h int, tiles interval, do func(y, rows int)) {
	c.device.pool.For(tiles.len(), func(i int) {
		y := (tiles.from + i) * winograd.Tile
		do(y, min(winograd.Tile, h-y))
	})
}

// load returns planes as an array of pixels, in some tile rows.
func (c *layering) load(from planarWindow, tiles interval) *pixels {
	z := c.pixels(backend.Image(from.channels, from.h, from.w))
	pixel := z.channels
	c.blocks(z.h, tiles, func(y0, rows int) {
		for y := y0; y < y0+rows; y++ {
			if pixel > z.unpadded {
				clear(z.inside(y))
			}
			z.end(y)
		}
		for k := 0; k < z.unpadded; k += winograd.Block {
			for y := y0; y < y0+rows; y++ {
				c.device.kernels.winograd.Pack(z.inside(y)[k:], pixel, from.data[k*from.plane+y*from.row:], from.plane, z.w, min(winograd.Block, z.unpadded-k))
			}
		}
	})
	return z
}

// store puts the region of an array into the result.
func (c *layering) store(z *pixels) {
	r, pixel := c.region, z.channels
	c.blocks(c.to.h, tilesOf(0, c.to.h), func(y0, rows int) {
		for k := 0; k < z.unpadded; k += winograd.Block {
			for y := y0; y < y0+rows; y++ {
				from := z.inside(r.Y0 + y)[r.X0*pixel+k:]
				c.device.kernels.winograd.Unpack(c.to.data[k*c.to.plane+y*c.to.row:], c.to.plane, from, pixel, c.to.w, min(winograd.Block, z.unpadded-k), 0)
			}
		}
	})
}

// convolve sets some tiles of to, or the result if that is nil, to the convolution of z, or of the source.
func (c *layering) convolve(l *ownLayer, z, to *pixels, tiles area) {
	t := tileConvolution{
		kernels: c.device.kernels.winograd, bank: l.Filter.forwardBank(), end: ending{rectify: true, slope: l.slope(), scale: 1}, bias: l.bias,
		h: l.After.H, w: l.After.W, from: c.from, to: c.to, region: c.region, zeros: c.zeros,
	}
	if z != nil {
		t.fromRing = &z.ring
	}
	if to != nil {
		t.toRing, t.region = &to.ring, tiles.pixels(l.After)
	}
	c.device.pool.For(t.pieces(), t.piece)
}

// residual makes some tiles of a residual block in place: a flow of one stage.
func (c *layering) residual(ctx context.Context, l *ownLayer, z *pixels, tiles area) error {
	f := c.device.newBlock(l, z, tiles, c.hidden, c.zeros)
	// Progress of one layer says nothing of that of all.
	return f.run(backend.WithoutProgress(ctx))
}

// newBlock returns the flow of a residual block of which some tiles are made in place.
func (d *host) newBlock(l *ownLayer, z *pixels, tiles area, hidden, zeros []float32) *flow {
	channels := z.channels
	step := &flowStep{forward: l.Filter.forwardBank(), back: l.Second.forwardBank(), bias: l.bias, backBias: l.secondBias, slope: l.slope()}
	h := hiddenOf(l, d.pool.Threads())
	h.data = hidden[:h.size()]
	if need := max(z.row, h.row); len(zeros) < need {
		zeros = make([]float32, need)
	}
	down, across := z.slots, tilesOf(0, z.w).to
	return &flow{
		device: d, kernels: d.kernels.winograd, height: z.h, width: z.w, region: l.Before.Whole(),
		plan: &flowPlan{
			stages: []stage{{step: step, in: l.Before.C, out: l.Before.C, sums: []sum{{known: channels, scale: 1}}}},
			arrays: 1, channels: channels, hidden: h.channels,
		},
		grid: [2]int{down, across}, rows: tiles.rows, strip: tiles.columns, columns: interval{0, across},
		band: bandOf(down, across, d.pool.Threads()), chunk: down,
		arrays: []ring{z.ring}, hidden: []ring{h}, progress: []stageRows{{max(0, tiles.rows.from-1), tiles.rows.from}}, loaded: down, zeros: zeros,
	}
}

// down sets tile rows of to to the 1×1 convolution of z with 2×2 pixels as channels: for each row of the
// result the four parts of its pixels are put side by side, and a number 1 for the bias.
func (c *layering) down(l *ownLayer, to, z *pixels, tiles interval) {
	in, out, pixel := z.unpadded, to.channels, z.channels
	terms := 4*in + 1
	u := make([]float32, terms*out)
	for o := range to.unpadded {
		for i := range in {
			for part := range 4 {
				u[(part*in+i)*out+o] = l.Filter.forward[(o*in+i)*4+part]
			}
		}
	}
	copy(u[(terms-1)*out:], l.bias)
	rows := tiles.pixels(to.h)
	c.device.pool.For(rows.len(), func(y int) {
		y += rows.from
		memory := mixtures.borrow(to.w * terms)
		defer mixtures.giveBack(memory)
		v := *memory
		for dy := range 2 {
			row := c.zeros
			if 2*y+dy < z.h {
				row = z.ring.pixels(2*y + dy)[pixel:]
			}
			for x := range to.w {
				at, pair := v[x*terms:][:terms], row[2*x*pixel:][:2*pixel]
				if pixel == in {
					copy(at[2*dy*in:], pair)
				} else {
					copy(at[2*dy*in:][:in], pair)
					copy(at[(2*dy+1)*in:][:in], pair[pixel:])
				}
				at[terms-1] = 1
			}
		}
		c.device.kernels.winograd.Multiply(to.inside(y), out, v, terms, u, out, to.w, terms, out)
		to.end(y)
	})
}

// mixtures is the memory of a row's products.
var mixtures scratch[float32]

// up adds the 1×1 convolution of tile rows of below to z, with channels as 2×2 pixels.
func (c *layering) up(l *ownLayer, z, below *pixels, tiles interval) {
	in, pixel := below.unpadded, z.channels
	row := 2 * pixel // the two pixels of a row of z that one of below makes
	u, bias := make([]float32, 2*in*row), make([]float32, 2*below.w*row)
	for k := range z.unpadded {
		for part := range 4 {
			dy, at := part/2, part%2*pixel+k
			for i := range in {
				u[(dy*in+i)*row+at] = l.Filter.forward[(4*k+part)*in+i]
			}
			for x := range below.w {
				bias[(dy*below.w+x)*row+at] = l.bias[4*k+part]
			}
		}
	}
	kernels := c.device.kernels
	rows := tiles.pixels(below.h)
	c.device.pool.For(rows.len(), func(y int) {
		y += rows.from
		memory := mixtures.borrow(below.w * row)
		defer mixtures.giveBack(memory)
		for dy := range min(2, z.h-2*y) {
			kernels.winograd.Multiply(*memory, row, below.inside(y), below.channels, u[dy*in*row:], row, below.w, in, row)
			sum := z.inside(2*y + dy)
			kernels.vectors.Combine(sum, []float32{1, 1, 1}, &[vectors.MaxTerms][]float32{sum, *memory, bias[dy*below.w*row:]})
		}
	})
}
