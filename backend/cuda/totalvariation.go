package cuda

import (
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cuda/internal/driver"
	"github.com/averaged/imaging/backend/devicekit"
)

// tvPixels is how many pixels a block has; see internal/kernels/totalvariation.cu.
const tvPixels = 4 * blockThreads

// TVIterate implements devicekit.TotalVariations. The extrapolated point ū is scratch, because its neighbours
// are needed while p, from which it is computed, changes in place.
func (d *gpu) TVIterate(u, p, y devicekit.Array[address], problem backend.TVProblem, step backend.TVStep) error {
	memory := d.scratch()
	defer memory.free()
	ubar, err := memory.alloc(own(u).bytes())
	if err != nil {
		return err
	}
	if err := d.tvPrimal(own(u), ubar, own(p), own(y), step.Primal, step.Extrapolation, false); err != nil {
		return err
	}
	s, together := y.Shape, tvGroup(y.Shape, problem)
	return d.launch("totalvariation", "tv_dual", d.planes(s.Plane(), tvPixels, s.C/together), 0,
		driver.Ptr(p.Data.pointer), driver.Ptr(ubar), number(s.C), number(together), number(s.H), number(s.W),
		driver.Float(problem.Alpha), driver.Float(step.Dual))
}

// TVPrimal implements devicekit.TotalVariations.
func (d *gpu) TVPrimal(u, p, y devicekit.Array[address], step float32) error {
	return d.tvPrimal(own(u), 0, own(p), own(y), step, 0, step == 1)
}

func (d *gpu) tvPrimal(u *buffer, ubar driver.Pointer, p, y *buffer, step, extrapolation float32, fresh bool) error {
	s := y.Shape
	return d.launch("totalvariation", "tv_primal", d.planes(s.Plane(), tvPixels, s.C), 0,
		driver.Ptr(u.pointer()), driver.Ptr(ubar), driver.Ptr(p.pointer()), driver.Ptr(y.pointer()),
		number(s.C), number(s.H), number(s.W), driver.Float(step), driver.Float(extrapolation), flag(fresh))
}

// TVEvaluate implements devicekit.TotalVariations.
func (d *gpu) TVEvaluate(u, p, y devicekit.Array[address], problem backend.TVProblem) (v backend.TVValue, err error) {
	var sums [4]float64
	s, together := y.Shape, tvGroup(y.Shape, problem)
	grid := d.planes(s.Plane(), tvPixels, s.C/together)
	memory := d.scratch()
	defer memory.free()
	partial, err := memory.alloc(int64(len(sums)) * 8 * int64(grid.X) * int64(grid.Y))
	if err != nil {
		return v, err
	}
	total, err := memory.alloc(int64(len(sums)) * 8)
	if err != nil {
		return v, err
	}
	if err := d.launch("totalvariation", "tv_evaluate", grid, 0,
		driver.Ptr(partial), driver.Ptr(u.Data.pointer), driver.Ptr(p.Data.pointer), driver.Ptr(y.Data.pointer),
		number(s.C), number(together), number(s.H), number(s.W), driver.Float(problem.Alpha)); err != nil {
		return v, err
	}
	if err := d.addUp(total, len(sums), partial, grid.X*grid.Y); err != nil {
		return v, err
	}
	if err := d.staging.numbers(sums[:], total); err != nil {
		return v, translate(err)
	}
	return backend.TVValue{Fidelity: sums[0], Variation: sums[1], Residual: sums[2], Product: sums[3]}, nil
}

// tvGroup is how many channels have their norm together.
func tvGroup(s backend.Shape, problem backend.TVProblem) int {
	if problem.Coupled {
		return s.C
	}
	return 1
}
