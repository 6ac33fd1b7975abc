package cpu

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu/internal/winograd"
	"github.com/averaged/imaging/internal/fallback"
)

// network makes seeded steps of width channels with the given hidden channels.
func network(t testing.TB, d *Device, width int, hidden ...int) []backend.FlowStep {
	r := rand.New(rand.NewPCG(7, uint64(width)))
	upload := func(s backend.Shape, scale float32) backend.Buffer {
		v := make([]float32, s.Len())
		for i := range v {
			v[i] = scale * float32(r.NormFloat64())
		}
		b, err := d.Wrap(s, v)
		require.NoError(t, err)
		return b
	}
	var steps []backend.FlowStep
	for k, n := range hidden {
		f, err := d.NewFilter(upload(backend.Shape{N: n, C: width, H: 3, W: 3}, 1/(3*float32(math.Sqrt(float64(width))))))
		require.NoError(t, err)
		s := backend.FlowStep{Filter: f, Size: 0.3 + 0.1*float32(k%3), Activation: backend.Activation{Kind: backend.LeakyReLU, Slope: 0.01}}
		if k%2 == 0 {
			s.Bias = upload(backend.Vector(n), 0.1)
		}
		steps = append(steps, s)
	}
	return steps
}

// project puts projections of groups of so many channels in place of the steps'
// activations, where they divide the hidden layer.
func project(t testing.TB, d *Device, steps []backend.FlowStep, size int, radius float32) {
	for k := range steps {
		channels := steps[k].Filter.Shape().N
		if channels%size != 0 {
			continue
		}
		radii := make([]float32, channels/size)
		for g := range radii {
			radii[g] = radius * float32(g%3)
		}
		r, err := d.Wrap(backend.Vector(len(radii)), radii)
		require.NoError(t, err)
		steps[k].Radius, steps[k].Activation = r, backend.Activation{}
	}
}

// projectByMaps gives the steps that have radii some for every pixel of images of this shape.
func projectByMaps(t testing.TB, d *Device, steps []backend.FlowStep, s backend.Shape, radius float32) {
	r := rand.New(rand.NewPCG(11, uint64(s.W)))
	for k := range steps {
		if steps[k].Radius == nil {
			continue
		}
		s.C = steps[k].Radius.Shape().C
		radii := make([]float32, s.Len())
		for i := range radii {
			radii[i] = radius * float32(r.IntN(3)) * r.Float32()
		}
		var err error
		steps[k].Radius, err = d.Wrap(s, radii)
		require.NoError(t, err)
	}
}

func picture(t testing.TB, d *Device, s backend.Shape) backend.Buffer {
	r := rand.New(rand.NewPCG(8, uint64(s.H)))
	v := make([]float32, s.Len())
	for i := range v {
		v[i] = r.Float32()
	}
	b, err := d.Wrap(s, v)
	require.NoError(t, err)
	return b
}

func blank(t testing.TB, d *Device, s backend.Shape) (backend.Buffer, []float32) {
	v := make([]float32, s.Len())
	for i := range v {
		v[i] = -5
	}
	b, err := d.Wrap(s, v)
	require.NoError(t, err)
	return b, v
}

// Tableaux with points that share memory and points that must not, sums that begin
// late, and stages that nothing is taken from.
var (
	heun = backend.Tableau{A: [][]float64{{0, 0}, {1, 0}}, B: []float64{0.5, 0.5}}
	rk4  = backend.Tableau{
		A: [][]float64{{0, 0, 0, 0}, {0.5, 0, 0, 0}, {0, 0.5, 0, 0}, {0, 0, 1, 0}},
		B: []float64{1. / 6, 1. / 3, 1. / 3, 1. / 6},
	}
	odd = backend.Tableau{
		A: [][]float64{{0, 0, 0, 0}, {0.3, 0, 0, 0}, {0.2, 0.4, 0, 0}, {0.5, -0.2, 0.1, 0}},
		B: []float64{0, 0.2, 0.5, 0.3},
	}
	idle = backend.Tableau{A: [][]float64{{0, 0, 0}, {0, 0, 0}, {0.7, 0, 0}}, B: []float64{0.5, 0.5, 0}}
)

// The fused path goes through an image in chunks, strips and passes: none of them
// may show, neither where they meet nor in a single bit.
func TestGradientFlowInChunks(t *testing.T) {
	for i, c := range []struct {
		h, w, width int
		hidden      []int
		tableaux    []backend.Tableau // by turns
		balls       int               // channels of a group; 0 for LeakyReLU, below 0 with a map of radii
	}{
		{1, 1, 16, []int{16}, nil, 0},
		{6, 12, 16, []int{16, 20}, nil, 0},
		{5, 31, 17, []int{3, 40}, nil, 0},
		{70, 40, 16, []int{16, 8, 16}, nil, 0},
		{110, 23, 16, []int{16, 16, 16, 16}, nil, 0},
		{60, 23, 16, []int{16, 16}, []backend.Tableau{heun}, 0},
		{70, 20, 17, []int{16}, []backend.Tableau{rk4}, 0},
		{90, 13, 16, []int{16, 5, 16}, []backend.Tableau{heun, {}, odd}, 0},
		{31, 40, 16, []int{16, 16, 16}, []backend.Tableau{odd, idle, {B: []float64{0.7}, A: [][]float64{{0}}}}, 0},
		{61, 23, 16, []int{16, 24, 16}, nil, 4},
		{61, 23, 17, []int{16, 40, 16}, []backend.Tableau{heun, {}}, 8},
		{50, 31, 16, []int{48, 16, 24}, []backend.Tableau{odd}, 16},
		{61, 23, 16, []int{24, 16}, nil, -8},
		{50, 31, 17, []int{48, 16}, []backend.Tableau{heun}, -16},
	} {
		if testing.Short() && !slices.Contains([]int{2, 7, 11, 12}, i) {
			continue // one of each kind; go test ./... has all
		}
		if testing.Short() && c.h > 31 {
			c.h /= 2 // four rows of tiles still, and as many chunks, strips and bands
		}
		s := backend.Image(3, c.h, c.w)
		d := open(t, Threads(2))
		steps := network(t, d, c.width, c.hidden...)
		if len(c.tableaux) > 0 {
			for k := range steps {
				steps[k].Tableau = c.tableaux[k%len(c.tableaux)]
			}
		}
		if c.balls != 0 {
			project(t, d, steps, max(c.balls, -c.balls), 0.6)
		}
		if c.balls < 0 {
			projectByMaps(t, d, steps, s, 0.6)
		}
		src := picture(t, d, s)
		want, wanted := blank(t, d, s)
		require.NoError(t, fallback.GradientFlow(context.Background(), d, want, src, s.Whole(), steps))
		whole, got := blank(t, d, s)
		require.NoError(t, d.GradientFlow(context.Background(), whole, src, s.Whole(), steps))
		worst := 0.0
		for i := range got {
			worst = max(worst, math.Abs(float64(got[i]-wanted[i])))
		}
		require.Less(t, worst, 1e-4, "%+v", c)

		shapes := []flowShape{{1, 1, 1}, {1, 4, 3}, {100, 2, 7}, {4, 100, 1}, {2, 2, 1}, {3, 3, 2}, {7, 100, 2}}
		if testing.Short() { // the smallest chunks, the narrowest strips, and either whole
			shapes = shapes[:3]
		}
		for _, shape := range shapes {
			other, bits := blank(t, d, s)
			d.host.flowShape = shape
			require.NoError(t, d.GradientFlow(context.Background(), other, src, s.Whole(), steps))
			require.Equal(t, got, bits, "%+v %+v", c, shape)
			region := backend.Region{Y0: c.h / 3, Y1: c.h/3 + (c.h+1)/2, X0: c.w / 4, X1: c.w/4 + (c.w+1)/2}
			part, bits := blank(t, d, s)
			require.NoError(t, d.GradientFlow(context.Background(), part, src, region, steps))
			for i, v := range bits {
				y, x := i/c.w%c.h, i%c.w
				if y >= region.Y0 && y < region.Y1 && x >= region.X0 && x < region.X1 {
					require.Equal(t, got[i], v)
				} else {
					require.Equal(t, float32(-5), v)
				}
			}
		}
	}
}

func TestGradientFlowTellTheirProgress(t *testing.T) {
	d := open(t, Threads(2))
	steps := network(t, d, 16, 16, 16, 16)
	s := backend.Shape{N: 2, C: 3, H: 90, W: 70}
	src := picture(t, d, s)
	dst, _ := blank(t, d, s)
	d.host.flowShape = flowShape{chunk: 3, strip: 5, band: 1}
	var told []float64
	ctx, free := backend.WithProgress(context.Background(), func(p backend.Progress) error { told = append(told, p.Fraction); return nil })
	defer free()
	require.NoError(t, d.GradientFlow(ctx, dst, src, s.Whole(), steps))
	require.Greater(t, len(told), 20)
	require.IsNonDecreasing(t, told)
	require.Positive(t, told[0])
	require.InDelta(t, 1, told[len(told)-1], 1e-12)
}

// The kernel of the fused path gives the bits of that on planes.
func TestFusedProjectionsGiveThePlanarBits(t *testing.T) {
	leaveKernels(t)
	const channels, pixels = 48, winograd.Tile * winograd.Tile
	const across = winograd.Tile
	r := rand.New(rand.NewPCG(9, 9))
	for _, set := range InstructionSets() {
		for _, size := range []int{4, 8, 16} {
			radii := make([]float32, channels)
			planes, side := make([]float32, channels*pixels), make([]float32, channels*pixels)
			for c := range channels {
				radii[c] = 0.4 * float32(c/size) // from none to nearly all are inside
				for p := range pixels {
					v := float32(r.NormFloat64())
					planes[c*pixels+p], side[p*channels+c] = v, v
				}
			}
			for c := 0; c < channels; c += size {
				group := planes[c*pixels:][:size*pixels]
				instructionSets[set].vectors.ProjectBalls(group, group, pixels, pixels, size, radii[c])
			}
			instructionSets[set].winograd.Project(side, across*channels, channels, radii, 0, size, across, channels)
			for c := range channels {
				for p := range pixels {
					require.Equal(t, planes[c*pixels+p], side[p*channels+c], "%v, groups of %d, channel %d, pixel %d", set, size, c, p)
				}
			}
			if !winograd.ProjectsMaps(size) {
				continue
			}
			// A radius for every pixel.
			ofRows := make([]float32, across*channels)
			for c := 0; c < channels; c += size {
				group := planes[c*pixels:][:size*pixels]
				ofMap := make([]float32, pixels)
				for p := range ofMap {
					ofMap[p] = r.Float32()
				}
				for y := range across {
					winograd.SpreadRadii(ofRows[y*channels+c:][:size], (*[across]float32)(ofMap[y*across:]))
				}
				instructionSets[set].vectors.ProjectBallsMap(group, group, ofMap, pixels, pixels, size)
			}
			instructionSets[set].winograd.Project(side, across*channels, channels, ofRows, channels, size, across, channels)
			for c := range channels {
				for p := range pixels {
					require.Equal(t, planes[c*pixels+p], side[p*channels+c], "%v, a map for groups of %d, channel %d, pixel %d", set, size, c, p)
				}
			}
		}
	}
}

// Groups that the kernels take are on the fused path, which needs no more memory than
// another activation; all others are made layer by layer.
func TestFusedGroups(t *testing.T) {
	d := open(t, Threads(1))
	defer d.Close()
	s := backend.Image(3, 90, 100)
	src := picture(t, d, s)
	dst, _ := blank(t, d, s)
	kept := d.host.used.Load()
	sizes := []int{1, 2, 3, 4, 6, 8, 12, 16, 24, 48}
	if testing.Short() { // those of the fused path, and some of the other
		sizes = []int{3, 4, 8, 16, 48}
	}
	for _, size := range sizes {
		steps := network(t, d, 16, 48)
		project(t, d, steps, size, 0.6)
		d.host.limit = d.host.used.Load() + int64(4*48*s.Plane()) // a hidden layer, and no more
		err := d.GradientFlow(context.Background(), dst, src, s.Whole(), steps)
		if size == 4 || size == 8 || size == 16 {
			require.NoError(t, err, "groups of %d", size)
		} else {
			require.ErrorIs(t, err, backend.ErrOutOfMemory, "groups of %d", size)
		}
		d.host.limit = 0
		require.NoError(t, d.GradientFlow(context.Background(), dst, src, s.Whole(), steps))
		steps[0].Filter.Free()
		require.Equal(t, kept, d.host.used.Load())
	}
}
