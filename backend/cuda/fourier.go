package cuda

import (
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cuda/internal/driver"
)

const (
	// fourierBits is the longest line that a block transforms in its memory, of 8192 numbers.
	fourierBits = 13
	// fourierLines is how many numbers a block has at a time, of several lines if these are
	// short: the ordinary shared memory, in part.
	fourierLines = 4096
)

// fourierAxis is one axis of a blur as a circular convolution: n samples, continued to
// `extended` so that a valid convolution with the kernel gives the range, within 2^bits
// places. What the end of a circular convolution wraps around to is not kept.
type fourierAxis struct {
	n, result int
	before    int // places in front of the image
	behind    int // the first place of the result: the kernel's size less one
	extended  int
	bits      int
}

func newFourierAxis(n, size, centre int, boundary backend.Boundary) fourierAxis {
	a := fourierAxis{n: n, result: n, before: size - 1 - centre, behind: size - 1, extended: n + size - 1}
	if boundary == backend.Valid {
		a.result, a.before, a.extended = n-size+1, 0, n
	}
	for a.bits = 1; 1<<a.bits < a.extended; {
		a.bits++
	}
	return a
}

// length is the period.
func (a fourierAxis) length() int { return 1 << a.bits }

// lines is how many lines a block transforms.
func (a fourierAxis) lines(of int) int { return min(max(1, fourierLines>>a.bits), of) }

// spectrum is what a blur in the frequency domain needs on the GPU.
type spectrum struct {
	y, x           fourierAxis
	kernel         driver.Pointer // 2^y.bits × 2^x.bits complex numbers
	rootsY, rootsX driver.Pointer
	block          *block
	continuation   int
}

// bytes is the memory of transforms of so many pairs of planes.
func (s *spectrum) bytes(pairs int) int64 { return 8 * int64(pairs) << (s.y.bits + s.x.bits) }

// fourierPays tells whether transforms take less time than direct sums over so many taps: by
// what both read and write in shared memory, in which a transform has ten times as much to
// do as its butterflies, for the barriers between them.
func fourierPays(taps int, s *backend.BlurSpec, y, x fourierAxis) bool {
	if y.bits > fourierBits || x.bits > fourierBits {
		return false
	}
	direct := float64(taps) * float64(s.H) * float64(s.W)
	return direct > 20*float64(y.bits+x.bits)*float64(y.length())*float64(x.length())
}

// newSpectrum transforms the kernel.
func (d *gpu) newSpectrum(k *backend.BlurSpec, y, x fourierAxis) (*spectrum, error) {
	if y.bits > fourierBits || x.bits > fourierBits {
		return nil, fmt.Errorf("%w: a blur of %d×%d by Fourier transforms of more than %d samples", backend.ErrUnsupported, k.H, k.W, 1<<fourierBits)
	}
	s := &spectrum{y: y, x: x}
	rootsBytes := 8 * int64(y.length()/2+x.length()/2)
	var err error
	if s.block, err = d.pool.Alloc(s.bytes(1) + rootsBytes); err != nil {
		return nil, err
	}
	if err := d.fillSpectrum(s, k); err != nil {
		d.pool.Release(s.block)
		return nil, err
	}
	return s, nil
}

func (d *gpu) fillSpectrum(s *spectrum, k *backend.BlurSpec) error {
	s.kernel = begin(s.block)
	s.rootsY = s.kernel + driver.Pointer(s.bytes(1))
	s.rootsX = s.rootsY + driver.Pointer(8*(s.y.length()/2))
	for _, r := range []struct {
		at   driver.Pointer
		axis fourierAxis
	}{{s.rootsY, s.y}, {s.rootsX, s.x}} {
		if err := d.staging.upload(r.at, roots(r.axis.length())); err != nil {
			return translate(err)
		}
	}
	memory := d.scratch()
	defer memory.free()
	weights, err := memory.alloc(4 * int64(len(k.Kernel)))
	if err != nil {
		return err
	}
	if err := d.staging.upload(weights, k.Kernel); err != nil {
		return translate(err)
	}
	kernel := backend.Image(1, k.KH, k.KW)
	if err := d.fourierRows(s.kernel, weights, s, kernel, 0, 0, k.KH, k.KW, continueZero); err != nil {
		return err
	}
	return d.fourierColumns(s.kernel, 1, s, false, false)
}

// roots are exp(−2πik/n) for k < n/2, real and imaginary parts.
func roots(n int) []float32 {
	r := make([]float32, n)
	for k := range n / 2 {
		sin, cos := math.Sincos(-2 * math.Pi * float64(k) / float64(n))
		r[2*k], r[2*k+1] = float32(cos), float32(sin)
	}
	return r
}

func (d *gpu) fourierRows(to, src driver.Pointer, s *spectrum, shape backend.Shape, top, left, extendedH, extendedW, continuation int) error {
	lines := s.x.lines(s.y.length())
	count := shape.N * shape.C
	return d.launch("fourier", "fourier_rows", driver.Dim{X: s.y.length() / lines, Y: ceil(count, 2)}, 8*lines<<s.x.bits,
		driver.Ptr(to), driver.Ptr(src), driver.Ptr(s.rootsX), number(s.x.bits), number(s.y.bits), number(lines),
		number(count), number(shape.H), number(shape.W), number(top), number(left), number(extendedH), number(extendedW), number(continuation))
}

func (d *gpu) fourierColumns(at driver.Pointer, pairs int, s *spectrum, multiply, conjugate bool) error {
	lines := s.y.lines(s.x.length())
	kernel := driver.Pointer(0)
	if multiply {
		kernel = s.kernel
	}
	return d.launch("fourier", "fourier_columns", driver.Dim{X: s.x.length() / lines, Y: pairs}, 8*lines<<s.y.bits,
		driver.Ptr(at), driver.Ptr(s.rootsY), driver.Ptr(kernel), flag(conjugate), number(s.y.bits), number(s.x.bits), number(lines),
		driver.Float(float32(1/(float64(s.y.length())*float64(s.x.length())))))
}

func (d *gpu) fourierRowsBack(dst, from driver.Pointer, s *spectrum, shape backend.Shape, top, left int) error {
	lines := s.x.lines(s.y.length())
	count := shape.N * shape.C
	return d.launch("fourier", "fourier_rows_back", driver.Dim{X: s.y.length() / lines, Y: ceil(count, 2)}, 8*lines<<s.x.bits,
		driver.Ptr(dst), driver.Ptr(from), driver.Ptr(s.rootsX), number(s.x.bits), number(s.y.bits), number(lines),
		number(count), number(shape.H), number(shape.W), number(top), number(left))
}

// fourierPairs is how many pairs of planes are transformed at a time: all of them, unless
// they take more than this much memory.
func (d *gpu) fourierPairs(s *spectrum, planes int) int {
	const most = 512 << 20
	return max(1, min(ceil(planes, 2), d.planesInGrid, int(most/s.bytes(1))))
}

// eachPairs calls run for so many planes of dst and src at a time as are transformed
// together, with memory for their spectra.
func (d *gpu) eachPairs(s *spectrum, dst, src *buffer, run func(memory *scratch, to, from, spectra driver.Pointer, planes int) error) error {
	memory := d.scratch()
	defer memory.free()
	all := src.Shape.N * src.Shape.C
	pairs := d.fourierPairs(s, all)
	spectra, err := memory.alloc(s.bytes(pairs))
	if err != nil {
		return err
	}
	for first := 0; first < all; first += 2 * pairs {
		to := dst.pointer() + driver.Pointer(4*first*dst.Shape.Plane())
		from := src.pointer() + driver.Pointer(4*first*src.Shape.Plane())
		if err := run(memory, to, from, spectra, min(2*pairs, all-first)); err != nil {
			return err
		}
	}
	return nil
}

// applySpectrum sets dst = K·src.
func (d *gpu) applySpectrum(dst, src *buffer, s *spectrum) error {
	return d.eachPairs(s, dst, src, func(_ *scratch, to, from, spectra driver.Pointer, planes int) error {
		in, out := backend.Image(planes, s.y.n, s.x.n), backend.Image(planes, s.y.result, s.x.result)
		if err := d.fourierRows(spectra, from, s, in, s.y.before, s.x.before, s.y.extended, s.x.extended, s.continuation); err != nil {
			return err
		}
		if err := d.fourierColumns(spectra, ceil(planes, 2), s, true, false); err != nil {
			return err
		}
		return d.fourierRowsBack(to, spectra, s, out, s.y.behind, s.x.behind)
	})
}

// applySpectrumAdjoint sets dst = Kᵀ·src: the correlation gives the extended image, whose
// samples go back to where they came from.
func (d *gpu) applySpectrumAdjoint(dst, src *buffer, s *spectrum) error {
	return d.eachPairs(s, dst, src, func(memory *scratch, to, from, spectra driver.Pointer, planes int) error {
		in := backend.Image(planes, s.y.result, s.x.result)
		// The result stands behind the places that only wrap around.
		if err := d.fourierRows(spectra, from, s, in, s.y.behind, s.x.behind, s.y.length(), s.x.length(), continueZero); err != nil {
			return err
		}
		if err := d.fourierColumns(spectra, ceil(planes, 2), s, true, true); err != nil {
			return err
		}
		out := backend.Image(planes, s.y.n, s.x.n)
		if s.continuation == continueZero {
			return d.fourierRowsBack(to, spectra, s, out, s.y.before, s.x.before)
		}
		whole := backend.Image(planes, s.y.extended, s.x.extended)
		extended, err := memory.alloc(4 * int64(whole.Len()))
		if err != nil {
			return err
		}
		if err := d.fourierRowsBack(extended, spectra, s, whole, 0, 0); err != nil {
			return err
		}
		return d.launch("fourier", "fold", driver.Dim{X: ceil(out.Plane(), blockThreads), Y: min(planes, d.planesInGrid)}, 0,
			driver.Ptr(to), driver.Ptr(extended), number(planes), number(out.H), number(out.W),
			number(s.y.before), number(s.x.before), number(s.y.extended), number(s.x.extended), number(s.continuation))
	})
}
