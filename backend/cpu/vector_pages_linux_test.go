package cpu

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend/cpu/internal/vectors"
)

// No kernel reads beyond its arrays: the pages around them are closed, so that a
// read would end the test program.
func TestVectorKernelsReadNoOtherPage(t *testing.T) {
	const longest, channels = 40, vectors.MaxTerms
	for _, atEnd := range []bool{true, false} {
		arrays := make([][]float32, 5)
		for i := range arrays {
			arrays[i] = between(t, channels*longest, atEnd)
		}
		cut := func(i, n int) []float32 {
			if atEnd {
				return arrays[i][len(arrays[i])-n:]
			}
			return arrays[i][:n:n]
		}
		assembled(t, func(t *testing.T, set InstructionSet) {
			k := instructionSets[set].vectors
			for n := 1; n <= longest; n++ {
				out := cut(0, n)
				x := [vectors.MaxTerms][]float32{cut(1, n), cut(2, n), cut(3, n), cut(4, n)}
				k.Fill(out, 0)
				for terms := 1; terms <= vectors.MaxTerms; terms++ {
					k.Combine(out, make([]float32, terms), &x)
					k.Mix(cut(0, terms*n), cut(1, terms*n), n, n, make([]float32, terms*terms), terms)
				}
				k.Clip(out, x[0], -1, 1)
				k.ActivationGradient(out, x[0], x[1], 0.1)
				var sums vectors.Sums
				k.Sum(&sums, x[0])
				k.Squares(&sums, x[0])
				k.Dot(&sums, x[0], x[1])
				k.Distance(&sums, x[0], x[1])
				require.Zero(t, sums, "of zeros")
			}
		})
	}
}

// Nor do those of groups of channels.
func TestBallKernelsReadNoOtherPage(t *testing.T) {
	const longest, size = 40, 11
	for _, atEnd := range []bool{true, false} {
		var arrays [3][]float32
		for i := range arrays {
			arrays[i] = between(t, size*longest, atEnd)
		}
		assembled(t, func(t *testing.T, set InstructionSet) {
			k := instructionSets[set].vectors
			for n := 1; n <= longest; n++ {
				var a [3][]float32
				for i, all := range arrays {
					a[i] = all[: size*n : size*n]
					if atEnd {
						a[i] = all[len(all)-size*n:]
					}
				}
				var sums vectors.Sums
				k.ProjectBalls(a[0], a[1], n, n, size, 1)
				k.ProjectBallsGradient(a[0], a[1], a[2], n, n, size, 1, &sums)
				part := func(x []float32) []float32 { // a map of radii, of n numbers, at the same end
					if atEnd {
						return x[len(x)-n:]
					}
					return x[:n:n]
				}
				k.ProjectBallsMap(a[0], a[1], part(a[2]), n, n, size)
				k.ProjectBallsMapGradient(a[0], part(a[2]), a[1], a[1], part(a[2]), n, n, size)
				require.Zero(t, sums, "of zeros")
			}
		})
	}
}
