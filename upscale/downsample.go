package upscale

import (
	"fmt"
	"math"
	"sync"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/arguments"
	"github.com/averaged/imaging/operator"
)

// MaxFactor is the largest factor of a Downsampling.
const MaxFactor = 16

// Downsampling is the operator of super-resolution, K = S·B: it blurs a fine image and keeps every factor-th
// row and column. It is safe for concurrent use.
//
// The photograph's sample (y, x) stands for the square of factor×factor fine samples that begins at
// (factor·y, factor·x). S keeps the sample in row and column ⌊(factor−1)/2⌋ of each square, its middle. An
// even factor has two middle samples, and S keeps the first. A kernel of even size moves its image half a
// sample up and to the left, and so lies exactly on the middle of the square. The kernels of Antialias have
// these sizes. An odd kernel with an even factor shifts the image by half a fine sample.
type Downsampling struct {
	device backend.Device
	blur   *deblur.Operator
	factor int
	h, w   int // of the photograph

	mu     sync.Mutex
	fine   backend.Buffer // one channel of the blurred image
	coarse backend.Buffer // the same, a channel for each of the samples in a square

	normOnce   sync.Once
	norm       float64
	normReason string
}

var _ operator.Linear = (*Downsampling)(nil)

// NewDownsampling returns the downsampling of an unknown image to a photograph of h rows and w columns by the
// factor, 1 to MaxFactor. boundary is the assumption beyond the frame of the fine image of factor·h by
// factor·w samples, as in deblur.New. The kernel, in fine samples, is copied. Free the operator when it is no
// longer needed.
func NewDownsampling(device backend.Device, kernel deblur.Kernel, boundary deblur.Boundary, factor, h, w int) (_ *Downsampling, err error) {
	if err := arguments.CheckDevice("upscale", device); err != nil {
		return nil, err
	}
	if err := checkFactor(factor, h, w); err != nil {
		return nil, err
	}
	d := &Downsampling{device: device, factor: factor, h: h, w: w}
	if d.blur, err = deblur.New(device, kernel, boundary, factor*h, factor*w); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			d.Free()
		}
	}()
	s := backend.Image(1, factor*h, factor*w)
	if d.fine, err = device.Alloc(s); err != nil {
		return nil, fmt.Errorf("upscale: %w", err)
	}
	if d.coarse, err = device.Alloc(s.Unshuffled(factor)); err != nil {
		return nil, fmt.Errorf("upscale: %w", err)
	}
	return d, nil
}

func checkFactor(factor, h, w int) error {
	if factor < 1 || factor > MaxFactor {
		return fmt.Errorf("upscale: a factor of %d, want 1 to %d", factor, MaxFactor)
	}
	if h < 1 || w < 1 || h > math.MaxInt32/MaxFactor || w > math.MaxInt32/MaxFactor {
		return fmt.Errorf("upscale: a photograph of %d×%d samples, want at least 1×1, and no side so long that %d times as many do not fit", h, w, MaxFactor)
	}
	return nil
}

// Blur returns B. The downsampling frees it.
func (d *Downsampling) Blur() *deblur.Operator { return d.blur }

// Factor returns the factor.
func (d *Downsampling) Factor() int { return d.factor }

// Domain returns the rows and columns of the unknown image: factor times those of the photograph, plus the
// kernel's less one for deblur.Unknown.
func (d *Downsampling) Domain() (h, w int) { return d.blur.Domain() }

// Range returns the rows and columns of the photograph.
func (d *Downsampling) Range() (h, w int) { return d.h, d.w }

// Crop copies the part of an unknown image that the photograph shows. src holds planes of Domain size one
// after the other, and dst as many of factor·h by factor·w samples.
func (d *Downsampling) Crop(dst, src []float32) error { return d.blur.Crop(dst, src) }

// Extend is the inverse of Crop: it continues a fine image by reflection to the size of the unknown image.
func (d *Downsampling) Extend(dst, src []float32) error { return d.blur.Extend(dst, src) }

// Apply sets dst = K·src. dst has Range, src Domain size; they have N = 1 and the same
// number of channels, and share no memory.
func (d *Downsampling) Apply(dst, src backend.Buffer) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.withKept(func(kept backend.Buffer) error {
		return operator.EachChannel(d.device, dst, src, func(to, from backend.Buffer) error {
			if err := d.blur.Apply(d.fine, from); err != nil {
				return err
			}
			if err := d.device.Unshuffle(d.coarse, d.fine, d.factor); err != nil {
				return err
			}
			return d.device.LinearCombination(to, backend.Term{A: 1, X: kept})
		})
	})
}

// Adjoint sets dst = Kᵀ·src. dst has Domain, src Range size; they have N = 1 and the same
// number of channels, and share no memory.
func (d *Downsampling) Adjoint(dst, src backend.Buffer) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.device.Fill(d.coarse, 0); err != nil {
		return err
	}
	return d.withKept(func(kept backend.Buffer) error {
		return operator.EachChannel(d.device, dst, src, func(to, from backend.Buffer) error {
			if err := d.device.LinearCombination(kept, backend.Term{A: 1, X: from}); err != nil {
				return err
			}
			if err := d.device.Shuffle(d.fine, d.coarse, d.factor); err != nil {
				return err
			}
			return d.blur.Adjoint(to, d.fine)
		})
	})
}

// withKept calls f with the channel of coarse that S keeps.
func (d *Downsampling) withKept(f func(kept backend.Buffer) error) error {
	middle := (d.factor - 1) / 2
	kept, err := d.device.Channels(d.coarse, middle*d.factor+middle, 1)
	if err != nil {
		return fmt.Errorf("upscale: %w", err)
	}
	defer kept.Free()
	return f(kept)
}

// Free gives the device's memory back. A second Free does nothing.
func (d *Downsampling) Free() {
	d.blur.Free()
	for _, b := range []backend.Buffer{d.fine, d.coarse} {
		if b != nil {
			b.Free()
		}
	}
}

// Rounding implements operator.Rounded. The bound is the blur's: downsampling rounds nothing.
func (d *Downsampling) Rounding() (r float64, err error) { return d.blur.Rounding() }
