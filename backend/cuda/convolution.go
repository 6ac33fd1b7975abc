package cuda

import (
	"fmt"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cuda/internal/driver"
	"github.com/averaged/imaging/backend/devicekit"
)

// ConvolutionGrid implements devicekit.Kernels: every pixel is computed in the same way.
func (d *gpu) ConvolutionGrid() int { return 1 }

// Convolve implements devicekit.Kernels.
func (d *gpu) Convolve(dst, src devicekit.Array[address], f *filter, end devicekit.ConvEnd[address]) error {
	e := layerEnd{slope: slope(end.Activation), dst: own(dst).array()}
	if end.Bias != nil {
		e.bias = end.Bias.Data.pointer
	}
	return d.convolve(&f.forward, own(src), func(c *convolution) error { return d.layer(c, e) })
}

// ConvolveAdjoint implements devicekit.Kernels.
func (d *gpu) ConvolveAdjoint(dst, src devicekit.Array[address], f *filter, beta, scale float32) error {
	to := own(dst).array()
	return d.addAdjoint(addition{beta: beta, scale: scale, dst: to, start: to, known: f.shape.C}, own(src), f)
}

// AddAdjoint implements devicekit.AdjointSums.
func (d *gpu) AddAdjoint(dst, start, src devicekit.Array[address], f *filter, scale float32) error {
	return d.addAdjoint(addition{beta: 1, scale: scale, dst: own(dst).array(), start: own(start).array(), known: f.shape.C}, own(src), f)
}

func (d *gpu) addAdjoint(to addition, src *buffer, f *filter) error {
	return d.convolve(&f.adjoint, src, func(c *convolution) error { return d.add(c, to) })
}

// convolve runs a convolution of a whole buffer, in half precision if the bank wants it.
func (d *gpu) convolve(b *bank, src *buffer, run func(c *convolution) error) error {
	s := src.Shape
	c := &convolution{
		bank: b, src: src.array(), channels: s.C, outputs: b.outputs,
		images: s.N, height: s.H, width: s.W, region: s.Whole(),
	}
	if b.form == half {
		memory := d.scratch()
		defer memory.free()
		pairs, err := newPairs(memory, s)
		if err != nil {
			return err
		}
		if err := d.pack(pairs, src.array(), s); err != nil {
			return err
		}
		c.src = pairs
	}
	return run(c)
}

// pairsAtATime is how many pairs of planes a thread of pack_pairs reads at a time.
const pairsAtATime = 4

// newPairs allocates an array of pairs of channels in half precision for images of shape s.
func newPairs(memory *scratch, s backend.Shape) (array, error) {
	s.C = ceil(s.C, 2)
	p, err := memory.alloc(4 * int64(s.Len()))
	return arrayAt(p, s), err
}

// pack rounds images of shape s to pairs of channels in half precision, in an array of
// whole planes.
func (d *gpu) pack(pairs, src array, s backend.Shape) error {
	args := append([]driver.Arg{driver.Ptr(pairs.pointer)}, src.args()...)
	args = append(args, number(s.C), number(s.H), number(s.W), number(s.N))
	return d.launch("filters", "pack_pairs", d.planes(s.Plane(), blockThreads, ceil(s.N*ceil(s.C, 2), pairsAtATime)), 0, args...)
}

// convolution is a convolution kernel's work except for its end.
type convolution struct {
	bank          *bank
	src           array // of words, see form
	channels      int   // of the source; of the bank's inputs those beyond meet zeros
	outputs       int   // that are wanted, the first of the bank's
	images        int
	height, width int            // of the source
	region        backend.Region // of the source's pixels, those of the result
}

// layerEnd is LayerEnd of internal/kernels/convolution.h.
type layerEnd struct {
	bias, radius driver.Pointer
	group        int
	slope        float32
	dst, pairs   array // one of them, or both, with the same planes and rows
}

// addition is Addition of internal/kernels/convolution.h.
type addition struct {
	beta, scale float32
	dst, start  array
	known       int
	pairs       array
}

// layer makes a layer; the region's first pixel goes to that of dst.
func (d *gpu) layer(c *convolution, e layerEnd) error { return d.batches(c, &e, nil) }

// add makes one sum or two.
func (d *gpu) add(c *convolution, to ...addition) error { return d.batches(c, nil, to) }

// batches launches a convolution kernel for as many images at a time as a grid can have.
func (d *gpu) batches(c *convolution, e *layerEnd, to []addition) error {
	for n := 0; n < c.images; n += d.planesInGrid {
		if err := d.batch(c, n, min(d.planesInGrid, c.images-n), endArgs(n, e, to)); err != nil {
			return err
		}
	}
	return nil
}

// endArgs are END_ARGUMENTS of internal/kernels/convolution.h, with the first n images left out: of
// a layer, or of one sum or two.
func endArgs(n int, e *layerEnd, to []addition) []driver.Arg {
	args := make([]driver.Arg, 0, 40)
	if e == nil {
		e = &layerEnd{}
	}
	dst, pairs := e.dst.skip(n), e.pairs.skip(n)
	if dst.pointer == 0 {
		dst.plane, dst.pitch = pairs.plane, pairs.pitch
	}
	args = append(args, driver.Ptr(e.bias), driver.Ptr(e.radius), number(e.group), driver.Float(e.slope))
	args = append(args, dst.args()...)
	args = append(args, driver.Ptr(pairs.pointer), long(pairs.image))
	for i := range 2 {
		var a addition
		if i < len(to) {
			a = to[i]
		}
		args = append(args, driver.Float(a.beta), driver.Float(a.scale))
		args = append(args, a.dst.skip(n).args()...)
		args = append(args, a.start.skip(n).args()...)
		args = append(args, number(a.known), driver.Ptr(a.pairs.skip(n).pointer), long(a.pairs.image))
	}
	return args
}

// batch launches the kernel for some images.
func (d *gpu) batch(c *convolution, first, images int, end []driver.Arg) error {
	b := c.bank
	rows, columns := c.region.Size()
	channels := ceil(min(c.channels, b.inputs), b.form.channels())
	args := append(make([]driver.Arg, 0, 64), c.src.skip(first).args()...)
	source := func(tile int, more ...int) {
		args = append(args, number(channels), driver.Ptr(b.weights))
		for _, v := range append([]int{
			c.outputs, b.padded, c.height, c.width, c.region.Y0, c.region.X0, rows, columns, ceil(columns, tile),
		}, more...) {
			args = append(args, number(v))
		}
		args = append(args, end...)
	}
	if b.tensor {
		source(tensorTile)
		wide := d.tensorWidth(c.outputs)
		stages := min(2, ceil(channels, fragmentInputs))
		grid := driver.Dim{X: ceil(columns, tensorTile) * ceil(rows, tensorTile), Y: ceil(c.outputs, wide), Z: images}
		return d.launch("tensorcores", fmt.Sprintf("convolve_%v_%d", b.form, wide), grid, tensorMemory(wide, stages), args...)
	}
	v := variantFor(b.outputs)
	grid := driver.Dim{X: ceil(columns, variantColumns) * ceil(rows, v.rows), Y: ceil(c.outputs, v.outputs), Z: images}
	chunk, bytes := v.memory(b)
	switch {
	case chunk == 0:
		source(variantColumns, b.kh, b.kw)
		grid.X, grid.Y = ceil(columns, variantColumns)*ceil(rows, distantRows), c.outputs
		return d.launch("convolution", "convolve_distant", grid, 0, args...)
	case b.kh == 3 && b.kw == 3:
		source(variantColumns, chunk)
		return d.launch("convolution", fmt.Sprintf("convolve3_%d", v.outputs), grid, bytes, args...)
	}
	source(variantColumns, chunk, b.kh, b.kw)
	return d.launch("convolution", fmt.Sprintf("convolve_%d", v.outputs), grid, bytes, args...)
}

// tensorWidth is how many outputs a block of internal/kernels/tensorcores.cu has, for so many in all. What
// it sums up and in which order is the same for each.
func (d *gpu) tensorWidth(outputs int) int {
	switch {
	case outputs <= fragmentTile:
		return fragmentTile
	case outputs <= narrowBlock || !d.fitsTwice(tensorMemory(wideBlock, 2)):
		return narrowBlock
	}
	return wideBlock
}

// fitsTwice tells whether two blocks with so many bytes of shared memory run on a multiprocessor
// at a time, of which one computes while the other waits.
func (d *gpu) fitsTwice(bytes int) bool {
	const reserved = 1 << 10 // of each block, by the driver
	return 2*(bytes+reserved) <= d.properties.SharedPerMultiprocessor
}

// tensorMemory is how many bytes of shared memory a block of internal/kernels/tensorcores.cu needs: for
// chunks of source and filters, and then for the sums.
func tensorMemory(outputs, stages int) int {
	const patch, sums = 456, tensorTile*tensorTile + 4 // words of a plane
	stage := fragmentInputs*patch + fragmentInputs*9*outputs
	return 4 * max(stages*stage, sums*outputs)
}

// variant is a kernel of internal/kernels/convolution.cu: how many outputs a block has, and how many
// rows its tile of pixels.
type variant struct{ outputs, rows int }

const (
	variantColumns = 32 // of a block's tile
	distantRows    = 8  // of that of convolve_distant
	threadOutputs  = 8  // outputs of a thread: the largest group that it can project
)

// variantFor returns the kernel that wastes the fewest of so many outputs.
func variantFor(outputs int) variant {
	if outputs <= 24 {
		return variant{outputs: 8, rows: 64}
	}
	return variant{outputs: 64, rows: 8}
}

// memory returns how many channels fit a block's shared memory at a time, and its bytes. It
// returns 0 for filters of which not one channel does.
func (v variant) memory(b *bank) (chunk, bytes int) {
	for chunk = min(8, b.inputs); chunk > 0; chunk-- {
		patch := chunk * (v.rows + b.kh - 1) * (variantColumns + b.kw - 1)
		words := ceil(patch, 4)*4 + chunk*b.kh*b.kw*v.outputs
		if 4*words <= ordinaryShared {
			return chunk, 4 * words
		}
	}
	return 0, 0
}

// projects tells whether the end of a layer can project groups of so many channels.
func (b *bank) projects(group int) bool {
	if group&(group-1) != 0 {
		return false
	}
	switch {
	case b.tensor && b.outputs > fragmentTile:
		return group <= 32
	case b.tensor:
		return group <= fragmentTile
	}
	if chunk, _ := variantFor(b.outputs).memory(b); chunk == 0 {
		return group == 1
	}
	return group <= threadOutputs
}
