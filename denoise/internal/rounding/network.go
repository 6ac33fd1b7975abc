package rounding

import (
	"fmt"
	"math"
	"slices"
)

// Block is N equal steps along −Aᵀσ(Az + b).
type Block struct {
	Convolution
	Bias float64 // ‖b‖ over the channels
	Rest float64 // ‖σ(b)‖ over the channels
	// Radius is the root of the sum of the squares of the radii of balls, and Group the channels
	// of a ball; where the activation is not a projection they are +Inf and 0.
	Radius float64
	Group  int
	// Hidden is the number of channels of Az.
	Hidden int
	// Multiplied tells whether the activation multiplies, as LeakyReLU does; others that are no
	// projection do not round.
	Multiplied bool
	Size       float64 // h/N, a float32
	Steps      int     // N
}

// Network is blocks one after the other, made of the steps of an explicit tableau.
type Network struct {
	Blocks []Block
	A      [][]float64
	B      []float64
}

// stage is what is known of one evaluation of Aᵀσ(AY + b): the norm of the result, and its error.
type stage struct{ size, err float64 }

// hidden bounds u = σ(AY + b), its norm and its error, for ‖Y‖ ≤ size with an error of err.
func (b *Block) hidden(size, err float64, forward Error) stage {
	v := b.Norm*size + b.Bias
	e := forward.of(size+err) + b.Norm*err
	e += Unit * (v + e) // the bias is added
	u := min(v, b.Radius)
	e += Unit * (b.Bias + u) // biases and radii may have been rounded, which changes u by no more
	switch {
	case b.Multiplied:
		e += Unit*(v+e) + least*math.Sqrt(float64(b.Hidden))
	case b.Group > 0:
		e += ballUnits(b.Group)*Unit*(u+e) + 2*math.Sqrt(2*float64(b.Hidden)*least) + least*(v+e)
	}
	return stage{u, up(e)}
}

// ballUnits is the relative error of v·(r/max(‖v‖, r)), in units: half of that of the sum of
// squares, each rounded, that are added as a tree in eights and then one after the other, and a
// root, a quotient and a product. Where ‖v‖ and r are so close that the wrong one is taken for
// the larger, the error is that of the root. Squares that underflow change the norm of a group
// of n channels by at most √(2n·least).
func ballUnits(group int) float64 {
	return 1.01 * ((1+3+math.Ceil(float64(group)/8))/2 + 3)
}

// field bounds Aᵀσ(AY + b).
func (b *Block) field(size, err float64, forward Error) stage {
	u := b.hidden(size, err, forward)
	return stage{b.Norm * u.size, up(b.Adjoint.of(u.size+u.err) + b.Norm*u.err)}
}

// step returns the error of one step begun at a float32 z of norm size: with s stages a term of a
// sum passes through at most s + 2 roundings, that of its factor included.
func (n *Network) step(b *Block, size float64, first Error) float64 {
	stages := make([]stage, len(n.B))
	roundings := float64(len(n.B) + 2)
	sum := func(coefficients []float64) stage {
		s := stage{size: size}
		moduli := 0.0
		for j, a := range coefficients {
			s.size += b.Size * math.Abs(a) * stages[j].size
			s.err += b.Size * math.Abs(a) * stages[j].err
			if a != 0 {
				moduli += stages[j].size + stages[j].err
			}
		}
		s.err = (s.err+least*moduli)*(1+2*roundings*Unit) + roundings*Unit*(s.size+s.err)
		return s
	}
	for i := range stages {
		if i == 0 {
			stages[0] = b.field(size, 0, first)
			continue
		}
		y := sum(n.A[i][:i])
		stages[i] = b.field(y.size, y.err, b.Forward)
	}
	return up(sum(n.B).err)
}

// shift bounds how far an exact step moves 0, and so by how much it makes any z longer: it is
// nonexpansive.
func (n *Network) shift(b *Block) float64 {
	if b.Rest == 0 {
		return 0
	}
	sizes := make([]float64, len(n.B))
	at := func(coefficients []float64) (size float64) {
		for j, a := range coefficients {
			size += b.Size * math.Abs(a) * sizes[j]
		}
		return size
	}
	for i := range sizes {
		y := 0.0
		if i > 0 {
			y = at(n.A[i][:i])
		}
		// σ has the Lipschitz constant 1.
		sizes[i] = b.Norm * min(b.Rest+b.Norm*y, b.Radius)
	}
	return up(at(n.B))
}

// Error bounds ‖fl(Φ(x)) − Φ(x)‖ for ‖x‖ ≤ norm, both per pixel. It is +Inf where nothing is
// proven.
func (n *Network) Error(norm float64) float64 {
	total := 0.0
	for i := range n.Blocks {
		b := &n.Blocks[i]
		shift := n.shift(b)
		for k := range b.Steps {
			first := b.Forward
			if i == 0 && k == 0 {
				first = b.First
			}
			total += n.step(b, norm+total, first)
			norm += shift
		}
	}
	if math.IsNaN(total) {
		return math.Inf(1)
	}
	return up(total)
}

// With returns the network with the convolutions of its blocks.
func (n *Network) With(convolutions []Convolution) *Network {
	own := *n
	own.Blocks = slices.Clone(n.Blocks)
	for i, c := range convolutions {
		own.Blocks[i].Convolution = c
	}
	return &own
}

// Shift bounds ‖Φ(0)‖ per pixel.
func (n *Network) Shift() float64 {
	total := 0.0
	for i := range n.Blocks {
		total += n.shift(&n.Blocks[i]) * float64(n.Blocks[i].Steps)
	}
	return total
}

// ImplicitError is Error of steps of the implicit Euler method, each computed until the gradient
// of its objective, as computed, is small: what the gradient is off by. The objective is
// 1-strongly convex, so that the solution is no farther away than the gradient is long. The
// tableau must be that of one explicit stage.
func (n *Network) ImplicitError(norm float64) float64 {
	total := 0.0
	for i := range n.Blocks {
		b := &n.Blocks[i]
		shift := n.shift(b)
		for range b.Steps {
			// What is computed is at most twice as long: the rest is an error that is told to be infinite.
			total += b.gradient(2 * (norm + shift + total))
			norm += shift
		}
	}
	return up(total)
}

// gradient bounds the rounding of one evaluation of v − z + h·Aᵀσ(Av + b), for ‖v‖ and ‖z‖ of at
// most norm.
func (b *Block) gradient(norm float64) float64 {
	k := b.field(norm, 0, b.Forward)
	return up(b.Size*k.err + 5*Unit*(2*norm+b.Size*(k.size+k.err)) + least*(k.size+k.err))
}

// What Check asks for.
const (
	MaxNorm   = 1 << 20 // of an image, Euclidean
	MaxPixels = 1 << 32
)

// Check returns an error that names the quantity unless no number overflows on the way to Φ(x),
// for ‖x‖ ≤ MaxNorm and at most MaxPixels pixels. It needs only Norm and Growth of the
// convolutions.
func (n *Network) Check() error {
	rest := 0.0
	for i := range n.Blocks {
		b := &n.Blocks[i]
		rest += n.shift(b) * float64(b.Steps)
		// Every z is no longer than x and the image of 0 together.
		if err := n.check(b, MaxNorm+math.Sqrt(MaxPixels)*rest); err != nil {
			return fmt.Errorf("block %d: %w", i, err)
		}
	}
	return nil
}

func (n *Network) check(b *Block, z float64) error {
	within := func(what string, v float64) error {
		if v < math.MaxFloat32/4 {
			return nil
		}
		return fmt.Errorf("%s may reach %.2g, float32 ends at %.2g", what, v, math.MaxFloat32)
	}
	if err := within("the image between steps", z); err != nil {
		return err
	}
	sizes := make([]float64, len(n.B))
	at := func(coefficients []float64) float64 {
		size := z
		for j, a := range coefficients {
			size += b.Size * math.Abs(a) * sizes[j]
		}
		return size
	}
	for i := range sizes {
		y := z
		if i > 0 {
			y = at(n.A[i][:i])
		}
		v := b.Norm*y + b.Bias
		u := min(v, b.Radius)
		sizes[i] = b.Norm * u
		squares := 0.0
		if b.Group > 0 {
			squares = v * v
		}
		for _, q := range []struct {
			name  string
			value float64
		}{
			{"a sum of Az + b", b.Growth*y + b.Bias},
			{"the squared length of Az + b", squares},
			{"a sum of Aᵀσ(Az + b)", b.Growth * u},
			{"a step", at(n.B)},
			{"a point between steps", y},
		} {
			if err := within(q.name, q.value); err != nil {
				return err
			}
		}
	}
	return nil
}
