package deblur

import (
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/operator"
)

// varyingPreconditioner is Σᵢ √wᵢ·Mᵢ·√wᵢ with the preconditioners Mᵢ of the kernels and windows wᵢ, which are narrower than
// those of the blur. Since Σᵢ wᵢ = 1 the squares of the lengths of √wᵢx sum to that of x, so that its eigenvalues are
// between the least and the largest of all Mᵢ.
type varyingPreconditioner struct {
	parts *patchwork
	each  []operator.Preconditioner
}

// Preconditioner implements operator.Preconditioned. It is nil unless transforms compute the blur and the preconditioner has
// as many parts as the blur. With fewer, conjugate gradients take more steps than without it: 315 instead of 185 for a camera
// that turned.
func (v *Varying) Preconditioner(tau float64) (_ operator.Preconditioner, err error) {
	if v.method() != backend.FourierBlur {
		return nil, nil
	}
	fewer, rows, columns, margin := v.narrow()
	if len(fewer.grid.Kernels) < len(v.grid.Kernels) {
		return nil, nil
	}
	m := &varyingPreconditioner{}
	keep := false
	defer func() {
		if !keep {
			m.Free()
		}
	}()
	norm, _ := v.Norm()
	m.parts, err = fewer.newPatchwork(roots(rows), roots(columns), margin, func(p patch, k Kernel) (*Operator, error) {
		h, w := p.unknown.Size()
		one, err := newPreconditioner(v.device, k, tau, norm, h, w)
		if err != nil {
			return nil, err
		}
		m.each = append(m.each, one)
		return nil, nil
	})
	if err != nil {
		return nil, err
	}
	keep = true
	return m, nil
}

func roots(windows [][]float64) [][]float64 {
	all := make([][]float64, len(windows))
	for i, w := range windows {
		for _, s := range w {
			all[i] = append(all[i], math.Sqrt(s))
		}
	}
	return all
}

func (m *varyingPreconditioner) Apply(dst, src backend.Buffer) error {
	i := -1
	return m.parts.sum(dst, src, patch.ofUnknown, patch.ofUnknown, func(p patch, to, from backend.Buffer) error {
		i = (i + 1) % len(m.each)
		d := m.parts.device
		if err := d.Multiply(from, from, p.window); err != nil {
			return err
		}
		if err := m.each[i].Apply(to, from); err != nil {
			return err
		}
		return d.Multiply(to, to, p.window)
	})
}

func (m *varyingPreconditioner) Free() {
	if m.parts != nil {
		m.parts.free()
	}
	for _, e := range m.each {
		e.Free()
	}
}
