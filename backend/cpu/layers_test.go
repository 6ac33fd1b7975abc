package cpu

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/arguments"
	"github.com/averaged/imaging/internal/fallback"
)

// layersMaker makes layers with seeded numbers on a device, in memory of wrap.
type layersMaker struct {
	t    testing.TB
	d    *Device
	r    *rand.Rand
	wrap func(n int) []float32
}

func newLayersMaker(t testing.TB, d *Device) *layersMaker {
	return &layersMaker{t, d, rand.New(rand.NewPCG(7, 9)), func(n int) []float32 { return make([]float32, n) }}
}

func (m *layersMaker) buffer(s backend.Shape, scale float64) backend.Buffer {
	v := m.wrap(s.Len())
	for i := range v {
		v[i] = float32(scale * m.r.NormFloat64())
	}
	b, err := m.d.Wrap(s, v)
	require.NoError(m.t, err)
	return b
}

func (m *layersMaker) filter(out, in, size int) backend.Filter {
	s := backend.Shape{N: out, C: in, H: size, W: size}
	f, err := m.d.NewFilter(m.buffer(s, 1/math.Sqrt(float64(in*size*size))))
	require.NoError(m.t, err)
	return f
}

func (m *layersMaker) convolution(out, in, size int) backend.Layer {
	return backend.Layer{
		Filter: m.filter(out, in, size), Bias: m.buffer(backend.Vector(out), 0.3), Activation: backend.Activation{Kind: backend.LeakyReLU, Slope: 0.2},
	}
}

func (m *layersMaker) residual(channels, hidden int) backend.Layer {
	l := m.convolution(hidden, channels, 3)
	l.Kind, l.Second, l.SecondBias = backend.ResidualLayer, m.filter(channels, hidden, 3), m.buffer(backend.Vector(channels), 0.3)
	return l
}

func (m *layersMaker) down(fine, coarse int) backend.Layer {
	return backend.Layer{Kind: backend.DownLayer, Filter: m.filter(coarse, 4*fine, 1), Bias: m.buffer(backend.Vector(coarse), 0.3)}
}

func (m *layersMaker) up(fine, coarse int) backend.Layer {
	return backend.Layer{Kind: backend.UpLayer, Filter: m.filter(4*fine, coarse, 1), Bias: m.buffer(backend.Vector(4*fine), 0.3)}
}

// layersCall is one call of ApplyLayers.
type layersCall struct {
	src            backend.Buffer
	window, region backend.Region
	layers         []backend.Layer
	result         backend.Shape // of dst
	y, x           int
}

// by returns all of dst, −5 where nothing was written, and requires that this is all beside the
// region's place.
func (c layersCall) by(t require.TestingT, d *Device, apply func(ctx context.Context, dst backend.Buffer, y, x int, region backend.Region, src backend.Buffer, window backend.Region, layers []backend.Layer) error) []float32 {
	v := make([]float32, c.result.Len())
	for i := range v {
		v[i] = -5
	}
	dst, err := d.Wrap(c.result, v)
	require.NoError(t, err)
	require.NoError(t, apply(context.Background(), dst, c.y, c.x, c.region, c.src, c.window, c.layers))
	h, w := c.region.Size()
	for i, value := range v {
		y, x := i/c.result.W%c.result.H-c.y, i%c.result.W-c.x
		if y < 0 || x < 0 || y >= h || x >= w {
			require.Equal(t, float32(-5), value, "row %d, column %d of the region", y, x)
		}
	}
	return v
}

func (c layersCall) oneByOne(t require.TestingT, d *Device) []float32 {
	return c.by(t, d, func(ctx context.Context, dst backend.Buffer, y, x int, region backend.Region, src backend.Buffer, window backend.Region, layers []backend.Layer) error {
		return fallback.ApplyLayers(ctx, d, dst, y, x, region, src, window, layers)
	})
}

// spoil fills the memory that the next call borrows with what is no number.
func spoil(t require.TestingT, d *Device) {
	m, err := d.host.borrow(1 << 19)
	require.NoError(t, err)
	for i := range *m.whole {
		(*m.whole)[i] = float32(math.NaN())
	}
	m.giveBack()
}

// drawLayers draws layers that lead from channels on, down to some scales and up again, and
// perhaps to other channels at the end. size has a result's rows and columns.
func drawLayers(m *layersMaker, draw func(name string, from, to int) int, images, channels int, size [2]int) []backend.Layer {
	var list []backend.Layer
	var scale func(channels, depth int, size [2]int)
	scale = func(channels, depth int, size [2]int) {
		for range draw("blocks", 0, 2) {
			list = append(list, m.residual(channels, draw("hidden", 16, 20)))
		}
		coarse := [2]int{(size[0] + 1) / 2, (size[1] + 1) / 2}
		switch draw("below", 0, 3) {
		case 0, 1:
			if depth > 0 {
				next := draw("width", 1, 20)
				list = append(list, m.down(channels, next))
				scale(next, depth-1, coarse)
				list = append(list, m.up(channels, next))
			}
		case 2:
			from := backend.Shape{N: images, C: draw("from", 1, 18), H: coarse[0] + draw("more rows", 0, 3), W: coarse[1] + draw("more columns", 0, 3)}
			l := m.up(channels, from.C)
			l.From, l.Y, l.X = m.buffer(from, 1), from.H-coarse[0], from.W-coarse[1]
			list = append(list, l)
		}
		if len(list) == 0 || draw("block", 0, 1) == 1 {
			l := m.residual(channels, 16)
			l.Bias, l.SecondBias = nil, nil
			list = append(list, l)
		}
	}
	if draw("in", 0, 1) == 1 {
		list = append(list, m.convolution(16, channels, 3))
		channels = 16
	}
	scale(channels, 2, size)
	if draw("out", 0, 1) == 1 {
		list = append(list, m.convolution(16, channels, 3))
	}
	return list
}

// Whatever the layers, the image, the window, the region, the instruction set and what memory had
// in it before: the numbers are those of the layers one by one, the bits those of one thread and of
// the whole region, and nothing else is written.
func TestLayersOfAnyShape(t *testing.T) {
	for _, set := range SetsUnderTest(t) {
		t.Run(set.String(), func(t *testing.T) {
			d, one := open(t, Threads(3), UseInstructionSet(set)), open(t, Threads(1), UseInstructionSet(set))
			defer d.Close()
			defer one.Close()
			rapid.Check(t, func(r *rapid.T) {
				draw := func(name string, from, to int) int { return rapid.IntRange(from, to).Draw(r, name) }
				region := func(name string, h, w int) backend.Region {
					y, x := draw(name+" top", 0, h-1), draw(name+" left", 0, w-1)
					return backend.Region{Y0: y, X0: x, Y1: draw(name+" bottom", y+1, h), X1: draw(name+" right", x+1, w)}
				}
				s := backend.Shape{N: draw("images", 1, 2), C: draw("channels", 1, 20), H: draw("rows", 1, 40), W: draw("columns", 1, 120)}
				makeOn := func(d *Device, record func(name string, from, to int) int) layersCall {
					m := newLayersMaker(t, d)
					c := layersCall{src: m.buffer(s, 1)}
					c.window = s.Whole()
					if record("cut", 0, 1) == 1 {
						c.window = backend.Region{Y0: s.H / 3, Y1: s.H, X0: s.W / 4, X1: s.W - s.W/4}
					}
					h, w := c.window.Size()
					c.layers = drawLayers(m, record, s.N, s.C, [2]int{h, w})
					c.region = backend.Region{Y1: h, X1: w}
					shapes, err := arguments.CheckLayers(backend.Shape{N: s.N, C: lastChannels(c.layers, s.C), H: h, W: w}, 0, 0, c.region, s, c.window, c.layers)
					require.NoError(r, err)
					c.result = shapes[len(shapes)-1]
					return c
				}
				var drawn []int
				c := makeOn(d, func(name string, from, to int) int {
					drawn = append(drawn, draw(name, from, to))
					return drawn[len(drawn)-1]
				})
				same := makeOn(one, func(string, int, int) int {
					v := drawn[0]
					drawn = drawn[1:]
					return v
				})
				wanted := c.oneByOne(r, d)
				spoil(r, d)
				got := c.by(r, d, d.ApplyLayers)
				require.Less(r, normalisedError(got, wanted), 1e-9)
				require.Equal(r, got, same.by(r, one, one.ApplyLayers), "one thread")

				part := c
				part.region = region("region", c.result.H, c.result.W)
				h, w := part.region.Size()
				part.y, part.x = draw("y", 0, 3), draw("x", 0, 3)
				part.result.H, part.result.W = h+part.y+draw("below", 0, 2), w+part.x+draw("beside", 0, 2)
				spoil(r, d)
				values := part.by(r, d, d.ApplyLayers)
				for k := range s.N * c.result.C {
					for y := range h {
						from := got[(k*c.result.H+part.region.Y0+y)*c.result.W+part.region.X0:][:w]
						to := values[(k*part.result.H+part.y+y)*part.result.W+part.x:][:w]
						require.Equal(r, from, to, "plane %d, row %d", k, y)
					}
				}
			})
		})
	}
}

// lastChannels returns the channels that layers end with.
func lastChannels(layers []backend.Layer, channels int) int {
	for _, l := range layers {
		switch s := l.Filter.Shape(); l.Kind {
		case backend.ConvolutionLayer, backend.DownLayer:
			channels = s.N
		case backend.UpLayer:
			channels = s.N / 4
		}
	}
	return channels
}

// unet returns the layers of a network of two scales of 16 and 20 channels, from 3 channels to 7.
func (m *layersMaker) unet() []backend.Layer {
	return []backend.Layer{
		m.convolution(16, 3, 3), m.residual(16, 16), m.down(16, 20), m.residual(20, 17),
		m.up(16, 20), m.residual(16, 16), m.convolution(17, 16, 3),
	}
}

// Layers without a fast path are computed one by one, to the bit.
func TestLayersWithoutFusedPath(t *testing.T) {
	d := open(t, Threads(2))
	defer d.Close()
	m := newLayersMaker(t, d)
	s := backend.Image(3, 13, 17)
	c := layersCall{src: m.buffer(s, 1), window: s.Whole(), region: s.Whole(), result: s}
	c.layers = []backend.Layer{m.convolution(5, 3, 5), m.residual(5, 16), m.down(5, 4), m.up(5, 4), m.convolution(3, 5, 1)}
	require.Equal(t, c.oneByOne(t, d), c.by(t, d, d.ApplyLayers))
}

// What is wrong is an error of its kind, whichever way the layers would go, and leaves dst alone.
func TestLayersRefuse(t *testing.T) {
	d, other := open(t, Threads(1)), open(t, Threads(1))
	defer d.Close()
	defer other.Close()
	m := newLayersMaker(t, d)
	s := backend.Image(3, 13, 17)
	src, result := m.buffer(s, 1), backend.Image(17, 13, 17)
	good := m.unet()
	change := func(k int, f func(l *backend.Layer)) []backend.Layer {
		list := append([]backend.Layer{}, good...)
		f(&list[k])
		return list
	}
	freed, ofOther := m.filter(16, 16, 3), newLayersMaker(t, other).filter(16, 16, 3)
	freed.Free()
	small := m.buffer(backend.Image(20, 6, 9), 1)
	for name, c := range map[string]struct {
		layers []backend.Layer
		window backend.Region
		y      int
		want   error
	}{
		"nothing":          {nil, s.Whole(), 0, backend.ErrArgument},
		"no filter":        {change(0, func(l *backend.Layer) { l.Filter = nil }), s.Whole(), 0, backend.ErrArgument},
		"no second filter": {change(1, func(l *backend.Layer) { l.Second = nil }), s.Whole(), 0, backend.ErrArgument},
		"a kind":           {change(1, func(l *backend.Layer) { l.Kind = 9 }), s.Whole(), 0, backend.ErrArgument},
		"an activation":    {change(1, func(l *backend.Layer) { l.Activation.Slope = 2 }), s.Whole(), 0, backend.ErrArgument},
		"channels":         {good[1:], s.Whole(), 0, backend.ErrShape},
		"the end":          {good[:6], s.Whole(), 0, backend.ErrShape},
		"only up":          {good[4:], s.Whole(), 0, backend.ErrArgument},
		"up without down":  {[]backend.Layer{m.convolution(20, 3, 3), good[4]}, s.Whole(), 0, backend.ErrArgument},
		"a wide way down":  {change(2, func(l *backend.Layer) { l.Filter = m.filter(20, 64, 3) }), s.Whole(), 0, backend.ErrShape},
		"a bias":           {change(1, func(l *backend.Layer) { l.SecondBias = m.buffer(backend.Vector(15), 1) }), s.Whole(), 0, backend.ErrShape},
		"a small from":     {change(4, func(l *backend.Layer) { l.From = small }), s.Whole(), 0, backend.ErrShape},
		"a window":         {good, backend.Region{Y1: 14, X1: 17}, 0, backend.ErrShape},
		"a place":          {good, s.Whole(), 1, backend.ErrShape},
		"a freed filter":   {change(1, func(l *backend.Layer) { l.Second = freed }), s.Whole(), 0, backend.ErrFreed},
		"a foreign filter": {change(1, func(l *backend.Layer) { l.Filter = ofOther }), s.Whole(), 0, backend.ErrForeign},
	} {
		t.Run(name, func(t *testing.T) {
			dst, values := blank(t, d, result)
			err := d.ApplyLayers(t.Context(), dst, c.y, 0, s.Whole(), src, c.window, c.layers)
			require.ErrorIs(t, err, c.want)
			for _, v := range values {
				require.Equal(t, float32(-5), v)
			}
		})
	}
	dst, _ := blank(t, d, result)
	require.ErrorIs(t, d.ApplyLayers(t.Context(), nil, 0, 0, s.Whole(), src, s.Whole(), good), backend.ErrForeign)
	require.ErrorIs(t, d.ApplyLayers(t.Context(), dst, 0, 0, s.Whole(), dst, s.Whole(), []backend.Layer{m.residual(17, 17)}), backend.ErrAlias)
	bias := change(1, func(l *backend.Layer) {
		var err error
		l.Bias, err = d.Wrap(backend.Vector(16), operand(t, d, dst).Data[:16])
		require.NoError(t, err)
	})
	require.ErrorIs(t, d.ApplyLayers(t.Context(), dst, 0, 0, s.Whole(), src, s.Whole(), bias), backend.ErrAlias)
}

// Wherever a context ends or memory is short, no memory stays taken, the progress of the caller is
// not told of, and the next call is not disturbed.
func TestLayersEndInTheMiddle(t *testing.T) {
	d := open(t, Threads(2))
	defer d.Close()
	m := newLayersMaker(t, d)
	s := backend.Shape{N: 2, C: 3, H: 61, W: 40}
	c := layersCall{src: m.buffer(s, 1), window: s.Whole(), region: s.Whole(), layers: m.unet(), result: backend.Shape{N: 2, C: 17, H: 61, W: 40}}
	want := c.by(t, d, d.ApplyLayers)
	kept := d.host.used.Load()
	stopped := 0
	for asked := int64(0); ; asked = 2*asked + 1 {
		inner, end := context.WithCancel(context.Background())
		ctx := &endingContext{Context: inner, end: end}
		ctx.left.Store(asked)
		dst, result := blank(t, d, c.result)
		err := d.ApplyLayers(ctx, dst, 0, 0, c.region, c.src, c.window, c.layers)
		end()
		require.Equal(t, kept, d.host.used.Load())
		if err == nil {
			require.Equal(t, want, result)
			break
		}
		stopped++
		require.ErrorIs(t, err, context.Canceled)
	}
	require.Greater(t, stopped, 5)
	dst, _ := blank(t, d, c.result)
	for _, room := range []int64{1, 1000, 100_000} {
		d.host.limit = kept + room
		require.ErrorIs(t, d.ApplyLayers(t.Context(), dst, 0, 0, c.region, c.src, c.window, c.layers), backend.ErrOutOfMemory)
		require.Equal(t, kept, d.host.used.Load())
	}
	d.host.limit = 0
	ctx, free := backend.WithProgress(t.Context(), func(p backend.Progress) error {
		require.Fail(t, fmt.Sprint("progress ", p.Fraction))
		return nil
	})
	defer free()
	require.NoError(t, d.ApplyLayers(ctx, dst, 0, 0, c.region, c.src, c.window, c.layers))
	require.Equal(t, want, c.by(t, d, d.ApplyLayers))
}

// A part of a wide image, whose rows are computed in several pieces, has the bits of the whole.
func TestLayersOfWideImages(t *testing.T) {
	d := open(t, Threads(2))
	defer d.Close()
	m := newLayersMaker(t, d)
	s := backend.Image(3, 14, 200)
	whole := layersCall{src: m.buffer(s, 1), window: s.Whole(), region: s.Whole(), layers: m.unet(), result: backend.Image(17, 14, 200)}
	want, wanted := whole.by(t, d, d.ApplyLayers), whole.oneByOne(t, d)
	require.Less(t, normalisedError(want, wanted), 1e-9)
	part := whole
	part.region = backend.Region{Y0: 3, Y1: 14, X0: 5, X1: 197}
	part.y, part.x = 3, 5
	require.NoError(t, sameInside(want, part.by(t, d, d.ApplyLayers), whole.result, part.region))
}
