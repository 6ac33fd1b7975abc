package selftest

import (
	"fmt"
	"slices"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/devicekit"
)

// canary is a small convolution whose result is known.
type canary[M, F any] struct {
	src, dst devicekit.Array[M]
	filter   F
	want     []float32
}

// Hear makes a small convolution, which is compared with the processor's, and whose result StillComputes
// wants to get again. It is called when the operations have been compared.
func (t *Tester[M, F]) Hear() (err error) {
	c := &canary[M, F]{src: devicekit.Array[M]{Shape: backend.Image(4, 8, 8)}, dst: devicekit.Array[M]{Shape: backend.Image(8, 8, 8)}}
	w := devicekit.Array[M]{Shape: backend.Shape{N: 8, C: 4, H: 3, W: 3}}
	for _, a := range []*devicekit.Array[M]{&c.src, &c.dst, &w} {
		if a.Data, err = t.Kernels.Alloc(a.Shape); err != nil {
			return err
		}
	}
	defer t.Kernels.Free(w.Data)
	h, err := t.copies()
	if err != nil {
		return err
	}
	defer h.free()
	var own [2]backend.Buffer
	for k, a := range []devicekit.Array[M]{c.src, w} {
		v := make([]float32, a.Shape.Len())
		for i := range v {
			v[i] = float32(i%11) - 4.5
		}
		if err := t.Kernels.Upload(a, v); err != nil {
			return err
		}
		own[k] = h.upload(a.Shape, v)
	}
	to, filter := h.alloc(c.dst.Shape), h.newFilter(own[1])
	if h.err != nil {
		return h.err
	}
	if err := h.host.Convolve(to, own[0], filter, backend.ConvEnd{}); err != nil {
		return err
	}
	want := make([]float32, c.dst.Shape.Len())
	if err := h.host.Download(want, to); err != nil {
		return err
	}
	if c.filter, err = t.Kernels.NewFilter(w); err != nil {
		return err
	}
	if c.want, err = t.sing(c); err != nil {
		return err
	}
	t.canary = c
	return t.differs("a convolution", c.want, want)
}

// sing computes the result anew.
func (t *Tester[M, F]) sing(c *canary[M, F]) ([]float32, error) {
	if err := t.Kernels.Fill(c.dst, 0); err != nil {
		return nil, err
	}
	if err := t.Kernels.Convolve(c.dst, c.src, c.filter, devicekit.ConvEnd[M]{}); err != nil {
		return nil, err
	}
	got := make([]float32, c.dst.Shape.Len())
	return got, t.Kernels.Download(got, c.dst)
}

// StillComputes returns an error that wraps ErrWrong if the device does not give the result that it gave
// at first: it has stopped to compute, and says nothing.
func (t *Tester[M, F]) StillComputes() error {
	got, err := t.sing(t.canary)
	if err == nil && !slices.Equal(got, t.canary.want) {
		err = fmt.Errorf("%w: it does not repeat a convolution", ErrWrong)
	}
	return err
}
