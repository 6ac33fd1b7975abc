package denoising

import (
	"fmt"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/imageplanes"
)

// apply returns what phi makes of the samples of an image. A network without a bound may make what is too large for
// float32: that is an error.
func (j Job) apply(p *imageplanes.Planes, phi func(dst, src backend.Buffer) error) ([]float32, error) {
	src, err := imageplanes.Lend(j.Device, p.Shape(), p.Pix)
	if err != nil {
		return nil, err
	}
	defer src.Free()
	out := make([]float32, len(p.Pix))
	dst, fetch, err := imageplanes.Borrow(j.Device, p.Shape(), out)
	if err != nil {
		return nil, err
	}
	defer dst.Free()
	if err := phi(dst, src); err != nil {
		return nil, err
	}
	if err := fetch(); err != nil {
		return nil, err
	}
	for i, v := range out {
		if v-v != 0 { // NaN for NaN and infinities
			n := p.Width * p.Height
			return nil, fmt.Errorf("restore: method %q makes %v of the sample at column %d, row %d; use a certified one", j.Choice.Method, v, i%n%p.Width, i%n/p.Width)
		}
	}
	return out, nil
}
