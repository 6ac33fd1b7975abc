package inverse

import (
	"math"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/stretchr/testify/require"
)

// What a run leaves of a photograph is counted where samples are data. The others are as bright as they were, though Kx is 0 there.
func TestLeftOfWhatIsData(t *testing.T) {
	dev := cputest.Open(t)
	defer dev.Close()
	gains, y, x := make([]float32, side*side), make([]float32, side*side), make([]float32, side*side)
	rest, left, kept := 0.0, 0.0, 0.0
	for i := range y {
		y[i], x[i] = 1, 0.25+float32(i)/64
		if gains[i] = float32(i % 3 % 2); gains[i] == 0 {
			rest++
			continue
		}
		kept++
		left += float64((y[i] - x[i]) * (y[i] - x[i]))
	}
	photograph, image := buffer(t, dev, y), buffer(t, dev, x)
	defer photograph.Free()
	defer image.Free()
	runs := twoRuns{dev: dev, Iteration: Iteration{K: diagonal(t, dev, gains), Y: photograph, Kept: func() (float64, float64) { return kept / (side * side), rest }}}
	b, got, err := runs.addResidual(image)
	require.NoError(t, err)
	defer b.Free()
	require.Equal(t, backend.Image(1, side, side), b.Shape())
	require.InDelta(t, math.Sqrt(left/kept), got, 1e-6)
}
