package vulkan

import (
	"fmt"
	"slices"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/devicekit"
)

// canary is a small convolution whose result is known. A device that has stopped to compute, and says
// nothing, is found out by it when an image is downloaded.
type canary struct {
	src, dst array
	filter   *filter
	want     []float32
}

// newCanary is called when the device has been compared with the processor.
func (g *gpu) newCanary() (err error) {
	c := &canary{src: array{Shape: backend.Image(4, 8, 8)}, dst: array{Shape: backend.Image(8, 8, 8)}}
	w := array{Shape: backend.Shape{N: 8, C: 4, H: 3, W: 3}}
	for _, a := range []*array{&c.src, &c.dst, &w} {
		if a.Data, err = g.alloc(a.Shape.Len()); err != nil {
			return err
		}
	}
	defer g.Free(w.Data)
	for _, a := range []array{c.src, w} {
		v := make([]float32, a.Shape.Len())
		for i := range v {
			v[i] = float32(i%11) - 4.5
		}
		if err := g.upload(a.Data, bytesOf(v)); err != nil {
			return err
		}
	}
	if c.filter, err = g.NewFilter(w); err != nil {
		return err
	}
	if c.want, err = g.sing(c); err == nil {
		g.canary = c
	}
	return err
}

// sing computes the result anew.
func (g *gpu) sing(c *canary) ([]float32, error) {
	if err := g.Fill(c.dst, 0); err != nil {
		return nil, err
	}
	if err := g.Convolve(c.dst, c.src, c.filter, devicekit.ConvEnd[memory]{}); err != nil {
		return nil, err
	}
	got := make([]float32, c.dst.Shape.Len())
	return got, g.download(bytesOf(got), c.dst.Data)
}

// stillComputes returns a fault if the device does not give the result that it gave at first.
func (g *gpu) stillComputes() error {
	if g.canary == nil || !g.worked {
		return nil
	}
	got, err := g.sing(g.canary)
	if err != nil {
		return err
	}
	g.worked = false
	if !slices.Equal(got, g.canary.want) {
		return g.try(fmt.Errorf("%w: it does not repeat a convolution", ErrWrong))
	}
	return nil
}
