package cpu

import (
	"context"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/backendtest/refdevice"
	"github.com/averaged/imaging/backend/cpu/internal/winograd"
	"github.com/averaged/imaging/internal/fallback"
)

// made makes the steps on the source inside a region and returns the result, −5 where
// nothing was written.
func made(t testing.TB, d *Device, src backend.Buffer, region backend.Region, steps []backend.FlowStep) []float32 {
	dst, result := blank(t, d, src.Shape())
	require.NoError(t, d.GradientFlow(context.Background(), dst, src, region, steps))
	return result
}

// Chunks may have any height: all tile rows and more, in which case stages that end
// before the next begins share their memory, and any less.
func TestChunksOfAnyHeight(t *testing.T) {
	d := open(t, Threads(2))
	defer d.Close()
	steps := network(t, d, 16, 16, 3, 16, 16)
	steps[2].Tableau = heun
	stages := 5
	for _, h := range []int{1, 31} {
		s := backend.Image(3, h, 13)
		src := picture(t, d, s)
		d.host.flowShape = flowShape{}
		want := made(t, d, src, s.Whole(), steps)
		part := backend.Region{Y0: h / 2, Y1: h, X0: 3, X1: 9}
		for chunk := 1; chunk <= tilesOf(0, h).to+2*stages+1; chunk++ {
			if testing.Short() && chunk%4 != 1 {
				continue // the order of the work is the same on every processor; go test ./... has all
			}
			for _, f := range []flowShape{{chunk, 100, 1}, {chunk, 1, 2}} {
				d.host.flowShape = f
				require.Equal(t, want, made(t, d, src, s.Whole(), steps), "%d rows, %+v", h, f)
				require.NoError(t, sameInside(want, made(t, d, src, part, steps), s, part), "%d rows, %+v", h, f)
			}
		}
	}
}

// Whatever the network, the image, the region, and the sizes of chunks, strips and
// passes: the bits are those of the whole image at the sizes that are chosen, which are
// the numbers that come out layer by layer.
func TestFlowsOfAnyShape(t *testing.T) {
	d := open(t, Threads(2))
	defer d.Close()
	tableaux := []backend.Tableau{{}, heun, rk4, odd, idle}
	rapid.Check(t, func(r *rapid.T) {
		draw := func(name string, from, to int) int { return rapid.IntRange(from, to).Draw(r, name) }
		s := backend.Shape{N: draw("images", 1, 2), C: draw("channels", 1, 5), H: draw("rows", 1, 70), W: draw("columns", 1, 40)}
		var hidden []int
		for range draw("steps", 1, 4) {
			hidden = append(hidden, draw("hidden", 1, 20))
		}
		steps := network(t, d, draw("width", 16, 18), hidden...)
		defer func() {
			for _, s := range steps {
				s.Filter.Free()
			}
		}()
		for k := range steps {
			steps[k].Tableau = tableaux[draw("tableau", 0, len(tableaux)-1)]
			if size := draw("group", 0, 4); size > 0 { // 4 and more are fused
				project(t, d, steps[k:k+1], []int{2, 4, 8, 16}[size-1], 0.6)
			}
		}
		if draw("maps", 0, 1) == 1 {
			projectByMaps(t, d, steps, s, 0.6)
		}
		src := picture(t, d, s)
		want, wanted := blank(t, d, s)
		require.NoError(r, fallback.GradientFlow(context.Background(), d, want, src, s.Whole(), steps))
		d.host.flowShape = flowShape{}
		whole := made(t, d, src, s.Whole(), steps)
		require.Less(r, normalisedError(whole, wanted), 1e-9)
		region := backend.Region{Y0: draw("top", 0, s.H-1), X0: draw("left", 0, s.W-1)}
		region.Y1, region.X1 = draw("bottom", region.Y0+1, s.H), draw("right", region.X0+1, s.W)
		d.host.flowShape = flowShape{draw("chunk", 0, 20), draw("strip", 0, 5), draw("band", 0, 4)}
		require.NoError(r, sameInside(whole, made(t, d, src, region, steps), s, region))
	})
}

// sameInside requires the bits of want in a region, and −5 elsewhere.
func sameInside(want, got []float32, s backend.Shape, r backend.Region) error {
	for i, v := range got {
		y, x := i/s.W%s.H, i%s.W
		w := float32(-5)
		if y >= r.Y0 && y < r.Y1 && x >= r.X0 && x < r.X1 {
			w = want[i]
		}
		if math.Float32bits(v) != math.Float32bits(w) {
			return fmt.Errorf("row %d, column %d of plane %d is %v, want %v", y, x, i/s.Plane(), v, w)
		}
	}
	return nil
}

// An image that is lower than a chunk but too wide for the cache, at the sizes that are
// chosen where nothing is set.
func TestLowAndWideImage(t *testing.T) {
	if testing.Short() {
		t.Skip("an image that fills a cache, whose sizes are chosen alike on every processor: go test ./... has it")
	}
	d := open(t, Threads(2))
	defer d.Close()
	steps := network(t, d, 64, 16, 16, 16, 16, 16)
	s := backend.Image(3, 61, 600)
	require.Greater(t, s.Plane()*64*4, smallBytes)
	src := picture(t, d, s)
	want, wanted := blank(t, d, s)
	require.NoError(t, fallback.GradientFlow(context.Background(), d, want, src, s.Whole(), steps))
	for i, v := range made(t, d, src, s.Whole(), steps) {
		require.InDelta(t, wanted[i], v, 1e-4, "sample %d", i)
	}
}

// Channel counts around those that fill a block, images of less than a tile and of one
// row or column, and batches, against the device of plain loops in float64.
func TestOddShapes(t *testing.T) {
	reference := refdevice.New(refdevice.Options{})
	defer func() { require.NoError(t, reference.Close()) }()
	for _, c := range []struct {
		n, h, w, in, out int
	}{
		{1, 1, 1, 100, 1}, {1, 1, 1, 1, 100}, {3, 1, 1, 17, 15}, {1, 1, 481, 15, 17}, {1, 481, 1, 1, 16},
		{1, 5, 7, 100, 17}, {2, 5, 7, 17, 100}, {2, 6, 13, 16, 1}, {1, 7, 6, 15, 15}, {4, 3, 19, 1, 17},
	} {
		x := backend.Shape{N: c.n, C: c.in, H: c.h, W: c.w}
		y := backend.Shape{N: c.n, C: c.out, H: c.h, W: c.w}
		want := allOperations(t, reference, x, y)
		for _, set := range SetsUnderTest(t) {
			t.Run(fmt.Sprint(set, c), func(t *testing.T) {
				d := open(t, UseInstructionSet(set), Threads(3))
				defer d.Close()
				got := allOperations(t, d, x, y)
				for k := range want {
					require.Less(t, normalisedError(got[k], want[k]), 1e-9, "operation %d", k)
				}
			})
		}
	}
}

// allOperations returns the results of what a 3×3 filter from x to y does: A, Aᵀ, Euler
// steps of both kinds of filters, and the filter's gradient.
func allOperations(t *testing.T, d backend.Device, x, y backend.Shape) [][]float32 {
	var owned []backend.Buffer
	defer func() {
		for _, b := range owned {
			b.Free()
		}
	}()
	put := func(s backend.Shape, scale float32) backend.Buffer {
		b, err := d.Alloc(s)
		require.NoError(t, err)
		owned = append(owned, b)
		require.NoError(t, d.Gaussian(b, uint64(s.Len()), 0, scale))
		return b
	}
	weights := backend.Shape{N: y.C, C: x.C, H: 3, W: 3}
	w := put(weights, 1/(3*float32(math.Sqrt(float64(max(x.C, y.C))))))
	f, err := d.NewFilter(w)
	require.NoError(t, err)
	defer f.Free()
	in, out, bias := put(x, 1), put(y, 1), put(backend.Vector(y.C), 0.2)
	leaky := backend.Activation{Kind: backend.LeakyReLU, Slope: 0.1}
	step := backend.FlowStep{Filter: f, Bias: bias, Activation: leaky, Size: 0.4}
	var results [][]float32
	result := func(s backend.Shape, call func(dst backend.Buffer) error) {
		dst := put(s, 1)
		require.NoError(t, call(dst))
		v := make([]float32, s.Len())
		require.NoError(t, d.Download(v, dst))
		results = append(results, v)
	}
	result(y, func(dst backend.Buffer) error {
		return d.Convolve(dst, in, f, backend.ConvEnd{Bias: bias, Activation: leaky})
	})
	result(x, func(dst backend.Buffer) error { return d.ConvolveAdjoint(dst, out, f, 0, 1) })
	result(x, func(dst backend.Buffer) error { return d.ConvolveAdjoint(dst, out, f, -0.5, 0.7) })
	result(weights, func(dst backend.Buffer) error { return d.FilterGradient(dst, in, out, 0.5, 0.3) })
	result(x, func(dst backend.Buffer) error {
		return d.GradientFlow(context.Background(), dst, in, x.Whole(), []backend.FlowStep{step, step})
	})
	balls := backend.FlowStep{Filter: f, Bias: bias, Size: 0.4}
	for _, groups := range []int{1, y.C} {
		balls.Radius = put(backend.Vector(groups), 1)
		require.NoError(t, d.Fill(balls.Radius, 0.8*float32(math.Sqrt(float64(y.C/groups)))))
		result(x, func(dst backend.Buffer) error {
			return d.GradientFlow(context.Background(), dst, in, x.Whole(), []backend.FlowStep{balls, step, balls})
		})
	}
	rk := step
	rk.Tableau = odd
	result(x, func(dst backend.Buffer) error {
		return d.GradientFlow(context.Background(), dst, in, x.Whole(), []backend.FlowStep{rk, step})
	})
	return results
}

// normalisedError is Σ(a−b)²/Σb².
func normalisedError(a, b []float32) float64 {
	errors, energy := 0.0, 0.0
	for i, v := range b {
		e := float64(a[i]) - float64(v)
		errors += e * e
		energy += float64(v) * float64(v)
	}
	return errors / energy
}

// Threads beyond those that there is work for change neither bits nor, much, memory.
func TestManyThreads(t *testing.T) {
	shape := backend.Shape{N: 2, C: 3, H: 41, W: 100}
	region := backend.Region{Y0: 3, Y1: 40, X0: 50, X1: 53}
	var whole, part []float32
	for _, threads := range []int{1, 7, 64} {
		d := open(t, Threads(threads))
		steps := network(t, d, 16, 16, 20, 16)
		src := picture(t, d, shape)
		a, b := made(t, d, src, shape.Whole(), steps), made(t, d, src, region, steps)
		if threads == 1 {
			whole, part = a, b
		}
		require.Equal(t, whole, a, "%d threads", threads)
		require.Equal(t, part, b, "%d threads", threads)
		require.NoError(t, d.Close())
	}
	// A narrow region of a large image, of which nothing is computed here.
	var bytes [2]int64
	for i, threads := range []int{1, 64} {
		d := open(t, Threads(threads))
		var plan []flowStep
		for range 4 {
			plan = append(plan, flowStep{forward: &bank{in: 64, out: 64}, back: &bank{in: 64, out: 64}})
		}
		b := &buffer{Shape: backend.Image(3, 6000, 6000)}
		r := backend.Region{Y1: 6000, X0: 3000, X1: 3006}
		f, err := d.host.newFlow(asItIs(b), asItIs(b), 0, r, tilesOf(r.X0, r.X1), newFlowPlan(plan, 3, 3))
		require.NoError(t, err)
		bytes[i] = 4 * int64(len(f.memory.floats))
		f.memory.giveBack()
		require.NoError(t, d.Close())
	}
	require.Less(t, bytes[0], int64(32<<20))
	// For each thread a group of tiles of each stage, twice over.
	tile := int64(4 * 64 * winograd.Tile * winograd.Tile)
	require.Less(t, bytes[1]-bytes[0], 2*64*group*4*tile)
}

// Scratch memory counts. Where there is too little of it the call says so, leaves
// nothing taken, and the device works on.
func TestScratchMemoryLimit(t *testing.T) {
	d := open(t, Threads(2))
	defer d.Close()
	s := backend.Image(3, 31, 100)
	src := picture(t, d, s)
	for _, fast := range []bool{true, false} {
		width := 16
		if !fast {
			width = 5
		}
		steps := network(t, d, width, width, width)
		want := made(t, d, src, s.Whole(), steps)
		kept := d.host.used.Load()
		dst, _ := blank(t, d, s)
		for _, room := range []int64{1, 1000, 100_000} {
			d.host.limit = kept + room
			err := d.GradientFlow(context.Background(), dst, src, s.Whole(), steps)
			require.ErrorIs(t, err, backend.ErrOutOfMemory, "width %d, %d bytes left", width, room)
			require.Equal(t, kept, d.host.used.Load())
		}
		w, err := d.Wrap(steps[0].Filter.Shape(), make([]float32, steps[0].Filter.Shape().Len()))
		require.NoError(t, err)
		d.host.limit = kept + 1
		_, err = d.NewFilter(w)
		require.ErrorIs(t, err, backend.ErrOutOfMemory)
		require.Equal(t, kept, d.host.used.Load())
		d.host.limit = 0
		require.Equal(t, want, made(t, d, src, s.Whole(), steps))
		require.Equal(t, kept, d.host.used.Load())
		for _, step := range steps {
			step.Filter.Free()
			step.Filter.Free()
		}
		require.Zero(t, d.host.used.Load())
		require.ErrorIs(t, d.GradientFlow(context.Background(), dst, src, s.Whole(), steps), backend.ErrFreed)
		require.Zero(t, d.host.used.Load())
	}
}

// endingContext is a context that ends when it has been asked so many times.
type endingContext struct {
	context.Context
	end  context.CancelFunc
	left atomic.Int64
}

func (c *endingContext) Err() error {
	if c.left.Add(-1) < 0 {
		c.end()
	}
	return c.Context.Err()
}

// Wherever a context ends, nothing outside the region is touched, no memory stays
// taken, and the next call is not disturbed by what the stopped one left behind.
func TestContextEndsInTheMiddle(t *testing.T) {
	d := open(t, Threads(2))
	defer d.Close()
	s := backend.Shape{N: 2, C: 3, H: 31, W: 24}
	region := backend.Region{Y0: 2, Y1: 30, X0: 1, X1: 23}
	steps := network(t, d, 16, 16, 16, 16)
	src := picture(t, d, s)
	d.host.flowShape = flowShape{2, 2, 1}
	want := made(t, d, src, region, steps)
	kept := d.host.used.Load()
	stopped := 0
	for asked := int64(0); ; asked = 2*asked + 1 {
		inner, end := context.WithCancel(context.Background())
		ctx := &endingContext{Context: inner, end: end}
		ctx.left.Store(asked)
		dst, result := blank(t, d, s)
		err := d.GradientFlow(ctx, dst, src, region, steps)
		end()
		require.Equal(t, kept, d.host.used.Load())
		if err == nil {
			require.Equal(t, want, result)
			break
		}
		stopped++
		require.ErrorIs(t, err, context.Canceled)
		for i, v := range result {
			y, x := i/s.W%s.H, i%s.W
			if y < region.Y0 || y >= region.Y1 || x < region.X0 || x >= region.X1 {
				require.Equal(t, float32(-5), v, "row %d, column %d", y, x)
			}
		}
		require.Equal(t, want, made(t, d, src, region, steps))
	}
	require.Greater(t, stopped, 5)
}

// Several goroutines use one device, with networks and images of their own and with a
// filter that all share, while others run out of time.
func TestConcurrentFlows(t *testing.T) {
	d := open(t, Threads(3))
	defer d.Close()
	type job struct {
		steps  []backend.FlowStep
		src    backend.Buffer
		region backend.Region
		want   []float32
	}
	var jobs []job
	for k, s := range []backend.Shape{backend.Image(3, 31, 20), backend.Image(1, 7, 120), {N: 2, C: 3, H: 5, W: 7}, backend.Image(3, 61, 13)} {
		j := job{steps: network(t, d, 16+k, 16, 3+k, 16), src: picture(t, d, s), region: s.Whole()}
		if k == 3 {
			j.steps[1].Tableau = odd
			j.region.Y0 = 11
		}
		j.want = made(t, d, j.src, j.region, j.steps)
		jobs = append(jobs, j)
	}
	// The first two have the same filters.
	jobs[1].steps = jobs[0].steps
	jobs[1].want = made(t, d, jobs[1].src, jobs[1].region, jobs[1].steps)
	kept := d.host.used.Load()
	over, end := context.WithCancel(context.Background())
	end()
	var wg sync.WaitGroup
	errs := make([]error, 2*len(jobs))
	for g := range errs {
		j := jobs[g%len(jobs)]
		dst, result := blank(t, d, j.src.Shape())
		other, _ := blank(t, d, j.src.Shape())
		wg.Go(func() {
			for range 3 {
				if err := d.GradientFlow(over, other, j.src, j.region, j.steps); err != context.Canceled {
					errs[g] = fmt.Errorf("a context that is over gives %w", err)
					return
				}
				clear(result)
				if errs[g] = d.GradientFlow(context.Background(), dst, j.src, j.region, j.steps); errs[g] != nil {
					return
				}
				for i, v := range j.want {
					if v != -5 && v != result[i] {
						errs[g] = fmt.Errorf("sample %d is %v, want %v", i, result[i], v)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	for g, err := range errs {
		require.NoError(t, err, "goroutine %d", g)
	}
	require.Equal(t, kept, d.host.used.Load())
}
