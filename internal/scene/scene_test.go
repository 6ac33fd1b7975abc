package scene

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRenderIsAPicture(t *testing.T) {
	a, b := Render(60, 40), Render(60, 40)
	require.Equal(t, a.Pix, b.Pix, "the same size gives the same picture")
	dark, bright, red := 0, 0, 0
	for i := 0; i < len(a.Pix); i += 4 {
		r, g, v := int(a.Pix[i]), int(a.Pix[i+1]), int(a.Pix[i+2])
		if r+g+v < 3*80 {
			dark++
		}
		if r+g+v > 3*190 {
			bright++
		}
		if r > g+40 && r > v+40 {
			red++
		}
		require.EqualValues(t, 255, a.Pix[i+3])
	}
	n := len(a.Pix) / 4
	require.Greater(t, dark, n/100)
	require.Greater(t, bright, n/50)
	require.Greater(t, red, n/10)
}
