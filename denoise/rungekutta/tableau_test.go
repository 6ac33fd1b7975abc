package rungekutta

import (
	"math"
	"math/big"
	"math/cmplx"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Tableaux of the literature that the package does not ship.
var (
	midpoint = Tableau{Name: "midpoint", A: [][]float64{{0, 0}, {0.5, 0}}, B: []float64{0, 1}}
	heun3    = Tableau{Name: "heun3", A: [][]float64{{0, 0, 0}, {1. / 3, 0, 0}, {0, 2. / 3, 0}}, B: []float64{0.25, 0, 0.75}}
	ralston  = Tableau{Name: "ralston", A: [][]float64{{0, 0}, {2. / 3, 0}}, B: []float64{0.25, 0.75}}
	rule38   = Tableau{
		Name: "3/8",
		A:    [][]float64{{0, 0, 0, 0}, {1. / 3, 0, 0, 0}, {-1. / 3, 1, 0, 0}, {1, -1, 1, 0}},
		B:    []float64{1. / 8, 3. / 8, 3. / 8, 1. / 8},
	}
	negative         = Tableau{Name: "negative", A: [][]float64{{0, 0}, {-1, 0}}, B: []float64{1.5, -0.5}}
	backwardEuler    = Tableau{Name: "backward euler", A: [][]float64{{1}}, B: []float64{1}}
	implicitMidpoint = Tableau{Name: "implicit midpoint", A: [][]float64{{0.5}}, B: []float64{1}}
	// θ-method with θ = 1/4: ρ = 2θ − 1.
	theta = Tableau{Name: "theta", A: [][]float64{{0.25}}, B: []float64{1}}
)

func shipped() []Tableau {
	return []Tableau{ForwardEuler(), Heun(), RK4(), SSPRK3(), Kutta3()}
}

func TestRadius(t *testing.T) {
	for _, c := range []struct {
		tableau Tableau
		radius  float64
	}{
		{ForwardEuler(), 1},
		{Heun(), 1},
		{RK4(), 1},
		{SSPRK3(), 1},
		{Kutta3(), 1. / 2},
		{backwardEuler, math.Inf(1)},
		{implicitMidpoint, math.Inf(1)},
		{theta, 2},
		// Two Euler steps of half the size, as one method.
		{Tableau{Name: "2 × euler", A: [][]float64{{0, 0}, {0.5, 0}}, B: []float64{0.5, 0.5}}, 2},
		{Tableau{Name: "3 × euler", A: [][]float64{{0, 0, 0}, {1. / 3, 0, 0}, {1. / 3, 1. / 3, 0}}, B: []float64{1. / 3, 1. / 3, 1. / 3}}, 3},
	} {
		r, err := c.tableau.Radius()
		require.NoError(t, err, c.tableau.Name)
		require.Equal(t, c.radius, r, c.tableau.Name)
	}
}

// Methods without a simple radius: what is returned is proven and close to the
// eigenvalue.
func TestRadiusOfOtherMethods(t *testing.T) {
	for _, tableau := range []Tableau{ralston, rule38} {
		r, err := tableau.Radius()
		require.NoError(t, err)
		p := newContractivity(tableau)
		inverse := new(big.Rat).Inv(new(big.Rat).SetFloat64(r))
		require.True(t, p.holds(inverse), tableau.Name)
		above := new(big.Rat).Inv(new(big.Rat).SetFloat64(r * (1 + 1e-11)))
		require.False(t, p.holds(above), "%s: %v is the largest", tableau.Name, r)
		t.Logf("%s: %v", tableau.Name, r)
	}
}

func TestRadiusRefusesMethodsWithoutDisk(t *testing.T) {
	for _, tableau := range []Tableau{midpoint, heun3, negative} {
		_, err := tableau.Radius()
		require.ErrorIs(t, err, ErrNoDisk, tableau.Name)
		require.ErrorContains(t, err, tableau.Name)
	}
	_, err := Tableau{Name: "ragged", A: [][]float64{{0}, {1, 0}}, B: []float64{0.5, 0.5}}.Radius()
	require.ErrorContains(t, err, "row 0")
	_, err = Tableau{Name: "huge", A: [][]float64{{0, 0}, {1e308, 0}}, B: []float64{1e-300, 1}}.Radius()
	require.Error(t, err)
}

// Whatever the coefficients, a radius is proven, and an explicit method's is no larger
// than its number of stages.
func TestRadiusOfRandomMethodsIsProven(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapid.IntRange(1, 5).Draw(t, "stages")
		tableau := Tableau{Name: "random", A: make([][]float64, s), B: make([]float64, s)}
		for i := range s {
			tableau.A[i] = make([]float64, s)
			for j := range i {
				tableau.A[i][j] = rapid.Float64Range(-2, 2).Draw(t, "a")
			}
			tableau.B[i] = rapid.Float64Range(0.01, 1).Draw(t, "b")
		}
		r, err := tableau.Radius()
		require.NoError(t, err)
		sum := 0.0
		for _, b := range tableau.B {
			sum += b
		}
		require.LessOrEqual(t, r, float64(s)/sum*(1+1e-12))
		require.True(t, newContractivity(tableau).holds(new(big.Rat).Inv(new(big.Rat).SetFloat64(r))))
	})
}

func TestSimpleFraction(t *testing.T) {
	for _, c := range []struct{ p, q int64 }{{0, 1}, {1, 1}, {-1, 3}, {1, 6}, {2, 3}, {-7, 9}, {355, 113}, {9999, 10000}} {
		v, _ := big.NewRat(c.p, c.q).Float64()
		require.Zero(t, coefficient(v).Cmp(big.NewRat(c.p, c.q)), "%d/%d", c.p, c.q)
	}
	require.Zero(t, coefficient(math.Pi).Cmp(new(big.Rat).SetFloat64(math.Pi)))
	require.Zero(t, coefficient(1e300).Cmp(new(big.Rat).SetFloat64(1e300)))
	require.Zero(t, coefficient(5e-324).Cmp(new(big.Rat).SetFloat64(5e-324)))
}

func TestCheckOfTableaux(t *testing.T) {
	for _, tableau := range append(shipped(), midpoint, heun3, ralston, rule38, negative) {
		require.NoError(t, tableau.Check(), tableau.Name)
		require.Equal(t, len(tableau.B), tableau.Stages())
	}
	change := func(f func(*Tableau)) Tableau {
		tableau := RK4()
		f(&tableau)
		return tableau
	}
	for want, tableau := range map[string]Tableau{
		"0 stages":            {},
		"3 rows":              change(func(t *Tableau) { t.A = t.A[:3] }),
		"row 2":               change(func(t *Tableau) { t.A[2] = t.A[2][:3] }),
		"is implicit":         backwardEuler,
		"A[1][3]":             change(func(t *Tableau) { t.A[1][3] = 0.1 }),
		"A[3][0] is NaN":      change(func(t *Tableau) { t.A[3][0] = math.NaN() }),
		"B[1] is +Inf":        change(func(t *Tableau) { t.B[1] = math.Inf(1) }),
		"must be 1":           change(func(t *Tableau) { t.B[0] = 0.2 }),
		"abscissa C[1]":       change(func(t *Tableau) { t.C[1] = 0.4 }),
		"3 abscissae":         change(func(t *Tableau) { t.C = t.C[:3] }),
		"abscissa C[2]":       change(func(t *Tableau) { t.C[2] = math.NaN() }),
		"must have from 1 to": {A: make([][]float64, 99), B: make([]float64, 99)},
	} {
		require.ErrorContains(t, tableau.Check(), want)
	}
}

// step runs the method on a field that may differ from stage to stage.
func step[T any](tableau Tableau, h float64, z T, add func(z T, a float64, k T) T, field func(stage int, z T) T) T {
	k := make([]T, tableau.Stages())
	result := z
	for i := range k {
		y := z
		for j := range i {
			y = add(y, h*tableau.A[i][j], k[j])
		}
		k[i] = field(i, y)
	}
	for i := range k {
		result = add(result, h*tableau.B[i], k[i])
	}
	return result
}

// amplification is K(ζ) of the paper's definition 2.2: one step of size 1 along f = ζ_i·z in
// stage i, from z = 1.
func amplification(tableau Tableau, zeta []complex128) complex128 {
	return step(tableau, 1, complex128(1),
		func(z complex128, a float64, k complex128) complex128 { return z + complex(a, 0)*k },
		func(i int, z complex128) complex128 { return zeta[i] * z })
}

// Within the disk of the radius no step expands; beyond it, an expansive one is found.
// Fields ζ(t)·z on the plane with |ζ + r| ≤ r are those linear ones for which h = 2rν.
func TestRadiusIsSharp(t *testing.T) {
	for _, tableau := range append(shipped(), ralston, rule38) {
		r, err := tableau.Radius()
		require.NoError(t, err)
		s := tableau.Stages()
		rng := rand.New(rand.NewPCG(1, uint64(s)))
		worst := func(radius, angle float64) complex128 {
			// The point of the disk's boundary at an angle seen from its centre; small
			// angles are next to 0.
			return complex(-radius, 0) + cmplx.Rect(radius, angle)
		}
		draw := func(radius, width float64) []complex128 {
			zeta := make([]complex128, s)
			for i := range zeta {
				zeta[i] = worst(radius, width*rng.NormFloat64())
			}
			return zeta
		}
		largest := 0.0
		for range 20000 {
			for _, width := range []float64{3, 0.3, 0.03} {
				zeta := draw(r, width)
				if rng.IntN(4) == 0 { // inside
					for i := range zeta {
						zeta[i] *= complex(rng.Float64(), 0)
					}
				}
				largest = max(largest, cmplx.Abs(amplification(tableau, zeta)))
			}
		}
		require.LessOrEqual(t, largest, 1+1e-13, tableau.Name)
		expansive := 0.0
		for range 20000 {
			expansive = max(expansive, cmplx.Abs(amplification(tableau, draw(r*1.05, 0.1)))-1)
		}
		require.Greater(t, expansive, 1e-6, "%s expands beyond its radius", tableau.Name)
	}
}

func TestMidpointExpandsHoweverSmallTheDisk(t *testing.T) {
	for _, radius := range []float64{1, 0.1, 0.01} {
		rng := rand.New(rand.NewPCG(2, 3))
		largest := 0.0
		for range 100000 {
			zeta := []complex128{0, 0}
			for i, width := range []float64{3, radius} {
				zeta[i] = complex(-radius, 0) + cmplx.Rect(radius, width*rng.NormFloat64())
			}
			largest = max(largest, cmplx.Abs(amplification(midpoint, zeta)))
		}
		require.Greater(t, largest, 1.0, "radius %v", radius)
	}
}

// layer is f(z) = −Aᵀσ(Az + b) with LeakyReLU and a matrix A of norm 1.
type layer struct {
	a [][]float64
	b []float64
}

func newLayer(rng *rand.Rand, rows, cols int) layer {
	l := layer{make([][]float64, rows), make([]float64, rows)}
	v := make([]float64, cols)
	for i := range l.a {
		l.a[i] = make([]float64, cols)
		for j := range l.a[i] {
			l.a[i][j] = rng.NormFloat64()
		}
		l.b[i] = 0.5 * rng.NormFloat64()
	}
	for j := range v {
		v[j] = rng.NormFloat64()
	}
	norm := 0.0
	for range 3000 {
		w := make([]float64, cols)
		size := 0.0
		for _, row := range l.a {
			dot := 0.0
			for j, a := range row {
				dot += a * v[j]
			}
			for j, a := range row {
				w[j] += a * dot
			}
		}
		for _, x := range w {
			size += x * x
		}
		norm = math.Pow(size, 0.25)
		for j := range w {
			v[j] = w[j] / math.Sqrt(size)
		}
	}
	for i := range l.a {
		for j := range l.a[i] {
			l.a[i][j] /= norm
		}
	}
	return l
}

func (l layer) field(z []float64) []float64 {
	f := make([]float64, len(z))
	for i, row := range l.a {
		x := l.b[i]
		for j, a := range row {
			x += a * z[j]
		}
		x = math.Max(x, 0.01*x)
		for j, a := range row {
			f[j] -= a * x
		}
	}
	return f
}

func addVector(z []float64, a float64, k []float64) []float64 {
	sum := make([]float64, len(z))
	for i := range z {
		sum[i] = z[i] + a*k[i]
	}
	return sum
}

func distance(x, y []float64) float64 {
	sum := 0.0
	for i := range x {
		sum += (x[i] - y[i]) * (x[i] - y[i])
	}
	return math.Sqrt(sum)
}

// worst searches for the point x and the difference d, of three numbers, with the largest ratio.
func worst(rng *rand.Rand, ratio func(x, d []float64) float64) (best float64, x, d []float64) {
	x, d = make([]float64, 3), make([]float64, 3)
	for i := range x {
		x[i], d[i] = 2*rng.NormFloat64(), rng.NormFloat64()
	}
	best = ratio(x, d)
	for range 200 {
		nx, nd := make([]float64, 3), make([]float64, 3)
		for i := range x {
			nx[i], nd[i] = x[i]+0.3*rng.NormFloat64(), d[i]*(1+0.3*rng.NormFloat64())+0.05*rng.NormFloat64()
		}
		if q := ratio(nx, nd); q > best {
			best, x, d = q, nx, nd
		}
	}
	return best, x, d
}

// The largest step that the radius allows is nonexpansive along random layers of a
// network, for far and for close pairs, also where a search looks for the worst.
func TestLimitStepIsNonexpansiveAlongLayers(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	for _, tableau := range append(shipped(), ralston, rule38) {
		r, err := tableau.Radius()
		require.NoError(t, err)
		run := func(l layer, h float64, z []float64) []float64 {
			return step(tableau, h, z, addVector, func(_ int, z []float64) []float64 { return l.field(z) })
		}
		largest := 0.0
		for range 30 {
			l := newLayer(rng, 4, 3)
			ratio := func(x, d []float64) float64 {
				y := addVector(x, 1, d)
				return distance(run(l, 2*r, x), run(l, 2*r, y)) / distance(x, y)
			}
			best, _, _ := worst(rng, ratio)
			largest = max(largest, best)
		}
		require.LessOrEqual(t, largest, 1+1e-9, tableau.Name)
	}
	// And beyond the limit Euler's step expands, along the singular vector of A.
	l := layer{a: [][]float64{{1, 0}, {0, 0.3}}, b: []float64{0, 0}}
	euler := func(h float64, z []float64) []float64 {
		return step(ForwardEuler(), h, z, addVector, func(_ int, z []float64) []float64 { return l.field(z) })
	}
	x, y := []float64{1, 0}, []float64{2, 0}
	require.InDelta(t, 1, distance(euler(2, x), euler(2, y)), 1e-15)
	require.Greater(t, distance(euler(2.02, x), euler(2.02, y)), 1.01)
}

func TestSteps(t *testing.T) {
	for _, c := range []struct {
		h, norm, L, r float64
		n             int
	}{
		{1, 1, 1, 1, 1},
		{2, 1, 1, 1, 1},
		{1, math.Sqrt2, 1, 1, 2}, // the float64 next to √2 is above it
		{1, math.Nextafter(math.Sqrt2, 0), 1, 1, 1},
		{1, 2, 1, 1, 2},
		{1, math.Nextafter(2, 3), 1, 1, 3},
		{1, 2, 1, 0.5, 4},
		{1, 0, 1, 1, 1},
		{1, 3, 0, 1, 1},
		{1, 1e5, 1, math.Inf(1), 1},
		{1, 1000, 1, 1, 500000},
		{1e-300, 1e150, 1, 1, 1},
		{5e-324, 1e-300, 1, 1, 1},
	} {
		n, err := Steps(c.h, c.norm, c.L, c.r)
		require.NoError(t, err)
		require.Equal(t, c.n, n, "%+v", c)
	}
	for _, bad := range [][4]float64{
		{0, 1, 1, 1}, {-1, 1, 1, 1}, {1, -1, 1, 1}, {1, 1, -1, 1}, {1, 1, 1, 0}, {1, 1, 1, -1},
		{math.NaN(), 1, 1, 1}, {1, math.NaN(), 1, 1}, {1, 1, math.NaN(), 1}, {1, 1, 1, math.NaN()},
		{math.Inf(1), 1, 1, 1}, {1, math.Inf(1), 1, 1}, {1, 1, math.Inf(1), 1},
		{1, 1e10, 1, 1}, {1, 1e300, 1e300, 1e-300},
	} {
		_, err := Steps(bad[0], bad[1], bad[2], bad[3])
		require.Error(t, err, "%v", bad)
	}
}

// The steps satisfy the bound in exact arithmetic, also as float32, and one step fewer
// does not.
func TestStepsAreEnoughAndNoMore(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := rapid.Float64Range(1e-3, 4).Draw(t, "h")
		norm := rapid.Float64Range(0, 30).Draw(t, "norm")
		r := rapid.SampledFrom([]float64{0.5, 1, 2. / 3}).Draw(t, "r")
		n, err := Steps(h, norm, 1, r)
		require.NoError(t, err)
		exact := func(v float64) *big.Rat { return new(big.Rat).SetFloat64(v) }
		stiffness := new(big.Rat).Mul(exact(norm), exact(norm))
		limit := new(big.Rat).Mul(exact(r), exact(2))
		holds := func(step *big.Rat) bool { return new(big.Rat).Mul(step, stiffness).Cmp(limit) <= 0 }
		require.True(t, holds(new(big.Rat).Quo(exact(h), big.NewRat(int64(n), 1))))
		size := StepSize(h, n)
		require.True(t, holds(exact(float64(size))))
		require.InEpsilon(t, h/float64(n), float64(size), 1e-6)
		if n > 1 {
			require.False(t, holds(new(big.Rat).Quo(exact(h), big.NewRat(int64(n-1), 1))))
		}
	})
	require.Equal(t, float32(0.25), StepSize(1, 4))
	require.Less(t, float64(StepSize(1, 3)), 1./3)
	require.Less(t, float64(StepSize(0.1, 1)), 0.1)
	require.Equal(t, float32(math.MaxFloat32), StepSize(1e300, 1))
	require.Zero(t, StepSize(1, 0))
	require.Zero(t, StepSize(math.NaN(), 1))
	require.Zero(t, StepSize(-1, 1))
}
