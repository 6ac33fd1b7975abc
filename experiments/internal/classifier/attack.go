package classifier

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/devicequeue"
)

// Attack is the paper's algorithm ℓ²-PGD: gradient ascent on the cross-entropy with steps of a
// fixed length, projected onto a ball around the image, from a random point of it.
type Attack struct {
	// Iterations is the number of steps.
	Iterations int `json:"iterations"`
	// Step is the length of one, in units of the ball's radius. 2.5/Iterations is customary.
	Step float64 `json:"step"`
	// Seed of the starting points.
	Seed uint64 `json:"seed"`
}

// PaperAttack has so many iterations. The paper does not say the length of a step: 2.5 radii are
// walked in all, as Madry et al. do.
func PaperAttack(iterations int, seed uint64) Attack {
	return Attack{Iterations: iterations, Step: 2.5 / float64(iterations), Seed: seed}
}

// Batch are pictures to be attacked.
type Batch struct {
	// Images has Samples numbers a picture, Labels the class of each.
	Images []float32
	Labels []uint8
	// Numbers name the pictures for the starting points, so that a picture meets the same attack
	// in any batch.
	Numbers []uint64
	// Radii are those of the balls, one a picture.
	Radii []float64
}

// Samples of a picture.
const Samples = inputs * side * side

// Run attacks a batch and returns the attacked images. With search, all iterates are looked at,
// the first one of each picture that is not classified as its label is what is returned of it,
// and fooled tells where there was one; the attack ends when no picture is left. Otherwise the
// images are those after the last iteration, as in training, and fooled is nil.
func (a Attack) Run(ctx context.Context, n *Network, b Batch, search bool) (attacked []float32, fooled []bool, err error) {
	count := len(b.Labels)
	delta := make([]float64, count*Samples)
	for i := range count {
		randomInBall(delta[i*Samples:][:Samples], b.Radii[i], mixed(a.Seed, b.Numbers[i]))
	}
	attacked = make([]float32, count*Samples)
	place := func() {
		for i, d := range delta {
			attacked[i] = float32(float64(b.Images[i]) + d)
		}
	}
	if search {
		fooled = make([]bool, count)
	}
	memory := devicequeue.NewPool(n.dev)
	defer memory.Free()
	q := &devicequeue.Queue{Dev: n.dev}
	x := memory.Take(q, backend.Shape{N: count, C: inputs, H: side, W: side})
	dx := memory.Take(q, x.Shape())
	s := memory.Take(q, backend.Shape{N: count, C: Outputs, H: 1, W: 1})
	scores, ds := make([]float32, count*Outputs), make([]float32, count*Outputs)
	gradient := make([]float32, count*Samples)
	for iteration := 0; ; iteration++ {
		place()
		if iteration == a.Iterations && !search {
			break
		}
		q.Upload(x, attacked)
		q.Do(func() error { return n.Forward(ctx, s, x) })
		q.Download(scores, s)
		if q.Err != nil {
			return nil, nil, q.Err
		}
		if search {
			left := false
			for i, y := range b.Labels {
				fooled[i] = fooled[i] || !(Margin(scores[i*Outputs:][:Outputs], y) > 0)
				left = left || !fooled[i]
			}
			if !left || iteration == a.Iterations {
				break
			}
		}
		CrossEntropy(ds, scores, b.Labels)
		q.Upload(s, ds)
		q.Do(func() error { return n.Backward(ctx, dx, s, false) })
		q.Download(gradient, dx)
		if q.Err != nil {
			return nil, nil, q.Err
		}
		for i := range count {
			if !search || !fooled[i] {
				ascend(delta[i*Samples:][:Samples], gradient[i*Samples:][:Samples], a.Step*b.Radii[i], b.Radii[i])
			}
		}
	}
	return attacked, fooled, nil
}

// ascend makes a step along the gradient, and projects.
func ascend(delta []float64, gradient []float32, step, radius float64) {
	sum := 0.0
	for _, g := range gradient {
		sum += float64(float64(g) * float64(g))
	}
	if sum == 0 {
		return // no direction
	}
	factor := step / math.Sqrt(sum)
	for i, g := range gradient {
		delta[i] += float64(factor * float64(g))
	}
	sum = 0
	for _, d := range delta {
		sum += float64(d * d)
	}
	if norm := math.Sqrt(sum); norm > radius {
		for i := range delta {
			delta[i] *= radius / norm
		}
	}
}

// randomInBall draws a point uniformly from the ball.
func randomInBall(delta []float64, radius float64, seed uint64) {
	for i := range delta {
		delta[i] = float64(backend.GaussianAt(seed, uint64(i)))
	}
	normalise(delta)
	u := rand.New(rand.NewPCG(seed, 1)).Float64()
	length := radius * math.Pow(u, 1/float64(len(delta)))
	for i := range delta {
		delta[i] *= length
	}
}
