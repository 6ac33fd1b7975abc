package deblur

import (
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/operator"
)

// varyingPreconditioner is Σᵢ √wᵢ·Mᵢ·√wᵢ with the preconditioners Mᵢ of the patches. Since Σᵢ wᵢ = 1 the squares
// of the lengths of √wᵢx sum to that of x, so that its eigenvalues are between the least and the largest
// of all Mᵢ.
type varyingPreconditioner struct {
	of    *Varying
	roots []backend.Buffer
	each  []operator.Preconditioner
}

// Preconditioner implements operator.Preconditioned. It is nil unless transforms compute the blurs of all
// patches.
func (v *Varying) Preconditioner(tau float64) (_ operator.Preconditioner, err error) {
	m := &varyingPreconditioner{of: v}
	keep := false
	defer func() {
		if !keep {
			m.Free()
		}
	}()
	for _, p := range v.patches {
		near, err := p.blur.Preconditioner(tau)
		if err != nil || near == nil {
			return nil, err
		}
		m.each = append(m.each, near)
		root, err := v.upload(p, math.Sqrt)
		if err != nil {
			return nil, err
		}
		m.roots = append(m.roots, root)
	}
	keep = true
	return m, nil
}

func (m *varyingPreconditioner) Apply(dst, src backend.Buffer) error {
	i := -1
	return m.of.sum(dst, src, patch.ofUnknown, patch.ofUnknown, func(p patch, to, from backend.Buffer) error {
		i = (i + 1) % len(m.roots)
		d := m.of.device
		if err := d.Multiply(from, from, m.roots[i]); err != nil {
			return err
		}
		if err := m.each[i].Apply(to, from); err != nil {
			return err
		}
		return d.Multiply(to, to, m.roots[i])
	})
}

func (m *varyingPreconditioner) Free() {
	for _, b := range m.roots {
		b.Free()
	}
	for _, e := range m.each {
		e.Free()
	}
}
