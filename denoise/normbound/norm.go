package normbound

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/parallel"
	"github.com/averaged/imaging/internal/response"
)

// Bound encloses S, the norm of a convolution on the infinite grid: both ends
// are proven, rounding included. Zero padding at any image size, and circular
// padding, have a norm of at most S, and zero padding comes arbitrarily close to it
// as the image grows.
type Bound struct {
	Upper float64 // at least S
	Lower float64 // at most S
	Cells int     // how many cells of frequencies the proof of Upper consists of
}

// DefaultTolerance is what Prove takes for a tolerance of 0: half a
// percent.
const DefaultTolerance = 0.005

// ErrTooSmall is returned by Verify where a bound is not proven.
var ErrTooSmall = errors.New("not a bound of the convolution's norm")

// Prove bounds the norm of the convolution with weights w in exact
// arithmetic, ‖Az‖ ≤ Upper·‖z‖ for images z of every size, under zero padding that
// keeps the size or circular padding. It does not hold for reflecting or
// replicating padding. The shape is (Out, In, KH, KW) and the layout of w that of
// backend.Filter, KH and KW odd. The tolerance, from 1e-4 to 1, is by how much Upper may
// exceed Lower, relatively; 0 means DefaultTolerance. In rare cases, where the
// search for the largest singular value goes astray, Upper/Lower is larger; Upper
// itself never exceeds S by more than the tolerance and some units of rounding.
//
// # Proof
//
// Let F(θ) = Σ W_k e^{ik·θ} be the matrix symbol, θ = (θy, θx), of degree d = (KH/2,
// KW/2), and S the largest of all σ_max(F(θ)).
//
//  1. The convolution on ℓ²(Z²) is multiplication by F after the Fourier transform,
//     so that its norm is S. Zero padding is a compression of it, P A P* with a
//     restriction P; circular padding is its restriction to periodic images, which is
//     F at the image's frequencies.
//  2. Let S be attained at θ* with unit vectors u and v. q(θ) = Re u*F(θ)v is a real
//     trigonometric polynomial of degree d with |q| ≤ S and q(θ*) = S. Bernstein
//     and Szegő's inequality, (∂q)² + d²q² ≤ d²S² for each variable (Szegő 1928), says
//     that arccos(q/S) changes by at most d per radian. Therefore
//     σ_max(F(θ)) ≥ q(θ) ≥ S·cos(dy|θy−θ*y| + dx|θx−θ*x|)
//     wherever that angle is at most π/2.
//  3. Diamonds dy|θy−cy| + dx|θx−cx| ≤ ρ tile the torus. If S ≥ T, the diamond that
//     holds θ* has σ_max(F(c)) ≥ T·cos ρ at its centre c. So S < T is proven as soon as
//     T²cos²ρ·I − F(c)*F(c) is positive definite for every diamond of some tiling.
//     F(−θ) is the conjugate of F(θ): half of the torus is enough.
//  4. Positive definiteness is proven by a Cholesky factorisation that runs to its
//     end, of a matrix from which a bound of all rounding errors has been taken
//     (gram.go, cholesky.go).
//
// T is a little above the largest σ_max found by ascent. A diamond that fails is cut
// into four, with half of ρ: where the symbol is far below its maximum, a large
// diamond will do. A grid of N×N frequencies with a factor 1/cos²(πd/N), the usual
// way, has the same cost per area where the symbol is flat, and needs its finest
// grid everywhere. T only ever grows, so what is proven stays so.
//
// The cost, where the symbol is flat, is 5·dy·dx/tolerance factorisations of a complex
// matrix with min(In, Out) rows, rounded up to a power of 4; mostly it is far less.
// What would take minutes is refused. The result has the same bits for any number
// of threads. The context ends the proof early, with its error.
func Prove(ctx context.Context, w []float32, shape backend.Shape, tolerance float64) (Bound, error) {
	if tolerance == 0 {
		tolerance = DefaultTolerance
	}
	if !(tolerance >= minTolerance && tolerance <= 1) {
		return Bound{}, fmt.Errorf("tolerance %v of a norm: from %v to 1", tolerance, minTolerance)
	}
	pool := parallel.New(0)
	defer pool.Close()
	g, exponent, err := newScaledGram(ctx, w, shape, tolerance, pool)
	if err != nil || g == nil {
		return Bound{}, err // without weights the norm is 0
	}
	p := g.search(ctx, pool)
	if err := ctx.Err(); err != nil {
		return Bound{}, err
	}
	b, err := g.enclose(ctx, pool, p, tolerance)
	b.Upper, b.Lower = math.Ldexp(b.Upper, exponent), math.Ldexp(b.Lower, exponent)
	return b, err
}

// Search returns a proven lower bound of the norm that Prove bounds from above, 0 only
// for weights that are all 0: the largest singular value that ascent finds. It is the norm
// itself, up to rounding, except for the rare cases in which the search goes astray.
func Search(w []float32, shape backend.Shape) (lower float64, err error) {
	pool := parallel.New(0)
	defer pool.Close()
	g, exponent, err := newScaledGram(context.Background(), w, shape, DefaultTolerance, pool)
	if err != nil || g == nil {
		return 0, err
	}
	return math.Ldexp(g.search(context.Background(), pool).lower, exponent), nil
}

// enclose proves a bound a little above a peak, or above a greater one that the proof
// comes across.
func (g *gram) enclose(ctx context.Context, pool *parallel.Pool, p peak, tolerance float64) (Bound, error) {
	proof := subdivision{gram: g, pool: pool, bound: p.lower * (1 + tolerance), finest: finestDensity(tolerance)}
	for {
		failed, err := proof.run(ctx)
		if err != nil {
			return Bound{}, err
		}
		if failed == nil {
			return Bound{Upper: proof.bound, Lower: p.lower, Cells: proof.cells}, nil
		}
		// The centre of a small diamond has σ_max close to T or above it, at least
		// T/(1 + tolerance/4): the search missed the maximum. Ascend from there. The next T
		// exceeds S by no more than the tolerance.
		if q := g.ascend(ctx, failed.y, failed.x); q.lower > p.lower {
			p = q
		}
		proof.bound = max(proof.bound*(1+tolerance/2), p.lower*(1+tolerance))
	}
}

// Verify proves that upper is an upper bound of the norm of the
// convolution, in the sense of Prove, or returns an error that wraps
// ErrTooSmall. The closer the bound is to the norm the more it costs. A bound
// that is less than 0.2 % above the norm may be turned down as if it were too small;
// one that Prove returned for a tolerance of 0.2 % or more never is.
func Verify(ctx context.Context, w []float32, shape backend.Shape, upper float64) error {
	if !(upper >= 0) || math.IsInf(upper, 1) {
		return fmt.Errorf("%w: %v is not a finite number of 0 or more", ErrTooSmall, upper)
	}
	pool := parallel.New(0)
	defer pool.Close()
	g, exponent, err := newScaledGram(ctx, w, shape, checkTolerance, pool)
	if err != nil || g == nil {
		return err
	}
	proof := subdivision{gram: g, pool: pool, bound: math.Ldexp(upper, -exponent), finest: finestDensity(checkTolerance)}
	if g.belowAtCentres(proof.bound) {
		failed, err := proof.run(ctx)
		if err != nil || failed == nil {
			return err
		}
	}
	p := g.search(ctx, pool) // says what is wrong; a bound that is right needs none
	if err := ctx.Err(); err != nil {
		return err
	}
	if p.lower > proof.bound {
		return fmt.Errorf("%w: %v, but the norm is at least %v", ErrTooSmall, upper, math.Ldexp(p.lower, exponent))
	}
	return fmt.Errorf("%w: %v is not proven: the norm is greater, or less than %v%% below it", ErrTooSmall, upper, 100*checkTolerance)
}

const (
	minTolerance   = 1e-4
	checkTolerance = 2e-3
	// coarsest and finestOfAll are densities: diamonds per degree of the symbol and
	// turn of a variable.
	coarsest    = 8
	finestOfAll = 4096
)

// finestDensity is the density at which a diamond that fails says that T is too low:
// its factor 1/cos ρ is within a quarter of the tolerance.
func finestDensity(tolerance float64) int {
	m := coarsest
	for m < finestOfAll && (1+tolerance/4)*math.Cos(2*math.Pi/float64(m)) < 1 {
		m *= 2
	}
	return m
}

// ProveCost returns about how many multiplications Prove takes at most for a filter of that shape, with the
// tolerance of Prove.
func ProveCost(shape backend.Shape, tolerance float64) float64 {
	if tolerance == 0 {
		tolerance = DefaultTolerance
	}
	return cost(shape, tolerance)
}

// VerifyCost is ProveCost for Verify.
func VerifyCost(shape backend.Shape) float64 { return cost(shape, checkTolerance) }

func cost(shape backend.Shape, tolerance float64) float64 {
	n, long := float64(min(shape.N, shape.C)), float64(max(shape.N, shape.C))
	ky, kx := float64(shape.H), float64(shape.W)
	terms := (2*ky - 1) * kx // half of the k from −2d to 2d
	cells := 5 / tolerance * max(1, ky/2) * max(1, kx/2)
	const overhead = 20 // of a term, for its cosine and sine
	return n*n*terms*ky*kx*long/2 + cells*(terms*(n*n+overhead)+n*n*n)
}

// checkCost refuses what would take minutes, before memory is taken for it.
func checkCost(shape backend.Shape, tolerance float64) error {
	const limit = 1 << 38 // multiplications
	if cost := cost(shape, tolerance); cost > limit {
		return fmt.Errorf("the norm of a %v convolution to within %v takes %.0e multiplications, at most %.0e are allowed",
			shape, tolerance, cost, float64(limit))
	}
	return nil
}

// cell is a diamond, or an interval where the symbol has one variable, or all there
// is where it has none. Its centre is in units of the finest lattice.
type cell struct {
	y, x int
}

// subdivision proves bound > S cell by cell.
type subdivision struct {
	gram  *gram
	pool  *parallel.Pool
	bound float64
	// finest is the density at which a failing cell is not cut any more.
	finest int

	density int    // of the cells to do, 0 before the start
	todo    []cell // all others of the tiling are proven
	cells   int    // how many are proven
}

// run goes on until everything is proven, or until a cell fails at the finest
// density: it returns that cell's centre, and may be called again with a greater
// bound.
func (s *subdivision) run(ctx context.Context) (failed *cell, err error) {
	if s.density == 0 {
		s.density, s.todo = coarsest, s.gram.coarsestCells()
	}
	for len(s.todo) > 0 {
		proven := make([]bool, len(s.todo))
		s.pool.Range(len(s.todo), 4, func(lo, hi int) {
			if ctx.Err() != nil {
				return
			}
			scratch := s.gram.scratch.Get().(*hermitian)
			defer s.gram.scratch.Put(scratch)
			for i := lo; i < hi; i++ {
				proven[i] = s.gram.below(s.todo[i], s.bound, s.density, scratch)
			}
		})
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var left []cell
		for i, c := range s.todo {
			if !proven[i] {
				left = append(left, c)
			}
		}
		s.cells += len(s.todo) - len(left)
		s.todo = left
		if len(left) > 0 {
			// A symbol without variables has one cell that cannot be cut.
			if s.density == s.finest || s.gram.dy == 0 && s.gram.dx == 0 {
				return &left[0], nil
			}
			s.density *= 2
			s.todo = s.gram.cut(left, finestOfAll/s.density)
		}
	}
	return nil, nil
}

// coarsestCells tiles half of the torus. With My = 8·dy columns of points hy apart, and
// rows alike, the diamonds |y|/hy + |x|/hx ≤ 1 around every other point tile the
// torus, the points whose coordinates have an odd sum. None of them is its own
// mirror image, because those are multiples of half a turn, of even sum.
func (g *gram) coarsestCells() []cell {
	ny, nx := coarsest*g.dy, coarsest*g.dx
	const unit = finestOfAll / coarsest
	switch {
	case ny == 0 && nx == 0:
		return []cell{{}}
	case ny == 0:
		ny = 1
	case nx == 0:
		nx = 1
	}
	var cells []cell
	for y := range ny {
		for x := range nx {
			my, mx := (ny-y)%ny, (nx-x)%nx
			if (y+x)%2 == 1 && (y < my || y == my && x < mx) {
				cells = append(cells, cell{y * unit, x * unit})
			}
		}
	}
	return cells
}

// cut replaces every cell by those of half the size, step apart from its centre.
func (g *gram) cut(cells []cell, step int) []cell {
	var parts []cell
	ry, rx := finestOfAll*g.dy, finestOfAll*g.dx
	for _, c := range cells {
		if ry > 0 {
			parts = append(parts, cell{(c.y + step) % ry, c.x}, cell{(c.y - step + ry) % ry, c.x})
		}
		if rx > 0 {
			parts = append(parts, cell{c.y, (c.x + step) % rx}, cell{c.y, (c.x - step + rx) % rx})
		}
	}
	return parts
}

// belowAtCentres tells whether σ_max is below a bound at the centres of the coarsest cells. A bound
// that is far too low is not, which spares a proof that would fail everywhere.
func (g *gram) belowAtCentres(bound float64) bool {
	scratch := g.scratch.Get().(*hermitian)
	defer g.scratch.Put(scratch)
	for _, c := range g.coarsestCells() {
		if !g.below(c, bound, 0, scratch) {
			return false
		}
	}
	return true
}

// below tells whether it is proven that S < bound if the cell holds θ*; with a density of 0, if its
// centre is θ*.
func (g *gram) below(c cell, bound float64, density int, scratch *hermitian) bool {
	cos := 1.0
	if density > 0 && (g.dy > 0 || g.dx > 0) {
		cos, _ = response.UnitRoot(1, density) // ρ = 2π/density
		cos -= response.RootError
	}
	// Four roundings to nearest are undone by eight units.
	square := bound * cos
	square *= square * (1 - 8*unit)
	g.evaluate(c, scratch)
	return scratch.positiveDefinite(square, g.slack)
}

// newScaledGram checks the weights and scales them, exactly, by a power of two so
// that the largest is in [1, 2). Then S ≥ 1, because it is no less than any weight's
// modulus, and products neither overflow nor, where they matter, underflow. Without
// a weight that is not zero it returns nil. The context ends it.
func newScaledGram(ctx context.Context, w []float32, shape backend.Shape, tolerance float64, pool *parallel.Pool) (*gram, int, error) {
	if err := CheckFilter(w, shape); err != nil {
		return nil, 0, err
	}
	if err := checkCost(shape, tolerance); err != nil {
		return nil, 0, err
	}
	top := 0.0
	for _, v := range w {
		top = max(top, math.Abs(float64(v)))
	}
	if top == 0 {
		return nil, 0, nil
	}
	exponent := math.Ilogb(top)
	scaled := make([]float64, len(w))
	for i, v := range w {
		scaled[i] = math.Ldexp(float64(v), -exponent)
	}
	g, err := newGram(ctx, scaled, shape, pool)
	if err != nil {
		return nil, 0, err
	}
	g.scratch = sync.Pool{New: func() any { return newHermitian(g.n) }}
	return g, exponent, nil
}

// CheckFilter returns an error unless w are finite weights of that shape.
func CheckFilter(w []float32, shape backend.Shape) error {
	if err := shape.Check(); err != nil {
		return err
	}
	if shape.H%2 == 0 || shape.W%2 == 0 {
		return fmt.Errorf("%w: a %d×%d kernel, both must be odd", backend.ErrShape, shape.H, shape.W)
	}
	if len(w) != shape.Len() {
		return fmt.Errorf("%w: %d weights for a %v convolution, which has %d", backend.ErrShape, len(w), shape, shape.Len())
	}
	for i, v := range w {
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) {
			return fmt.Errorf("weight %d of a %v convolution is %v: weights must be finite", i, shape, v)
		}
	}
	return nil
}
