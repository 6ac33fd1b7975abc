package cuda

import (
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cuda/internal/driver"
	"github.com/averaged/imaging/backend/devicekit"
)

// tvPixels is how many pixels a block has; see kernels/totalvariation.cu.
const tvPixels = 4 * blockThreads

// TVIterate implements backend.TotalVariation. The extrapolated point ū is scratch: its
// neighbours are needed, and p, which it is made of, changes in place.
func (d *Device) TVIterate(u, p, y backend.Buffer, problem backend.TVProblem, step backend.TVStep) error {
	if err := step.Check(); err != nil {
		return err
	}
	return d.tvOperate(u, p, y, problem, func(u, p, y *buffer) error {
		memory := d.scratch()
		defer memory.free()
		ubar, err := memory.alloc(u.bytes())
		if err != nil {
			return err
		}
		if err := d.tvPrimal(u, ubar, p, y, step.Primal, step.Extrapolation, false); err != nil {
			return err
		}
		s, together := y.shape, tvGroup(y, problem)
		return d.launch("totalvariation", "tv_dual", d.planes(s.Plane(), tvPixels, s.C/together), 0,
			driver.Ptr(p.pointer), driver.Ptr(ubar), number(s.C), number(together), number(s.H), number(s.W),
			driver.Float(problem.Alpha), driver.Float(step.Dual))
	})
}

// TVPrimal implements backend.TotalVariation.
func (d *Device) TVPrimal(u, p, y backend.Buffer, step float32) error {
	if err := (backend.TVStep{Primal: step}).Check(); err != nil {
		return err
	}
	return d.tvOperate(u, p, y, backend.TVProblem{}, func(u, p, y *buffer) error {
		return d.tvPrimal(u, 0, p, y, step, 0, step == 1)
	})
}

func (d *Device) tvPrimal(u *buffer, ubar driver.Pointer, p, y *buffer, step, extrapolation float32, fresh bool) error {
	s := y.shape
	return d.launch("totalvariation", "tv_primal", d.planes(s.Plane(), tvPixels, s.C), 0,
		driver.Ptr(u.pointer), driver.Ptr(ubar), driver.Ptr(p.pointer), driver.Ptr(y.pointer),
		number(s.C), number(s.H), number(s.W), driver.Float(step), driver.Float(extrapolation), flag(fresh))
}

// TVEvaluate implements backend.TotalVariation.
func (d *Device) TVEvaluate(u, p, y backend.Buffer, problem backend.TVProblem) (backend.TVValue, error) {
	var sums [4]float64
	err := d.tvOperate(u, p, y, problem, func(u, p, y *buffer) error {
		s, together := y.shape, tvGroup(y, problem)
		grid := d.planes(s.Plane(), tvPixels, s.C/together)
		memory := d.scratch()
		defer memory.free()
		partial, err := memory.alloc(int64(len(sums)) * 8 * int64(grid.X) * int64(grid.Y))
		if err != nil {
			return err
		}
		total, err := memory.alloc(int64(len(sums)) * 8)
		if err != nil {
			return err
		}
		if err := d.launch("totalvariation", "tv_evaluate", grid, 0,
			driver.Ptr(partial), driver.Ptr(u.pointer), driver.Ptr(p.pointer), driver.Ptr(y.pointer),
			number(s.C), number(together), number(s.H), number(s.W), driver.Float(problem.Alpha)); err != nil {
			return err
		}
		if err := d.addUp(total, len(sums), partial, grid.X*grid.Y); err != nil {
			return err
		}
		return translate(d.staging.numbers(sums[:], total))
	})
	if err != nil {
		return backend.TVValue{}, err
	}
	return backend.TVValue{Fidelity: sums[0], Variation: sums[1], Residual: sums[2], Product: sums[3]}, nil
}

// tvGroup is how many channels have their norm together.
func tvGroup(y *buffer, problem backend.TVProblem) int {
	if problem.Coupled {
		return y.shape.C
	}
	return 1
}

// tvOperate checks the arguments that all operations of total variation have, and runs one.
func (d *Device) tvOperate(u, p, y backend.Buffer, problem backend.TVProblem, run func(u, p, y *buffer) error) error {
	if err := problem.Check(); err != nil {
		return err
	}
	return d.operate(func(b []*buffer) error {
		if err := devicekit.CheckTVShapes(b[0].shape, b[1].shape, b[2].shape); err != nil {
			return err
		}
		if err := apart(b[0], b[1], b[2]); err != nil {
			return err
		}
		if err := apart(b[1], b[2]); err != nil {
			return err
		}
		return run(b[0], b[1], b[2])
	}, u, p, y)
}
