package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
)

// tvState is a ROF problem with random iterates.
type tvState struct {
	u, p, y backend.Buffer
}

func newTVState(t testing.TB, d *Device, s backend.Shape, alpha float64) tvState {
	r := rand.New(rand.NewPCG(uint64(s.H), uint64(s.W)))
	random := func(s backend.Shape, size float64) backend.Buffer {
		b, err := d.Alloc(s)
		require.NoError(t, err)
		x := make([]float32, s.Len())
		for i := range x {
			x[i] = float32(size * (r.Float64() - 0.5))
		}
		require.NoError(t, d.Upload(b, x))
		return b
	}
	dual := s
	dual.C *= 2
	v := tvState{u: random(s, 1), p: random(dual, alpha), y: random(s, 1)}
	// Where there is no difference there is no dual number.
	p := operand(t, d, v.p).Data
	for c := range s.C {
		for j := range s.W {
			p[(2*c*s.H+s.H-1)*s.W+j] = 0
		}
		for i := range s.H {
			p[((2*c+1)*s.H+i)*s.W+s.W-1] = 0
		}
	}
	return v
}

func (v tvState) copies(t require.TestingT, d *Device) (u, p, y []float64) {
	w := func(b backend.Buffer) []float64 {
		x := operand(t, d, b).Data
		out := make([]float64, len(x))
		for i := range x {
			out[i] = float64(x[i])
		}
		return out
	}
	return w(v.u), w(v.p), w(v.y)
}

// tvStepReference is TVIterate, pixel by pixel, in float64.
func tvStepReference(s backend.Shape, u, p, y []float64, problem backend.TVProblem, step backend.TVStep) {
	at := func(c, i, j int) int { return (c*s.H+i)*s.W + j }
	ubar := make([]float64, len(u))
	for c := range s.C {
		for i := range s.H {
			for j := range s.W {
				r := y[at(c, i, j)] + p[at(2*c, i, j)] + p[at(2*c+1, i, j)]
				if i > 0 {
					r -= p[at(2*c, i-1, j)]
				}
				if j > 0 {
					r -= p[at(2*c+1, i, j-1)]
				}
				k := at(c, i, j)
				u[k] += float64(step.Primal) * (r - u[k])
				ubar[k] = u[k] + float64(step.Extrapolation)*(r-u[k])
			}
		}
	}
	for i := range s.H {
		for j := range s.W {
			squares := make([]float64, s.C)
			for c := range s.C {
				if i+1 < s.H {
					p[at(2*c, i, j)] += float64(step.Dual) * (ubar[at(c, i+1, j)] - ubar[at(c, i, j)])
				}
				if j+1 < s.W {
					p[at(2*c+1, i, j)] += float64(step.Dual) * (ubar[at(c, i, j+1)] - ubar[at(c, i, j)])
				}
				k := c
				if problem.Coupled {
					k = 0
				}
				squares[k] += p[at(2*c, i, j)]*p[at(2*c, i, j)] + p[at(2*c+1, i, j)]*p[at(2*c+1, i, j)]
			}
			for c := range s.C {
				k := c
				if problem.Coupled {
					k = 0
				}
				if n := math.Sqrt(squares[k]); n > float64(problem.Alpha) {
					p[at(2*c, i, j)] *= float64(problem.Alpha) / n
					p[at(2*c+1, i, j)] *= float64(problem.Alpha) / n
				}
			}
		}
	}
}

func near(t testing.TB, d *Device, want []float64, got backend.Buffer, limit float64, name string) {
	for i, v := range operand(t, d, got).Data {
		require.InDelta(t, want[i], v, limit, "%s at %d", name, i)
	}
}

func TestTVIterateAgreesWithReference(t *testing.T) {
	d := open(t, Threads(2))
	for _, s := range []backend.Shape{
		backend.Image(1, 1, 1), backend.Image(1, 1, 9), backend.Image(1, 9, 1), backend.Image(2, 7, 5),
		backend.Image(3, tvMinBand, 6), backend.Image(1, 2*tvMinBand+1, 11), backend.Image(2, 2*tvMinBand+1, 4), backend.Image(5, tvMinBand+1, 3),
	} {
		for _, coupled := range []bool{false, true} {
			t.Run(fmt.Sprint(s, coupled), func(t *testing.T) {
				v := newTVState(t, d, s, 0.2)
				u, p, y := v.copies(t, d)
				problem := backend.TVProblem{Alpha: 0.1, Coupled: coupled}
				for _, step := range []backend.TVStep{{Primal: 0.3, Extrapolation: 0.2, Dual: 0.4}, {}, {Primal: 1, Extrapolation: 0.5, Dual: 2}} {
					tvStepReference(s, u, p, y, problem, step)
					require.NoError(t, d.TVIterate(v.u, v.p, v.y, problem, step))
					near(t, d, u, v.u, 2e-6, "u")
					near(t, d, p, v.p, 2e-6, "p")
				}
				// A primal half alone is an iteration without a dual half.
				wide := backend.TVProblem{Alpha: 10}
				tvStepReference(s, u, p, y, wide, backend.TVStep{Primal: 0.7})
				require.NoError(t, d.TVPrimal(v.u, v.p, v.y, 0.7))
				near(t, d, u, v.u, 2e-6, "u")
			})
		}
	}
}

// ⟨∇u, p⟩ = ⟨u, ∇ᵀp⟩, with the first from TVEvaluate and the second from TVPrimal.
func TestTVGradientAndItsAdjoint(t *testing.T) {
	d := open(t, Threads(1))
	for _, s := range []backend.Shape{backend.Image(1, 1, 1), backend.Image(2, 1, 8), backend.Image(2, 8, 1), backend.Image(3, 31, 17)} {
		v := newTVState(t, d, s, 1)
		value, err := d.TVEvaluate(v.u, v.p, v.y, backend.TVProblem{Alpha: 10})
		require.NoError(t, err)
		zero, _ := d.Alloc(s)
		minusAdjoint, _ := d.Alloc(s)
		require.NoError(t, d.TVPrimal(minusAdjoint, v.p, zero, 1))
		product := make([]float64, 1)
		require.NoError(t, d.Reduce(product, backend.Reduction{Kind: backend.Dot, X: v.u, Y: minusAdjoint}))
		require.InDelta(t, value.Product, -product[0], 1e-5*math.Sqrt(float64(s.Len())))
	}
}

// The parts of the gap satisfy P(u) − D(p) = Gap, with both objectives computed
// from their definitions.
func TestTVEvaluateIsTheDualityGap(t *testing.T) {
	d := open(t, Threads(2))
	for _, s := range []backend.Shape{backend.Image(1, 1, 1), backend.Image(2, 9, 1), backend.Image(3, 40, 23)} {
		for _, coupled := range []bool{false, true} {
			problem := backend.TVProblem{Alpha: 0.3, Coupled: coupled}
			v := newTVState(t, d, s, 2)
			require.NoError(t, d.TVIterate(v.u, v.p, v.y, problem, backend.TVStep{}), "projects p")
			value, err := d.TVEvaluate(v.u, v.p, v.y, problem)
			require.NoError(t, err)
			u, _, y := v.copies(t, d)
			require.NoError(t, d.TVPrimal(v.u, v.p, v.y, 1))
			r, _, _ := v.copies(t, d)
			fidelity, dual := 0.0, 0.0
			for i := range u {
				fidelity += (u[i] - y[i]) * (u[i] - y[i]) / 2
				dual += (y[i]*y[i] - r[i]*r[i]) / 2
			}
			require.InDelta(t, fidelity, value.Fidelity, 1e-9*float64(s.Len()))
			require.InDelta(t, dual, value.Dual(), 1e-6*float64(s.Len()))
			require.GreaterOrEqual(t, value.Gap(), 0.0)
			require.GreaterOrEqual(t, value.Variation, value.Product*(1-1e-12))
		}
	}
}

func TestTVSameBitsForAnyThreads(t *testing.T) {
	s := backend.Image(3, 11*tvMinBand+2, 37)
	for _, coupled := range []bool{false, true} {
		problem := backend.TVProblem{Alpha: 0.1, Coupled: coupled}
		var u, p []float64
		var value backend.TVValue
		for _, threads := range []int{1, 2, 5} {
			d := open(t, Threads(threads))
			v := newTVState(t, d, s, 0.2)
			for range 5 {
				require.NoError(t, d.TVIterate(v.u, v.p, v.y, problem, backend.TVStep{Primal: 0.3, Extrapolation: 0.2, Dual: 0.4}))
			}
			got, err := d.TVEvaluate(v.u, v.p, v.y, problem)
			require.NoError(t, err)
			gotU, gotP, _ := v.copies(t, d)
			if threads == 1 {
				u, p, value = gotU, gotP, got
			}
			require.Equal(t, u, gotU)
			require.Equal(t, p, gotP)
			require.Equal(t, value, got)
			require.NoError(t, d.Close())
		}
	}
}

func TestTVKeepsNaNAndExtremes(t *testing.T) {
	d := open(t, Threads(1))
	s := backend.Image(2, 6, 7)
	for _, coupled := range []bool{false, true} {
		v := newTVState(t, d, s, 0.2)
		operand(t, d, v.y).Data[20] = float32(math.NaN())
		problem := backend.TVProblem{Alpha: 0.1, Coupled: coupled}
		require.NoError(t, d.TVIterate(v.u, v.p, v.y, problem, backend.TVStep{Primal: 0.5, Dual: 0.1}))
		value, err := d.TVEvaluate(v.u, v.p, v.y, problem)
		require.NoError(t, err)
		require.True(t, math.IsNaN(value.Primal()))
		// A whole primal step does not read the old u.
		operand(t, d, v.y).Data[20] = 0
		require.NoError(t, d.Fill(v.p, 0))
		require.NoError(t, d.TVPrimal(v.u, v.p, v.y, 1))
		require.Equal(t, operand(t, d, v.y).Data, operand(t, d, v.u).Data)

		for _, alpha := range []float32{0, 1e-30, 1e30, math.MaxFloat32} {
			v := newTVState(t, d, s, 0.2)
			require.NoError(t, d.TVIterate(v.u, v.p, v.y, backend.TVProblem{Alpha: alpha, Coupled: coupled}, backend.TVStep{}))
			_, before, _ := newTVState(t, d, s, 0.2).copies(t, d)
			for i, p := range operand(t, d, v.p).Data {
				want := before[i]
				if alpha < 1 {
					want = 0
				}
				require.InDelta(t, want, p, 1e-7, "α %g", alpha)
			}
		}
	}
}

func TestTVRefusesBadArguments(t *testing.T) {
	d := open(t, Threads(1))
	s := backend.Image(2, 6, 7)
	v := newTVState(t, d, s, 0.2)
	good := backend.TVProblem{Alpha: 1}
	for _, alpha := range []float64{-1, math.NaN(), math.Inf(1)} {
		bad := backend.TVProblem{Alpha: float32(alpha)}
		require.ErrorIs(t, d.TVIterate(v.u, v.p, v.y, bad, backend.TVStep{}), backend.ErrArgument)
		_, err := d.TVEvaluate(v.u, v.p, v.y, bad)
		require.ErrorIs(t, err, backend.ErrArgument)
	}
	inf, nan := float32(math.Inf(1)), float32(math.NaN())
	for _, step := range []backend.TVStep{{Primal: -0.1}, {Primal: 1.1}, {Primal: nan}, {Extrapolation: -1}, {Extrapolation: inf}, {Dual: nan}, {Dual: inf}} {
		require.ErrorIs(t, d.TVIterate(v.u, v.p, v.y, good, step), backend.ErrArgument)
	}
	require.ErrorIs(t, d.TVPrimal(v.u, v.p, v.y, 2), backend.ErrArgument)
	require.ErrorIs(t, d.TVPrimal(v.u, v.u, v.y, 1), backend.ErrShape)
	require.ErrorIs(t, d.TVPrimal(v.y, v.p, v.y, 1), backend.ErrAlias)
	half, err := d.Channels(v.p, 0, 2)
	require.NoError(t, err)
	require.ErrorIs(t, d.TVIterate(half, v.p, v.y, good, backend.TVStep{}), backend.ErrAlias)
	batch, err := d.Alloc(backend.Shape{N: 2, C: 2, H: 6, W: 7})
	require.NoError(t, err)
	require.ErrorIs(t, d.TVPrimal(batch, v.p, batch, 1), backend.ErrShape)
	v.p.Free()
	require.ErrorIs(t, d.TVPrimal(v.u, v.p, v.y, 1), backend.ErrFreed)
}

// BenchmarkTV reports the time per pixel and channel on one thread, for an image
// in the second-level cache, a photograph, and one that fits no cache. An iteration
// reads u, p and y and writes u and p: 28 bytes.
func BenchmarkTV(b *testing.B) {
	for _, set := range InstructionSets() {
		d := open(b, Threads(1), UseInstructionSet(set))
		for _, s := range []backend.Shape{backend.Image(1, 60, 481), backend.Image(1, 321, 481), backend.Image(2, 321, 481), backend.Image(3, 321, 481), backend.Image(3, 2000, 3000)} {
			v := newTVState(b, d, s, 0.2)
			// Within wide balls: on the surface of narrow ones a million steps of the same
			// length make dual variables subnormal, which no solver comes to.
			problem := backend.TVProblem{Alpha: 10, Coupled: true}
			perPixel := func(b *testing.B) {
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(s.Len()), "ns/pixel")
			}
			b.Run(fmt.Sprintf("%v/iterate/%v", set, s), func(b *testing.B) {
				b.SetBytes(28 * int64(s.Len()))
				for b.Loop() {
					_ = d.TVIterate(v.u, v.p, v.y, problem, backend.TVStep{Primal: 0.1, Extrapolation: 0.1, Dual: 0.001})
				}
				perPixel(b)
			})
			b.Run(fmt.Sprintf("%v/evaluate/%v", set, s), func(b *testing.B) {
				for b.Loop() {
					_, _ = d.TVEvaluate(v.u, v.p, v.y, problem)
				}
				perPixel(b)
			})
			b.Run(fmt.Sprintf("%v/primal/%v", set, s), func(b *testing.B) {
				for b.Loop() {
					_ = d.TVPrimal(v.u, v.p, v.y, 0.5)
				}
				perPixel(b)
			})
		}
	}
}
