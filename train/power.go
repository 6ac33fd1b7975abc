package train

import (
	"errors"
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/devicequeue"
)

// power is a power iteration that goes on from where it stopped (the paper, section
// 3.4): while the weights change little by little, one iteration for each change
// follows the norm of a convolution on images of a fixed size. It is a lower bound of
// the norm on larger ones.
type power struct {
	filter backend.Filter
	right  backend.Buffer // v, of norm 1
	left   backend.Buffer // u = Av/‖Av‖
	norm   float64        // ‖Av‖, or what goes into dividing by zero: at least smallestNorm
}

// smallestNorm keeps a filter of zeros from dividing by zero.
const smallestNorm = 1e-20

// newPower allocates for images of size×size pixels. v has to be set, by start or by
// upload and measure.
func newPower(q *devicequeue.Queue, memory *devicequeue.Pool, filter backend.Filter, size int) *power {
	s := filter.Shape()
	return &power{
		filter: filter,
		right:  memory.Take(q, backend.Image(s.C, size, size)),
		left:   memory.Take(q, backend.Image(s.N, size, size)),
	}
}

// start sets v to Gaussian noise.
func (p *power) start(q *devicequeue.Queue, seed uint64) {
	q.Do(func() error { return q.Dev.Gaussian(p.right, seed, 0, 1) })
	p.normalise(q, p.right)
	p.measure(q)
}

// iterate sets v ← Aᵀu/‖Aᵀu‖ and measures.
func (p *power) iterate(q *devicequeue.Queue) {
	p.adjoint(q)
	p.measure(q)
}

func (p *power) adjoint(q *devicequeue.Queue) {
	q.Adjoint(p.right, p.left, p.filter, 0, 1)
	p.normalise(q, p.right)
}

// measure sets u ← Av/‖Av‖ and norm ← ‖Av‖.
func (p *power) measure(q *devicequeue.Queue) {
	q.Convolve(p.left, p.right, p.filter, backend.ConvEnd{})
	p.norm = p.normalise(q, p.left)
}

// converge iterates until the norm has settled to about 1e-6, at most limit times.
func (p *power) converge(q *devicequeue.Queue, limit int) {
	for unchanged := 0; limit > 0 && unchanged < 3 && q.Err == nil; limit-- {
		before := p.norm
		p.iterate(q)
		if math.Abs(p.norm-before) <= 1e-6*p.norm {
			unchanged++
		} else {
			unchanged = 0
		}
	}
}

// ErrDiverged is wrapped by errors about weights that have grown without bound. The last checkpoint may be
// older than the divergence.
var ErrDiverged = errors.New("the training has diverged: the learning rate is too large, or weight decay too small")

// normalise divides x by its norm, which it returns.
func (p *power) normalise(q *devicequeue.Queue, x backend.Buffer) float64 {
	var sum [1]float64
	q.Reduce(sum[:], backend.Reduction{Kind: backend.SumSquares, X: x})
	norm := max(math.Sqrt(sum[0]), smallestNorm)
	if q.Err == nil && !(norm <= math.MaxFloat32) {
		q.Err = fmt.Errorf("%w: a norm is %v", ErrDiverged, norm)
	}
	q.Combine(x, backend.Term{A: float32(1 / norm), X: x})
	return norm
}
