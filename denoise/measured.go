package denoise

import (
	"context"
	"errors"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise/internal/plain"
	"github.com/averaged/imaging/internal/parallel"
)

// ErrNotMeasured is returned, wrapped, by MeasuredRounding of a network that it has no way to
// compute in float64.
var ErrNotMeasured = errors.New("only explicit methods with a certificate are computed in float64")

// MeasuredRounding returns ‖Φ(x) as computed − Φ(x)‖ for one image, where Φ(x) is computed by its definition in
// float64. Rounding bounds it for all images. MeasuredRounding takes at least a hundred times as long as Apply, and
// proves nothing of other images. The error wraps ErrNotMeasured if the network cannot be computed in float64.
func (n *Network) MeasuredRounding(ctx context.Context, x backend.Buffer) (float64, error) {
	a := n.arithmetic
	if a == nil || a.implicit {
		return 0, ErrNotMeasured
	}
	if x == nil {
		return 0, errNoBuffer
	}
	if err := n.check(x, x); err != nil {
		return 0, err
	}
	s := x.Shape()
	dst, err := n.dev.Alloc(s)
	if err != nil {
		return 0, err
	}
	defer dst.Free()
	if err := n.Apply(ctx, dst, x); err != nil {
		return 0, err
	}
	host, computed := make([]float32, s.Len()), make([]float32, s.Len())
	if err := n.dev.Download(host, x); err != nil {
		return 0, err
	}
	if err := n.dev.Download(computed, dst); err != nil {
		return 0, err
	}
	radii, err := n.frozenRadii()
	if err != nil {
		return 0, err
	}
	off := 0.0
	size := s.C * s.Plane()
	for i := range s.N {
		image := s
		image.N = 1
		want, err := a.exact(ctx, host[i*size:][:size], image, radii, i)
		if err != nil {
			return 0, err
		}
		for k, v := range computed[i*size:][:size] {
			off += (float64(v) - want[k]) * (float64(v) - want[k])
		}
	}
	return math.Sqrt(off), nil
}

// frozenRadii returns the radii of each block, images×groups×pixels, of a network that was frozen, else nothing.
func (n *Network) frozenRadii() (list [][]float32, err error) {
	if !n.arithmetic.maps {
		return nil, nil
	}
	if coded, ok := n.body.(*codedFlow); ok {
		for i := range coded.flow.blocks {
			list = append(list, coded.radii.window(nil, i, coded.radii.shape.Whole()))
		}
		return list, nil
	}
	for _, b := range n.body.(*borrowing).blocks {
		values := make([]float32, b.balls.Shape().Len())
		if err := n.dev.Download(values, b.balls); err != nil {
			return nil, err
		}
		list = append(list, values)
	}
	return list, nil
}

// exact returns Φ(x) of one image in float64, with the radii of that image of a batch if there are any.
func (a *arithmetic) exact(ctx context.Context, x []float32, s backend.Shape, radii [][]float32, number int) ([]float64, error) {
	pool := parallel.New(0)
	defer pool.Close()
	of := s.Unshuffled(a.factor)
	z := make([]float64, a.model.Width*of.Plane())
	each := a.samples(s, of)
	each(func(fine, coarse int) { z[coarse] = float64(x[fine]) })
	for i, b := range a.model.Blocks {
		c := plain.Convolution{Shape: a.model.filterShape(b), H: of.H, W: of.W, Pool: pool, Weights: make([]float64, len(b.Filter))}
		for k, w := range b.Filter {
			c.Weights[k] = float64(w)
		}
		for range a.network.Blocks[i].Steps {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if radii == nil {
				a.step(c, b, nil, a.network.Blocks[i].Size, z)
				continue
			}
			size := a.model.groups(b) * of.Plane()
			a.step(c, b, radii[i][number*size:][:size], a.network.Blocks[i].Size, z)
		}
	}
	out := make([]float64, len(x))
	each(func(fine, coarse int) { out[fine] = z[coarse] })
	return out, nil
}

// samples calls f with the place of every sample of an image and of the same one among the
// channels of fewer pixels (backend.Shuffles).
func (a *arithmetic) samples(s, of backend.Shape) func(f func(fine, coarse int)) {
	q := a.factor
	return func(f func(fine, coarse int)) {
		for i := range s.Len() {
			c, y, x := i/s.Plane(), i/s.W%s.H, i%s.W
			channel := (c*q+y%q)*q + x%q
			f(i, (channel*of.H+y/q)*of.W+x/q)
		}
	}
}

// step makes one step in place, with a map of radii if it is not nil.
func (a *arithmetic) step(c plain.Convolution, b Block, radii []float32, h float64, z []float64) {
	plane := c.H * c.W
	u := make([]float64, c.Shape.N*plane)
	fields := make([][]float64, len(a.network.B))
	sum := func(coefficients []float64) []float64 {
		y := append([]float64(nil), z...)
		for j, v := range coefficients {
			for k, f := range fields[j] {
				y[k] -= h * v * f
			}
		}
		return y
	}
	for i := range fields {
		c.Forward(u, sum(a.network.A[i][:i]))
		for k := range u {
			if b.Bias != nil {
				u[k] += float64(b.Bias[k/plane])
			}
			if b.Radius == nil {
				u[k] = a.model.Activation.Of(u[k])
			}
		}
		switch {
		case radii != nil:
			plain.ProjectBallsMap(u, radii, plane)
		case b.Radius != nil:
			plain.ProjectBalls(u, b.Radius, plane)
		}
		fields[i] = make([]float64, len(z))
		c.Adjoint(fields[i], u)
	}
	copy(z, sum(a.network.B))
}
