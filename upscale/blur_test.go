package upscale

import (
	"testing"

	"github.com/averaged/imaging/deblur"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
)

// testKernels cover one and two dimensions, odd and even sizes, centres away from
// the middle, symmetric and lopsided weights, and weights below 0.
func testKernels(t testing.TB) map[string]deblur.Kernel {
	must := made(t)
	return map[string]deblur.Kernel{
		"identity":      {H: 1, W: 1, Weights: []float32{1}},
		"Gaussian":      must(deblur.Gaussian(.8)),
		"motion":        must(deblur.Motion(5, 30)),
		"shake":         must(deblur.Shake(7, 2)),
		"even":          must(deblur.NewKernel([]float32{1, 2, 3, 4, 0, 1, 2, 9}, 2, 4)),
		"shift":         {H: 3, W: 4, CY: 1, CX: 1, Weights: []float32{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}},
		"corner":        {H: 3, W: 2, CY: 2, CX: 0, Weights: []float32{.1, .2, .3, .1, .05, .25}},
		"difference":    {H: 1, W: 2, CX: 1, Weights: []float32{1, -1}},
		"sharpening":    {H: 3, W: 3, CY: 1, CX: 1, Weights: []float32{0, -1, 0, -1, 5, -1, 0, -1, 0}},
		"lopsided ±":    {H: 2, W: 3, CY: 0, CX: 1, Weights: []float32{.5, -.25, .75, 1, -1.5, .1}},
		"longer":        must(deblur.NewKernel([]float32{1, 1, 2, 3, 1, 1, 0, 2, 4, 1, 9, 1, 1, 2, 3, 3, 1}, 1, 17)),
		"zero":          {H: 2, W: 2, CY: 1, CX: 1, Weights: make([]float32, 4)},
		"not summing 1": {H: 1, W: 3, CX: 1, Weights: []float32{.3, .9, .1}},
	}
}

// dense is the blur of one channel, in float64 and from the definition: of h×w samples of its
// result, in every direction every so many from first on.
func dense(o *deblur.Operator, first, every, h, w int) *mat.Dense {
	dh, dw := o.Domain()
	kernel := o.Kernel()
	top, left := o.Offset()
	top, left = top+first, left+first
	m := mat.NewDense(h*w, dh*dw, nil)
	at := func(i, n int) int {
		switch {
		case i >= 0 && i < n:
			return i
		case o.Boundary() == deblur.Circular:
			return ((i % n) + n) % n
		case o.Boundary() == deblur.Reflect:
			for i < 0 || i >= n {
				i = max(-1-i, min(i, 2*n-1-i))
			}
			return i
		}
		return -1
	}
	for p := range h * w {
		for i, v := range kernel.Weights {
			y := at(top+every*(p/w)+kernel.CY-i/kernel.W, dh)
			x := at(left+every*(p%w)+kernel.CX-i%kernel.W, dw)
			if y >= 0 && x >= 0 {
				m.Set(p, y*dw+x, m.At(p, y*dw+x)+float64(v))
			}
		}
	}
	return m
}

func vector(x []float32) *mat.VecDense {
	v := mat.NewVecDense(len(x), nil)
	for i := range x {
		v.SetVec(i, float64(x[i]))
	}
	return v
}

func made(t testing.TB) func(k deblur.Kernel, err error) deblur.Kernel {
	return func(k deblur.Kernel, err error) deblur.Kernel {
		t.Helper()
		require.NoError(t, err)
		return k
	}
}
