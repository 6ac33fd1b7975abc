package imageplanes_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/internal/imageplanes"
)

// An image of repeated pixels is reduced to them and repeated again, and one sample that differs makes it one that has no
// repetition.
func TestRepetition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n, h, w := rapid.IntRange(1, 4).Draw(t, "n"), rapid.IntRange(1, 7).Draw(t, "height"), rapid.IntRange(2, 7).Draw(t, "width")
		small := imageplanes.New(rapid.SampledFrom([]int{1, 3}).Draw(t, "channels"), h, w)
		for i := range small.Pix {
			small.Pix[i] = float32(i)
		}
		p := imageplanes.New(small.Channels, n*h, n*w)
		p.Pix = p.Repeated(small.Pix, n)
		if rapid.Bool().Draw(t, "alpha") {
			small.Alpha, p.Alpha = make([]uint16, h*w), make([]uint16, n*h*n*w)
			for i := range small.Alpha {
				small.Alpha[i] = uint16(i % 3)
			}
			for i := range p.Alpha {
				p.Alpha[i] = small.Alpha[i/p.Width/n*w+i%p.Width/n]
			}
		}
		require.Equal(t, n, p.Repetition())
		require.Equal(t, small, p.Reduced(n))
		for y := range n * h {
			for x := range n * w {
				require.Equal(t, small.Plane(small.Channels - 1)[y/n*w+x/n], p.Plane(p.Channels - 1)[y*n*w+x])
			}
		}
		p.Pix[rapid.IntRange(0, len(p.Pix)-1).Draw(t, "place")] = -1
		require.Equal(t, 1, p.Repetition())
	})
	require.Equal(t, 6, imageplanes.New(1, 12, 18).Repetition(), "one colour all over")
}
