package spread_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/internal/spread"
)

// layersMaker makes layers on a device, with the same numbers on any.
type layersMaker struct {
	t   require.TestingT
	dev backend.Device
	r   *rand.Rand
}

func newLayersMaker(t require.TestingT, dev backend.Device) *layersMaker {
	return &layersMaker{t, dev, rand.New(rand.NewPCG(3, 5))}
}

func (m *layersMaker) buffer(s backend.Shape, scale float64) backend.Buffer {
	v := make([]float32, s.Len())
	for i := range v {
		v[i] = float32(scale * m.r.NormFloat64())
	}
	b, err := m.dev.Alloc(s)
	require.NoError(m.t, err)
	require.NoError(m.t, m.dev.Upload(b, v))
	return b
}

func (m *layersMaker) layer(kind backend.LayerKind, out, in, size int) backend.Layer {
	s := backend.Shape{N: out, C: in, H: size, W: size}
	f, err := m.dev.NewFilter(m.buffer(s, 1/math.Sqrt(float64(in*size*size))))
	require.NoError(m.t, err)
	return backend.Layer{Kind: kind, Filter: f, Bias: m.buffer(backend.Vector(out), 0.3)}
}

func (m *layersMaker) residual(channels, hidden, size int) backend.Layer {
	l, second := m.layer(backend.ResidualLayer, hidden, channels, size), m.layer(backend.ResidualLayer, channels, hidden, size)
	l.Activation = backend.Activation{Kind: backend.LeakyReLU, Slope: 0.1}
	l.Second, l.SecondBias = second.Filter, second.Bias
	return l
}

// up is a way up, from a buffer of its own where from is its shape.
func (m *layersMaker) up(fine, coarse int, from *backend.Shape, y, x int) backend.Layer {
	l := m.layer(backend.UpLayer, 4*fine, coarse, 1)
	if from != nil {
		l.From, l.Y, l.X = m.buffer(*from, 1), y, x
	}
	return l
}

// The forms of layers that guides have: all scales, the way down, and through a scale to what lies
// below; and some that no fused path is for.
var formsOfLayers = map[string]func(m *layersMaker, images, h, w int) []backend.Layer{
	"all scales": func(m *layersMaker, _, _, _ int) []backend.Layer {
		return []backend.Layer{
			m.layer(backend.ConvolutionLayer, 16, 4, 3), m.residual(16, 16, 3),
			m.layer(backend.DownLayer, 20, 64, 1), m.residual(20, 20, 3),
			m.layer(backend.DownLayer, 24, 80, 1), m.residual(24, 17, 3),
			m.up(20, 24, nil, 0, 0), m.residual(20, 20, 3),
			m.up(16, 20, nil, 0, 0), m.residual(16, 16, 3), m.layer(backend.ConvolutionLayer, 5, 16, 3),
		}
	},
	"down": func(m *layersMaker, _, _, _ int) []backend.Layer {
		return []backend.Layer{m.layer(backend.ConvolutionLayer, 16, 4, 3), m.residual(16, 16, 3), m.layer(backend.DownLayer, 20, 64, 1)}
	},
	"through": func(m *layersMaker, images, h, w int) []backend.Layer {
		below := backend.Shape{N: images, C: 18, H: (h+1)/2 + 3, W: (w+1)/2 + 2}
		return []backend.Layer{
			m.layer(backend.ConvolutionLayer, 16, 4, 3), m.residual(16, 16, 3), m.up(16, 18, &below, 3, 1), m.residual(16, 16, 3),
			m.layer(backend.ConvolutionLayer, 7, 16, 3),
		}
	},
	"one by one": func(m *layersMaker, _, h, w int) []backend.Layer {
		return []backend.Layer{
			m.layer(backend.ConvolutionLayer, 3, 4, 5), m.layer(backend.DownLayer, 4, 12, 1), m.residual(4, 5, 3), m.up(3, 4, nil, 0, 0),
			m.layer(backend.ConvolutionLayer, 2, 3, 1),
		}
	},
}

// layersCall is a call of ApplyLayers.
type layersCall struct {
	form           string
	src            backend.Shape
	window, region backend.Region
	y, x           int
}

// by returns all of dst, −5 where nothing was written, and what the call says.
func (c layersCall) by(t require.TestingT, ctx context.Context, dev backend.Device) ([]float32, error) {
	m := newLayersMaker(t, dev)
	src := m.buffer(c.src, 1)
	h, w := c.window.Size()
	layers := formsOfLayers[c.form](m, c.src.N, h, w)
	s := c.src
	h, w = c.region.Size()
	s.C, s.H, s.W = layers[len(layers)-1].Filter.Shape().N, h+c.y+1, w+c.x+2
	dst, err := dev.Alloc(s)
	require.NoError(t, err)
	require.NoError(t, dev.Fill(dst, -5))
	err = dev.ApplyLayers(ctx, dst, c.y, c.x, c.region, src, c.window, layers)
	v := make([]float32, s.Len())
	require.NoError(t, dev.Download(v, dst))
	return v, err
}

// However many workers there are, layers have the bits of the host alone, and nothing beside the
// part of dst is written.
func TestLayersHaveTheBitsOfTheHost(t *testing.T) {
	for form := range formsOfLayers {
		t.Run(form, func(t *testing.T) {
			t.Parallel()
			host := cputest.Open(t, cpu.Threads(1))
			defer host.Close()
			grid := host.ConvolutionGrid()
			rapid.Check(t, func(t *rapid.T) {
				draw := func(name string, from, to int) int { return rapid.IntRange(from, to).Draw(t, name) }
				region := func(name string, h, w int) backend.Region {
					y, x := draw(name+" top", 0, h-1), draw(name+" left", 0, w-1)
					return backend.Region{Y0: y, X0: x, Y1: draw(name+" bottom", y+1, h), X1: draw(name+" right", x+1, w)}
				}
				c := layersCall{form: form, src: backend.Shape{N: draw("images", 1, 2), C: 4, H: draw("rows", 1, 70), W: draw("columns", 1, 40)}}
				c.window = region("window", c.src.H, c.src.W)
				h, w := c.window.Size()
				if form == "down" {
					h, w = (h+1)/2, (w+1)/2
				}
				c.region = backend.Region{Y1: h, X1: w}
				if draw("cut", 0, 1) == 1 {
					c.region = region("region", h, w)
				}
				c.y, c.x = draw("y", 0, 3), draw("x", 0, 3)
				d, jobs := open(t, draw("workers", 1, 6), nil, spread.MinWork(0))
				defer d.Close()
				require.Equal(t, grid, d.ConvolutionGrid())
				got, err := c.by(t, context.Background(), d)
				require.NoError(t, err)
				want, err := c.by(t, context.Background(), host)
				require.NoError(t, err)
				require.Equal(t, want, got)
				require.Positive(t, jobs.Load())
			})
		})
	}
}

// Little work, and what is wrong, is the host's; what goes wrong in a worker is reported, and
// progress is the caller's own.
func TestLayersAreTheHostsOrRefused(t *testing.T) {
	s := backend.Image(4, 120, 150)
	c := layersCall{form: "all scales", src: s, window: s.Whole(), region: s.Whole()}
	d, jobs := open(t, 3, nil, spread.MinWork(1e12))
	_, err := c.by(t, t.Context(), d)
	require.NoError(t, err)
	require.Zero(t, jobs.Load(), "there is little to do")

	gone := errors.New("the worker is gone")
	failing, _ := open(t, 2, gone, spread.MinWork(0))
	_, err = c.by(t, t.Context(), failing)
	require.ErrorIs(t, err, gone)

	all, jobs := open(t, 3, nil, spread.MinWork(0))
	c.form, c.region = "down", backend.Region{Y1: 60, X1: 75}
	ctx, free := backend.WithProgress(t.Context(), func(backend.Progress) error {
		require.Fail(t, "it is not the call's")
		return nil
	})
	defer free()
	_, err = c.by(t, ctx, all)
	require.NoError(t, err)
	require.EqualValues(t, 3, jobs.Load())
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = c.by(t, ended, all)
	require.ErrorIs(t, err, context.Canceled)

	m := newLayersMaker(t, all)
	src, layers := m.buffer(s, 1), formsOfLayers["down"](m, 1, s.H, s.W)
	dst := m.buffer(backend.Image(20, 60, 75), 1)
	whole := dst.Shape().Whole()
	apply := func(dst, src backend.Buffer, region backend.Region, layers []backend.Layer) error {
		return all.ApplyLayers(t.Context(), dst, 0, 0, region, src, s.Whole(), layers)
	}
	require.NoError(t, apply(dst, src, whole, layers))
	require.Error(t, apply(nil, src, whole, layers))
	require.Error(t, apply(dst, nil, whole, layers))
	require.ErrorIs(t, apply(dst, src, s.Whole(), layers), backend.ErrShape)
	require.ErrorIs(t, apply(dst, src, whole, nil), backend.ErrArgument)
	require.Error(t, apply(dst, src, whole, []backend.Layer{{Kind: backend.DownLayer}}), "no filter")
	other := newLayersMaker(t, cputest.Open(t))
	require.ErrorIs(t, apply(dst, src, whole, formsOfLayers["down"](other, 1, s.H, s.W)), backend.ErrForeign)
	overlapping := []backend.Layer{m.layer(backend.ConvolutionLayer, 4, 4, 3)}
	require.ErrorIs(t, apply(src, src, s.Whole(), overlapping), backend.ErrAlias)
}
