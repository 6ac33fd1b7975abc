package deblur

import (
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/internal/devicetest"
	"github.com/averaged/imaging/operator"
	"github.com/averaged/imaging/operator/operatortest"
	"github.com/stretchr/testify/require"
	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// testGrids are of one part and of many, with kernels of several sizes and centres.
func testGrids(t testing.TB) map[string]Grid {
	must := made(t)
	kernels := testKernels(t)
	return map[string]Grid{
		"one":    {1, 1, []Kernel{kernels["even"]}},
		"column": {2, 1, []Kernel{kernels["motion"], kernels["corner"]}},
		"row":    {1, 3, []Kernel{kernels["identity"], kernels["shift"], must(Gaussian(1))}},
		"square": {2, 2, []Kernel{must(Shake(5, 1)), must(Shake(5, 2)), must(Motion(6, 70)), kernels["not summing 1"]}},
		"signs":  {2, 2, []Kernel{kernels["lopsided ±"], kernels["sharpening"], kernels["identity"], kernels["difference"]}},
	}
}

// elsewhere is a device that does not compute in the host's memory.
type elsewhere struct{ backend.Device }

// testVarying calls f for grids and sizes of photographs, on devices that compute in the host's memory or not.
func testVarying(t *testing.T, f func(t *testing.T, dev backend.Device, v *Varying, g Grid)) {
	host := cputest.Open(t, cpu.Threads(2))
	defer func() { require.NoError(t, host.Close()) }()
	devices := map[string]backend.Device{"host": host, "elsewhere": elsewhere{host}}
	if testing.Short() {
		delete(devices, "elsewhere") // the same operators, and takes long under emulation; go test ./... has it
	}
	for where, dev := range devices {
		for name, g := range testGrids(t) {
			for _, size := range [][2]int{{2, 3}, {7, 10}, {12, 9}} {
				for _, method := range []backend.BlurMethod{backend.DirectBlur, backend.FourierBlur} {
					t.Run(fmt.Sprintf("%s/%s/%d/%v", where, name, method, size), func(t *testing.T) {
						v, err := newVarying(dev, g, size[0], size[1], method)
						require.NoError(t, err)
						defer v.Free()
						f(t, dev, v, g)
					})
				}
			}
		}
	}
}

// The operator is linear, its adjoint is exact, its norm below its bound: by the test of all operators, and by the
// singular values of the matrix.
func TestVarying(t *testing.T) {
	testVarying(t, func(t *testing.T, dev backend.Device, v *Varying, g Grid) {
		require.NoError(t, operatortest.TestLinear(dev, v))
		// The matrix by the definition, with windows that sum to 1.
		dh, dw := v.Domain()
		h, w := v.Range()
		a := mat.NewDense(h*w, dh*dw, nil)
		for i, k := range v.grid.Kernels {
			for y := range h {
				for x := range w {
					for j, weight := range k.Weights {
						qy, qx := y+k.H-1-j/k.W, x+k.W-1-j%k.W
						at := v.rows[i/g.Columns][qy] * v.columns[i%g.Columns][qx]
						a.Set(y*w+x, qy*dw+qx, a.At(y*w+x, qy*dw+qx)+float64(weight)*at)
					}
				}
			}
		}
		for y := range dh {
			sum := 0.0
			for _, of := range v.rows {
				require.GreaterOrEqual(t, of[y], 0.0)
				sum += of[y]
			}
			require.InDelta(t, 1, sum, 1e-15)
		}
		x, xs := devicetest.Noise(t, dev, 1, dh, dw, 3)
		defer x.Free()
		y, _ := devicetest.Noise(t, dev, 1, h, w, 4)
		defer y.Free()
		require.NoError(t, v.Apply(y, x))
		in := mat.NewVecDense(dh*dw, nil)
		for i, s := range xs {
			in.SetVec(i, float64(s))
		}
		var want mat.VecDense
		want.MulVec(a, in)
		for i, s := range devicetest.Download(t, dev, y) {
			require.InDelta(t, want.AtVec(i), float64(s), 1e-4)
		}
		bound, reason := v.Norm()
		require.Contains(t, reason, "Schur")
		if !testing.Short() { // singular values take most of the time and are the same on every processor
			var svd mat.SVD
			require.True(t, svd.Factorize(a, mat.SVDNone))
			require.LessOrEqual(t, svd.Values(nil)[0], bound)
		}
		if nonnegative(g) {
			require.Less(t, bound, 1.4)
		}
		r, err := v.Rounding()
		require.NoError(t, err)
		if _, says := dev.(backend.Arithmetic); says {
			require.Less(t, r, 1e-3)
		} else {
			require.True(t, math.IsInf(r, 1))
		}
	})
}

func nonnegative(g Grid) bool {
	for _, k := range g.Kernels {
		for _, w := range k.Weights {
			if w < 0 || k.Energy() > 1 {
				return false
			}
		}
		if math.Abs(k.sum()-1) > 1e-6 {
			return false
		}
	}
	return true
}

func (k Kernel) sum() (sum float64) {
	for _, w := range k.Weights {
		sum += float64(w)
	}
	return sum
}

// Between samples of a photograph that are apart the row sums are bounded, too.
func TestVaryingRowSums(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		n, step := 1+random.IntN(40), 1+2*random.IntN(6)
		covered := make([]bool, n)
		for c := range centres(n, step) {
			for i := max(0, c-step/2); i <= min(n-1, c+step/2); i++ {
				covered[i] = true
			}
		}
		require.NotContains(t, covered, false, "%d %d", n, step)
	}
}

// Row sums at some samples only bound those at all of them, also where every kernel brings light to one point, as a
// row sum of many times the sum of a kernel needs; and little is lost.
func TestVaryingRowSumsBetweenCentres(t *testing.T) {
	dev := cputest.Open(t, cpu.Threads(1))
	defer dev.Close()
	rapid.Check(t, func(t *rapid.T) {
		number := func(from, to int, name string) int { return rapid.IntRange(from, to).Draw(t, name) }
		g := Grid{Rows: number(1, 4, "rows"), Columns: number(1, 4, "columns")}
		part, size := number(5, 9, "part"), 2*number(2, 15, "reach")+1
		h, w := g.Rows*part, g.Columns*part
		focus, fy, fx := rapid.Bool().Draw(t, "focus"), number(0, h-1, "y"), number(0, w-1, "x")
		for i := range g.Rows * g.Columns {
			k := Kernel{H: size, W: size, CY: size / 2, CX: size / 2, Weights: make([]float32, size*size)}
			for j := range k.Weights {
				if !focus {
					k.Weights[j] = rapid.Float32Range(0, 1).Draw(t, "weight")
				}
			}
			dy, dx := fy-(i/g.Columns*part+part/2)+size/2, fx-(i%g.Columns*part+part/2)+size/2
			if focus && dy >= 0 && dy < size && dx >= 0 && dx < size {
				k.Weights[dy*size+dx] = 1
			} else {
				k.Weights[size*size/2] = 1
			}
			g.Kernels = append(g.Kernels, k)
		}
		v, err := NewVarying(dev, g, h, w)
		require.NoError(t, err)
		defer v.Free()
		exact := v.largestRow(1)
		for _, step := range []int{3, 5} {
			bound := v.largestRow(step)
			require.GreaterOrEqual(t, bound, exact*(1-1e-12), "%d", step)
			require.LessOrEqual(t, bound, exact*math.Pow(1+float64(step/2)*math.Pi/float64(part), 2))
		}
	})
}

// With one kernel everywhere it is the blur by that kernel.
func TestVaryingOfOneKernel(t *testing.T) {
	dev := cputest.Open(t, cpu.Threads(2))
	defer dev.Close()
	k := made(t)(Shake(7, 3))
	v, err := NewVarying(dev, Grid{2, 3, []Kernel{k, k, k, k, k, k}}, 30, 41)
	require.NoError(t, err)
	defer v.Free()
	o, err := New(dev, k, Unknown, 30, 41)
	require.NoError(t, err)
	defer o.Free()
	h, w := o.Domain()
	x, _ := devicetest.Noise(t, dev, 2, h, w, 1)
	defer x.Free()
	a, _ := devicetest.Noise(t, dev, 2, 30, 41, 2)
	defer a.Free()
	b, _ := devicetest.Noise(t, dev, 2, 30, 41, 3)
	defer b.Free()
	require.NoError(t, v.Apply(a, x))
	require.NoError(t, o.Apply(b, x))
	require.InDeltaSlice(t, devicetest.Download(t, dev, b), devicetest.Download(t, dev, a), 1e-5)
	bound, _ := v.Norm()
	require.InDelta(t, 1, bound, 1e-6)
}

// The preconditioner is symmetric, with eigenvalues within its bounds, and there is none where parts are smaller than two kernels.
func TestVaryingPreconditioner(t *testing.T) {
	const tau = 7.0
	dev := cputest.Open(t, cpu.Threads(2))
	defer dev.Close()
	must := made(t)
	g := Grid{Rows: 4, Columns: 2}
	for i := range 2 {
		g.Kernels = append(g.Kernels, must(Shake(5, uint64(i))), must(Motion(4, 70)), must(Gaussian(.5)), must(Shake(5, uint64(i+7))))
	}
	many, err := newVarying(dev, g, 21, 20, backend.FourierBlur)
	require.NoError(t, err)
	defer many.Free()
	m, err := operator.PreconditionerOf(many, tau)
	require.NoError(t, err)
	require.Nil(t, m)
	v, err := newVarying(dev, g.Thinned(2, 2), 21, 20, backend.FourierBlur)
	require.NoError(t, err)
	defer v.Free()
	m, err = operator.PreconditionerOf(v, tau)
	require.NoError(t, err)
	require.NotNil(t, m)
	defer m.Free()
	require.Len(t, m.(*varyingPreconditioner).each, 4)
	h, w := v.Domain()
	a := matrix(t, dev, m, h, w)
	symmetric := mat.NewSymDense(h*w, nil)
	asymmetry := 0.0
	for i := range h * w {
		for j := range i + 1 {
			asymmetry = max(asymmetry, math.Abs(a.At(i, j)-a.At(j, i)))
			symmetric.SetSym(i, j, a.At(i, j))
		}
	}
	require.LessOrEqual(t, asymmetry, 1e-5)
	if testing.Short() {
		return // eigenvalues take long under emulation; TestPreconditionersAreBounded has those of small images, and go test ./... these
	}
	var eigen mat.EigenSym
	require.True(t, eigen.Factorize(symmetric, false))
	values := eigen.Values(nil)
	require.Greater(t, values[0], 1/(1+tau)-1e-4)
	require.Less(t, values[len(values)-1], 1+1e-4)
}

// A contact sheet is cut into its cells, in their order, and what is no sheet is refused.
func TestGridFromPlanes(t *testing.T) {
	sheet := []float32{
		1, 0, 0, 0, 0, 0,
		0, 0, 0, 0, 2, 0,
		0, 0, 3, 0, 0, 0,
		0, 0, 0, 3, 3, 0,
		0, 1, 0, 0, 0, 0,
		0, 0, 0, 0, 0, 3,
	}
	g, err := GridFromPlanes(sheet, 1, 6, 6, 2, 2)
	require.NoError(t, err)
	require.NoError(t, g.Check())
	require.Equal(t, Kernel{H: 3, W: 3, CY: 1, CX: 1, Weights: []float32{.25, 0, 0, 0, 0, 0, 0, 0, .75}}, g.Kernels[0])
	require.Equal(t, Kernel{H: 1, W: 1, Weights: []float32{1}}, g.Kernels[1])
	require.Equal(t, Kernel{H: 1, W: 1, Weights: []float32{1}}, g.Kernels[2])
	require.Equal(t, 3, g.Kernels[3].H)
	for name, of := range map[string]func() (Grid, error){
		"uneven": func() (Grid, error) { return GridFromPlanes(sheet, 1, 6, 6, 4, 2) },
		"none":   func() (Grid, error) { return GridFromPlanes(sheet, 1, 6, 6, 0, 2) },
		"many":   func() (Grid, error) { return GridFromPlanes(sheet, 1, 6, 6, 2, 17) },
		"size":   func() (Grid, error) { return GridFromPlanes(sheet, 1, 6, 7, 2, 2) },
		"black":  func() (Grid, error) { return GridFromPlanes(make([]float32, 36), 1, 6, 6, 2, 2) },
	} {
		_, err := of()
		require.Error(t, err, name)
	}
	require.ErrorContains(t, Grid{Rows: 2, Columns: 2}.Check(), "0 kernels")
}

// A sheet of kernels comes back as the same kernels.
func TestGridSheet(t *testing.T) {
	g := Grid{Rows: 2, Columns: 2}
	for i, size := range []int{9, 5, 7, 9} {
		k, err := Shake(size, uint64(i))
		require.NoError(t, err)
		g.Kernels = append(g.Kernels, k)
	}
	pix, h, w, err := g.Sheet()
	require.NoError(t, err)
	back, err := GridFromPlanes(pix, 1, h, w, g.Rows, g.Columns)
	require.NoError(t, err)
	for i, k := range g.Kernels {
		require.Equal(t, [4]int{k.H, k.W, k.CY, k.CX}, [4]int{back.Kernels[i].H, back.Kernels[i].W, back.Kernels[i].CY, back.Kernels[i].CX})
		require.InDeltaSlice(t, k.Weights, back.Kernels[i].Weights, 1e-6)
	}
	g.Kernels[0].Weights[0] = -1
	_, _, _, err = g.Sheet()
	require.Error(t, err)
	_, _, _, err = Grid{}.Sheet()
	require.Error(t, err)
}

// However narrow, windows sum to 1, and are 1 at the middles of parts of the photograph, however far the unknown image goes beyond
// it.
func TestWindowsStandOnThePhotograph(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, part := rapid.IntRange(1, 6).Draw(t, "n"), 1+2*rapid.IntRange(1, 40).Draw(t, "half")
		before, after := rapid.IntRange(0, 30).Draw(t, "before"), rapid.IntRange(0, 30).Draw(t, "after")
		turn := rapid.IntRange(1, 2*part).Draw(t, "turn")
		of := windows(n, n*part, before, before+n*part+after, turn)
		for s := range before + n*part + after {
			sum := 0.0
			for i, w := range of {
				require.GreaterOrEqual(t, w[s], 0.0)
				sum += w[s]
				border := math.Abs(float64(s-before) - float64(i*part+part/2)) // from the middle
				if border >= float64(part+min(part, turn))/2 && s >= before && s < before+n*part {
					require.InDelta(t, 0, w[s], 1e-9)
				}
			}
			require.InDelta(t, 1, sum, 1e-12)
		}
		for i, w := range of {
			require.InDelta(t, 1, w[before+i*part+part/2], 1e-12)
		}
		require.InDelta(t, 1, of[0][0], 1e-12)
		require.InDelta(t, 1, of[n-1][before+n*part+after-1], 1e-12)
	})
}

// The grid of a part blurs it as the grid of the photograph does.
func TestPartOfAGrid(t *testing.T) {
	dev := cputest.Open(t)
	defer func() { require.NoError(t, dev.Close()) }()
	const h, w = 120, 160
	motion, err := UniformTurn(0.1, 10, -20, h, w)
	require.NoError(t, err)
	g, err := motion.Grid(h, w)
	require.NoError(t, err)
	part := image.Rect(50, 30, 131, 90)
	blurred := func(g Grid, h, w int, unknown []float32) []float32 {
		v, err := NewVarying(dev, g, h, w)
		require.NoError(t, err)
		defer v.Free()
		dh, dw := v.Domain()
		from := devicetest.Upload(t, dev, backend.Image(1, dh, dw), unknown)
		defer from.Free()
		to := devicetest.Upload(t, dev, backend.Image(1, h, w), make([]float32, h*w))
		defer to.Free()
		require.NoError(t, v.Apply(to, from))
		return devicetest.Download(t, dev, to)
	}
	cut := func(pix []float32, width int, r image.Rectangle) (of []float32) {
		for y := r.Min.Y; y < r.Max.Y; y++ {
			of = append(of, pix[y*width+r.Min.X:y*width+r.Max.X]...)
		}
		return of
	}
	fh, fw := g.Frame()
	unknown := scene(h+fh-1, w+fw-1)
	want := cut(blurred(g, h, w, unknown), w, part)
	under := func(g Grid) float64 {
		gh, gw := g.Frame()
		require.Equal(t, [2]int{fh, fw}, [2]int{gh, gw})
		seen := image.Rect(part.Min.X, part.Min.Y, part.Max.X+fw-1, part.Max.Y+fh-1)
		return meanSquare(want, blurred(g, part.Dy(), part.Dx(), cut(unknown, w+fw-1, seen)))
	}
	p := g.Part(h, w, part)
	require.NoError(t, p.Check())
	require.Less(t, under(p), under(Grid{1, 1, []Kernel{g.framed()[len(g.Kernels)/2]}})/100, "one kernel is not enough")

	require.Equal(t, g.framed()[:1], Grid{1, 1, g.framed()[:1]}.Part(h, w, part).Kernels)
	p = g.Part(h, w, image.Rect(3, 4, 4, 5))
	require.Equal(t, [2]int{1, 1}, [2]int{p.Rows, p.Columns})
}
