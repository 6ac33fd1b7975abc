package cuda

import (
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cuda/internal/driver"
	"github.com/averaged/imaging/backend/devicekit"
)

const (
	// gradientSide is the side of a block's part of the gradient, a matrix; see
	// internal/kernels/gradients.cu.
	gradientSide = 64
	// A range of pixels is summed in float32: not so long that roundings pile up, not so
	// short that blocks do nothing but begin.
	longestRange, shortestRange = 4096, 256

	// A block of internal/kernels/tensorgradients.cu: its outputs and inputs, the side of its tiles of
	// pixels, and the words of shared memory that a tile takes.
	gradientOutputs, gradientInputs, gradientTile = 64, 32, 8
	gradientStage                                 = gradientOutputs*72 + gradientInputs*104
	// minOnTensorCores is how many inputs and outputs are worth it.
	minOnTensorCores = 16
)

// FilterGradient implements devicekit.Gradients. Ranges of pixels are summed in float32, and
// their sums in float64.
func (d *gpu) FilterGradient(dw, x, dy devicekit.Array[address], beta, scale float32) error {
	w := dw.Shape
	memory := d.scratch()
	defer memory.free()
	plan := d.planGradient(w, x.Shape)
	partial, err := memory.alloc(4 * int64(plan.splits) * int64(w.Len()))
	if err != nil {
		return err
	}
	args := []driver.Arg{driver.Ptr(partial), driver.Ptr(x.Data.pointer), driver.Ptr(dy.Data.pointer), number(w.N), number(w.C)}
	if err := d.launch(plan.file, plan.kernel, plan.grid, plan.shared, append(args, plan.args...)...); err != nil {
		return err
	}
	return d.launch("gradients", "add_up_filter", driver.Dim{X: ceil(w.Len(), blockThreads)}, 0,
		driver.Ptr(dw.Data.pointer), driver.Ptr(partial), number(w.Len()), number(plan.splits), number(plan.taps), driver.Float(beta), driver.Float(scale))
}

// gradientPlan is the kernel that makes a filter's gradient, and in how many ranges of
// pixels.
type gradientPlan struct {
	splits       int
	taps         int // into which the partial sums are parted
	file, kernel string
	grid         driver.Dim
	shared       int
	args         []driver.Arg // behind the numbers of outputs and inputs
}

// planGradient looks at shapes and the GPU's size only, so that a gradient has the same bits each
// time.
func (d *gpu) planGradient(w, in backend.Shape) gradientPlan {
	if d.hasTensorCores() && !(d.plain && d.precision == Float32) && w.H == 3 && w.W == 3 && min(w.N, w.C) >= minOnTensorCores {
		across, down := ceil(in.W, gradientTile), ceil(in.H, gradientTile)
		grid := driver.Dim{Y: ceil(w.N, gradientOutputs), Z: ceil(w.C, gradientInputs)}
		tiles := in.N * across * down
		const pixels = gradientTile * gradientTile
		splits, length := ranges(tiles, longestRange/pixels, shortestRange/pixels, grid.Y*grid.Z, d.gradientBlocks())
		grid.X = splits
		stages := 1
		if length > 1 && d.fitsTwice(8*gradientStage) {
			stages = 2
		}
		// Half precision has no range for gradients.
		kernel := "filter_gradient_" + map[Precision]string{Float32: "exact", TF32: "tf32", Half: "bf16"}[d.precision]
		return gradientPlan{splits, w.H * w.W, "tensorgradients", kernel, grid, 4 * stages * gradientStage, []driver.Arg{
			number(in.H), number(in.W), number(across), number(down), long(tiles), number(length), number(stages - 1),
		}}
	}
	pixels := in.N * in.Plane()
	grid := driver.Dim{Y: ceil(w.N, gradientSide), Z: ceil(w.C*w.H*w.W, gradientSide)}
	splits, length := ranges(pixels, longestRange, shortestRange, grid.Y*grid.Z, d.gradientBlocks())
	grid.X = splits
	return gradientPlan{splits, 1, "gradients", "filter_gradient", grid, 0, []driver.Arg{
		number(w.H), number(w.W), number(in.H), number(in.W), long(pixels), number(length),
	}}
}

// gradientBlocks is how many blocks the GPU has at a time, two on each multiprocessor.
func (d *gpu) gradientBlocks() int { return 2 * max(1, d.properties.Multiprocessors) }

// ranges cuts n into splits of the same length, the last one shorter, between the longest and the
// shortest, with so many blocks to a split. There are as many blocks as the GPU has places for at a
// time, or a multiple of that where the longest ranges would be more: a few more would take as long as
// twice as many.
func ranges(n, longest, shortest, blocks, places int) (splits, length int) {
	splits = max(ceil(n, longest), min(ceil(n, shortest), max(1, places/blocks)))
	if splits*blocks > places {
		splits = min(ceil(n, shortest), places*ceil(splits*blocks, places)/blocks)
	}
	splits = max(1, splits)
	length = ceil(n, splits)
	return ceil(n, length), length
}

// BiasGradient implements devicekit.Gradients.
func (d *gpu) BiasGradient(db, dy devicekit.Array[address], beta float32) error {
	s := dy.Shape
	pieces := ceil(s.Plane(), reductionPiece)
	blocks := s.N * s.C * pieces
	if blocks > math.MaxInt32 {
		return fmt.Errorf("%w: the bias gradient of %v", backend.ErrOutOfMemory, s)
	}
	memory := d.scratch()
	defer memory.free()
	partial, err := memory.alloc(8 * int64(blocks))
	if err != nil {
		return err
	}
	if err := d.launch("reductions", "sum_planes", driver.Dim{X: blocks}, 0,
		driver.Ptr(partial), driver.Ptr(dy.Data.pointer), number(s.Plane()), number(pieces)); err != nil {
		return err
	}
	return d.addUpChannels(db.Data.pointer, partial, s.N, s.C, pieces, beta)
}

// ActivationGradient implements devicekit.Gradients. A positive slope keeps signs, so the
// activation's output tells where its argument was negative.
func (d *gpu) ActivationGradient(dst, out, dy devicekit.Array[address], a backend.Activation) error {
	n := dst.Shape.Len()
	return d.launch("vectors", "activation_gradient", elements(n), 0,
		driver.Ptr(dst.Data.pointer), driver.Ptr(out.Data.pointer), driver.Ptr(dy.Data.pointer), long(n), driver.Float(slope(a)))
}

// slope is that of an activation on the negative side.
func slope(a backend.Activation) float32 {
	if a.Kind == backend.LeakyReLU {
		return a.Slope
	}
	return 1
}
