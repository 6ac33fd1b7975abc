package backendtest

import (
	"fmt"
	"math"
	"slices"
)

// checkNaN puts a NaN into one element of one operand at a time. Wherever the
// reference is NaN the result has to be; where the operation is local, nowhere
// else but, in convolutions, in the rest of a tile that one such sample lies in. The
// element is one that is not zero: some zeros are fixed by definition.
func (c *testCase) checkNaN(e *environment, op prepared, _ outcome) error {
	for i, o := range c.operands {
		if o.role == destination || o.quiet {
			continue
		}
		contents := make([][]float32, len(c.operands))
		x := make([]tensor, len(c.operands))
		for k := range c.operands {
			contents[k] = c.initial(k)
		}
		half := len(contents[i]) / 2
		at := slices.IndexFunc(contents[i][half:], func(v float32) bool { return v != 0 })
		if at < 0 {
			continue
		}
		contents[i][half+at] = float32(math.NaN())
		for k, o := range c.operands {
			x[k] = widen(o.shape, contents[k])
		}
		most := x
		if c.tiled != nil {
			most = make([]tensor, len(x))
			for k := range x {
				most[k] = x[k].clone()
			}
			c.tiled(most, e.dev.ConvolutionGrid())
		}
		numbers := c.reference(x)
		p, err := c.placeContents(e.dev, contents)
		if err != nil {
			return err
		}
		defer p.free()
		got, err := c.collect(e.dev, op, p)
		if err != nil {
			return fmt.Errorf("in %s: %w", o.name, err)
		}
		for k, other := range c.operands {
			for j, want := range x[k].v {
				is, must, may := got.arrays[k][j] != got.arrays[k][j], math.IsNaN(want), math.IsNaN(most[k].v[j])
				if must && !is || is && !may && (c.local || other.role == source) {
					return fmt.Errorf("in %s: %s%s is %v, want %v", o.name, other.name,
						position(other.shape, j), got.arrays[k][j], want)
				}
			}
		}
		for j, want := range numbers {
			if math.IsNaN(want.value) && !math.IsNaN(got.numbers[j]) {
				return fmt.Errorf("in %s: number %d is %v, want NaN", o.name, j, got.numbers[j])
			}
		}
	}
	return nil
}
