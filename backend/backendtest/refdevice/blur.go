package refdevice

import (
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/devicekit"
)

// blur convolves in three steps: the image is continued on all sides by as much as
// the kernel reaches, the "valid" part of its convolution is the result. The
// adjoint takes the steps backwards: full correlation, then every sample of the
// continuation is added to the one that it came from.
type blur struct {
	device     *stream
	spec       backend.BlurSpec
	method     backend.BlurMethod
	rows, cols []int // the sample at each place of the continuation; −1 for a zero
	spectrum   *spectrum
}

// Method implements devicekit.Blur.
func (k *blur) Method() backend.BlurMethod { return k.method }

// Free implements devicekit.Blur.
func (k *blur) Free() {}

// manyWeights is the size of kernel from which AutoBlur transforms.
const manyWeights = 150

// NewBlur implements devicekit.Blurs.
func (d *stream) NewBlur(spec backend.BlurSpec) (devicekit.Blur[[]float64], error) {
	if err := d.has("NewBlur"); err != nil {
		return nil, err
	}
	k := &blur{device: d, spec: spec, method: spec.Method,
		rows: continuation(spec.H, spec.KH-1-spec.CY, spec.CY, spec.Boundary),
		cols: continuation(spec.W, spec.KW-1-spec.CX, spec.CX, spec.Boundary),
	}
	if k.method == backend.AutoBlur {
		k.method = backend.DirectBlur
		if len(spec.Kernel) >= manyWeights {
			k.method = backend.FourierBlur
		}
	}
	if k.method == backend.FourierBlur {
		k.spectrum = newSpectrum(spec, len(k.rows), len(k.cols))
	}
	return k, nil
}

// continuation lists the samples of a row of n with so many more before and after.
func continuation(n, before, after int, b backend.Boundary) []int {
	var at []int
	if b == backend.Valid {
		before, after = 0, 0
	}
	for i := -before; i < n+after; i++ {
		j := i
		// Step by step into the row: one mirror or one period at a time.
		for j < 0 || j >= n {
			switch {
			case b == backend.Circular && j < 0:
				j += n
			case b == backend.Circular:
				j -= n
			case b == backend.Reflect && j < 0:
				j = -1 - j
			case b == backend.Reflect:
				j = 2*n - 1 - j
			}
			if b == backend.Zero {
				j = -1
				break
			}
		}
		at = append(at, j)
	}
	return at
}

// extend continues an image.
func (k *blur) extend(x []float64) []float64 {
	e := make([]float64, 0, len(k.rows)*len(k.cols))
	for _, y := range k.rows {
		for _, u := range k.cols {
			v := 0.0
			if y >= 0 && u >= 0 {
				v = x[y*k.spec.W+u]
			}
			e = append(e, v)
		}
	}
	return e
}

// fold is the adjoint of extend.
func (k *blur) fold(x, e []float64) {
	clear(x)
	for i, y := range k.rows {
		for j, u := range k.cols {
			if y >= 0 && u >= 0 {
				x[y*k.spec.W+u] += e[i*len(k.cols)+j]
			}
		}
	}
}

// meet calls f for every weight that is not zero and every row of the result, with
// the part of the continuation that the weight multiplies.
func (k *blur) meet(result, e []float64, f func(weight float64, result, e []float64)) {
	h, w := k.spec.Range()
	for i, weight := range k.spec.Kernel {
		if weight == 0 {
			continue
		}
		down, right := k.spec.KH-1-i/k.spec.KW, k.spec.KW-1-i%k.spec.KW
		for y := range h {
			first := (y+down)*len(k.cols) + right
			f(float64(weight), result[y*w:(y+1)*w], e[first:first+w])
		}
	}
}

func (k *blur) apply(dst, src []float64) {
	e := k.extend(src)
	if k.spectrum != nil {
		k.spectrum.convolve(dst, e)
		return
	}
	clear(dst)
	k.meet(dst, e, func(weight float64, result, e []float64) { addScaled(result, weight, e) })
}

func (k *blur) adjoint(dst, src []float64) {
	e := make([]float64, len(k.rows)*len(k.cols))
	if k.spectrum != nil {
		k.spectrum.correlate(e, src)
	} else {
		k.meet(src, e, func(weight float64, result, e []float64) { addScaled(e, weight, result) })
	}
	k.fold(dst, e)
}

// Apply implements devicekit.Blur.
func (k *blur) Apply(dst, src array) error { return k.planes("ApplyBlur", own(dst), own(src), k.apply) }

// ApplyAdjoint implements devicekit.Blur.
func (k *blur) ApplyAdjoint(dst, src array) error {
	return k.planes("ApplyBlurAdjoint", own(dst), own(src), k.adjoint)
}

func (k *blur) planes(operation string, to, from *buffer, f func(dst, src []float64)) error {
	return k.device.queue(operation, func() {
		for i := range to.shape.N * to.shape.C {
			f(to.plane(0, i), from.plane(0, i))
		}
	})
}
