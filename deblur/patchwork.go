package deblur

import (
	"fmt"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/operator"
)

// patchwork has the parts of an image under windows, with an operator for each.
type patchwork struct {
	device  backend.Device
	patches []patch
}

// patch is what one kernel takes part in: the samples where its window is not 0, and those near them.
type patch struct {
	blur                *Operator
	unknown, photograph backend.Region
	window              backend.Buffer // of the unknown ones
}

// newPatchwork makes patches of windows, which reach by margin samples further than these, with the operators that make
// returns.
func (v *Varying) newPatchwork(rows, columns [][]float64, margin int, make func(p patch, k Kernel) (*Operator, error)) (_ *patchwork, err error) {
	m := &patchwork{device: v.device}
	defer func() {
		if err != nil {
			m.free()
		}
	}()
	h, w := v.Range()
	for i, k := range v.grid.Kernels {
		row, column := rows[i/v.grid.Columns], columns[i%v.grid.Columns]
		var p patch
		p.photograph.Y0, p.photograph.Y1 = reached(row, k.H, margin, h)
		p.photograph.X0, p.photograph.X1 = reached(column, k.W, margin, w)
		p.unknown = p.photograph
		p.unknown.Y1 += k.H - 1
		p.unknown.X1 += k.W - 1
		if p.blur, err = make(p, k); err != nil {
			return nil, err
		}
		m.patches = append(m.patches, p)
		if m.patches[i].window, err = m.upload(row[p.unknown.Y0:p.unknown.Y1], column[p.unknown.X0:p.unknown.X1]); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// reached returns the samples [from, to) of the n of a photograph that the ones with a window above 0 reach,
// under a kernel of that size, and margin more.
func reached(window []float64, size, margin, n int) (from, to int) {
	first, end := len(window), 0
	for i, v := range window {
		if v > 0 {
			first, end = min(first, i), i+1
		}
	}
	return max(0, first-size+1-margin), min(n, end+margin)
}

// upload returns the product of a window along rows and one along columns.
func (m *patchwork) upload(row, column []float64) (backend.Buffer, error) {
	plane := make([]float32, 0, len(row)*len(column))
	for _, a := range row {
		for _, b := range column {
			plane = append(plane, float32(a*b))
		}
	}
	b, err := m.device.Alloc(backend.Image(1, len(row), len(column)))
	if err != nil {
		return nil, fmt.Errorf("deblur: %w", err)
	}
	if err := m.device.Upload(b, plane); err != nil {
		b.Free()
		return nil, fmt.Errorf("deblur: %w", err)
	}
	return b, nil
}

func (p patch) ofUnknown() backend.Region    { return p.unknown }
func (p patch) ofPhotograph() backend.Region { return p.photograph }

// sum sets dst to the sum of what f makes of each patch of src, channel by channel. f may overwrite from.
func (m *patchwork) sum(dst, src backend.Buffer, out, in func(patch) backend.Region, f func(p patch, to, from backend.Buffer) error) error {
	d := m.device
	return operator.EachChannel(d, dst, src, func(dst, src backend.Buffer) error {
		if err := d.Fill(dst, 0); err != nil {
			return err
		}
		for _, p := range m.patches {
			err := m.scratch(out(p), in(p), func(to, from, room backend.Buffer) error {
				if err := d.CopyRegion(from, 0, 0, src, in(p)); err != nil {
					return err
				}
				if err := f(p, to, from); err != nil {
					return err
				}
				if err := d.CopyRegion(room, 0, 0, dst, out(p)); err != nil {
					return err
				}
				if err := d.LinearCombination(to, backend.Term{A: 1, X: to}, backend.Term{A: 1, X: room}); err != nil {
					return err
				}
				return d.CopyRegion(dst, out(p).Y0, out(p).X0, to, to.Shape().Whole())
			})
			if err != nil {
				return fmt.Errorf("deblur: %w", err)
			}
		}
		return nil
	})
}

// scratch calls f with buffers of the sizes of out, in and out.
func (m *patchwork) scratch(out, in backend.Region, f func(to, from, room backend.Buffer) error) error {
	var all [3]backend.Buffer
	for i, r := range []backend.Region{out, in, out} {
		h, w := r.Size()
		b, err := m.device.Alloc(backend.Image(1, h, w))
		if err != nil {
			return err
		}
		defer b.Free()
		all[i] = b
	}
	return f(all[0], all[1], all[2])
}

// method is DirectBlur if that of any patch is.
func (m *patchwork) method() backend.BlurMethod {
	for _, p := range m.patches {
		if p.blur.blur.Method() == backend.DirectBlur {
			return backend.DirectBlur
		}
	}
	return backend.FourierBlur
}

// rounding is Varying.Rounding. Each of n patches adds at most its own error. The product with a
// window and the sum add one unit of rounding of all patches together, which are at most n times as long as
// the image.
func (m *patchwork) rounding() (r float64, err error) {
	const unit = 0x1p-24
	n, norm := float64(len(m.patches)), 0.0
	for _, p := range m.patches {
		of, err := p.blur.Rounding()
		if err != nil {
			return 0, err
		}
		bound, _ := p.blur.Norm()
		r, norm = r+of, max(norm, bound)
	}
	return (r + unit*n*(n+2)*norm) * (1 + 1e-5), nil
}

func (m *patchwork) free() {
	for _, p := range m.patches {
		if p.blur != nil && p.blur.blur != nil {
			p.blur.Free()
		}
		if p.window != nil {
			p.window.Free()
		}
	}
}
