package png

import (
	"testing"

	"github.com/averaged/imaging/internal/imagefile/imagetest"
	"github.com/stretchr/testify/require"
)

// TestInterlacedPNGThatEndsEarly: what is there of its passes is read, a pixel that is missing has
// the value of one nearby, and the later the end, the nearer is the picture.
func TestInterlacedPNGThatEndsEarly(t *testing.T) {
	imagetest.LeaveToPlainRuns(t)
	for _, name := range []string{"rgb8i.png", "rgba16i.png"} {
		data := imagetest.File(t, name)
		whole := decode(t, data)
		blocks, worse := false, 0
		before := 0.0
		for end := 100; end < len(data)-13; end += 7 {
			m, err := salvage(t, data[:end])
			if err != nil {
				require.ErrorContains(t, err, "PNG is damaged")
				continue
			}
			require.Contains(t, m.Warnings[0], "damaged")
			require.Zero(t, m.Found().Min.Y)
			require.True(t, m.Found().Max.Y%8 == 0 || m.Lost.Empty())
			for i, v := range m.Pix {
				y, x := i%(m.Width*m.Height)/m.Width, i%m.Width
				switch {
				case y >= m.Found().Max.Y:
					require.Equal(t, float32(0.5), v)
				case x%8 == 0 && y%8 == 0: // of the first pass
					require.Equal(t, whole.Pix[i], v)
				}
			}
			if m.Lost.Empty() {
				blocks = true
				near := imagetest.PSNR(whole.Pix, m.Pix)
				if near < before {
					worse++
				}
				before = near
			}
		}
		require.True(t, blocks, name)
		require.Greater(t, before, 25.0, name)
		require.LessOrEqual(t, worse, 3, name)
	}
}

// TestRowsOfPasses: every pixel is in one pass, and rows have the bytes that image/png reads.
func TestRowsOfPasses(t *testing.T) {
	for w := 1; w < 12; w++ {
		for h := 1; h < 12; h++ {
			for laced := range byte(2) {
				pixels, last := 0, -1
				for n, width := range (imageHeader{width: w, height: h, laced: laced}).rows() {
					require.Equal(t, last+1, n)
					last = n
					pixels += width
				}
				require.Equal(t, w*h, pixels)
			}
		}
	}
}
