package cpu

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
)

// A gradient that is summed up in parts, of images that no tile ends with, is that of the
// direct sum, and has the same bits for any number of threads.
func TestFilterGradientInParts(t *testing.T) {
	r := rand.New(rand.NewPCG(16, 16))
	floats := func(n int) []float32 {
		v := make([]float32, n)
		for i := range v {
			v[i] = float32(r.NormFloat64())
		}
		return v
	}
	for _, c := range []struct {
		in         backend.Shape
		out, parts int
	}{
		{backend.Shape{N: 1, C: 18, H: 31, W: 40}, 3, 1},
		{backend.Shape{N: 3, C: 3, H: 50, W: 55}, 17, 2},
		{backend.Shape{N: 1, C: 17, H: 101, W: 199}, 16, 4},
		{backend.Shape{N: 5, C: 16, H: 80, W: 79}, 33, 8},
	} {
		if testing.Short() && c.parts > 4 {
			continue // what four parts do, in more time than all others; go test ./... has it
		}
		result := c.in
		result.C = c.out
		filter := backend.Shape{N: c.out, C: c.in.C, H: 3, W: 3}
		x, dy, old := floats(c.in.Len()), floats(result.Len()), floats(filter.Len())
		down, across := tilesOf(0, c.in.H).to, tilesOf(0, c.in.W).to
		require.Equal(t, c.parts, partsOf(c.in.N*down*across, c.in.N*down*planarGroupsOf(across)), "%+v", c)
		for _, set := range SetsUnderTest(t) {
			t.Run(fmt.Sprint(c.in, set), func(t *testing.T) {
				wrap := func(d *Device, s backend.Shape, data []float32) backend.Buffer {
					b, err := d.Wrap(s, data)
					require.NoError(t, err)
					return b
				}
				var first []float32
				numbers := []int{1, 2, 3, 5}
				if testing.Short() { // this takes long under emulation; go test ./... has all
					numbers = []int{1, 3}
				}
				for _, threads := range numbers {
					d := open(t, UseInstructionSet(set), Threads(threads))
					defer d.Close()
					dw := slices.Clone(old)
					require.NoError(t, d.FilterGradient(wrap(d, filter, dw), wrap(d, c.in, x), wrap(d, result, dy), -0.5, 2))
					if first == nil {
						first = dw
					}
					require.Equal(t, first, dw, "%d threads", threads)
				}
				d := open(t, UseInstructionSet(set), Threads(1))
				defer d.Close()
				direct := slices.Clone(old)
				d.host.filterGradient(&buffer{Shape: filter, Data: direct}, &buffer{Shape: c.in, Data: x}, &buffer{Shape: result, Data: dy}, -0.5, 2)
				var errors, energy float64
				for k, want := range direct {
					errors += math.Pow(float64(want-first[k]), 2)
					energy += math.Pow(float64(want+0.5*old[k]), 2)
				}
				// The rounding of the algorithm is 2.2e-6 to 2.9e-6 here.
				require.Less(t, math.Sqrt(errors/energy), 5e-6)
			})
		}
	}
}
