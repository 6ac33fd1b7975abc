package cpu

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
)

// Nothing is read or written beyond the buffers of a call: the pages around them are closed, so
// that it would end the test program.
func TestLayersTouchNoOtherPage(t *testing.T) {
	leaveKernels(t)
	for _, set := range InstructionSets() {
		for _, atEnd := range []bool{true, false} {
			d := open(t, Threads(1), UseInstructionSet(set))
			m := newLayersMaker(t, d)
			m.wrap = func(n int) []float32 { return between(t, n, atEnd) }
			for _, size := range [][2]int{{1, 1}, {5, 7}, {13, 18}} {
				s := backend.Image(3, size[0], size[1])
				layers := m.unet()
				up := m.up(17, 5)
				up.From = m.buffer(backend.Image(5, (s.H+1)/2, (s.W+1)/2), 1)
				dst := m.buffer(backend.Image(17, s.H, s.W), 1)
				src := m.buffer(s, 1)
				require.NoError(t, d.ApplyLayers(t.Context(), dst, 0, 0, s.Whole(), src, s.Whole(), layers))
				require.NoError(t, d.ApplyLayers(t.Context(), dst, 0, 0, s.Whole(), src, s.Whole(), append(layers, up)))
			}
			require.NoError(t, d.Close())
		}
	}
}
