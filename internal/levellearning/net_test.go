package levellearning

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/internal/devicequeue"
	"github.com/averaged/imaging/internal/noise"
)

func randomCrop(r *rand.Rand) *Crop {
	c := &Crop{Kind: "random", Noisy: make([]uint16, 3*cropSide*cropSide), Errors: make([][len(Nodes)][levelSquares]float32, noise.Denoisers)}
	for i := range c.Noisy {
		c.Noisy[i] = uint16(16384 + r.IntN(32769))
	}
	for k := range c.Errors {
		for node := range Nodes {
			for i := range levelSquares {
				c.Errors[k][node][i] = float32(1e-4 * r.ExpFloat64())
			}
		}
	}
	return c
}

// The gradients of a batch are those of differences of its loss.
func TestLevelNetGradients(t *testing.T) {
	dev := cputest.Open(t)
	defer dev.Close()
	c := DefaultNetConfig()
	c.Widths, c.Head, c.Batch = [noise.Scales]int{8, 8, 8}, 8, 2
	n, err := NewNet(dev, c)
	require.NoError(t, err)
	r := rand.New(rand.NewPCG(1, 2))
	batch := []*Crop{randomCrop(r), randomCrop(r)}
	for _, p := range n.learned { // so that all layers count
		for i := range p.Values() {
			p.Values()[i] += float32(0.1 * r.NormFloat64())
		}
	}
	q := &devicequeue.Queue{Dev: dev}
	loss := func() float64 {
		q.Do(n.update)
		s, _, _ := n.score(n.forward(q, samplesOf(batch), len(batch)), batch)
		return s.Loss * float64(len(batch))
	}
	loss()
	for _, l := range n.layers {
		q.Do(l.Clear)
	}
	p := n.forward(q, samplesOf(batch), len(batch))
	_, dsaid, dchoice := n.score(p, batch)
	n.backward(q, p, dsaid, dchoice)
	for i, l := range n.layers {
		if i != noise.Choice {
			q.Do(l.Gradients)
		}
	}
	require.NoError(t, q.Err)
	for _, p := range n.learned {
		// Along the gradient, where rounding matters least.
		norm := 0.0
		for _, g := range p.Gradient() {
			norm += float64(g) * float64(g)
		}
		norm = math.Sqrt(norm)
		if norm < 1e-4 {
			continue
		}
		gradient := append([]float32(nil), p.Gradient()...)
		before := append([]float32(nil), p.Values()...)
		h := 4e-4
		move := func(h float64) float64 {
			for i := range p.Values() {
				p.Values()[i] = before[i] + float32(h*float64(gradient[i])/norm)
			}
			return loss()
		}
		slope := (move(h) - move(-h)) / (2 * h)
		copy(p.Values(), before)
		require.InEpsilon(t, norm, slope, 0.08, p.Name())
	}
}

// Errors between nodes go through those at the nodes, with the derivative that is returned.
func TestLevelError(t *testing.T) {
	c := randomCrop(rand.New(rand.NewPCG(3, 4)))
	for k, sigma := range Nodes {
		e, _ := levelError(&c.Errors[0], 5, float64(k))
		require.InEpsilon(t, c.Errors[0][k][5]+1e-7, e, 1e-5)
		require.InDelta(t, sigma, noise.Level(float32(k)), 1e-7)
	}
	for u := 0.05; u < 7.9; u += 0.17 {
		const h = 1e-5
		a, _ := levelError(&c.Errors[0], 5, u-h)
		b, _ := levelError(&c.Errors[0], 5, u+h)
		_, slope := levelError(&c.Errors[0], 5, u)
		require.InDelta(t, math.Log(b/a)/(2*h), slope, 1e-3)
	}
}
