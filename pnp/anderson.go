package pnp

import (
	"gonum.org/v1/gonum/mat"

	"github.com/averaged/imaging/backend"
)

// Memory of Anderson's acceleration.
const (
	// DefaultMemory is the number of earlier points that are used if Options.Memory is 0. More gain little in
	// deblurring with a network.
	DefaultMemory = 3
	// MaxMemory is the largest Options.Memory. More points add nothing new, and make the least squares
	// problem close to singular.
	MaxMemory = 20
	// memoryBudget is what the points may take where Options.Memory is 0, in bytes. A colour photograph of 12
	// megapixels has one, and one of 18 none.
	memoryBudget = 400 << 20
)

// AutomaticMemory returns the number of points that Options.Memory = 0 stands for, for images of that many
// elements. For 0 points there is the spectral step.
func AutomaticMemory(elements int) int {
	return max(0, min(DefaultMemory, memoryBudget/(2*4*max(1, elements))))
}

// ridge is the regularisation of the least squares problem, relative to the trace: it keeps
// the weights from growing where points say the same, far above the rounding of the sums in
// float64 and far below what matters.
const ridge = 1e-8

// evaluated is what is kept of a point x.
type evaluated struct {
	residual backend.Buffer // T(x) − x
	image    backend.Buffer // T(x)
}

// anderson is Anderson's acceleration of type II (Anderson 1965; Walker and Ni 2011). It finds
// the affine combination of the last points, Σ aᵢ = 1, with the smallest ‖Σ aᵢ(T(xᵢ) − xᵢ)‖,
// and proposes Σ aᵢT(xᵢ). For an affine T it is equivalent to GMRES. By itself it
// guarantees nothing for a nonexpansive T; safeguard does.
type anderson struct {
	memory int
	points []evaluated // the present one last; one more than memory while it proposes
	// products[i][j] is ⟨residual i, residual j⟩, j ≤ i.
	products [][]float64
}

// add takes over a point as the present one.
func (a *anderson) add(dev backend.Device, p evaluated) error {
	a.points = append(a.points, p)
	row := make([]float64, len(a.points))
	sums := make([]backend.Reduction, len(a.points))
	for i, other := range a.points {
		sums[i] = backend.Reduction{Kind: backend.Dot, X: p.residual, Y: other.residual}
	}
	a.products = append(a.products, row)
	return dev.Reduce(row, sums...)
}

// drop gives up the oldest points, so that no more than count are left, and returns their
// buffers.
func (a *anderson) drop(count int) (freed []backend.Buffer) {
	for len(a.points) > count {
		freed = append(freed, a.points[0].residual, a.points[0].image)
		a.points, a.products = a.points[1:], a.products[1:]
		for i := range a.products {
			a.products[i] = a.products[i][1:]
		}
	}
	return freed
}

// product is ⟨residual i, residual j⟩.
func (a *anderson) product(i, j int) float64 {
	if i < j {
		i, j = j, i
	}
	return a.products[i][j]
}

// weights returns the aᵢ, and false where they are those of a plain step.
func (a *anderson) weights() ([]float64, bool) {
	last := len(a.points) - 1
	if last < 1 {
		return nil, false
	}
	// With aᵢ = γᵢ before the last it is min ‖f + Σ γᵢ(fᵢ − f)‖, f the last residual.
	normal := mat.NewSymDense(last, nil)
	right := mat.NewVecDense(last, nil)
	trace := 0.0
	for i := range last {
		right.SetVec(i, a.product(last, last)-a.product(i, last))
		for j := range i + 1 {
			normal.SetSym(i, j, a.product(i, j)-a.product(i, last)-a.product(j, last)+a.product(last, last))
		}
		trace += normal.At(i, i)
	}
	for i := range last {
		normal.SetSym(i, i, normal.At(i, i)+ridge*trace)
	}
	var cholesky mat.Cholesky
	solution := mat.NewVecDense(last, nil)
	if !cholesky.Factorize(normal) || cholesky.SolveVecTo(solution, right) != nil {
		return nil, false
	}
	weights := make([]float64, last+1)
	weights[last] = 1
	for i := range last {
		weights[i] = solution.AtVec(i)
		weights[last] -= weights[i]
	}
	return weights, true
}

// propose sets dst to Σ aᵢT(xᵢ), and returns false if that is T of the present point, which
// it does not write then.
func (a *anderson) propose(dev backend.Device, dst backend.Buffer) (bool, error) {
	weights, ok := a.weights()
	if !ok {
		return false, nil
	}
	terms := make([]backend.Term, 0, backend.MaxTerms)
	for i, p := range a.points {
		terms = append(terms, backend.Term{A: float32(weights[i]), X: p.image})
		if len(terms) == backend.MaxTerms || i == len(a.points)-1 {
			if err := dev.LinearCombination(dst, terms...); err != nil {
				return false, err
			}
			terms = append(terms[:0], backend.Term{A: 1, X: dst})
		}
	}
	return true, nil
}
