package tiff

import (
	"bytes"
	"testing"

	"github.com/averaged/imaging/internal/imagefile/imagetest"
	"github.com/stretchr/testify/require"
)

func TestCIELab(t *testing.T) {
	for _, photometric := range []uint32{photometricCIELab, photometricICCLab} {
		for bits, tolerance := range map[int]float64{8: 0.05, 16: 0.002} {
			m := decode(t, imagetest.LabTIFF(photometric, bits))
			require.Equal(t, bits, m.Depth)
			require.Contains(t, m.Warnings, "CIELab is converted to sRGB")
			for i, c := range imagetest.LabColours {
				for k, want := range c.RGB {
					require.InDelta(t, want, m.Plane(k)[i], tolerance, "model %d, %d bits, %v", photometric, bits, c.RGB)
				}
			}
		}
	}
}

// Signed integers are numbers, such as heights or Hounsfield units, and not shades of grey: they stay what they are.
func TestSignedIntegers(t *testing.T) {
	for _, bits := range []int{8, 16} {
		file, values := imagetest.SignedTIFF(bits)
		m := decode(t, file)
		require.Equal(t, values, m.Pix)
		require.Equal(t, [2]int{32, bits}, [2]int{m.Depth, m.SourceDepth})
		var b bytes.Buffer
		require.NoError(t, Encode(t.Context(), &b, m, m.Depth, 0))
		require.Equal(t, values, decode(t, b.Bytes()).Pix)
	}
}
