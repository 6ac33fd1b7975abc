package refdevice

import (
	"slices"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/devicekit"
)

// blur convolves in three steps: the image is continued on all sides by as much as
// the kernel reaches, the "valid" part of its convolution is the result. The
// adjoint takes the steps backwards: full correlation, then every sample of the
// continuation is added to the one that it came from.
type blur struct {
	device     *Device
	spec       backend.BlurSpec
	method     backend.BlurMethod
	rows, cols []int // the sample at each place of the continuation; −1 for a zero
	spectrum   *spectrum
	freed      bool
}

// Spec implements backend.Blur.
func (k *blur) Spec() backend.BlurSpec {
	s := k.spec
	s.Kernel = slices.Clone(s.Kernel)
	return s
}

// Method implements backend.Blur.
func (k *blur) Method() backend.BlurMethod { return k.method }

// Free implements backend.Blur.
func (k *blur) Free() {
	k.device.mu.Lock()
	defer k.device.mu.Unlock()
	k.freed = true
}

// manyWeights is the size of kernel from which AutoBlur transforms.
const manyWeights = 150

// NewBlur implements backend.Blurring.
func (d *Device) NewBlur(spec backend.BlurSpec) (backend.Blur, error) {
	c := d.begin("NewBlur")
	c.check(spec.Check())
	if c.err != nil {
		return nil, c.refuse()
	}
	spec.Kernel = slices.Clone(spec.Kernel)
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
	return k, c.refuse()
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

// ApplyBlur implements backend.Blurring.
func (d *Device) ApplyBlur(dst, src backend.Buffer, k backend.Blur) error {
	c := d.begin("ApplyBlur")
	to, from, own := c.buffer(dst), c.buffer(src), c.blur(k)
	c.frame(own, from, to)
	return c.planes(to, from, own.apply)
}

// ApplyBlurAdjoint implements backend.Blurring.
func (d *Device) ApplyBlurAdjoint(dst, src backend.Buffer, k backend.Blur) error {
	c := d.begin("ApplyBlurAdjoint")
	to, from, own := c.buffer(dst), c.buffer(src), c.blur(k)
	c.frame(own, to, from)
	return c.planes(to, from, own.adjoint)
}

func (c *call) blur(b backend.Blur) *blur {
	own, ok := b.(*blur)
	c.require(ok && own != nil && own.device == c.device, backend.ErrForeign, "blur of type %T", b)
	if c.err == nil {
		c.require(!own.freed, backend.ErrFreed, "blur of %d×%d", own.spec.KH, own.spec.KW)
	}
	if c.err != nil {
		return &blur{}
	}
	return own
}

func (c *call) frame(k *blur, image, result *buffer) {
	c.check(devicekit.CheckBlur(k.spec, image.shape, result.shape))
	c.apart(result, image)
}

func (c *call) planes(to, from *buffer, f func(dst, src []float64)) error {
	return c.queue(func() {
		for i := range to.shape.N * to.shape.C {
			f(to.plane(0, i), from.plane(0, i))
		}
	})
}
