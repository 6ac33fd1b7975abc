package spread

import (
	"context"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/arguments"
)

// ApplyLayers implements backend.Layered. A piece of the result goes to a worker with the window that
// its layers reach to. That would be most of an image for layers of several scales, so that what is
// kept for a way up, and what is made below it, are arrays of their own.
func (d *Device) ApplyLayers(ctx context.Context, dst backend.Buffer, y, x int, region backend.Region, src backend.Buffer, window backend.Region, layers []backend.Layer) error {
	own := make([]backend.Layer, len(layers))
	for i, l := range layers {
		own[i] = l
		var err error
		if own[i].Filter, err = d.ofHost(l.Filter); err != nil {
			return err
		}
		if own[i].Second, err = d.ofHost(l.Second); err != nil {
			return err
		}
	}
	if dst == nil || src == nil {
		return d.Host.ApplyLayers(ctx, dst, y, x, region, src, window, own)
	}
	shapes, err := arguments.CheckLayers(dst.Shape(), y, x, region, src.Shape(), window, layers)
	if err != nil {
		return err
	}
	if layersWork(shapes, layers) < d.least {
		return d.Host.ApplyLayers(ctx, dst, y, x, region, src, window, own)
	}
	var sources []backend.Buffer
	for _, l := range layers {
		sources = append(sources, l.Bias, l.SecondBias, l.From)
	}
	if err := arguments.CheckApart(d.Host, dst, append(sources, src)...); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if down, up, ok := scaleBelow(layers); ok {
		return d.applyScales(ctx, dst, y, x, region, src, window, layers, shapes, down, up)
	}
	start := src.Shape()
	start.H, start.W = window.Size()
	grid := d.ConvolutionGrid()
	s := d.spread(dst, cutting{of: src, y: window.Y0, x: window.X0})
	s.y, s.x = y-region.Y0, x-region.X0
	for _, l := range layers {
		made, err := s.layer(l)
		if err != nil {
			return err
		}
		s.job.Layers = append(s.job.Layers, made)
		if l.Kind == backend.DownLayer {
			s.halvings++
		}
	}
	s.grid = grid << (s.halvings + 1) // as a way up may come from the scale below the last
	s.reach = func(r backend.Region) backend.Region { return layersReach(r, layers, grid, start, shapes) }
	s.pieces = pieces(region, d.count, grid, func(r backend.Region) float64 { return area(s.reach(r)) })
	// What a device tells of some layers says nothing of what the caller has under way.
	return s.run(backend.WithoutProgress(ctx))
}

// scaleBelow returns the first way down from which a way up comes back, and that way up.
func scaleBelow(layers []backend.Layer) (down, up int, ok bool) {
	var ways []int // down
	for k, l := range layers {
		switch {
		case l.Kind == backend.DownLayer:
			ways = append(ways, k)
		case l.Kind == backend.UpLayer && l.From == nil:
			n := len(ways) - 1
			if down, up, ok = ways[n], k, true; n == 0 {
				return down, up, ok
			}
			ways = ways[:n]
		}
	}
	return down, up, ok
}

// applyScales is ApplyLayers in three calls: to what is kept at a way down, from there to what the
// way up to it is made of, and from both to the end.
func (d *Device) applyScales(ctx context.Context, dst backend.Buffer, y, x int, region backend.Region, src backend.Buffer, window backend.Region, layers []backend.Layer, shapes []backend.Shape, down, up int) error {
	shape := src.Shape()
	shape.H, shape.W = window.Size()
	if down > 0 {
		shape = shapes[down-1]
	}
	kept, err := d.Alloc(shape)
	if err != nil {
		return err
	}
	defer kept.Free()
	if down > 0 {
		err = d.ApplyLayers(ctx, kept, 0, 0, shape.Whole(), src, window, layers[:down])
	} else {
		err = d.CopyRegion(kept, 0, 0, src, window)
	}
	if err != nil {
		return err
	}
	below, err := d.Alloc(shapes[up-1])
	if err != nil {
		return err
	}
	defer below.Free()
	if err := d.ApplyLayers(ctx, below, 0, 0, below.Shape().Whole(), kept, shape.Whole(), layers[down:up]); err != nil {
		return err
	}
	rest := append([]backend.Layer(nil), layers[up:]...)
	rest[0].From, rest[0].Y, rest[0].X = below, 0, 0
	return d.ApplyLayers(ctx, dst, y, x, region, kept, shape.Whole(), rest)
}

// ofHost returns the host's filter, nil for none: it says what is wrong with that.
func (d *Device) ofHost(f backend.Filter) (backend.Filter, error) {
	if f == nil {
		return nil, nil
	}
	own, err := d.own(f)
	if err != nil {
		return nil, err
	}
	return own.Filter, nil
}

// layersWork is the number of multiplications of layers, as direct convolutions.
func layersWork(shapes []backend.Shape, layers []backend.Layer) float64 {
	work := 0.0
	for k, l := range layers {
		pixels := float64(shapes[k].N * shapes[k].Plane())
		if l.Kind == backend.UpLayer {
			pixels /= 4
		}
		work += pixels * float64(l.Filter.Shape().Len())
		if l.Second != nil {
			work += pixels * float64(l.Second.Shape().Len())
		}
	}
	return work
}

// layersReach returns what layers read of an image of shape start to compute r of the end to the
// bit, where no way up comes back from a way down. Shapes are those after every layer. The 1×1
// convolutions of ways down and up read nothing beside a pixel, and package internal/nn/guide counts on
// it, too.
func layersReach(r backend.Region, layers []backend.Layer, grid int, start backend.Shape, shapes []backend.Shape) backend.Region {
	convolved := func(f backend.Filter, s backend.Shape) {
		r = r.Reach(max(f.Shape().H, f.Shape().W)/2, grid, s)
	}
	for k := len(layers) - 1; k >= 0; k-- {
		l, before := layers[k], start
		if k > 0 {
			before = shapes[k-1]
		}
		switch l.Kind {
		case backend.ConvolutionLayer:
			convolved(l.Filter, before)
		case backend.ResidualLayer:
			convolved(l.Second, before)
			convolved(l.Filter, before)
		case backend.DownLayer:
			r = backend.Region{Y0: 2 * r.Y0, Y1: min(before.H, 2*r.Y1), X0: 2 * r.X0, X1: min(before.W, 2*r.X1)}
		}
	}
	return r
}

// layer returns a layer for the job, whose arrays it adds. The layers before it are there.
func (s *spreading) layer(from backend.Layer) (Layer, error) {
	l := Layer{Kind: from.Kind, Activation: from.Activation, Bias: none, Second: none, SecondBias: none, From: none}
	var err error
	if l.Filter, err = s.addFilter(from.Filter); err != nil {
		return l, err
	}
	if from.Bias != nil {
		if l.Bias, err = s.addWhole(from.Bias); err != nil {
			return l, err
		}
	}
	if from.Second != nil {
		if l.Second, err = s.addFilter(from.Second); err != nil {
			return l, err
		}
	}
	if from.SecondBias != nil {
		if l.SecondBias, err = s.addWhole(from.SecondBias); err != nil {
			return l, err
		}
	}
	if from.From != nil {
		l.From, err = s.addCut(cutting{of: from.From, y: from.Y, x: from.X, halvings: s.halvings + 1})
	}
	return l, err
}
