package dispatch

import (
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/devicekit"
)

// How the shader continues a source.
const (
	continueCircular = iota
	continueZero
	continueReflected
	continueFolded
)

// blur is a direct blur: the weights that are not zero, once with the offsets of K and once with those
// of Kᵀ.
type blur[B comparable] struct {
	kernels *Kernels[B]
	taps    Memory[B] // three numbers each
	count   int
	forward int // how the source is continued
	adjoint int
}

// MakesBlur implements devicekit.SomeBlurs: the host computes blurs by the Fourier transform.
func (k *Kernels[B]) MakesBlur(spec backend.BlurSpec) bool {
	return spec.Method != backend.FourierBlur && !spec.Varies()
}

// NewBlur implements devicekit.Blurs. A GPU computes many products in the time of a transfer to the host.
func (k *Kernels[B]) NewBlur(spec backend.BlurSpec) (devicekit.Blur[Memory[B]], error) {
	b := &blur[B]{kernels: k, forward: continueZero, adjoint: continueZero}
	switch spec.Boundary {
	case backend.Circular:
		b.forward, b.adjoint = continueCircular, continueCircular
	case backend.Reflect:
		b.forward, b.adjoint = continueReflected, continueFolded
	}
	// Sample y of the result takes weight i times sample y + first − i of the source.
	firstY, firstX := spec.CY, spec.CX
	if spec.Boundary == backend.Valid {
		firstY, firstX = spec.KH-1, spec.KW-1
	}
	var forward, adjoint []int32
	for i := range spec.KH {
		for j := range spec.KW {
			if w := spec.Kernel[i*spec.KW+j]; w != 0 {
				weight := int32(math.Float32bits(w))
				forward = append(forward, int32(firstY-i), int32(firstX-j), weight)
				adjoint = append(adjoint, int32(i-firstY), int32(j-firstX), weight)
			}
		}
	}
	b.count = len(forward) / 3
	var err error
	if b.taps, err = k.alloc(max(1, 6*b.count)); err != nil {
		return nil, err
	}
	if err := k.upload(b.taps, bytesOf(append(forward, adjoint...))); err != nil {
		k.Free(b.taps)
		return nil, err
	}
	return b, nil
}

// Method implements devicekit.Blur.
func (b *blur[B]) Method() backend.BlurMethod { return backend.DirectBlur }

// Free implements devicekit.Blur.
func (b *blur[B]) Free() { b.kernels.Free(b.taps) }

// Apply implements devicekit.Blur.
func (b *blur[B]) Apply(dst, src Array[B]) error { return b.apply(dst, src, b.taps, b.forward) }

// ApplyAdjoint implements devicekit.Blur.
func (b *blur[B]) ApplyAdjoint(dst, src Array[B]) error {
	return b.apply(dst, src, b.kernels.View(b.taps, 3*b.count, 0), b.adjoint)
}

func (b *blur[B]) apply(dst, src Array[B], taps Memory[B], continuation int) error {
	if b.count == 0 {
		return b.kernels.Fill(dst, 0)
	}
	to, from := dst.Shape, src.Shape
	planes := to.N * to.C
	each := 2 * float64(b.count)
	if continuation == continueFolded {
		each *= 4
	}
	rows := max(1, min(to.H, int(b.kernels.gpu.Shaders().Operations/(each*float64(to.W)*float64(planes)))))
	for first := 0; first < to.H; first += rows {
		l := b.kernels.launch()
		d, s, t := l.array(dst), l.array(src), l.bind(taps, 3*b.count)
		n := min(rows, to.H-first) * to.W
		if err := l.run("blur", nil, n, planes, each, d, s, t, uint32(b.count), uint32(planes), uint32(to.H), uint32(to.W),
			uint32(continuation), uint32(from.H), uint32(from.W), uint32(first*to.W), uint32(n)); err != nil {
			return err
		}
	}
	return nil
}
