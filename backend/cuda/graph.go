package cuda

import (
	"context"
	"encoding/binary"
	"errors"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cuda/internal/driver"
)

const (
	// graphPixels is the most pixels of all images of a GradientFlow that is kept as a graph:
	// with more, the GPU takes longer over a kernel than the host over its launch.
	graphPixels = 1 << 17
	// maxGraphs is how many are kept. Their scratch may take so many bytes, and no more than
	// this part of the device's memory.
	maxGraphs, graphBytes, graphShare = 32, 256 << 20, 8
)

// graphs are launches of whole networks, recorded to be repeated in one call. A GradientFlow
// on the same arrays, with the same filters, is the same sequence of kernels with the same
// arguments; weights and pixels are in memory and may change. The second time that one is
// seen it is recorded. A graph keeps its scratch memory for itself.
type graphs struct {
	d     *gpu
	kept  map[string]*graph
	seen  map[string]bool // once
	bytes int64
	clock uint64
}

type graph struct {
	handle driver.Graph
	memory *scratch
	used   uint64 // by the clock
}

func newGraphs(d *gpu) graphs {
	return graphs{d: d, kept: map[string]*graph{}, seen: map[string]bool{}}
}

// graphKey tells apart all that the kernels' arguments are made of.
func graphKey(dst, src *buffer, region backend.Region, steps []flowStep) string {
	var key []byte
	words := func(v ...int) {
		for _, w := range v {
			key = binary.NativeEndian.AppendUint64(key, uint64(w))
		}
	}
	numbers := func(v ...float64) {
		for _, x := range v {
			words(int(math.Float64bits(x)))
		}
	}
	array := func(b *buffer) {
		if b == nil {
			words(0)
			return
		}
		s := b.Shape
		words(int(b.pointer()), s.N, s.C, s.H, s.W)
	}
	array(dst)
	array(src)
	words(region.Y0, region.Y1, region.X0, region.X1)
	for _, s := range steps {
		f := s.filter.shape
		words(int(begin(s.filter.block)), f.N, f.C, f.H, f.W, s.tableau.Stages())
		array(s.bias)
		array(s.radius)
		numbers(float64(s.slope), float64(s.size))
		for i := range s.tableau.Stages() {
			numbers(s.tableau.Weight(i))
		}
		for _, row := range s.tableau.A {
			numbers(row...)
		}
	}
	return string(key)
}

// run makes a flow, by a graph if it has been seen before. queue puts it on the stream; again
// makes another one of its kind.
func (g *graphs) run(ctx context.Context, f *flow, key string, queue func(ctx context.Context, f *flow) error, again func() *flow) error {
	if f.shape.N*f.shape.Plane() > graphPixels {
		defer f.memory.free()
		return queue(ctx, f)
	}
	if kept := g.kept[key]; kept != nil {
		defer f.memory.free()
		// As often as it is asked where the steps are queued one by one.
		for range f.stages() {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		return g.launch(kept)
	}
	if !g.seen[key] {
		defer f.memory.free()
		if len(g.seen) >= 4*maxGraphs {
			clear(g.seen)
		}
		g.seen[key] = true
		return queue(ctx, f)
	}
	kept, err := g.record(ctx, f, queue)
	if err != nil {
		f.memory.free()
		if !errors.Is(err, backend.ErrOutOfMemory) {
			return err
		}
		// There is no room beside what the cache and other graphs keep, which they cannot give
		// back while a stream is recorded. So once more without.
		delete(g.seen, key)
		f = again()
		defer f.memory.free()
		return queue(ctx, f)
	}
	if err := g.keep(key, kept); err != nil {
		return err
	}
	return g.launch(kept)
}

func (g *graphs) record(ctx context.Context, f *flow, queue func(ctx context.Context, f *flow) error) (*graph, error) {
	d := g.d
	if err := d.gpu.BeginCapture(d.stream); err != nil {
		return nil, translate(err)
	}
	d.pool.Fixed = true
	err := queue(ctx, f)
	d.pool.Fixed = false
	handle, end := d.gpu.EndCapture(d.stream)
	if end == nil && err != nil {
		end = d.gpu.FreeGraph(handle)
	}
	if err == nil {
		err = translate(end)
	}
	if err != nil {
		return nil, err
	}
	return &graph{handle: handle, memory: f.memory}, nil
}

// keep puts a graph among those that are kept, in place of those that were not used for
// the longest time.
func (g *graphs) keep(key string, kept *graph) error {
	delete(g.seen, key)
	bytes := kept.memory.bytes()
	for len(g.kept) > 0 && (len(g.kept) >= maxGraphs || g.bytes+bytes > min(graphBytes, g.d.limit/graphShare)) {
		oldest := ""
		for k, o := range g.kept {
			if oldest == "" || o.used < g.kept[oldest].used {
				oldest = k
			}
		}
		if err := g.drop(oldest); err != nil {
			return err
		}
	}
	g.kept[key] = kept
	g.bytes += bytes
	return nil
}

func (g *graphs) launch(kept *graph) error {
	g.clock++
	kept.used = g.clock
	return translate(g.d.gpu.LaunchGraph(g.d.stream, kept.handle))
}

// drop forgets a graph. It may be under way.
func (g *graphs) drop(key string) error {
	if err := g.d.synchronize(); err != nil {
		return err
	}
	kept := g.kept[key]
	delete(g.kept, key)
	g.bytes -= kept.memory.bytes()
	kept.memory.free()
	return translate(g.d.gpu.FreeGraph(kept.handle))
}

// reclaim gives the scratch memory of all graphs back, for a request that finds no other. It
// reports whether there was any.
func (g *graphs) reclaim() bool {
	if g.d.pool.Fixed || len(g.kept) == 0 {
		return false
	}
	for key := range g.kept {
		if g.drop(key) != nil {
			return false // the request fails, and the error comes up again at the next call
		}
	}
	return true
}

// free gives the graphs back; no work may be under way.
func (g *graphs) free() []error {
	var errs []error
	for _, kept := range g.kept {
		errs = append(errs, g.d.gpu.FreeGraph(kept.handle))
	}
	clear(g.kept)
	return errs
}
