package deblur

import (
	"math"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/internal/devicetest"
	"github.com/averaged/imaging/operator/operatortest"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// turn is an even turn about the middle by an angle in all.
func turn(angle float64, poses int) CameraMotion {
	var m CameraMotion
	for i := range poses {
		m.Poses = append(m.Poses, Pose{Angle: angle * ((float64(i)+.5)/float64(poses) - .5), Weight: 1 / float64(poses)})
	}
	return m
}

// The kernel of a motion has its centre of mass and its spread where the poses show the point.
func TestCameraMotionKernel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var m CameraMotion
		number := func(most float64) *rapid.Generator[float64] { return rapid.Float64Range(-most, most) }
		n := rapid.IntRange(1, 6).Draw(t, "poses")
		sum := 0.0
		for range n {
			p := Pose{number(.1).Draw(t, "angle"), number(5).Draw(t, "y"), number(5).Draw(t, "x"), rapid.Float64Range(.1, 1).Draw(t, "weight")}
			m.Poses = append(m.Poses, p)
			sum += p.Weight
		}
		for i := range m.Poses {
			m.Poses[i].Weight /= sum
		}
		y, x := number(200).Draw(t, "row"), number(200).Draw(t, "column")
		k, err := m.Kernel(y, x)
		require.NoError(t, err)
		require.NoError(t, k.Check())
		var wantY, wantX, square float64
		for _, p := range m.Poses {
			// The pose shows the point q at the p that sees q.
			dy, dx := p.moved(y, x)
			sin, cos := math.Sincos(p.Angle)
			require.InDelta(t, y, cos*(y+dy)-sin*(x+dx)+p.Y, 1e-9)
			require.InDelta(t, x, sin*(y+dy)+cos*(x+dx)+p.X, 1e-9)
			wantY += p.Weight * dy
			wantX += p.Weight * dx
			square += p.Weight * (dy*dy + dx*dx)
		}
		dy, dx := k.OffCentre()
		require.InDelta(t, wantY, dy, 1e-3)
		require.InDelta(t, wantX, dx, 1e-3)
		spread := 0.0
		for i, w := range k.Weights {
			y, x := float64(i/k.W-k.CY), float64(i%k.W-k.CX)
			spread += float64(w) * (y*y + x*x)
		}
		// Interpolation adds at most a quarter in each direction.
		require.Greater(t, spread, square-.01)
		require.Less(t, spread, square+.51)
	})
}

// The blur by the kernels of a turn is the mean of the turned images.
func TestCameraMotionIsTheMeanOfItsPoses(t *testing.T) {
	const h, w, length = 90, 120, 14.0
	dev := cputest.Open(t, cpu.Threads(2))
	defer func() { require.NoError(t, dev.Close()) }()
	m := turn(length/(h/2), 41)
	g, err := m.Grid(h, w)
	require.NoError(t, err)
	require.Greater(t, g.Rows, 8)
	v, err := NewVarying(dev, g, h, w)
	require.NoError(t, err)
	defer v.Free()
	require.NoError(t, operatortest.TestLinear(dev, v))

	// A wave of 12 samples, seen in the middle of samples.
	scene := func(y, x float64) float64 { return .5 + .5*math.Sin(y*.45+1)*math.Cos(x*.3) }
	dh, dw := v.Domain()
	top, left := v.frame.Offset()
	wide := make([]float32, dh*dw)
	for i := range wide {
		wide[i] = float32(scene(float64(i/dw-top)-(h-1)/2., float64(i%dw-left)-(w-1)/2.))
	}
	x, err := dev.Alloc(backend.Image(1, dh, dw))
	require.NoError(t, err)
	defer x.Free()
	require.NoError(t, dev.Upload(x, wide))
	y, err := dev.Alloc(backend.Image(1, h, w))
	require.NoError(t, err)
	defer y.Free()
	require.NoError(t, v.Apply(y, x))
	var error, contrast float64
	for i, got := range devicetest.Download(t, dev, y) {
		py, px := float64(i/w)-(h-1)/2., float64(i%w)-(w-1)/2.
		want := 0.0
		for _, p := range m.Poses {
			sin, cos := math.Sincos(p.Angle)
			want += p.Weight * scene(cos*py-sin*px+p.Y, sin*py+cos*px+p.X)
		}
		error += (float64(got) - want) * (float64(got) - want)
		contrast += (want - .5) * (want - .5)
	}
	require.Less(t, error, .01*contrast)
}

func TestWrongCameraMotionIsRefused(t *testing.T) {
	for name, m := range map[string]CameraMotion{
		"none":       {},
		"negative":   {[]Pose{{Weight: 2}, {Weight: -1}}},
		"sum":        {[]Pose{{Weight: .5}}},
		"not finite": {[]Pose{{Angle: math.NaN(), Weight: 1}}},
		"infinite":   {[]Pose{{Y: math.Inf(1), Weight: 1}}},
	} {
		_, err := m.Kernel(0, 0)
		require.Error(t, err, name)
		_, err = m.Grid(100, 100)
		require.Error(t, err, name)
	}
	_, err := turn(3, 3).Kernel(5000, 0)
	require.ErrorContains(t, err, "at most")
	_, err = turn(.1, 3).Grid(0, 10)
	require.Error(t, err)
	g, err := CameraMotion{[]Pose{{Weight: 1}}}.Grid(300, 400)
	require.NoError(t, err)
	require.Equal(t, [2]int{1, 1}, [2]int{g.Rows, g.Columns})
	g, err = turn(2, 9).Grid(60, 80)
	require.NoError(t, err)
	require.Equal(t, [2]int{MaxCells, MaxCells}, [2]int{g.Rows, g.Columns})
}

// A thinned grid has the kernels at the middles of its parts, and all of them where there are no more.
func TestThinned(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.IntRange(1, 9)
		g := Grid{Rows: size.Draw(t, "rows"), Columns: size.Draw(t, "columns")}
		for i := range g.Rows * g.Columns {
			g.Kernels = append(g.Kernels, Kernel{H: 1, W: 1, Weights: []float32{float32(i)}})
		}
		few := g.Thinned(rapid.IntRange(-1, 12).Draw(t, "fewer rows"), rapid.IntRange(-1, 12).Draw(t, "fewer columns"))
		require.NoError(t, few.Check())
		for i, k := range few.Kernels {
			at := int(k.Weights[0])
			near := func(i, of, at, all int) {
				require.InDelta(t, (float64(i)+.5)/float64(of), (float64(at)+.5)/float64(all), .5/float64(all)+1e-12)
			}
			near(i/few.Columns, few.Rows, at/g.Columns, g.Rows)
			near(i%few.Columns, few.Columns, at%g.Columns, g.Columns)
		}
		require.Equal(t, g, g.Thinned(g.Rows, g.Columns))
	})
}

// An even turn leaves its point where it is, and makes a kernel as long as the distance times the angle.
func TestEvenTurn(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const h, w = 200, 300
		y, x := rapid.Float64Range(-200, 200).Draw(t, "y"), rapid.Float64Range(-200, 200).Draw(t, "x")
		angle := rapid.Float64Range(0.01, 0.3).Draw(t, "angle")
		m, err := UniformTurn(angle, y, x, h, w)
		require.NoError(t, err)
		still, err := m.Kernel(y, x)
		require.NoError(t, err)
		dy, dx := still.OffCentre()
		require.InDelta(t, 0, math.Hypot(dy, dx), 1e-3)
		require.LessOrEqual(t, max(still.H, still.W), 5)

		py, px := rapid.Float64Range(-h/2, h/2).Draw(t, "row"), rapid.Float64Range(-w/2, w/2).Draw(t, "column")
		r := math.Hypot(py-y, px-x)
		first, last := m.Poses[0], m.Poses[len(m.Poses)-1]
		ay, ax := first.moved(py, px)
		by, bx := last.moved(py, px)
		step := angle * r / float64(len(m.Poses))
		require.LessOrEqual(t, step, .5)
		require.InDelta(t, 2*r*math.Sin(angle/2), math.Hypot(ay-by, ax-bx), step+1e-9)
	})
	for _, bad := range [][3]float64{{0, 0, 0}, {-1, 0, 0}, {4, 0, 0}, {math.NaN(), 0, 0}, {1, math.Inf(1), 0}, {1, 0, 1e7}, {1, 1e5, 0}} {
		_, err := UniformTurn(bad[0], bad[1], bad[2], 100, 100)
		require.Error(t, err, "%v", bad)
	}
}

func TestKernelOfNoPoint(t *testing.T) {
	m, err := UniformTurn(0.02, 0, 0, 100, 100)
	require.NoError(t, err)
	for _, at := range [][2]float64{{math.NaN(), 0}, {0, math.NaN()}, {math.Inf(1), 0}, {1e9, math.Inf(-1)}} {
		_, err := m.Kernel(at[0], at[1])
		require.Error(t, err, at)
	}
}
