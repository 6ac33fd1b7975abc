// Package hostblur convolves images in the host's memory with one kernel for all channels.
package hostblur

import (
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/fft"
	"github.com/averaged/imaging/internal/parallel"
)

// Blur computes Kx as a valid convolution V of an extended image: K = V·E, where E
// continues the image by its boundary. The adjoint is Kᵀ = Eᵀ·Vᵀ: Vᵀ is the full
// correlation, and Eᵀ adds to every sample what the copies of it got. So one code
// serves all boundaries, and an image that is smaller than the kernel is nothing
// special.
type Blur struct {
	spec    backend.BlurSpec
	method  backend.BlurMethod
	y, x    transformAxis // with E along columns and along rows
	direct  directKernel  // of DirectBlur
	fourier *fft.Filter   // of FourierBlur
	bands   bands         // that it transforms
	varying *varying      // nil: one kernel everywhere
}

// New plans a blur. The specification must be right; its kernel is not copied.
func New(spec backend.BlurSpec) *Blur { return newBlur(spec, largestSpectrum) }

func newBlur(spec backend.BlurSpec, largest int) *Blur {
	if spec.Varies() {
		v := newVarying(spec, longestPeriod)
		b := &Blur{spec: spec, method: backend.FourierBlur, varying: v}
		if v.direct != nil {
			b.method = backend.DirectBlur
		}
		return b
	}
	b := &Blur{
		spec: spec, method: spec.Method,
		y: fourierAxis(spec.H, spec.KH, spec.CY, spec.Boundary),
		x: fourierAxis(spec.W, spec.KW, spec.CX, spec.Boundary),
	}
	if b.method == backend.AutoBlur {
		b.method = backend.DirectBlur
		if directCost(&spec) > fourierCost(b.y.period, b.x.period) {
			b.method = backend.FourierBlur
		}
	}
	if b.method == backend.FourierBlur {
		b.bands.count = 1
		whole := newExtension(spec.H, spec.KH, spec.CY, spec.Boundary)
		if n, period := newBands(len(whole.from), spec.KH, b.x.period, largest); n.count > 1 {
			b.bands, b.y = n, transformAxis{extension: whole, period: period, centre: spec.KH - 1}
		}
	}
	return b
}

// Method is DirectBlur or FourierBlur.
func (b *Blur) Method() backend.BlurMethod { return b.method }

// Bytes is the memory that the blur takes once it is prepared.
func (b *Blur) Bytes() int64 {
	bytes := int64(len(b.spec.Kernel)) * 4
	if b.varying != nil {
		return bytes + b.varying.bytes()
	}
	if b.method == backend.FourierBlur {
		bytes += fft.Bytes(b.y.period, b.x.period)
	}
	return bytes
}

// Prepare makes the blur ready to be applied.
func (b *Blur) Prepare(kernels *fft.Kernels, pool *parallel.Pool) error {
	if b.varying != nil {
		return b.varying.prepare(kernels, pool)
	}
	s := &b.spec
	if b.method == backend.DirectBlur {
		b.y.extension = newExtension(s.H, s.KH, s.CY, s.Boundary)
		b.x.extension = newExtension(s.W, s.KW, s.CX, s.Boundary)
		b.direct = newDirectKernel(s)
		return nil
	}
	plan, err := fft.NewWith(kernels, b.y.period, b.x.period)
	if err != nil {
		return err
	}
	b.fourier, err = fourierFilter(plan, pool, s, b.y.centre, b.x.centre)
	return err
}

// Apply sets dst = K·src, plane by plane.
func (b *Blur) Apply(pool *parallel.Pool, planes int, dst, src []float32) error {
	if b.varying != nil {
		return b.varying.apply(pool, planes, dst, src)
	}
	h, w := b.spec.Range()
	extended := b.extended(src)
	if b.method == backend.DirectBlur {
		convolveDirectly(pool, planes, rowsInto(dst, h, w), extended, b.direct.taps)
		return nil
	}
	return b.fourier.Apply(pool, planes*b.bands.count, b.bands.write(rowsInto(dst, h, w), 0), b.bands.read(extended, 0), false)
}

// ApplyAdjoint sets dst = Kᵀ·src, plane by plane.
func (b *Blur) ApplyAdjoint(pool *parallel.Pool, planes int, dst, src []float32) error {
	if b.varying != nil {
		return b.varying.applyAdjoint(pool, planes, dst, src)
	}
	h, w := b.spec.Range()
	f := b.newFold(dst, planes)
	if b.method == backend.DirectBlur {
		convolveDirectly(pool, planes, f.rows(), surrounded(rowsFrom(src, h, w), b.spec.KH-1, b.spec.KW-1), b.direct.mirrored)
	} else if err := b.fourier.Apply(pool, planes*b.bands.count, b.bands.write(f.rows(), b.bands.reach), b.bands.read(rowsFrom(src, h, w), b.bands.reach), true); err != nil {
		return err
	}
	pool.For(planes, f.finish)
	return nil
}

// Rounding returns a number r such that what Apply and ApplyAdjoint add by rounding, in the Euclidean
// norm, is at most r times the norm of what they are applied to, but for underflow (backend.BlurUnderflow).
func (b *Blur) Rounding() float64 {
	if b.varying != nil {
		return b.varying.rounding()
	}
	sum := 0.0
	for _, v := range b.spec.Kernel {
		sum += math.Abs(float64(v))
	}
	// The extension copies samples, and its adjoint adds up what the copies got.
	copies := float64(b.y.copies() * b.x.copies())
	relative := sum * b.direct.units() * 0x1p-24
	if b.method == backend.FourierBlur {
		relative = b.fourier.Rounding(sum)
		if b.bands.count > 1 { // the squares of the norms of all bands add up to those of the rows that they share
			relative *= math.Sqrt(float64(b.bands.overlap()))
		}
	}
	folds := sum * 2 * float64(b.y.copies()+b.x.copies()) * 0x1p-24
	return math.Sqrt(copies) * (relative + folds)
}

// copies returns how often a sample of the image stands in the extended one, at most.
func (e *extension) copies() int {
	count, most := make([]int, e.n), 1
	for _, at := range e.from {
		if at >= 0 {
			count[at]++
			most = max(most, count[at])
		}
	}
	return most
}

// rowsFrom hands over the rows of planes, and rowsInto takes them.
func rowsFrom(data []float32, h, w int) fft.Rows {
	return fft.Rows{H: h, W: w, Row: func(plane, y int, row []float32) { copy(row, data[(plane*h+y)*w:]) }}
}

func rowsInto(data []float32, h, w int) fft.Rows {
	return fft.Rows{H: h, W: w, Row: func(plane, y int, row []float32) { copy(data[(plane*h+y)*w:], row) }}
}

// surrounded hands over rows with a frame of zeros around them.
func surrounded(of fft.Rows, top, left int) fft.Rows {
	return fft.Rows{H: of.H + 2*top, W: of.W + 2*left, Row: func(plane, y int, row []float32) {
		if y -= top; y < 0 || y >= of.H {
			clear(row)
			return
		}
		clear(row[:left])
		of.Row(plane, y, row[left:left+of.W])
		clear(row[left+of.W:])
	}}
}
