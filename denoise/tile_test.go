package denoise

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/denoise/activation"
	"github.com/averaged/imaging/denoise/dncnn"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/averaged/imaging/internal/fallback"
)

// watched is a device that counts, and may convolve on a grid of 6×6 tiles: the lowest
// bit of a pixel is then one of all samples that its tile is made from, as rounding
// makes it where a device computes whole tiles (Winograd).
type watched struct {
	*cpu.Device
	grid         int
	live         atomic.Int64 // float32s in buffers
	most         atomic.Int64
	limit        int64 // of live, 0 for none
	convolutions atomic.Int64
	failAt       int64 // the call that fails, from 1 on; 0 for none
	calls        atomic.Int64
	onConvolve   func(n int64)
}

var errInjected = errors.New("injected")

// call counts a call, and fails at failAt.
func (d *watched) call() error {
	if d.calls.Add(1) == d.failAt {
		return errInjected
	}
	return nil
}

// tracked is a buffer that tells when it is freed.
type tracked struct {
	backend.Buffer
	dev   *watched
	freed atomic.Bool
}

func (b *tracked) Free() {
	if !b.freed.Swap(true) {
		b.dev.live.Add(-int64(b.Shape().Len()))
	}
	b.Buffer.Free()
}

func raw(b backend.Buffer) backend.Buffer {
	if t, ok := b.(*tracked); ok {
		return t.Buffer
	}
	return b
}

func (d *watched) Alloc(s backend.Shape) (backend.Buffer, error) {
	if err := d.call(); err != nil {
		return nil, err
	}
	if d.limit > 0 && d.live.Load()+int64(s.Len()) > d.limit {
		return nil, fmt.Errorf("%w: the test wants no more", backend.ErrOutOfMemory)
	}
	b, err := d.Device.Alloc(s)
	if err != nil {
		return nil, err
	}
	if live := d.live.Add(int64(s.Len())); live > d.most.Load() {
		d.most.Store(live)
	}
	return &tracked{Buffer: b, dev: d}, nil
}

func (d *watched) ConvolutionGrid() int { return max(d.grid, d.Device.ConvolutionGrid()) }

func (d *watched) Overlaps(a, b backend.Buffer) (bool, error) {
	if err := d.call(); err != nil {
		return false, err
	}
	return d.Device.Overlaps(raw(a), raw(b))
}

func (d *watched) CopyRegion(dst backend.Buffer, y, x int, src backend.Buffer, r backend.Region) error {
	if err := d.call(); err != nil {
		return err
	}
	return d.Device.CopyRegion(raw(dst), y, x, raw(src), r)
}
func (d *watched) Unshuffle(dst, src backend.Buffer, factor int) error {
	if err := d.call(); err != nil {
		return err
	}
	return d.Device.Unshuffle(raw(dst), raw(src), factor)
}

func (d *watched) Shuffle(dst, src backend.Buffer, factor int) error {
	if err := d.call(); err != nil {
		return err
	}
	return d.Device.Shuffle(raw(dst), raw(src), factor)
}

func (d *watched) Upload(dst backend.Buffer, src []float32) error {
	if err := d.call(); err != nil {
		return err
	}
	return d.Device.Upload(raw(dst), src)
}
func (d *watched) Download(dst []float32, src backend.Buffer) error {
	if err := d.call(); err != nil {
		return err
	}
	return d.Device.Download(dst, raw(src))
}

func (d *watched) Fill(dst backend.Buffer, v float32) error {
	if err := d.call(); err != nil {
		return err
	}
	return d.Device.Fill(raw(dst), v)
}
func (d *watched) NewFilter(w backend.Buffer) (backend.Filter, error) {
	if err := d.call(); err != nil {
		return nil, err
	}
	return d.Device.NewFilter(raw(w))
}

func (d *watched) Gaussian(dst backend.Buffer, seed uint64, mean, std float32) error {
	if err := d.call(); err != nil {
		return err
	}
	return d.Device.Gaussian(raw(dst), seed, mean, std)
}

func (d *watched) ActivationGradient(dst, out, dy backend.Buffer, a backend.Activation) error {
	if err := d.call(); err != nil {
		return err
	}
	return d.Device.ActivationGradient(raw(dst), raw(out), raw(dy), a)
}

func (d *watched) Sync() error {
	if err := d.call(); err != nil {
		return err
	}
	return d.Device.Sync()
}

func (d *watched) ProjectBalls(dst, src, radius backend.Buffer) error {
	if err := d.call(); err != nil {
		return err
	}
	return d.Device.ProjectBalls(raw(dst), raw(src), raw(radius))
}

func (d *watched) ProjectBallsGradient(dst, dradius, src, dy, radius backend.Buffer, beta float32) error {
	if err := d.call(); err != nil {
		return err
	}
	return d.Device.ProjectBallsGradient(raw(dst), raw(dradius), raw(src), raw(dy), raw(radius), beta)
}

func (d *watched) Clip(dst, src backend.Buffer, lo, hi float32) error {
	if err := d.call(); err != nil {
		return err
	}
	return d.Device.Clip(raw(dst), raw(src), lo, hi)
}

func (d *watched) MixChannels(dst, src backend.Buffer, m []float32) error {
	if err := d.call(); err != nil {
		return err
	}
	return d.Device.MixChannels(raw(dst), raw(src), m)
}

func (d *watched) LinearCombination(dst backend.Buffer, terms ...backend.Term) error {
	if err := d.call(); err != nil {
		return err
	}
	own := make([]backend.Term, len(terms))
	for i, t := range terms {
		own[i] = backend.Term{A: t.A, X: raw(t.X)}
	}
	return d.Device.LinearCombination(raw(dst), own...)
}

func (d *watched) Reduce(out []float64, rs ...backend.Reduction) error {
	if err := d.call(); err != nil {
		return err
	}
	own := make([]backend.Reduction, len(rs))
	for i, r := range rs {
		own[i] = backend.Reduction{Kind: r.Kind, X: raw(r.X)}
		if r.Y != nil {
			own[i].Y = raw(r.Y)
		}
	}
	return d.Device.Reduce(out, own...)
}

func (d *watched) Convolve(dst, src backend.Buffer, f backend.Filter, end backend.ConvEnd) error {
	if err := d.call(); err != nil {
		return err
	}
	if end.Bias != nil {
		end.Bias = raw(end.Bias)
	}
	if err := d.Device.Convolve(raw(dst), raw(src), f, end); err != nil {
		return err
	}
	return d.convolved(dst, src, f)
}

func (d *watched) ConvolveAdjoint(dst, src backend.Buffer, f backend.Filter, beta, scale float32) error {
	if err := d.call(); err != nil {
		return err
	}
	if err := d.Device.ConvolveAdjoint(raw(dst), raw(src), f, beta, scale); err != nil {
		return err
	}
	return d.convolved(dst, src, f)
}

func (d *watched) AddAdjoint(dst, start, src backend.Buffer, f backend.Filter, scale float32) error {
	if err := d.call(); err != nil {
		return err
	}
	if err := d.Device.AddAdjoint(raw(dst), raw(start), raw(src), f, scale); err != nil {
		return err
	}
	return d.convolved(dst, src, f)
}

func (d *watched) GradientFlow(ctx context.Context, dst, src backend.Buffer, r backend.Region, steps []backend.FlowStep) error {
	return fallback.GradientFlow(ctx, d, dst, src, r, steps)
}

// MakesShuffledFlow: it has none.
func (d *watched) MakesShuffledFlow([]backend.FlowStep, []backend.CodedRadii) bool { return false }

// convolved counts, and sets the lowest bits.
func (d *watched) convolved(dst, src backend.Buffer, f backend.Filter) error {
	n := d.convolutions.Add(1)
	if d.onConvolve != nil {
		d.onConvolve(n)
	}
	if d.grid <= 1 {
		return nil
	}
	from, to := make([]float32, src.Shape().Len()), make([]float32, dst.Shape().Len())
	if err := d.Download(from, src); err != nil {
		return err
	}
	if err := d.Download(to, dst); err != nil {
		return err
	}
	s := src.Shape()
	for y := 0; y < s.H; y += d.grid {
		for x := 0; x < s.W; x += d.grid {
			tile := backend.Region{Y0: y, Y1: min(y+d.grid, s.H), X0: x, X1: min(x+d.grid, s.W)}
			reach := tile.Reach(f.Shape().H/2, d.grid, s)
			hash := uint32(0)
			each(src.Shape(), reach, func(i int) {
				if from[i] != 0 { // as beyond the frame
					hash = hash*31 + math.Float32bits(from[i])
				}
			})
			each(dst.Shape(), tile, func(i int) {
				to[i] = math.Float32frombits(math.Float32bits(to[i])&^1 | hash>>7&1)
			})
		}
	}
	return d.Upload(dst, to)
}

// each calls f for the indices of a region in all channels.
func each(s backend.Shape, r backend.Region, f func(i int)) {
	for c := range s.N * s.C {
		for y := r.Y0; y < r.Y1; y++ {
			for x := r.X0; x < r.X1; x++ {
				f((c*s.H+y)*s.W + x)
			}
		}
	}
}

// families returns one network of each way to compute.
func families(t testing.TB, dev backend.Device, opts ...Option) map[string]*Network {
	d, err := dncnn.Random(9, 3, 4, 2)
	require.NoError(t, err)
	dncnn, err := NewDnCNN(dev, d, opts...)
	require.NoError(t, err)
	small := Architecture{Width: 4, Blocks: 2}
	heun, implicit := small, small
	heun.Integrator, implicit.Integrator = rungekutta.Heun(), rungekutta.BackwardEuler()
	implicit.Blocks = 1
	shuffled := small
	shuffled.Width, shuffled.Shuffle = 13, 2
	projecting := small
	projecting.Activation, projecting.Group = activation.Balls(), 2
	return map[string]*Network{
		"shuffled": certified(t, dev, smallModel(t, 8, shuffled, 1), opts...),
		"euler":    certified(t, dev, smallModel(t, 8, small, 1), opts...),
		"balls":    certified(t, dev, smallModel(t, 8, projecting, 1), opts...),
		"heun":     certified(t, dev, smallModel(t, 8, heun, 1), opts...),
		"implicit": certified(t, dev, smallModel(t, 8, implicit, 0.5), opts...),
		"dncnn":    dncnn,
	}
}

// Every tile gives the same bits as the whole image: on the host's processor, with its
// one call for Euler steps, layer by layer, and where rounding shows the grid.
func TestTilesChangeNothing(t *testing.T) {
	devices := map[string]func() backend.Device{
		"cpu":    func() backend.Device { return newCPU(t) },
		"layers": func() backend.Device { return &watched{Device: newCPU(t)} },
		"grid":   func() backend.Device { return &watched{Device: newCPU(t), grid: 6} },
	}
	if testing.Short() {
		delete(devices, "layers") // a grid has layers one by one, too
	}
	for name, open := range devices {
		images := map[backend.Shape][]float32{}
		shapes := []backend.Shape{backend.Image(3, 40, 53), backend.Image(3, 7, 90)}
		if testing.Short() { // three rows of three tiles, so that one has neighbours all around it
			shapes = []backend.Shape{backend.Image(3, 25, 31), backend.Image(3, 7, 40)}
		}
		for _, s := range shapes {
			images[s] = randomImage(1, s)
		}
		want := map[string]map[backend.Shape][]float32{}
		for family, n := range families(t, open(), Tile(1000)) {
			want[family] = map[backend.Shape][]float32{}
			for s, x := range images {
				want[family][s] = denoised(t, n, s, x)
			}
		}
		tiles := []int{5, 12, 17, 48}
		if testing.Short() { // one, which cuts the grid too
			tiles = []int{11}
		}
		for _, tile := range tiles {
			for family, n := range families(t, open(), Tile(tile)) {
				for s, x := range images {
					require.Equal(t, want[family][s], denoised(t, n, s, x), "%s of %s, %v, tile %d", family, name, s, tile)
				}
			}
		}
	}
}

// The test device does what it is for: with a halo of the receptive field alone bits
// would change.
func TestGridDeviceNeedsItsReach(t *testing.T) {
	s := backend.Image(3, 60, 60)
	x := randomImage(1, s)
	m := smallModel(t, 8, Architecture{Width: 13, Shuffle: 2, Blocks: 2, Integrator: rungekutta.Heun()}, 1)
	n := certified(t, &watched{Device: newCPU(t), grid: 6}, m, Tile(12))
	whole := certified(t, &watched{Device: newCPU(t), grid: 6}, m, Tile(1000))
	want := denoised(t, whole, s, x)
	require.Equal(t, want, denoised(t, n, s, x))
	e, ok := n.body.(*explicit)
	require.True(t, ok)
	e.reach = e.reach[:2]
	require.NotEqual(t, want, denoised(t, n, s, x))
}

func TestScratchIsBoundedAndFreed(t *testing.T) {
	if testing.Short() {
		t.Skip("large images, whose memory is the same number of bytes on every processor: go test ./... has them")
	}
	dev := &watched{Device: newCPU(t)}
	for name, n := range families(t, dev, Tile(40)) {
		scratchOf := func(h, w int) int64 {
			before := dev.live.Load()
			s := backend.Image(3, h, w)
			src := upload(t, dev, s, randomImage(1, s))
			dst, err := dev.Alloc(s)
			require.NoError(t, err)
			dev.most.Store(0)
			require.NoError(t, n.Apply(t.Context(), dst, src))
			peak := dev.most.Load() - before - int64(2*s.Len())
			src.Free()
			dst.Free()
			require.Equal(t, before, dev.live.Load(), "%s: all is freed", name)
			return peak
		}
		small, large := scratchOf(150, 160), scratchOf(300, 60)
		require.LessOrEqual(t, large, small, name)
		require.Less(t, small, int64(4*5*150*160), name)
	}
}

// What a plan says of its memory is what it takes.
func TestFloatsOfAPixel(t *testing.T) {
	dev := &watched{Device: newCPU(t)}
	n := certified(t, dev, smallModel(t, 1, Architecture{Integrator: rungekutta.BackwardEuler()}, 1))
	s := backend.Image(3, 10, 10)
	src := upload(t, dev, s, randomImage(1, s))
	dst, err := dev.Alloc(s)
	require.NoError(t, err)
	before := dev.live.Load()
	dev.most.Store(0)
	require.NoError(t, n.Apply(t.Context(), dst, src))
	const arrays = 4 // center, z, x, y
	require.EqualValues(t, (arrays*7+7)*s.Plane(), dev.most.Load()-before)
}

func TestOutOfMemoryHalvesTheTile(t *testing.T) {
	if testing.Short() {
		t.Skip("networks on images of many tiles, which take long in portable Go")
	}
	s := backend.Image(3, 150, 170)
	x := randomImage(1, s)
	for name := range families(t, newCPU(t)) {
		dev := &watched{Device: newCPU(t)}
		n := families(t, dev)[name]
		src, dst := upload(t, dev, s, x), upload(t, dev, s, x)
		held := dev.live.Load()
		dev.most.Store(0)
		require.NoError(t, n.Apply(t.Context(), dst, src), name)
		want, whole := download(t, dev, dst), dev.most.Load()-held

		dev.limit = held + whole*4/5
		require.NoError(t, dev.Fill(dst, 0))
		err := n.Apply(t.Context(), dst, src)
		if name == "implicit" && err != nil {
			require.ErrorIs(t, err, backend.ErrOutOfMemory, "its windows may need all of the image")
		} else {
			require.NoError(t, err, name)
			require.Equal(t, want, download(t, dev, dst), name)
		}

		dev.limit = held + 500
		err = n.Apply(t.Context(), dst, src)
		require.ErrorIs(t, err, backend.ErrOutOfMemory, name)
		require.ErrorContains(t, err, "no room for a tile", name)
	}
}

// A context that ends is noticed before the next step.
func TestApplyStopsSoon(t *testing.T) {
	s := backend.Image(3, 30, 30)
	for name := range families(t, newCPU(t)) {
		for _, tile := range []int{0, 10} {
			dev := &watched{Device: newCPU(t)}
			n := families(t, dev, Tile(tile))[name]
			src, dst := upload(t, dev, s, randomImage(1, s)), upload(t, dev, s, randomImage(1, s))
			ctx, cancel := context.WithCancel(t.Context())
			dev.onConvolve = func(n int64) {
				if n == 2 {
					cancel()
				}
			}
			require.ErrorIs(t, n.Apply(ctx, dst, src), context.Canceled, name)
			require.LessOrEqual(t, dev.convolutions.Load(), int64(4), name)
			cancel()
		}
	}
}

// The device bounds the memory of one call by itself.
func TestExplicitNetworksAreOneTile(t *testing.T) {
	require.Equal(t, 6000, (&explicit{}).Side(backend.Image(3, 4000, 6000), 6))
}
