package cuda

import (
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cuda/internal/driver"
	"github.com/averaged/imaging/backend/devicekit"
)

// ProjectBalls implements backend.BallProjections.
func (d *Device) ProjectBalls(dst, src, radius backend.Buffer) error {
	return d.operate(func(b []*buffer) error {
		to, from, r := b[0], b[1], b[2]
		if err := checkBalls(to, r, from); err != nil {
			return err
		}
		return d.projectBalls(to.pointer, from.pointer, r, from.shape)
	}, dst, src, radius)
}

// projectBalls projects arrays of this shape.
func (d *Device) projectBalls(dst, src driver.Pointer, radius *buffer, s backend.Shape) error {
	groups := radius.shape.C
	if isMap(radius) {
		return d.launch("balls", "project_balls_map", d.planes(s.Plane(), blockThreads*perThread, s.N*groups), 0,
			driver.Ptr(dst), driver.Ptr(src), driver.Ptr(radius.pointer),
			number(s.N*groups), number(s.C/groups), number(s.Plane()))
	}
	return d.launch("balls", "project_balls", d.planes(s.Plane(), blockThreads*perThread, s.N*groups), 0,
		driver.Ptr(dst), driver.Ptr(src), driver.Ptr(radius.pointer),
		number(s.N*groups), number(groups), number(s.C/groups), number(s.Plane()))
}

// checkBalls checks shapes and memory of a projection of others onto dst.
func checkBalls(dst, radius *buffer, others ...*buffer) error {
	for _, o := range others {
		if err := devicekit.CheckSameShape(dst, o); err != nil {
			return err
		}
		if err := apartOrSame(dst, o); err != nil {
			return err
		}
	}
	if err := devicekit.CheckBalls(dst.shape, radius.shape); err != nil {
		return err
	}
	return apart(dst, radius)
}

// isMap tells whether radii are a map and no vector.
func isMap(radius *buffer) bool { return radius.shape != backend.Vector(radius.shape.C) }

// ProjectBallsGradient implements backend.BallProjections.
func (d *Device) ProjectBallsGradient(dst, dradius, src, dy, radius backend.Buffer, beta float32) error {
	return d.operate(func(b []*buffer) error {
		to, sums, v, dy, r := b[0], b[1], b[2], b[3], b[4]
		if err := checkBalls(to, r, dy); err != nil {
			return err
		}
		if err := devicekit.CheckSameShape(to, v); err != nil {
			return err
		}
		if err := apart(to, v, sums); err != nil {
			return err
		}
		if err := devicekit.CheckSameShape(sums, r); err != nil {
			return err
		}
		if err := apart(sums, v, dy, r); err != nil {
			return err
		}
		s, groups := v.shape, r.shape.C
		grid := d.planes(s.Plane(), blockThreads*perThread, s.N*groups)
		if isMap(r) {
			return d.launch("balls", "project_balls_map_gradient", grid, 0,
				driver.Ptr(to.pointer), driver.Ptr(sums.pointer), driver.Ptr(v.pointer), driver.Ptr(dy.pointer), driver.Ptr(r.pointer),
				number(s.N*groups), number(s.C/groups), number(s.Plane()), driver.Float(beta))
		}
		memory := d.scratch()
		defer memory.free()
		partial, err := memory.alloc(8 * int64(grid.X) * int64(s.N*groups))
		if err != nil {
			return err
		}
		if err := d.launch("balls", "project_balls_gradient", grid, 0,
			driver.Ptr(to.pointer), driver.Ptr(partial), driver.Ptr(v.pointer), driver.Ptr(dy.pointer), driver.Ptr(r.pointer),
			number(s.N*groups), number(groups), number(s.C/groups), number(s.Plane())); err != nil {
			return err
		}
		return d.addUpChannels(sums.pointer, partial, s.N, groups, grid.X, beta)
	}, dst, dradius, src, dy, radius)
}

// addUpChannels sets dst[c] = beta·dst[c] + the sum of the partial sums of channel c, of
// which every image has so many pieces.
func (d *Device) addUpChannels(dst, partial driver.Pointer, images, channels, pieces int, beta float32) error {
	return d.launch("reductions", "add_up_channels", driver.Dim{X: channels}, 0,
		driver.Ptr(dst), driver.Ptr(partial), number(images), number(channels), number(pieces), driver.Float(beta))
}
