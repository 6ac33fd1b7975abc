package train

import (
	"fmt"
	"slices"

	"github.com/averaged/imaging/weights"
)

// array is numbers with a name and a shape, as they stand in a weight file or in a
// checkpoint.
type array struct {
	name   string
	shape  []int
	values []float32
}

func (a array) tensor() (weights.Tensor, error) {
	return weights.NewTensor(a.name, weights.F32, a.shape, a.values)
}

// Parameter is an array that is learned, of a Part. The optimiser runs on the host. Its cost is small next to
// the convolutions of an iteration, and it is the same on every device.
type Parameter struct {
	array
	gradient []float32
	// decays tells whether weight decay applies.
	decays bool
	// rate is that of the learning, relative to the optimiser's.
	rate float64
	// length is the Frobenius norm that Muon's steps are relative to, 0 for that of the values.
	length float64
	// scaleFree tells that the network depends on the direction of the array only.
	scaleFree bool
}

// Name returns the array's name.
func (p *Parameter) Name() string { return p.name }

// Shape returns the array's extents.
func (p *Parameter) Shape() []int { return slices.Clone(p.shape) }

// Values returns the numbers themselves. Call Part.Update after changing them.
func (p *Parameter) Values() []float32 { return p.values }

// SetLength makes the steps of Muon relative to this Frobenius norm instead of the norm of the values.
func (p *Parameter) SetLength(norm float64) { p.length = norm }

// Gradient returns the result of the last Part.Gradients.
func (p *Parameter) Gradient() []float32 { return p.gradient }

// mapped returns an array of what f makes of the values.
func (p *Parameter) mapped(f func(float64) float64) array {
	a := p.array
	a.values = make([]float32, len(p.values))
	for i, v := range p.values {
		a.values[i] = float32(f(float64(v)))
	}
	return a
}

// isMatrix tells whether the parameter is the weights of a convolution: a matrix with a
// row for each output.
func (p *Parameter) isMatrix() bool { return len(p.shape) == 4 }

func newParameter(name string, decays bool, shape ...int) *Parameter {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return &Parameter{array: array{name, shape, make([]float32, n)}, gradient: make([]float32, n), decays: decays, rate: 1}
}

// loadArrays copies the tensors of f into arrays of the same names and shapes, under a
// prefix.
func loadArrays(f *weights.File, prefix string, arrays []array) error {
	for _, a := range arrays {
		t, err := f.Tensor(prefix + a.name)
		if err != nil {
			return err
		}
		if t.DType != weights.F32 || !slices.Equal(t.Shape, a.shape) {
			return fmt.Errorf("tensor %q is %v of shape %v, must be F32 of shape %v", t.Name, t.DType, t.Shape, a.shape)
		}
		values, err := t.Float32s()
		if err != nil {
			return err
		}
		copy(a.values, values)
	}
	return nil
}
