package imageplanes_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/internal/imageplanes"
)

// A mirrored image begins with the image, is the same on both sides of each mirror, and as large as it has to be.
func TestMirrored(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := imageplanes.New(rapid.SampledFrom([]int{1, 3}).Draw(t, "channels"), rapid.IntRange(1, 9).Draw(t, "height"), rapid.IntRange(1, 9).Draw(t, "width"))
		for i := range p.Pix {
			p.Pix[i] = float32(i)
		}
		if rapid.Bool().Draw(t, "alpha") {
			p.Alpha = make([]uint16, p.Height*p.Width)
			for i := range p.Alpha {
				p.Alpha[i] = uint16(i)
			}
		}
		h, w := rapid.IntRange(0, 40).Draw(t, "at least high"), rapid.IntRange(0, 40).Draw(t, "at least wide")
		m := p.Mirrored(h, w)
		require.Equal(t, p.Pix, p.Unmirrored(slices.Clone(m.Pix), m))
		if h <= p.Height && w <= p.Width {
			require.Same(t, p, m)
			return
		}
		require.Equal(t, []int{max(h, p.Height), max(w, p.Width), p.Channels}, []int{m.Height, m.Width, m.Channels})
		require.Equal(t, p.Alpha == nil, m.Alpha == nil)
		for c := range p.Channels {
			for y := range m.Height {
				for x := range m.Width {
					v := m.Plane(c)[y*m.Width+x]
					if y < p.Height && x < p.Width {
						require.Equal(t, p.Plane(c)[y*p.Width+x], v)
					}
					if y >= p.Height { // the mirror before y is at a multiple of the height
						require.Equal(t, m.Plane(c)[(y/p.Height*2*p.Height-1-y)*m.Width+x], v)
					}
					if x >= p.Width {
						require.Equal(t, m.Plane(c)[y*m.Width+x/p.Width*2*p.Width-1-x], v)
					}
					if m.Alpha != nil {
						require.Equal(t, uint16(int(v)-c*len(p.Alpha)), m.Alpha[y*m.Width+x])
					}
				}
			}
		}
	})
}
