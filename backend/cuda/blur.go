package cuda

import (
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cuda/internal/driver"
	"github.com/averaged/imaging/backend/devicekit"
)

// The geometry of internal/kernels/blur.cu.
const (
	blurTile = 32 // side of a block's tile
	blurPart = 16 // side of the square of offsets that are taken at a time
)

// How internal/kernels/blur.cu continues a source.
const (
	continueCircular = iota
	continueZero
	continueReflected
	continueFolded
)

// blur is a blur prepared on the GPU: the weights that are not zero, once with the offsets
// of K and once with those of Kᵀ, or the kernel's spectrum.
type blur struct {
	device           *gpu
	spec             backend.BlurSpec
	block            *block
	forward, adjoint taps
	spectrum         *spectrum // of FourierBlur
}

// taps are weights with their offsets, on the GPU.
type taps struct {
	parts, places, weights driver.Pointer
	count                  int // of parts
	continuation           int
}

// Method implements devicekit.Blur.
func (k *blur) Method() backend.BlurMethod { return k.spec.Method }

// Free implements devicekit.Blur.
func (k *blur) Free() {
	k.device.pool.Release(k.block)
	if k.spectrum != nil {
		k.device.pool.Release(k.spectrum.block)
	}
}

// NewBlur implements devicekit.Blurs.
func (d *gpu) NewBlur(spec backend.BlurSpec) (devicekit.Blur[address], error) {
	if err := checkSize(backend.Image(1, spec.H+2*spec.KH, spec.W+2*spec.KW)); err != nil {
		return nil, err
	}
	k := &blur{device: d, spec: spec}
	if err := d.prepareBlur(k); err != nil {
		return nil, err
	}
	return k, nil
}

func (d *gpu) prepareBlur(k *blur) (err error) {
	s := &k.spec
	y := newFourierAxis(s.H, s.KH, s.CY, s.Boundary)
	x := newFourierAxis(s.W, s.KW, s.CX, s.Boundary)
	if s.Method == backend.AutoBlur {
		s.Method = backend.DirectBlur
		if fourierPays(weightsOf(s.Kernel), s, y, x) {
			s.Method = backend.FourierBlur
		}
	}
	if s.Method == backend.DirectBlur {
		return d.prepareTaps(k)
	}
	if k.spectrum, err = d.newSpectrum(s, y, x); err == nil {
		k.spectrum.continuation, _ = continuations(s.Boundary)
	}
	return err
}

// weightsOf counts the weights that are not zero.
func weightsOf(kernel []float32) int {
	n := 0
	for _, w := range kernel {
		if w != 0 {
			n++
		}
	}
	return n
}

// continuations returns how a blur continues its source, and its adjoint.
func continuations(b backend.Boundary) (forward, adjoint int) {
	switch b {
	case backend.Circular:
		return continueCircular, continueCircular
	case backend.Reflect:
		return continueReflected, continueFolded
	}
	return continueZero, continueZero
}

func (d *gpu) prepareTaps(k *blur) error {
	// Sample y of the result takes weight i times sample y + first − i of the source.
	s := &k.spec
	firstY, firstX := s.CY, s.CX
	if s.Boundary == backend.Valid {
		firstY, firstX = s.KH-1, s.KW-1
	}
	continuation, adjoint := continuations(s.Boundary)
	forward := newTapTable(s, func(i, j int) (int, int) { return firstY - i, firstX - j })
	backward := newTapTable(s, func(i, j int) (int, int) { return i - firstY, j - firstX })

	words := len(forward.parts) + len(forward.places) + len(forward.weights)
	block, err := d.pool.Alloc(int64(2 * 4 * max(1, words)))
	if err != nil {
		return err
	}
	at := begin(block)
	for _, t := range []struct {
		to           *taps
		from         *tapTable
		continuation int
	}{{&k.forward, forward, continuation}, {&k.adjoint, backward, adjoint}} {
		if at, err = d.upload(t.to, t.from, at); err != nil {
			d.pool.Release(block)
			return translate(err)
		}
		t.to.continuation = t.continuation
	}
	k.block = block
	return nil
}

// upload puts a table at an address and returns the one behind it.
func (d *gpu) upload(to *taps, t *tapTable, at driver.Pointer) (driver.Pointer, error) {
	to.count = len(t.parts) / 4
	to.parts = at
	if err := d.staging.uploadInts(at, t.parts); err != nil {
		return 0, err
	}
	at += driver.Pointer(4 * len(t.parts))
	to.places = at
	if err := d.staging.uploadInts(at, t.places); err != nil {
		return 0, err
	}
	at += driver.Pointer(4 * len(t.places))
	to.weights = at
	if err := d.staging.upload(at, t.weights); err != nil {
		return 0, err
	}
	return at + driver.Pointer(4*len(t.weights)), nil
}

// tapTable holds the weights that are not zero, ordered by the parts of blurPart×blurPart
// offsets that they lie in. A part is four numbers: its first offsets dy and dx, its first
// tap, and how many taps it has.
type tapTable struct {
	parts, places []int32
	weights       []float32
}

func newTapTable(s *backend.BlurSpec, offset func(i, j int) (dy, dx int)) *tapTable {
	// Parts are counted from the least offsets, which belong to one corner of the kernel.
	y0, x0 := offset(0, 0)
	y1, x1 := offset(s.KH-1, s.KW-1)
	top, left := min(y0, y1), min(x0, x1)
	type part struct {
		places  []int32
		weights []float32
	}
	across := ceil(s.KW, blurPart)
	parts := make([]part, ceil(s.KH, blurPart)*across)
	for i := range s.KH {
		for j := range s.KW {
			w := s.Kernel[i*s.KW+j]
			if w == 0 {
				continue
			}
			dy, dx := offset(i, j)
			dy, dx = dy-top, dx-left
			p := &parts[dy/blurPart*across+dx/blurPart]
			p.places = append(p.places, int32(dy%blurPart*blurPart+dx%blurPart))
			p.weights = append(p.weights, w)
		}
	}
	t := &tapTable{}
	for k, p := range parts {
		if len(p.places) == 0 {
			continue
		}
		dy, dx := top+k/across*blurPart, left+k%across*blurPart
		t.parts = append(t.parts, int32(dy), int32(dx), int32(len(t.places)), int32(len(p.places)))
		t.places = append(t.places, p.places...)
		t.weights = append(t.weights, p.weights...)
	}
	return t
}

// Apply implements devicekit.Blur.
func (k *blur) Apply(dst, src devicekit.Array[address]) error {
	if k.spectrum != nil {
		return k.device.applySpectrum(own(dst), own(src), k.spectrum)
	}
	return k.device.applyTaps(own(dst), own(src), &k.forward)
}

// ApplyAdjoint implements devicekit.Blur.
func (k *blur) ApplyAdjoint(dst, src devicekit.Array[address]) error {
	if k.spectrum != nil {
		return k.device.applySpectrumAdjoint(own(dst), own(src), k.spectrum)
	}
	return k.device.applyTaps(own(dst), own(src), &k.adjoint)
}

func (d *gpu) applyTaps(dst, src *buffer, t *taps) error {
	to, from := dst.Shape, src.Shape
	across := ceil(to.W, blurTile)
	return d.launch("blur", "blur", driver.Dim{X: across * ceil(to.H, blurTile), Y: min(to.N*to.C, d.planesInGrid)}, 0,
		driver.Ptr(dst.pointer()), driver.Ptr(src.pointer()),
		driver.Ptr(t.parts), number(t.count), driver.Ptr(t.places), driver.Ptr(t.weights),
		number(to.N*to.C), number(to.H), number(to.W), number(from.H), number(from.W), number(t.continuation), number(across))
}
