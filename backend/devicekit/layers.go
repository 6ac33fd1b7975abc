package devicekit

import (
	"context"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/arguments"
	"github.com/averaged/imaging/internal/fallback"
)

// ApplyLayers implements backend.Layered.
func (d *Device[M, F]) ApplyLayers(ctx context.Context, dst backend.Buffer, y, x int, region backend.Region, src backend.Buffer, window backend.Region, layers []backend.Layer) error {
	if fused, err := d.fusedLayers(ctx, dst, y, x, region, src, window, layers); fused || err != nil {
		return err
	}
	return fallback.ApplyLayers(ctx, d, dst, y, x, region, src, window, layers)
}

// fusedLayers applies layers if the kernels take them.
func (d *Device[M, F]) fusedLayers(ctx context.Context, dst backend.Buffer, y, x int, region backend.Region, src backend.Buffer, window backend.Region, layers []backend.Layer) (bool, error) {
	c := d.begin()
	defer c.end()
	to, from := c.buffer(dst), c.buffer(src)
	own, reads := c.layers(layers)
	c.apart(to, append(reads, from)...)
	if c.err != nil {
		return false, c.err
	}
	after, err := arguments.CheckLayers(to.shape, y, x, region, from.shape, window, layers)
	if err != nil {
		return false, err
	}
	before := from.shape
	before.H, before.W = window.Size()
	for k := range own {
		own[k].Before, own[k].After = before, after[k]
		before = after[k]
	}
	k, ok := d.kernels.(Layerings[M, F])
	if !ok || !k.MakesLayers(own) {
		return false, nil
	}
	return true, k.ApplyLayers(ctx, to.array(), y, x, region, from.array(), window, own)
}

// layers returns the device's own of layers, and the buffers that they read.
func (c *call[M, F]) layers(layers []backend.Layer) ([]Layer[M, F], []*buffer[M, F]) {
	own := make([]Layer[M, F], len(layers))
	var reads []*buffer[M, F]
	filter := func(f backend.Filter) (none F) {
		if f == nil { // where one is needed, CheckLayers says so
			return none
		}
		return c.filter(f).own
	}
	for k, l := range layers {
		o := Layer[M, F]{Kind: l.Kind, Filter: filter(l.Filter), Second: filter(l.Second), Activation: l.Activation, Y: l.Y, X: l.X}
		for _, v := range []struct {
			from backend.Buffer
			to   **Array[M]
		}{{l.Bias, &o.Bias}, {l.SecondBias, &o.SecondBias}, {l.From, &o.From}} {
			var read *buffer[M, F]
			read, *v.to = c.optional(v.from)
			reads = append(reads, read)
		}
		own[k] = o
	}
	return own, reads
}
