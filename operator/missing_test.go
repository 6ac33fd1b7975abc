package operator_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/inpaint"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/operator"
	"github.com/averaged/imaging/operator/operatortest"
)

// What a program forgot is an error, not a panic.
func TestNilIsAnError(t *testing.T) {
	dev := cputest.Open(t, cpu.Threads(1))
	defer dev.Close()
	const h, w = 6, 7
	known := make([]bool, h*w)
	k := made(t)(deblur.Box(3))
	grid := deblur.Grid{Rows: 1, Columns: 2, Kernels: []deblur.Kernel{k, k}}
	b, err := dev.Alloc(backend.Image(3, h, w))
	require.NoError(t, err)
	blur, err := deblur.New(dev, k, deblur.Circular, h, w)
	require.NoError(t, err)
	copied := func(dst, src []float32) error { copy(dst, src); return nil }
	host := operator.Host{DomainH: h, DomainW: w, RangeH: h, RangeW: w, Apply: copied, Adjoint: copied, Norm: 1, Reason: "a copy"}

	for _, none := range []backend.Device{nil, (*cpu.Device)(nil)} {
		for name, make := range map[string]func() error{
			"blur":        func() error { _, err := deblur.New(none, k, deblur.Unknown, h, w); return err },
			"varying":     func() error { _, err := deblur.NewVarying(none, grid, h, w); return err },
			"mask":        func() error { _, err := inpaint.NewMask(none, known, h, w); return err },
			"mosaic":      func() error { _, err := inpaint.NewMosaic(none, [2][2]int{}, h, w); return err },
			"composition": func() error { _, err := operator.Compose(none, blur, blur); return err },
			"masked":      func() error { _, err := operator.Mask(none, blur, b); return err },
			"widened":     func() error { _, err := operator.Widen(none, blur, h, w); return err },
			"host":        func() error { _, err := host.On(none); return err },
			"check":       func() error { return operator.Check(t.Context(), none, blur, 3, 1, 1) },
			"norm":        func() error { _, err := operator.EstimateNorm(t.Context(), none, blur, 1, 1); return err },
			"test":        func() error { return operatortest.TestLinear(none, blur) },
			"channels":    func() error { return operator.EachChannel(none, b, b, nil) },
		} {
			require.ErrorContains(t, make(), "the device is nil", name)
		}
	}
	for name, make := range map[string]func() error{
		"outer":   func() error { _, err := operator.Compose(dev, nil, blur); return err },
		"inner":   func() error { _, err := operator.Compose(dev, blur, nil); return err },
		"masked":  func() error { _, err := operator.Mask(dev, nil, b); return err },
		"mask":    func() error { _, err := operator.Mask(dev, blur, nil); return err },
		"widened": func() error { _, err := operator.Widen(dev, nil, h, w); return err },
		"check":   func() error { return operator.Check(t.Context(), dev, nil, 3, 1, 1) },
		"norm":    func() error { _, err := operator.EstimateNorm(t.Context(), dev, nil, 1, 1); return err },
		"test":    func() error { return operatortest.TestLinear(dev, nil) },
	} {
		require.Error(t, make(), name)
	}

	varying, err := deblur.NewVarying(dev, grid, h, w)
	require.NoError(t, err)
	mask, err := inpaint.NewMask(dev, known, h, w)
	require.NoError(t, err)
	mosaic, err := inpaint.NewMosaic(dev, [2][2]int{}, h, w)
	require.NoError(t, err)
	composition, err := operator.Compose(dev, blur, blur)
	require.NoError(t, err)
	masked, err := operator.Mask(dev, blur, b)
	require.NoError(t, err)
	widened, err := operator.Widen(dev, blur, h, w)
	require.NoError(t, err)
	onHost, err := host.On(dev)
	require.NoError(t, err)
	for _, o := range []operator.Linear{blur, varying, mask, mosaic, composition, masked, widened, onHost} {
		for _, f := range []func(dst, src backend.Buffer) error{o.Apply, o.Adjoint} {
			require.Error(t, f(nil, b), "%T", o)
			require.Error(t, f(b, nil), "%T", o)
			require.Error(t, f(nil, nil), "%T", o)
		}
	}
	for _, o := range []interface {
		Wiener(dst, src backend.Buffer, nsr float64) error
	}{blur, varying} {
		require.Error(t, o.Wiener(nil, b, 1))
		require.Error(t, o.Wiener(b, nil, 1))
	}
}
