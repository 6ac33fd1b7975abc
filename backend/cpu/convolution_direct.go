package cpu

import "github.com/averaged/imaging/backend/cpu/internal/convrow"

// ending is what happens to the sums of a convolution before they are stored:
// dst = beta·dst + scale·rectified(sum + bias).
type ending struct {
	bias        []float32
	rectify     bool
	slope       float32
	scale, beta float32
}

// slopeOf is that of the activation for negative arguments.
func (e ending) slopeOf() float32 {
	if e.rectify {
		return e.slope
	}
	return 1
}

// convolve sets dst from the zero-padded convolution of src with w of layout
// [dst.C][src.C][kh][kw], term by term.
//
// The image is cut into tiles of some rows and columns. A tile's samples, with the
// margin that the kernel reaches, are packed, which makes the padding and lets them
// stay in the L2 cache while all output channels are made of them in blocks of
// registers. A pixel's sum takes its terms in an order that depends on src.C, kh and
// kw alone, so that its bits are the same in any image and any tile.
func (d *host) convolve(dst, src *buffer, w []float32, kh, kw int, e ending) {
	c := newDirectConvolution(d, dst, src, w, kh, kw, e)
	down, across := (c.h+c.rows-1)/c.rows, (c.w+c.columns-1)/c.columns
	d.pool.For(src.Shape.N*down*across, func(piece int) {
		n, tile := piece/(down*across), piece%(down*across)
		y, x := tile/across*c.rows, tile%across*c.columns
		c.tile(n, y, x, min(c.rows, c.h-y), min(c.columns, c.w-x))
	})
}

// directConvolution is a convolution under way.
type directConvolution struct {
	dst, src      []float32
	out, in       int // channels
	h, w          int // of an image
	kh, kw        int
	rows, columns int // of a tile
	plane, pitch  int // of a packed tile: distances of channels and of rows
	taps          *convrow.Taps
	inPlace       *convrow.Taps // of samples that are read from src as it is; nil if none are
	weights, bias []float32
	end           convrow.Ending
	kernels       *convrow.Kernels
}

func newDirectConvolution(d *host, dst, src *buffer, w []float32, kh, kw int, e ending) *directConvolution {
	c := &directConvolution{
		dst: dst.Data, src: src.Data, out: dst.Shape.C, in: src.Shape.C,
		h: src.Shape.H, w: src.Shape.W, kh: kh, kw: kw, weights: w, bias: e.bias,
		end:     convrow.Ending{Slope: e.slopeOf(), Scale: e.scale, Beta: e.beta},
		kernels: d.kernels.convolution,
	}
	if c.bias == nil {
		c.bias = make([]float32, c.out)
	}
	if kh == 1 && kw == 1 { // rows do not matter
		c.h, c.w = 1, c.h*c.w
	}
	c.cut()
	c.taps = convrow.NewTaps(c.in, kh, kw, c.plane, c.pitch)
	if block, _ := c.kernels.Size(c.out, convrow.Columns); kh == 1 && kw == 1 && block == c.out {
		// Each sample is read once, so that there is nothing to gain from packing.
		c.inPlace = convrow.NewTaps(c.in, 1, 1, c.w, c.w)
	}
	return c
}

const (
	// packedFloats is how many numbers a packed tile has where the shape allows: 384
	// KiB, which leaves room in an L2 cache of 512 KiB for the weights of a block.
	packedFloats = 96 << 10
	// tilesWanted is how many tiles an image is cut into if it is large enough, so
	// that threads end together.
	tilesWanted = 16
)

// cut chooses the tiles' size, by the shapes alone.
func (c *directConvolution) cut() {
	height := func(pitch int) int { return packedFloats/(c.in*pitch) - (c.kh - 1) }
	pitch := func(blocks int) int { return roundUp(blocks*convrow.Columns+c.kw-1, convrow.Lanes) }
	all := (c.w + convrow.Columns - 1) / convrow.Columns
	// As wide as leaves a tile high enough that its margin is no more than its
	// inside, in columns of blocks of about the same width.
	blocks := 1
	for blocks < all && height(pitch(blocks+1)) >= max(1, min(c.h, 2*(c.kh-1))) {
		blocks++
	}
	if c.h == 1 {
		blocks = min(blocks, max(1, all/tilesWanted))
	}
	across := (all + blocks - 1) / blocks
	blocks = (all + across - 1) / across
	down := max(1, tilesWanted/across)
	c.rows = max(1, min(height(pitch(blocks)), (c.h+down-1)/down))
	c.columns = blocks * convrow.Columns
	c.pitch = pitch(blocks)
	c.plane = (c.rows + c.kh - 1) * c.pitch
}

func roundUp(n, multiple int) int { return (n + multiple - 1) / multiple * multiple }

// packedTiles is the memory of packed tiles.
var packedTiles scratch[float32]

// tile makes h rows and w columns of image n from row y and column x on, all
// channels.
func (c *directConvolution) tile(n, y, x, h, w int) {
	plane := c.h * c.w
	dst := c.dst[n*c.out*plane:][:c.out*plane]
	src := c.src[n*c.in*plane:][:c.in*plane]
	if c.inPlace != nil && w%convrow.Lanes == 0 {
		c.blocks(dst[x:], src[x:], c.inPlace, 1, w, 0)
		return
	}
	packed := packedTiles.borrow(c.in * c.plane)
	defer packedTiles.giveBack(packed)
	image := planes{data: src, h: c.h, w: c.w}
	image.pack(*packed, c.in, c.plane, c.pitch, y-c.kh/2, x-c.kw/2, h+c.kh-1, w+c.kw-1, w+c.kw-1)
	c.blocks(dst[y*c.w+x:], *packed, c.taps, h, w, c.pitch)
}

// blocks makes h rows and w columns of all channels from samples whose rows are
// pitch apart.
func (c *directConvolution) blocks(dst, src []float32, taps *convrow.Taps, h, w, pitch int) {
	terms := c.in * c.kh * c.kw
	for o := 0; o < c.out; {
		channels, _ := c.kernels.Size(c.out-o, w)
		weights, bias := c.weights[o*terms:], c.bias[o:]
		for y := range h {
			for x := 0; x < w; {
				_, columns := c.kernels.Size(channels, w-x)
				at := (o*c.h+y)*c.w + x
				c.kernels.Block(dst[at:], c.h*c.w, src[y*pitch+x:], taps, weights, bias, channels, columns, &c.end)
				x += columns
			}
		}
		o += channels
	}
}
