package cuda

import (
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cuda/internal/driver"
	"github.com/averaged/imaging/backend/devicekit"
)

// ProjectBalls implements devicekit.Kernels.
func (d *gpu) ProjectBalls(dst, src, radius devicekit.Array[address]) error {
	return d.projectBalls(dst.Data.pointer, src.Data.pointer, own(radius), src.Shape)
}

// projectBalls projects arrays of this shape.
func (d *gpu) projectBalls(dst, src driver.Pointer, radius *buffer, s backend.Shape) error {
	groups := radius.Shape.C
	if isMap(radius) {
		return d.launch("balls", "project_balls_map", d.planes(s.Plane(), blockThreads*perThread, s.N*groups), 0,
			driver.Ptr(dst), driver.Ptr(src), driver.Ptr(radius.pointer()),
			number(s.N*groups), number(s.C/groups), number(s.Plane()))
	}
	return d.launch("balls", "project_balls", d.planes(s.Plane(), blockThreads*perThread, s.N*groups), 0,
		driver.Ptr(dst), driver.Ptr(src), driver.Ptr(radius.pointer()),
		number(s.N*groups), number(groups), number(s.C/groups), number(s.Plane()))
}

// isMap tells whether radii are a map and no vector.
func isMap(radius *buffer) bool { return radius.Shape != backend.Vector(radius.Shape.C) }

// ProjectBallsGradient implements devicekit.Gradients.
func (d *gpu) ProjectBallsGradient(dst, dradius, src, dy, radius devicekit.Array[address], beta float32) error {
	s, groups := src.Shape, radius.Shape.C
	grid := d.planes(s.Plane(), blockThreads*perThread, s.N*groups)
	if isMap(own(radius)) {
		return d.launch("balls", "project_balls_map_gradient", grid, 0,
			driver.Ptr(dst.Data.pointer), driver.Ptr(dradius.Data.pointer), driver.Ptr(src.Data.pointer), driver.Ptr(dy.Data.pointer), driver.Ptr(radius.Data.pointer),
			number(s.N*groups), number(s.C/groups), number(s.Plane()), driver.Float(beta))
	}
	memory := d.scratch()
	defer memory.free()
	partial, err := memory.alloc(8 * int64(grid.X) * int64(s.N*groups))
	if err != nil {
		return err
	}
	if err := d.launch("balls", "project_balls_gradient", grid, 0,
		driver.Ptr(dst.Data.pointer), driver.Ptr(partial), driver.Ptr(src.Data.pointer), driver.Ptr(dy.Data.pointer), driver.Ptr(radius.Data.pointer),
		number(s.N*groups), number(groups), number(s.C/groups), number(s.Plane())); err != nil {
		return err
	}
	return d.addUpChannels(dradius.Data.pointer, partial, s.N, groups, grid.X, beta)
}

// addUpChannels sets dst[c] = beta·dst[c] + the sum of the partial sums of channel c, of
// which every image has so many pieces.
func (d *gpu) addUpChannels(dst, partial driver.Pointer, images, channels, pieces int, beta float32) error {
	return d.launch("reductions", "add_up_channels", driver.Dim{X: channels}, 0,
		driver.Ptr(dst), driver.Ptr(partial), number(images), number(channels), number(pieces), driver.Float(beta))
}
