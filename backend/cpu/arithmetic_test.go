package cpu

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
)

// Blurs and their adjoints are within the bound of their rounding, by both methods, at every
// boundary, for kernels of both signs and sizes with odd factors. How close is logged.
func TestBlurRounding(t *testing.T) {
	d := open(t, Threads(1))
	defer func() { require.NoError(t, d.Close()) }()
	closest, relative := math.Inf(1), 0.0
	sizes := [][2]int{{1, 7}, {13, 11}, {40, 67}, {31, 37}}
	if testing.Short() { // long under emulation; go test ./... has all
		sizes = sizes[:3]
	}
	for i, k := range blurKernels {
		kernel := fill(k.kh*k.kw, uint64(i))
		for _, size := range sizes {
			for _, boundary := range []backend.Boundary{backend.Circular, backend.Zero, backend.Reflect, backend.Valid} {
				if boundary == backend.Valid && (size[0] < k.kh || size[1] < k.kw) {
					continue
				}
				for _, method := range []backend.BlurMethod{backend.DirectBlur, backend.FourierBlur} {
					spec := backend.BlurSpec{Kernel: kernel, KH: k.kh, KW: k.kw, CY: k.cy, CX: k.cx, H: size[0], W: size[1], Boundary: boundary, Method: method}
					blur, err := d.NewBlur(spec)
					require.NoError(t, err)
					r, err := d.BlurRounding(blur)
					require.NoError(t, err)
					for _, adjoint := range []bool{false, true} {
						off := blurError(t, d, blur, spec, adjoint, 1)
						require.LessOrEqual(t, off, r, "%v, adjoint %v", spec, adjoint)
						closest = min(closest, r/off)
						tiny := blurError(t, d, blur, spec, adjoint, 1e-41) // where products underflow
						require.LessOrEqual(t, tiny, r+1e41*0x1p-40*backend.BlurUnderflow*(1+r), "%v, adjoint %v", spec, adjoint)
						relative = max(relative, tiny/r)
					}
					blur.Free()
				}
			}
		}
	}
	require.Greater(t, relative, 1.0, "underflow needs a room of its own")
	t.Logf("the bound is %.3g times the largest error seen, at least", closest)
	blur, err := d.NewBlur(backend.BlurSpec{Kernel: []float32{1}, KH: 1, KW: 1, H: 3, W: 3})
	require.NoError(t, err)
	blur.Free()
	_, err = d.BlurRounding(blur)
	require.ErrorIs(t, err, backend.ErrFreed)
}

// blurError returns the error of a blur of noise of that scale, or of its adjoint, by the size of the noise.
func blurError(t *testing.T, d *Device, blur backend.Blur, spec backend.BlurSpec, adjoint bool, scale float32) float64 {
	h, w := spec.Range()
	from, to := backend.Image(1, spec.H, spec.W), backend.Image(1, h, w)
	if adjoint {
		from, to = to, from
	}
	x := fill(from.Len(), 9)
	for i := range x {
		x[i] *= scale
	}
	src, err := d.Alloc(from)
	require.NoError(t, err)
	require.NoError(t, d.Upload(src, x))
	dst, err := d.Alloc(to)
	require.NoError(t, err)
	if adjoint {
		err = d.ApplyBlurAdjoint(dst, src, blur)
	} else {
		err = d.ApplyBlur(dst, src, blur)
	}
	require.NoError(t, err)
	got := make([]float32, to.Len())
	require.NoError(t, d.Download(got, dst))
	off, size := 0.0, 0.0
	for i, v := range blurReference(spec, x, 1, adjoint) {
		off += (float64(got[i]) - v) * (float64(got[i]) - v)
	}
	for _, v := range x {
		size += float64(v) * float64(v)
	}
	return math.Sqrt(off / size)
}
