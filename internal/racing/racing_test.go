package racing

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/weights"
)

func TestTimeLeavesTheWarmUpOut(t *testing.T) {
	passes := 0
	median, least, err := Time(2, 3, func() error {
		if passes++; passes <= 2 {
			time.Sleep(50 * time.Millisecond)
		} else {
			time.Sleep(time.Duration(passes) * time.Millisecond) // 3, 4 and 5
		}
		return nil
	})
	require.NoError(t, err)
	require.Equal(t, 5, passes)
	require.GreaterOrEqual(t, least, 3.0)
	require.GreaterOrEqual(t, median, 4.0)
	require.GreaterOrEqual(t, median, least)
	require.Less(t, least, 50.0)

	wrong := errors.New("wrong")
	for fails := 1; fails <= 5; fails++ {
		passes = 0
		_, _, err = Time(2, 3, func() error {
			if passes++; passes == fails {
				return wrong
			}
			return nil
		})
		require.ErrorIs(t, err, wrong)
		require.Equal(t, fails, passes)
	}
}

func TestMedian(t *testing.T) {
	x := []float64{5, 1, 3}
	require.Equal(t, 3.0, Median(x))
	require.Equal(t, []float64{5, 1, 3}, x, "the numbers stay where they are")
	require.Equal(t, 2.5, Median([]float64{4, 1, 2, 3}))
	require.Equal(t, 7.0, Median([]float64{7}))
}

// A block of one 3×3 filter of 8 to 8 channels and its adjoint: 2·9·64 multiplications and
// as many additions a pixel.
func TestOperations(t *testing.T) {
	a := weights.Architecture{Width: 8, Blocks: 5, Kernel: 3}
	require.Equal(t, 5*4*9*64*(2*6*7.0), Operations(a, backend.Shape{N: 2, C: 3, H: 6, W: 7}))
}

func TestDifferenceKeepsNaN(t *testing.T) {
	nan := float32(math.NaN())
	require.Equal(t, 2.0, Difference([]float32{1, 5, 3}, []float32{1, 3, 4}))
	require.True(t, math.IsNaN(Difference([]float32{1, nan, 3}, []float32{1, 3, 9})))
	require.True(t, math.IsNaN(Difference([]float32{1, 3, 3}, []float32{nan, 3, 9})))
}

func TestTensor(t *testing.T) {
	f := &weights.File{}
	for name, shape := range map[string][]int{"pictures": {2, 3, 1, 2}, "bias": {12}} {
		x := make([]float32, 12)
		for i := range x {
			x[i] = float32(i)
		}
		tensor, err := weights.NewTensor(name, weights.F32, shape, x)
		require.NoError(t, err)
		f.Tensors = append(f.Tensors, tensor)
	}
	s, x, err := Tensor(f, "pictures")
	require.NoError(t, err)
	require.Equal(t, backend.Shape{N: 2, C: 3, H: 1, W: 2}, s)
	require.Equal(t, []float32{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}, x)
	_, _, err = Tensor(f, "bias")
	require.ErrorContains(t, err, "must have four extents")
	_, _, err = Tensor(f, "nothing")
	require.ErrorContains(t, err, "nothing")
}
