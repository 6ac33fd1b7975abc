package backend

import (
	"fmt"
	"slices"
)

// Boundary is how a blur continues an image beyond its frame.
type Boundary uint8

const (
	// Circular continues periodically.
	Circular Boundary = iota
	// Zero continues with zeros.
	Zero
	// Reflect mirrors with the edge sample repeated (… b a | a b c …), as often
	// as the kernel needs.
	Reflect
	// Valid continues nothing: the result is smaller than the image by the kernel's size less one, and
	// depends on real samples only.
	Valid
)

func (b Boundary) String() string {
	switch b {
	case Circular:
		return "circular"
	case Zero:
		return "zero"
	case Reflect:
		return "reflect"
	case Valid:
		return "valid"
	}
	return fmt.Sprintf("Boundary(%d)", uint8(b))
}

// BlurMethod is how a blur is computed.
type BlurMethod uint8

const (
	// AutoBlur chooses the faster one by measurement.
	AutoBlur BlurMethod = iota
	// DirectBlur sums over the kernel's nonzero weights.
	DirectBlur
	// FourierBlur multiplies in the frequency domain.
	FourierBlur
)

// BlurSpec is the convolution of every channel of an H×W image with one kernel,
//
//	(Kx)[y,x] = Σ over (i,j) of Kernel[i·KW+j] · x[y + CY − i, x + CX − j],
//
// with x continued by Boundary. For Valid the result has H−KH+1 rows and W−KW+1
// columns, and its sample (0,0) is at (KH−1−CY, KW−1−CX) of the image.
//
// If Rows and Columns are set the kernel varies over the image, which is weighted by windows before each
// convolution: Kx = Σ over (r,c) of k(r,c) ∗ (Rows[r][y]·Columns[c][x] · x[y,x]). Kernel then has the weights of
// len(Rows)·len(Columns) kernels, and Boundary is Valid.
type BlurSpec struct {
	Kernel   []float32 // KH×KW weights, row by row; of each kernel
	KH, KW   int       // at least 1
	CY, CX   int       // the kernel's centre, inside the kernel
	H, W     int       // size of the image that is blurred
	Boundary Boundary
	Method   BlurMethod
	// Rows are windows of H numbers each, Columns of W; nil for one kernel.
	Rows, Columns [][]float32
}

// Varies tells whether there are several kernels with windows.
func (s BlurSpec) Varies() bool { return s.Rows != nil || s.Columns != nil }

// Clone returns a copy that shares no memory.
func (s BlurSpec) Clone() BlurSpec {
	s.Kernel = slices.Clone(s.Kernel)
	for _, windows := range []*[][]float32{&s.Rows, &s.Columns} {
		*windows = slices.Clone(*windows)
		for i, w := range *windows {
			(*windows)[i] = slices.Clone(w)
		}
	}
	return s
}

// Range returns the size of the blurred image.
func (s BlurSpec) Range() (h, w int) {
	if s.Boundary == Valid {
		return s.H - s.KH + 1, s.W - s.KW + 1
	}
	return s.H, s.W
}

// Check returns an error that wraps ErrShape or ErrArgument unless the
// specification makes sense.
func (s BlurSpec) Check() error {
	kernels := 1
	if s.Varies() {
		if kernels = len(s.Rows) * len(s.Columns); kernels == 0 || s.Boundary != Valid {
			return fmt.Errorf("%w: %d×%d windows of a blur, boundary %v", ErrArgument, len(s.Rows), len(s.Columns), s.Boundary)
		}
		for _, axis := range []struct {
			windows [][]float32
			size    int
		}{{s.Rows, s.H}, {s.Columns, s.W}} {
			for _, w := range axis.windows {
				if len(w) != axis.size {
					return fmt.Errorf("%w: window of %d numbers for %d samples of an axis", ErrShape, len(w), axis.size)
				}
			}
		}
	}
	if s.KH < 1 || s.KW < 1 || len(s.Kernel) != kernels*s.KH*s.KW {
		return fmt.Errorf("%w: blur kernel of %d weights, %d×%d", ErrShape, len(s.Kernel), s.KH, s.KW)
	}
	if s.CY < 0 || s.CY >= s.KH || s.CX < 0 || s.CX >= s.KW {
		return fmt.Errorf("%w: blur centre (%d,%d) outside its %d×%d kernel", ErrArgument, s.CY, s.CX, s.KH, s.KW)
	}
	if s.Boundary > Valid || s.Method > FourierBlur {
		return fmt.Errorf("%w: blur boundary %d, method %d", ErrArgument, s.Boundary, s.Method)
	}
	if h, w := s.Range(); s.H < 1 || s.W < 1 || h < 1 || w < 1 {
		return fmt.Errorf("%w: %d×%d image under a %d×%d kernel, boundary %v", ErrShape, s.H, s.W, s.KH, s.KW, s.Boundary)
	}
	return nil
}

// Blur is a blur prepared on a device: kernel, plans, scratch.
type Blur interface {
	Spec() BlurSpec
	// Method is the device's choice, DirectBlur or FourierBlur.
	Method() BlurMethod
	// Free gives the memory back; a second Free does nothing.
	Free()
}

// Blurring convolves images with one kernel for all channels.
type Blurring interface {
	// NewBlur prepares a blur; the kernel is copied.
	NewBlur(spec BlurSpec) (Blur, error)
	// ApplyBlur sets dst = K·src, channel by channel and image by image.
	ApplyBlur(dst, src Buffer, k Blur) error
	// ApplyBlurAdjoint sets dst = Kᵀ·src, the exact adjoint, boundary included.
	ApplyBlurAdjoint(dst, src Buffer, k Blur) error
}
