package guide

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/backendtest/refdevice"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/internal/fallback"
)

func random(dev backend.Device, t testing.TB, s backend.Shape, seed uint64, std float32) backend.Buffer {
	b, err := dev.Alloc(s)
	require.NoError(t, err)
	require.NoError(t, dev.Gaussian(b, seed, 0, std))
	return b
}

// model is a guide with random numbers.
func model(t testing.TB, widths []int, channels, radii int) *Model {
	dev := cputest.Open(t, cpu.Threads(1))
	defer dev.Close()
	m := &Model{Widths: widths, Slope: 0.1, Layers: Layers(widths, channels, radii)}
	for i := range m.Layers {
		l := &m.Layers[i]
		l.Weight, l.Bias = make([]float32, l.Out*l.In*l.Kernel*l.Kernel), make([]float32, l.Out)
		w := random(dev, t, backend.Vector(len(l.Weight)), uint64(2*i), 0.5/float32(l.Kernel*l.Kernel))
		require.NoError(t, dev.Download(l.Weight, w))
		b := random(dev, t, backend.Vector(l.Out), uint64(2*i+1), 0.2)
		require.NoError(t, dev.Download(l.Bias, b))
	}
	require.NoError(t, m.Check(channels, radii))
	return m
}

// said returns all that a guide emits, with tiles of so many pixels.
func said(t testing.TB, dev backend.Device, m *Model, src backend.Buffer, side int) []float32 {
	n, err := New(dev, m)
	require.NoError(t, err)
	defer n.Free()
	n.side, n.strip = side, (side+1)/2
	s := src.Shape()
	s.C = m.Layers[len(m.Layers)-1].Out
	all, err := dev.Alloc(s)
	require.NoError(t, err)
	defer all.Free()
	seen := make([]bool, s.Plane())
	var told []float64
	ctx, free := backend.WithProgress(t.Context(), func(p backend.Progress) error { told = append(told, p.Fraction); return nil })
	defer free()
	require.NoError(t, n.Apply(ctx, Photograph{Image: src, Channels: src.Shape().C, Shuffle: 1}, 0.07, func(r backend.Region, x backend.Buffer) error {
		for y := r.Y0; y < r.Y1; y++ {
			for x := r.X0; x < r.X1; x++ {
				require.False(t, seen[y*s.W+x], "a pixel twice")
				seen[y*s.W+x] = true
			}
		}
		return dev.CopyRegion(all, r.Y0, r.X0, x, x.Shape().Whole())
	}))
	require.NotContains(t, seen, false)
	require.True(t, slices.IsSorted(told), "progress does not fall")
	require.InDelta(t, 1, told[len(told)-1], 1e-9)
	out := make([]float32, s.Len())
	require.NoError(t, dev.Download(out, all))
	return out
}

// TestTilesChangeNothing: whatever the tiles and the number of threads, the bits are those of
// the whole image at once, of images that do not divide by anything too.
func TestTilesChangeNothing(t *testing.T) {
	networks, sides := [][]int{{17}, {5, 6}, {16, 18, 20}, {3, 4, 5, 6}}, []int{12, 24, 36}
	if testing.Short() { // the deep ones; this takes long under emulation, and go test ./... has all
		networks, sides = networks[2:], sides[1:]
	}
	for _, widths := range networks {
		m := model(t, widths, 4, 7)
		tall := backend.Image(4, 71, 40) // more than the largest tile, and than the smallest at the third scale
		if len(widths) == 4 {
			tall = backend.Image(4, 131, 77) // at the fourth
		}
		for _, s := range []backend.Shape{tall, backend.Image(4, tall.W, tall.H), {N: 2, C: 4, H: 25, W: 31}, backend.Image(4, 1, 3)} {
			dev := cputest.Open(t, cpu.Threads(2))
			src := random(dev, t, s, 1, 0.5)
			want := said(t, dev, m, src, 1<<20)
			for _, side := range sides {
				require.Equal(t, want, said(t, dev, m, src, side), fmt.Sprint(widths, s, side))
			}
			one := cputest.Open(t, cpu.Threads(1))
			require.Equal(t, want, said(t, one, m, random(one, t, s, 1, 0.5), 24))
			require.NoError(t, one.Close())
			require.NoError(t, dev.Close())
		}
	}
}

// plain is a device that computes layers one by one.
type plain struct{ backend.Device }

func (d plain) ApplyLayers(ctx context.Context, dst backend.Buffer, y, x int, region backend.Region, src backend.Buffer, window backend.Region, layers []backend.Layer) error {
	return fallback.ApplyLayers(ctx, d.Device, dst, y, x, region, src, window, layers)
}

// TestLayersOneByOne: what a device computes in one call is what all devices compute, whatever the
// tiles, which change nothing there either.
func TestLayersOneByOne(t *testing.T) {
	dev := cputest.Open(t, cpu.Threads(2))
	defer func() { require.NoError(t, dev.Close()) }()
	for _, widths := range [][]int{{17}, {16, 18}} {
		m := model(t, widths, 4, 7)
		src := random(dev, t, backend.Shape{N: 2, C: 4, H: 25, W: 31}, 1, 0.5)
		want := said(t, plain{dev}, m, src, 1<<20)
		require.Equal(t, want, said(t, plain{dev}, m, src, 12))
		got := said(t, dev, m, src, 1<<20)
		require.NotEqual(t, want, got, "the device has a way of its own")
		largest := 0.0
		for _, v := range want {
			largest = max(largest, math.Abs(float64(v)))
		}
		for i := range want {
			require.InDelta(t, want[i], got[i], 1e-5*largest)
		}
	}
}

// TestMemoryIsThatOfATile: a processor that has no room for all of a photograph at once, 8.5 MB with
// the filters, guides it tile by tile.
func TestMemoryIsThatOfATile(t *testing.T) {
	if testing.Short() {
		t.Skip("a whole photograph, whose memory is the same number of bytes on every processor: go test ./... has it")
	}
	dev := cputest.Open(t, cpu.Threads(2), cpu.MemoryLimit(31<<18))
	defer func() { require.NoError(t, dev.Close()) }()
	n, err := New(dev, model(t, []int{16, 16}, 4, 7))
	require.NoError(t, err)
	src := random(dev, t, backend.Image(4, 190, 240), 1, 0.5)
	emitted := 0
	apply := func(side int) error {
		n.side, n.strip = side, (side+1)/2
		return n.Apply(t.Context(), Photograph{Image: src, Channels: 4, Shuffle: 1}, 0.07, func(r backend.Region, x backend.Buffer) error {
			emitted += x.Shape().Plane()
			return nil
		})
	}
	require.ErrorIs(t, apply(240), backend.ErrOutOfMemory)
	require.Zero(t, emitted)
	require.NoError(t, apply(48))
	require.Equal(t, src.Shape().Plane(), emitted)
}

// TestGuideIsItsFormula compares with float64, to some roundings of the largest number there is.
func TestGuideIsItsFormula(t *testing.T) {
	m := model(t, []int{16, 18, 20}, 4, 7)
	s := backend.Shape{N: 2, C: 4, H: 21, W: 30}
	dev, reference := cputest.Open(t), refdevice.New(refdevice.Options{})
	defer dev.Close()
	defer func() { require.NoError(t, reference.Close()) }()
	want := said(t, reference, m, random(reference, t, s, 1, 0.5), 1<<20)
	got := said(t, dev, m, random(dev, t, s, 1, 0.5), 1<<20)
	largest := 0.0
	for _, v := range want {
		largest = max(largest, math.Abs(float64(v)))
	}
	for i := range want {
		require.InDelta(t, want[i], got[i], 2e-5*largest)
	}
}

func TestFactor(t *testing.T) {
	require.Equal(t, float32(1), Factor(0))
	for x := -20.0; x < 20; x += 0.0137 {
		limit := 1e-5
		if math.Abs(x) > tableEnd {
			limit = 5e-3
		}
		factor, _ := Derived(float32(x))
		require.InEpsilon(t, min(factor, MaxFactor), Factor(float32(x)), limit)
	}
	for _, x := range []float32{-1e30, -7, -0.3, 2, 1e30, float32(math.Inf(1)), float32(math.Inf(-1))} {
		require.LessOrEqual(t, Factor(x), float32(MaxFactor))
		require.GreaterOrEqual(t, Factor(x), float32(1/54.6))
	}
	nan := Factor(float32(math.NaN()))
	require.True(t, nan != nan)
	for _, x := range []float32{-5, -1, 0, 0.7, 3} {
		const h = 0x1p-10
		above, _ := Derived(x + h)
		below, _ := Derived(x - h)
		_, slope := Derived(x)
		require.InDelta(t, math.Log(above/below)/(2*h), slope, 1e-5)
	}
}

func TestCheckRefuses(t *testing.T) {
	require.Error(t, CheckWidths(nil))
	require.Error(t, CheckWidths([]int{3, 0}))
	m := model(t, []int{3, 4}, 4, 7)
	require.Error(t, m.Check(4, 8))
	require.Error(t, m.Check(5, 7))
	m.Layers[2].Bias[0] = float32(math.Inf(1))
	require.Error(t, m.Check(4, 7))
}

// TestCode: a code is near the factor, and the ends are within it.
func TestCode(t *testing.T) {
	for x := float32(-20); x < 20; x += 0.0137 {
		code, ok := Code(x)
		require.True(t, ok)
		require.InEpsilon(t, Factor(x), Coded(code), 0.014, "%v", x)
	}
	for _, x := range []float32{float32(math.Inf(1)), 1e30} {
		code, ok := Code(x)
		require.True(t, ok)
		require.Equal(t, float32(MaxFactor), Coded(code))
	}
	_, ok := Code(float32(math.NaN()))
	require.False(t, ok)
	for k := range 255 {
		require.Less(t, Coded(uint8(k)), Coded(uint8(k+1)))
	}
}
