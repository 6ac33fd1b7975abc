package cpu

import (
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/devicekit"
	"github.com/averaged/imaging/internal/hostblur"
)

// blur is a blur whose memory counts as the device's.
type blur struct {
	*hostblur.Blur
	device *host
}

// MakesBlur implements devicekit.SomeBlurs.
func (d *host) MakesBlur(backend.BlurSpec) bool { return true }

// NewBlur implements devicekit.Blurs.
func (d *host) NewBlur(spec backend.BlurSpec) (devicekit.Blur[[]float32], error) {
	b := hostblur.New(spec)
	if err := d.take(b.Bytes(), "a blur"); err != nil {
		return nil, err
	}
	if err := b.Prepare(d.kernels.fft, d.pool); err != nil {
		d.used.Add(-b.Bytes())
		return nil, err
	}
	return &blur{b, d}, nil
}

// Free implements devicekit.Blur. The memory goes back to Go's collector.
func (b *blur) Free() { b.device.used.Add(-b.Bytes()) }

// Apply implements devicekit.Blur.
func (b *blur) Apply(dst, src buffer) error {
	return b.Blur.Apply(b.device.pool, src.Shape.N*src.Shape.C, dst.Data, src.Data)
}

// ApplyAdjoint implements devicekit.Blur.
func (b *blur) ApplyAdjoint(dst, src buffer) error {
	return b.Blur.ApplyAdjoint(b.device.pool, src.Shape.N*src.Shape.C, dst.Data, src.Data)
}
