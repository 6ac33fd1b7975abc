package deblur

import (
	"fmt"
	"math"
	"sync"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/arguments"
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
//
// A device that computes in the host's memory makes it as one blur (backend.BlurSpec). Others make one of each part, and
// add up what they make of it.
type Varying struct {
	device        backend.Device
	frame         *Operator // of the sizes, without a blur
	grid          Grid      // with kernels of one size
	rows, columns [][]float64
	blur          backend.Blur // or nil
	parts         *patchwork   // or nil

	normOnce   sync.Once
	norm       float64
	normReason string
}

var (
	_ operator.Preconditioned = (*Varying)(nil)
	_ operator.ByChannel      = (*Varying)(nil)
)

// NewVarying returns the blur of a photograph with h rows and w columns, at least as many as the grid has.
// The kernels are copied. Free the operator when it is no longer needed.
func NewVarying(device backend.Device, grid Grid, h, w int) (*Varying, error) {
	return newVarying(device, grid, h, w, backend.AutoBlur)
}

func newVarying(device backend.Device, grid Grid, h, w int, method backend.BlurMethod) (*Varying, error) {
	if err := arguments.CheckDevice("deblur", device); err != nil {
		return nil, err
	}
	if err := grid.Check(); err != nil {
		return nil, err
	}
	if h < grid.Rows || w < grid.Columns || h > math.MaxInt32 || w > math.MaxInt32 {
		return nil, fmt.Errorf("deblur: blur of a photograph of %d×%d samples by %d×%d kernels, want no fewer samples than kernels", h, w, grid.Rows, grid.Columns)
	}
	v := &Varying{device: device, grid: Grid{grid.Rows, grid.Columns, grid.framed()}}
	v.frame = &Operator{device: device, kernel: v.grid.Kernels[0], boundary: Unknown, h: h, w: w}
	v.rows, v.columns = v.windows(math.MaxInt)
	if _, ok := device.(backend.HostMemory); !ok {
		var err error
		v.parts, err = v.newPatchwork(v.rows, v.columns, 0, func(p patch, k Kernel) (*Operator, error) {
			h, w := p.photograph.Size()
			return newOperator(device, k, Unknown, h, w, method)
		})
		return v, err
	}
	k := v.frame.kernel
	spec := backend.BlurSpec{
		KH: k.H, KW: k.W, CY: k.CY, CX: k.CX, Boundary: backend.Valid, Method: method,
		Rows: rounded(v.rows), Columns: rounded(v.columns),
	}
	spec.H, spec.W = v.Domain()
	for _, k := range v.grid.Kernels {
		spec.Kernel = append(spec.Kernel, k.Weights...)
	}
	var err error
	if v.blur, err = device.NewBlur(spec); err != nil {
		return nil, fmt.Errorf("deblur: %w", err)
	}
	return v, nil
}

// rounded are windows as devices have them.
func rounded(windows [][]float64) [][]float32 {
	all := make([][]float32, len(windows))
	for i, w := range windows {
		for _, s := range w {
			all[i] = append(all[i], float32(s))
		}
	}
	return all
}

// windows are those of the rows and columns of parts, over those of the unknown image. From one to the next they turn over
// turn samples, at most from middle to middle.
func (v *Varying) windows(turn int) (rows, columns [][]float64) {
	h, w := v.Range()
	dh, dw := v.Domain()
	top, left := v.Offset()
	return windows(v.grid.Rows, h, top, dh, turn), windows(v.grid.Columns, w, left, dw, turn)
}

// windows are those of n parts of a photograph's axis of size samples, over an axis of the unknown image, in which the photograph
// begins at first: over turn samples about the border of two parts, at most from middle to middle, one turns from 1 to 0
// as a squared cosine, and the other is what it leaves.
func windows(n, size, first, samples, turn int) [][]float64 {
	all := make([][]float64, n)
	for i := range all {
		all[i] = make([]float64, samples)
	}
	part := float64(size) / float64(n)
	for s := range samples {
		at := (float64(s-first)+.5)/part - .5 // in parts, from the first middle
		i := min(max(int(math.Floor(at)), 0), n-1)
		turned := (at-float64(i)-.5)*part/min(part, float64(turn)) + .5
		sin := math.Sin(math.Pi / 2 * min(max(turned, 0), 1))
		share := sin * sin
		if i == n-1 {
			share = 0
		}
		all[i][s] = 1 - share
		if share > 0 {
			all[i+1][s] = share
		}
	}
	return all
}

// Domain returns the rows and columns of the unknown image: the photograph's, plus those of Grid.Frame, less one.
func (v *Varying) Domain() (h, w int) { return v.frame.Domain() }

// Range returns the rows and columns of the photograph.
func (v *Varying) Range() (h, w int) { return v.frame.Range() }

// Offset is Operator.Offset.
func (v *Varying) Offset() (top, left int) { return v.frame.Offset() }

// Crop is Operator.Crop.
func (v *Varying) Crop(dst, src []float32) error { return v.frame.Crop(dst, src) }

// Extend is Operator.Extend.
func (v *Varying) Extend(dst, src []float32) error { return v.frame.Extend(dst, src) }

// Apply sets dst = K·src. dst has Range, src Domain size; they have N = 1 and the same number of channels, and
// share no memory.
func (v *Varying) Apply(dst, src backend.Buffer) error {
	if v.blur != nil {
		return v.device.ApplyBlur(dst, src, v.blur)
	}
	return v.parts.sum(dst, src, patch.ofPhotograph, patch.ofUnknown, func(p patch, to, from backend.Buffer) error {
		if err := v.device.Multiply(from, from, p.window); err != nil {
			return err
		}
		return p.blur.Apply(to, from)
	})
}

// Adjoint sets dst = Kᵀ·src. dst has Domain, src Range size; they have N = 1 and the same number of channels, and
// share no memory.
func (v *Varying) Adjoint(dst, src backend.Buffer) error {
	if v.blur != nil {
		return v.device.ApplyBlurAdjoint(dst, src, v.blur)
	}
	return v.parts.sum(dst, src, patch.ofUnknown, patch.ofPhotograph, func(p patch, to, from backend.Buffer) error {
		if err := p.blur.Adjoint(to, from); err != nil {
			return err
		}
		return v.device.Multiply(to, to, p.window)
	})
}

// Wiener and the preconditioner need not be exact, so they take less time: their windows turn over turnKernels kernels, and
// their parts are no smaller than partKernels.
const turnKernels, partKernels = 4, 2

// narrow returns the blur with fewer parts, whose windows turn over turnKernels kernels.
func (v *Varying) narrow() (fewer *Varying, rows, columns [][]float64, margin int) {
	k := v.frame.kernel
	margin = max(k.H, k.W)
	h, w := v.Range()
	fewer = &Varying{device: v.device, frame: v.frame, grid: v.grid.Thinned(h/(partKernels*margin), w/(partKernels*margin))}
	rows, columns = fewer.windows(turnKernels * margin)
	return fewer, rows, columns, margin
}

// Wiener sets dst to a linear estimate of the unknown image (Operator.Wiener): a sum of those of all parts, weighted by
// windows.
func (v *Varying) Wiener(dst, src backend.Buffer, nsr float64) error {
	fewer, rows, columns, margin := v.narrow()
	parts, err := fewer.newPatchwork(rows, columns, margin, func(p patch, k Kernel) (*Operator, error) {
		h, w := p.photograph.Size()
		return &Operator{device: v.device, kernel: k, boundary: Unknown, h: h, w: w}, nil
	})
	if err != nil {
		return err
	}
	defer parts.free()
	return parts.sum(dst, src, patch.ofUnknown, patch.ofPhotograph, func(p patch, to, from backend.Buffer) error {
		if err := p.blur.Wiener(to, from, nsr); err != nil {
			return err
		}
		return v.device.Multiply(to, to, p.window)
	})
}

// method is how the blur is computed: DirectBlur if any part's is.
func (v *Varying) method() backend.BlurMethod {
	if v.blur != nil {
		return v.blur.Method()
	}
	return v.parts.method()
}

// Rounding implements operator.Rounded. The bound is +Inf if the device does not say how it computes.
func (v *Varying) Rounding() (r float64, err error) {
	if v.blur == nil {
		return v.parts.rounding()
	}
	a, ok := v.device.(backend.Arithmetic)
	if !ok {
		return math.Inf(1), nil
	}
	return a.BlurRounding(v.blur)
}

// Channel implements operator.ByChannel: all channels are blurred alike.
func (v *Varying) Channel(int) (operator.Linear, error) { return v, nil }

// Free gives the device's memory back. A second Free does nothing.
func (v *Varying) Free() {
	if v.blur != nil {
		v.blur.Free()
	}
	if v.parts != nil {
		v.parts.free()
	}
}
