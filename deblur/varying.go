package deblur

import (
	"fmt"
	"math"
	"sync"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/operator"
)

// Varying is a blur that varies over the frame,
//
//	Kx = Σᵢ kᵢ ∗ (wᵢx),
//
// with the kernels kᵢ of a Grid and smooth windows wᵢ that sum to 1 at each sample. Each wᵢ is 1 at the
// middle of its part of the photograph and 0 at the middles of the others. Beyond the outermost middles it
// stays constant. So a point in the middle of a part becomes its kernel, and a point between middles becomes
// a mean of their kernels. (Nagy and O'Leary 1998 apply the windows after the convolutions. Applied before
// them, they keep the sum of each point's image.) The boundary is Unknown. It is safe for concurrent use.
type Varying struct {
	device  backend.Device
	frame   *Operator // of the sizes, without a blur
	kernels []Kernel
	rows    [][]float64 // windows of the grid's rows, over the rows of the unknown image
	columns [][]float64
	patches []patch

	normOnce   sync.Once
	norm       float64
	normReason string
}

var _ operator.Preconditioned = (*Varying)(nil)

// patch is what one kernel takes part in: the samples where its window is not 0, and those near them.
type patch struct {
	blur                *Operator // of the photograph's samples that these reach
	row, column         int
	unknown, photograph backend.Region
	window              backend.Buffer // of the unknown ones
}

// NewVarying returns the blur of a photograph with h rows and w columns, at least as many as the grid has.
// The kernels are copied. Free the operator when it is no longer needed.
func NewVarying(device backend.Device, grid Grid, h, w int) (_ *Varying, err error) {
	if err := grid.Check(); err != nil {
		return nil, err
	}
	if h < grid.Rows || w < grid.Columns || h > math.MaxInt32 || w > math.MaxInt32 {
		return nil, fmt.Errorf("deblur: blur of a photograph of %d×%d samples by %d×%d kernels, want no fewer samples than kernels", h, w, grid.Rows, grid.Columns)
	}
	v := &Varying{device: device, kernels: grid.framed()}
	v.frame = &Operator{kernel: v.kernels[0], boundary: Unknown, h: h, w: w}
	defer func() {
		if err != nil {
			v.Free()
		}
	}()
	dh, dw := v.Domain()
	top, left := v.frame.Offset()
	v.rows, v.columns = windows(grid.Rows, h, top, dh), windows(grid.Columns, w, left, dw)
	for i, k := range v.kernels {
		p := patch{row: i / grid.Columns, column: i % grid.Columns}
		p.photograph.Y0, p.photograph.Y1 = reached(v.rows[p.row], k.H, h)
		p.photograph.X0, p.photograph.X1 = reached(v.columns[p.column], k.W, w)
		p.unknown = p.photograph
		p.unknown.Y1 += k.H - 1
		p.unknown.X1 += k.W - 1
		ph, pw := p.photograph.Size()
		if p.blur, err = New(device, k, Unknown, ph, pw); err != nil {
			return nil, err
		}
		v.patches = append(v.patches, p)
		if v.patches[i].window, err = v.upload(p, func(w float64) float64 { return w }); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// windows are those of n parts of a photograph's axis of size samples, over an axis of the unknown image, in which the photograph
// begins at first: between the middles of two parts one turns from 1 to 0 as a squared cosine, and the other is what
// it leaves.
func windows(n, size, first, samples int) [][]float64 {
	all := make([][]float64, n)
	for i := range all {
		all[i] = make([]float64, samples)
	}
	for s := range samples {
		at := (float64(s-first)+.5)*float64(n)/float64(size) - .5 // in parts, from the first middle
		i := min(max(int(math.Floor(at)), 0), n-1)
		sin := math.Sin(math.Pi / 2 * min(max(at-float64(i), 0), 1))
		turn := sin * sin
		if i == n-1 {
			turn = 0
		}
		all[i][s] = 1 - turn
		if turn > 0 {
			all[i+1][s] = turn
		}
	}
	return all
}

// reached returns the samples [from, to) of the n of a photograph that the ones with a window above 0 reach,
// under a kernel of that size.
func reached(window []float64, size, n int) (from, to int) {
	first, end := len(window), 0
	for i, v := range window {
		if v > 0 {
			first, end = min(first, i), i+1
		}
	}
	return max(0, first-size+1), min(n, end)
}

// upload returns f of the window of a patch.
func (v *Varying) upload(p patch, f func(window float64) float64) (backend.Buffer, error) {
	h, w := p.unknown.Size()
	plane := make([]float32, 0, h*w)
	for y := p.unknown.Y0; y < p.unknown.Y1; y++ {
		for x := p.unknown.X0; x < p.unknown.X1; x++ {
			plane = append(plane, float32(f(v.rows[p.row][y]*v.columns[p.column][x])))
		}
	}
	b, err := v.device.Alloc(backend.Image(1, h, w))
	if err != nil {
		return nil, fmt.Errorf("deblur: %w", err)
	}
	if err := v.device.Upload(b, plane); err != nil {
		b.Free()
		return nil, fmt.Errorf("deblur: %w", err)
	}
	return b, nil
}

// Domain returns the rows and columns of the unknown image: the photograph's, plus those of the smallest
// frame that holds all kernels with their centres on one sample, less one.
func (v *Varying) Domain() (h, w int) { return v.frame.Domain() }

// Range returns the rows and columns of the photograph.
func (v *Varying) Range() (h, w int) { return v.frame.Range() }

// Crop is Operator.Crop.
func (v *Varying) Crop(dst, src []float32) error { return v.frame.Crop(dst, src) }

// Extend is Operator.Extend.
func (v *Varying) Extend(dst, src []float32) error { return v.frame.Extend(dst, src) }

// Apply sets dst = K·src. dst has Range, src Domain size; they have N = 1 and the same number of channels, and
// share no memory.
func (v *Varying) Apply(dst, src backend.Buffer) error {
	return v.sum(dst, src, patch.ofPhotograph, patch.ofUnknown, func(p patch, to, from backend.Buffer) error {
		if err := v.device.Multiply(from, from, p.window); err != nil {
			return err
		}
		return p.blur.Apply(to, from)
	})
}

// Adjoint sets dst = Kᵀ·src. dst has Domain, src Range size; they have N = 1 and the same number of channels, and
// share no memory.
func (v *Varying) Adjoint(dst, src backend.Buffer) error {
	return v.sum(dst, src, patch.ofUnknown, patch.ofPhotograph, func(p patch, to, from backend.Buffer) error {
		if err := p.blur.Adjoint(to, from); err != nil {
			return err
		}
		return v.device.Multiply(to, to, p.window)
	})
}

// Wiener sets dst to a linear estimate of the unknown image (Operator.Wiener): Σᵢ wᵢ times the estimate of
// the patch for kᵢ.
func (v *Varying) Wiener(dst, src backend.Buffer, nsr float64) error {
	return v.sum(dst, src, patch.ofUnknown, patch.ofPhotograph, func(p patch, to, from backend.Buffer) error {
		if err := p.blur.Wiener(to, from, nsr); err != nil {
			return err
		}
		return v.device.Multiply(to, to, p.window)
	})
}

func (p patch) ofUnknown() backend.Region    { return p.unknown }
func (p patch) ofPhotograph() backend.Region { return p.photograph }

// sum sets dst to the sum of what f makes of each patch of src, channel by channel. f may overwrite from.
func (v *Varying) sum(dst, src backend.Buffer, out, in func(patch) backend.Region, f func(p patch, to, from backend.Buffer) error) error {
	d := v.device
	return operator.EachChannel(d, dst, src, func(dst, src backend.Buffer) error {
		if err := d.Fill(dst, 0); err != nil {
			return err
		}
		for _, p := range v.patches {
			err := v.scratch(out(p), in(p), func(to, from, room backend.Buffer) error {
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
func (v *Varying) scratch(out, in backend.Region, f func(to, from, room backend.Buffer) error) error {
	var all [3]backend.Buffer
	for i, r := range []backend.Region{out, in, out} {
		h, w := r.Size()
		b, err := v.device.Alloc(backend.Image(1, h, w))
		if err != nil {
			return err
		}
		defer b.Free()
		all[i] = b
	}
	return f(all[0], all[1], all[2])
}

// Rounding implements operator.Rounded. Each of n patches adds at most its own error. The product with a
// window and the sum add one unit of rounding of all patches together, which are at most n times as long as
// the image. The bound is +Inf if the device does not say how it computes.
func (v *Varying) Rounding() (r float64, err error) {
	const unit = 0x1p-24
	n, norm := float64(len(v.patches)), 0.0
	for _, p := range v.patches {
		of, err := p.blur.Rounding()
		if err != nil {
			return 0, err
		}
		bound, _ := p.blur.Norm()
		r, norm = r+of, max(norm, bound)
	}
	return (r + unit*n*(n+2)*norm) * (1 + 1e-5), nil
}

// Free gives the device's memory back. A second Free does nothing.
func (v *Varying) Free() {
	for _, p := range v.patches {
		p.blur.Free()
		if p.window != nil {
			p.window.Free()
		}
	}
}
