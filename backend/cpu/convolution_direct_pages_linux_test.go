package cpu

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend/cpu/internal/convrow"
)

// No kernel reads beyond the vectors that Block says: the pages around its arrays
// are closed, so that a read would end the test program.
func TestConvolutionBlocksReadNoOtherPage(t *testing.T) {
	leaveKernels(t)
	const inputs, outputs, kh, kw = 2, 8, 3, 3
	const terms = inputs * kh * kw
	for _, atEnd := range []bool{true, false} {
		arrays := make([][]float32, 4)
		for i := range arrays {
			arrays[i] = between(t, 1000, atEnd)
		}
		cut := func(i, n int) []float32 {
			if atEnd {
				return arrays[i][len(arrays[i])-n:]
			}
			return arrays[i][:n:n]
		}
		for _, set := range InstructionSets() {
			k := instructionSets[set].convolution
			for most := 1; most <= outputs; most++ {
				for columns := 1; columns <= convrow.Columns; columns++ {
					channels, n := k.Size(most, columns)
					pitch := roundUp(n, convrow.Lanes) + kw - 1
					taps := convrow.NewTaps(inputs, kh, kw, kh*pitch, pitch)
					dst := cut(0, (channels-1)*columns+n)
					end := convrow.Ending{Slope: 0.1, Scale: 1, Beta: 1}
					k.Block(dst, columns, cut(1, inputs*kh*pitch), taps, cut(2, channels*terms), cut(3, channels), channels, n, &end)
					require.Zero(t, dst[len(dst)-1], "of zeros")
				}
				for rows := 1; rows <= 2; rows++ {
					const columns = convrow.Lanes
					channels := k.Outputs(most)
					tile := convrow.Tile{Rows: rows, Columns: columns, PlaneY: rows * columns, PitchY: columns, PitchX: columns + 2}
					taps := convrow.NewTaps(inputs, 1, kw, rows*tile.PitchX, tile.PitchX)
					var sums convrow.Products
					k.Correlate(&sums, cut(0, channels*rows*columns), cut(1, inputs*rows*tile.PitchX), taps, 4, channels, tile)
					require.Zero(t, sums, "of zeros")
				}
			}
		}
	}
}
