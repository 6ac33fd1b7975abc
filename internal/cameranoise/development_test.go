package cameranoise

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/demosaic"
	"github.com/averaged/imaging/internal/matrix3"
)

func TestToneCurve(t *testing.T) {
	for _, tone := range []float32{0, 0.3, 0.8} {
		before := float32(-1)
		for i := range 4001 {
			v := float32(i) / 4000
			require.InDelta(t, v, develop(undevelop(v, tone), tone), 3e-5, "tone %v, %v", tone, v)
			x := develop(v, tone)
			require.GreaterOrEqual(t, x, before, "it rises")
			before = x
			require.InDelta(t, v, curve(uncurve(v, tone), tone), 1e-6)
		}
		require.Zero(t, develop(-0.5, tone))
		require.Equal(t, float32(1), develop(7, tone))
	}
	for i := range 1001 {
		v := float64(i) / 1000
		linear := v / 12.92
		if v > 0.04045 {
			linear = math.Pow((v+0.055)/1.055, 2.4)
		}
		require.InDelta(t, linear, undevelop(float32(v), 0), 1e-6)
		require.InDelta(t, v, develop(float32(linear), 0), 2e-5)
	}
}

// TestDimmed: light is linear, so shares multiply, and the camera that takes a dimmed scene takes as much less.
func TestDimmed(t *testing.T) {
	scene := make([]float32, 256)
	for i := range scene {
		scene[i] = float32(i) / 255
	}
	for _, light := range []float64{1, 0.5, 0.05} {
		dimmed := Dimmed(scene, light)
		for i, v := range dimmed {
			require.InDelta(t, light*decodeGamma(float64(scene[i])), decodeGamma(float64(v)), 3e-5, "share %v of %v", light, scene[i])
		}
	}
	twice := Dimmed(Dimmed(scene, 0.5), 0.2)
	for i, v := range Dimmed(scene, 0.1) {
		require.InDelta(t, v, twice[i], 1e-3)
	}
	require.Equal(t, float32(1), scene[255], "the scene itself stays")
}

func TestInverseMatrix(t *testing.T) {
	for seed := range uint64(20) {
		m := Random(seed).Matrix
		inv := matrix3.Matrix(m).Inverse()
		for i := range 3 {
			for j := range 3 {
				sum := 0.0
				for k := range 3 {
					sum += m[3*i+k] * inv[3*k+j]
				}
				want := 0.0
				if i == j {
					want = 1
				}
				require.InDelta(t, want, sum, 1e-12)
			}
		}
	}
}

// sampled is the mosaic of a picture that is a function of colour and place.
func sampled(p Pattern, h, w int, at func(colour, y, x int) float32) demosaic.Mosaic {
	m := demosaic.Mosaic{H: h, W: w, Stride: w + 2*border, Pattern: p.Filters()}
	for y := -border; y < h+border; y++ {
		for x := -border; x < w+border; x++ {
			m.V = append(m.V, at(p.Filters().At(y, x), y, x))
		}
	}
	return m
}

func demosaicked(m demosaic.Mosaic, way Demosaicking) []float32 {
	planes := make([]float32, 3*m.H*m.W)
	m.Planes(planes, demosaic.Way(way), make([]float32, len(m.V)))
	return planes
}

// Every way gives back a grey ramp, and what the sensor has seen.
func TestDemosaickingKeepsRamps(t *testing.T) {
	const h, w = 7, 10
	for p := RGGB; p <= BGGR; p++ {
		for way := Bilinear; way <= HamiltonAdams; way++ {
			ramp := func(_, y, x int) float32 { return 0.3 + 0.03*float32(y) - 0.02*float32(x) }
			out := demosaicked(sampled(p, h, w, ramp), way)
			for c := range 3 {
				for y := range h {
					for x := range w {
						require.InDelta(t, ramp(c, y, x), out[(c*h+y)*w+x], 1e-6, "%v %v colour %d at %d,%d", p, way, c, y, x)
					}
				}
			}
			noise := func(c, y, x int) float32 { return backend.GaussianAt(1, uint64((y+border)*100+x+border)) }
			out = demosaicked(sampled(p, h, w, noise), way)
			for y := range h {
				for x := range w {
					c := p.Filters().At(y, x)
					require.Equal(t, noise(c, y, x), out[(c*h+y)*w+x], "%v %v", p, way)
				}
			}
			// Flat colours too.
			flat := func(c, _, _ int) float32 { return 0.2 + 0.25*float32(c) }
			for i, v := range demosaicked(sampled(p, h, w, flat), way) {
				require.InDelta(t, flat(i/(h*w), 0, 0), v, 1e-6, "%v %v", p, way)
			}
		}
	}
}

// The filters as the paper prints them, in sixteenths.
var (
	greenAtOther = [5][5]float64{{0, 0, -2, 0, 0}, {0, 0, 4, 0, 0}, {-2, 4, 8, 4, -2}, {0, 0, 4, 0, 0}, {0, 0, -2, 0, 0}}
	colourInRow  = [5][5]float64{{0, 0, 1, 0, 0}, {0, -2, 0, -2, 0}, {-2, 8, 10, 8, -2}, {0, -2, 0, -2, 0}, {0, 0, 1, 0, 0}}
	colourAcross = [5][5]float64{{0, 0, -3, 0, 0}, {0, 4, 0, 4, 0}, {-3, 0, 12, 0, -3}, {0, 4, 0, 4, 0}, {0, 0, -3, 0, 0}}
)

func TestMalvarAgainstItsFilters(t *testing.T) {
	const h, w = 6, 8
	noise := func(_, y, x int) float32 { return backend.GaussianAt(2, uint64((y+border)*100+x+border)) }
	for p := RGGB; p <= BGGR; p++ {
		out := demosaicked(sampled(p, h, w, noise), Malvar)
		for y := range h {
			for x := range w {
				filtered := func(f [5][5]float64, turned bool) float64 {
					sum := 0.0
					for i := range 5 {
						for j := range 5 {
							weight := f[i][j]
							if turned {
								weight = f[j][i]
							}
							sum += weight / 16 * float64(noise(0, y+i-2, x+j-2))
						}
					}
					return sum
				}
				own, beside := p.Filters().At(y, x), p.Filters().At(y, x+1)
				for c := range 3 {
					var want float64
					switch {
					case c == own:
						want = float64(noise(0, y, x))
					case c == 1:
						want = filtered(greenAtOther, false)
					case own == 1:
						want = filtered(colourInRow, c != beside)
					default:
						want = filtered(colourAcross, false)
					}
					require.InDelta(t, want, out[(c*h+y)*w+x], 1e-5, "%v colour %d at %d,%d", p, c, y, x)
				}
			}
		}
	}
}

// Hamilton and Adams keep an edge along the pixels that bilinear averages over.
func TestEdgeDirected(t *testing.T) {
	edge := func(_, _, x int) float32 {
		if x < 5 {
			return 0.1
		}
		return 0.9
	}
	m := sampled(RGGB, 8, 10, edge)
	worst := func(way Demosaicking) (d float64) {
		out := demosaicked(m, way)
		for y := range 8 {
			for x := range 10 {
				d = max(d, math.Abs(float64(out[(8+y)*10+x]-edge(1, y, x))))
			}
		}
		return d
	}
	require.Less(t, worst(HamiltonAdams), 1e-6)
	require.Greater(t, worst(Bilinear), 0.1)
}

func TestSmooth(t *testing.T) {
	const h, w = 61, 61
	for _, std := range []float64{0.01, 0.3, 1, 2.5, 8} {
		plane, room := make([]float32, h*w), make([]float32, h*w)
		plane[30*w+30] = 1
		smooth(plane, room, h, w, std)
		sum, spread := 0.0, 0.0
		for i, v := range plane {
			dx := float64(i%w - 30)
			sum += float64(v)
			spread += float64(v) * dx * dx
		}
		require.InDelta(t, 1, sum, 1e-5)
		if std >= 1 {
			require.InEpsilon(t, std*std, spread, 0.05, "a Gaussian cut at three deviations")
		}
		for i := range plane {
			plane[i] = 0.7
		}
		smooth(plane, room, h, w, std)
		for _, v := range plane {
			require.InDelta(t, 0.7, v, 1e-5, "edges too")
		}
	}
}

func TestRetouch(t *testing.T) {
	const h, w = 12, 15
	c := Typical()
	c.LumaSmoothing, c.ChromaSmoothing, c.Sharpening = 0, 2, 0
	planes, room := make([]float32, 3*h*w), make([]float32, 2*h*w)
	for i := range planes {
		planes[i] = 0.5 + 0.05*backend.GaussianAt(3, uint64(i))
	}
	before := append([]float32(nil), planes...)
	c.retouch(planes, room, h, w)
	luma := func(p []float32, i int) float32 { return lumaWeights.of(p[i], p[h*w+i], p[2*h*w+i]) }
	var rough, smoothed float64
	for i := range h * w {
		require.InDelta(t, luma(before, i), luma(planes, i), 1e-6, "brightness stays")
		rough += math.Pow(float64(before[i]-luma(before, i)), 2)
		smoothed += math.Pow(float64(planes[i]-luma(planes, i)), 2)
	}
	require.Less(t, smoothed, rough/5)

	// Sharpening raises the contrast of brightness at an edge, and leaves flat parts.
	c.ChromaSmoothing, c.Sharpening = 0, 1
	for i := range planes {
		planes[i] = 0.3
		if i%w >= 8 {
			planes[i] = 0.6
		}
	}
	c.retouch(planes, room, h, w)
	require.InDelta(t, 0.3, planes[3*w+1], 1e-5)
	require.Less(t, planes[3*w+7], float32(0.25))
	require.Greater(t, planes[3*w+8], float32(0.65))
}

func TestResampling(t *testing.T) {
	const h, w = 9, 12
	src := make([]float32, 2*h*w)
	for i := range src {
		src[i] = backend.GaussianAt(4, uint64(i))
	}
	room := make([]float32, h*w)
	out := make([]float32, 2*3*4)
	resampled(out, src, room, 2, h, w, 3, Area)
	for c := range 2 {
		for y := range 3 {
			for x := range 4 {
				sum := float32(0)
				for i := range 3 {
					for j := range 3 {
						sum += src[(c*h+3*y+i)*w+3*x+j] / 9
					}
				}
				require.InDelta(t, sum, out[(c*3+y)*4+x], 1e-5)
			}
		}
	}
	resampled(out, src, room, 2, h, w, 3, Nearest)
	require.Equal(t, src[h*w+(3*1+1)*w+3*2+1], out[12+1*4+2], "the pixel in the middle")
	for way := Area; way <= Nearest; way++ {
		for _, factor := range []float64{1, 1.3, 2.5, 7, 100} {
			newH, newW := reduced(h, factor), reduced(w, factor)
			for i := range src {
				src[i] = 0.6
			}
			out := make([]float32, newH*newW)
			resampled(out, src, room, 1, h, w, factor, way)
			for _, v := range out {
				require.InDelta(t, 0.6, v, 1e-5, "%v by %v", way, factor)
			}
		}
	}
	// A ramp stays one, away from the edges, and where it was.
	for i := range h * w {
		src[i] = float32(i % w)
	}
	for way := Area; way <= Bicubic; way++ {
		out := make([]float32, 4*6)
		resampled(out, src, room, 1, h, w, 2, way)
		for x := 2; x < 4; x++ {
			require.InDelta(t, 2*float64(x)+0.5, out[x], 1e-5, "%v", way)
		}
	}
}
