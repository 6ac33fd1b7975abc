package tensors

import (
	"fmt"
	"strings"

	"github.com/averaged/imaging/weights"
)

// Taker takes the tensors of a network out of a file by name, so that none is missing and none
// is left. The first thing found wrong stays.
type Taker struct {
	left map[string]weights.Tensor
	err  error
}

// NewTaker returns one that all tensors are left to.
func NewTaker(f *weights.File) *Taker {
	r := &Taker{left: make(map[string]weights.Tensor, len(f.Tensors))}
	for _, t := range f.Tensors {
		r.left[t.Name] = t
	}
	return r
}

// Has tells whether a tensor of that name is left.
func (r *Taker) Has(name string) bool {
	_, ok := r.left[name]
	return ok
}

// Take returns the values of a tensor of that shape, as float32; a size of −1 may be any.
func (r *Taker) Take(name string, shape ...int) []float32 {
	t, ok := r.left[name]
	if r.err != nil {
		return nil
	}
	if !ok {
		r.err = fmt.Errorf("the weight file has no tensor %q", name)
		return nil
	}
	delete(r.left, name)
	fits := len(t.Shape) == len(shape)
	for i := range min(len(shape), len(t.Shape)) {
		fits = fits && (t.Shape[i] == shape[i] || shape[i] == -1 && t.Shape[i] > 0)
	}
	if !fits {
		want := strings.ReplaceAll(fmt.Sprint(shape), "-1", "any")
		r.err = fmt.Errorf("tensor %q has the shape %.80s, must have %s", name, fmt.Sprint(t.Shape), want)
		return nil
	}
	var values []float32
	values, r.err = t.Float32s()
	return values
}

// End returns the first error, or one about a tensor that nobody took.
func (r *Taker) End() error {
	if r.err != nil {
		return r.err
	}
	first := ""
	for name := range r.left {
		if first == "" || name < first {
			first = name
		}
	}
	if len(r.left) > 0 {
		return fmt.Errorf("the weight file has %d tensors that are not the network's, such as %.80q", len(r.left), first)
	}
	return nil
}

// Leave lets a tensor that nothing is made of be in the file.
func (r *Taker) Leave(name string) { delete(r.left, name) }
