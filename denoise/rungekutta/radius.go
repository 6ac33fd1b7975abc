package rungekutta

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"gonum.org/v1/gonum/mat"
)

// ErrNoDisk is wrapped by the error of Radius for a method that is not contractive on
// any disk, however small the step.
var ErrNoDisk = errors.New("no disk of circle contractivity")

// Radius returns the method's radius r of circle contractivity: a step of size h along
// f is nonexpansive for every f with ⟨f(y) − f(z), y − z⟩ ≤ −ν‖f(y) − f(z)‖² if
// h ≤ 2rν, and for f(z) = −Aᵀσ(Az + b), where ν = 1/(‖A‖²L), if h‖A‖²L ≤ 2r (Dahlquist and
// Jeltsch 1979, theorem 4.1; the paper, theorem 2.3 and lemma 2.5; the package comment).
//
// With Q = diag(b)A + Aᵀdiag(b) − bbᵀ it is r = −1/ρ, ρ the smallest generalised
// eigenvalue of (Q, diag b) (Dahlquist and Jeltsch 1979, theorem 3.1). All weights must
// be positive, else the error wraps ErrNoDisk. An explicit method has r at most s, its
// number of stages. An implicit one may have ρ ≥ 0, and is then contractive for
// every step: r is +Inf.
//
// The eigenvalue is computed in floating point and is only a guess. What is returned
// is proven in rational arithmetic, by Q + (1/r)·diag(b) being positive semidefinite: r
// itself if it is a fraction with a denominator up to 1000, and then exactly (rounded
// down), else a number just below it. A coefficient that is the float64 nearest to a
// fraction with a small denominator, as 1/3 or 1/6, is taken to be that fraction.
func (t Tableau) Radius() (r float64, err error) {
	if err := t.checkSizes(); err != nil {
		return 0, err
	}
	for i, b := range t.B {
		if b == 0 {
			return 0, fmt.Errorf("%w: tableau %q does not use stage %d in its result (B[%d] is 0), all weights must be positive", ErrNoDisk, t.Name, i, i)
		}
		if b < 0 {
			return 0, fmt.Errorf("%w: tableau %q has a negative weight, B[%d] is %v", ErrNoDisk, t.Name, i, b)
		}
	}
	p := newContractivity(t)
	if p.holds(new(big.Rat)) {
		return math.Inf(1), nil
	}
	rho, err := p.smallestEigenvalue()
	if err != nil {
		return 0, fmt.Errorf("tableau %q: %w", t.Name, err)
	}
	guess := -1 / rho
	if !(guess > 0) || math.IsInf(guess, 1) {
		return 0, fmt.Errorf("tableau %q: the smallest eigenvalue %v says nothing within rounding", t.Name, rho)
	}
	if f := simpleFraction(guess, 1000, 1e-9); f != nil && p.holds(new(big.Rat).Inv(f)) {
		r, exact := f.Float64()
		if !exact && new(big.Rat).SetFloat64(r).Cmp(f) > 0 {
			r = math.Nextafter(r, 0)
		}
		return r, nil
	}
	for slack := 0x1p-48; slack < 0.5; slack *= 2 {
		r := guess * (1 - slack)
		if f := new(big.Rat).SetFloat64(r); f != nil && f.Sign() > 0 && p.holds(f.Inv(f)) {
			return r, nil
		}
	}
	return 0, fmt.Errorf("tableau %q: no radius near %v could be proven", t.Name, guess)
}

// contractivity is Q and b of a tableau, exactly.
type contractivity struct {
	q [][]*big.Rat
	b []*big.Rat
}

func newContractivity(t Tableau) contractivity {
	s := t.Stages()
	p := contractivity{q: make([][]*big.Rat, s), b: make([]*big.Rat, s)}
	a := make([][]*big.Rat, s)
	for i := range s {
		p.b[i] = coefficient(t.B[i])
		a[i] = make([]*big.Rat, s)
		for j := range s {
			a[i][j] = coefficient(t.A[i][j])
		}
	}
	for i := range s {
		p.q[i] = make([]*big.Rat, s)
		for j := range s {
			v := new(big.Rat).Mul(p.b[i], a[i][j])
			v.Add(v, new(big.Rat).Mul(p.b[j], a[j][i]))
			p.q[i][j] = v.Sub(v, new(big.Rat).Mul(p.b[i], p.b[j]))
		}
	}
	return p
}

// coefficient returns the simple fraction whose nearest float64 is v, if there is one,
// else v itself.
func coefficient(v float64) *big.Rat {
	if f := simpleFraction(v, 10000, 0); f != nil {
		return f
	}
	return new(big.Rat).SetFloat64(v)
}

// simpleFraction returns the fraction of smallest denominator, up to a limit, among
// the continued fraction's convergents of v, whose nearest float64 differs from v by
// at most tolerance, or nil.
func simpleFraction(v float64, limit int64, tolerance float64) *big.Rat {
	if !(math.Abs(v) < 1e6) {
		return nil
	}
	p0, q0, p1, q1 := int64(0), int64(1), int64(1), int64(0)
	for rest := v; ; {
		whole := math.Floor(rest)
		if math.Abs(whole) > 1e9 {
			return nil
		}
		p0, q0, p1, q1 = p1, q1, int64(whole)*p1+p0, int64(whole)*q1+q0
		if q1 > limit {
			return nil
		}
		f := big.NewRat(p1, q1)
		if near, _ := f.Float64(); math.Abs(near-v) <= tolerance {
			return f
		}
		if rest == whole {
			return nil
		}
		rest = 1 / (rest - whole)
	}
}

// holds tells whether Q + inverse·diag(b) is positive semidefinite, by elimination: a
// negative pivot says no, and so does a pivot of 0 in a row that is not 0.
func (p contractivity) holds(inverse *big.Rat) bool {
	s := len(p.b)
	m := make([][]*big.Rat, s)
	for i := range s {
		m[i] = make([]*big.Rat, s)
		for j := range s {
			m[i][j] = new(big.Rat).Set(p.q[i][j])
		}
		m[i][i].Add(m[i][i], new(big.Rat).Mul(inverse, p.b[i]))
	}
	for k := range s {
		switch m[k][k].Sign() {
		case -1:
			return false
		case 0:
			for j := k + 1; j < s; j++ {
				if m[k][j].Sign() != 0 {
					return false
				}
			}
			continue
		}
		for i := k + 1; i < s; i++ {
			factor := new(big.Rat).Quo(m[k][i], m[k][k])
			for j := i; j < s; j++ {
				m[i][j].Sub(m[i][j], new(big.Rat).Mul(factor, m[k][j]))
			}
		}
	}
	return true
}

// smallestEigenvalue returns ρ up to rounding: with the symmetric scaling by
// diag(b)^(−1/2) the generalised problem becomes an ordinary one.
func (p contractivity) smallestEigenvalue() (float64, error) {
	s := len(p.b)
	root := make([]float64, s)
	for i, b := range p.b {
		f, _ := b.Float64()
		root[i] = math.Sqrt(f)
	}
	m := mat.NewSymDense(s, nil)
	for i := range s {
		for j := i; j < s; j++ {
			f, _ := p.q[i][j].Float64()
			f = f / root[i] / root[j]
			if math.IsNaN(f) || math.IsInf(f, 0) {
				return 0, errors.New("the coefficients are too far apart in size")
			}
			m.SetSym(i, j, f)
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(m, false) {
		return 0, errors.New("the eigenvalue iteration of the radius did not converge")
	}
	values := eigen.Values(nil)
	smallest := values[0]
	for _, v := range values {
		smallest = min(smallest, v)
	}
	return smallest, nil
}
