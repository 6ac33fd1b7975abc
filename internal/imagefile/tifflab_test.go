package imagefile

import (
	"encoding/binary"
	"math"
	"testing"

	"github.com/averaged/imaging/internal/tiffdir"
	"github.com/stretchr/testify/require"
)

// labColours are colours of sRGB and their CIELab values, of D50, by Bradford's adaptation.
var labColours = []struct{ rgb, lab [3]float64 }{
	{[3]float64{1, 1, 1}, [3]float64{100, 0, 0}},
	{[3]float64{0, 0, 0}, [3]float64{0, 0, 0}},
	{[3]float64{1, 0, 0}, [3]float64{54.29, 80.81, 69.89}},
	{[3]float64{0, 1, 0}, [3]float64{87.82, -79.28, 80.99}},
	{[3]float64{0, 0, 1}, [3]float64{29.57, 68.30, -112.03}},
	{[3]float64{0.5, 0.5, 0.5}, [3]float64{53.39, 0, 0}},
}

// labTIFF has a row of labColours.
func labTIFF(photometric uint32, bits int) []byte {
	var raw []byte
	offset := 0.
	if photometric == photometricICCLab {
		offset = 128
	}
	for _, c := range labColours {
		for k, v := range c.lab {
			switch {
			case bits == 8 && k == 0:
				raw = append(raw, byte(math.Round(v*2.55)))
			case bits == 8:
				raw = append(raw, byte(int(math.Round(v+offset))))
			case k == 0 && photometric == photometricICCLab:
				raw = binary.LittleEndian.AppendUint16(raw, uint16(math.Round(v*652.8)))
			case k == 0:
				raw = binary.LittleEndian.AppendUint16(raw, uint16(math.Round(v*655.35)))
			default:
				raw = binary.LittleEndian.AppendUint16(raw, uint16(int(math.Round(256*(v+offset)))))
			}
		}
	}
	n := uint32(len(labColours))
	return tiffOf(raw, map[uint16]uint32{tiffdir.TagImageWidth: n, tiffdir.TagImageLength: 1, tiffdir.TagRowsPerStrip: 1, tiffdir.TagSamplesPerPixel: 3, tiffdir.TagPhotometric: photometric, tiffdir.TagBitsPerSample: uint32(bits)})
}

func TestCIELab(t *testing.T) {
	for _, photometric := range []uint32{photometricCIELab, photometricICCLab} {
		for bits, tolerance := range map[int]float64{8: 0.05, 16: 0.002} {
			m := decode(t, labTIFF(photometric, bits))
			require.Equal(t, bits, m.Depth)
			require.Contains(t, m.Warnings, "CIELab is converted to sRGB")
			for i, c := range labColours {
				for k, want := range c.rgb {
					require.InDelta(t, want, m.Plane(k)[i], tolerance, "model %d, %d bits, %v", photometric, bits, c.rgb)
				}
			}
		}
	}
}

// signedTIFF has 4×4 samples below and above 0.
func signedTIFF(bits int) (file []byte, values []float32) {
	var raw []byte
	for i := range 16 {
		v := (i - 7) * 15
		if bits == 8 {
			raw = append(raw, byte(v))
		} else {
			v *= 256
			raw = binary.LittleEndian.AppendUint16(raw, uint16(v))
		}
		values = append(values, float32(v))
	}
	return tiffOf(raw, map[uint16]uint32{tiffdir.TagBitsPerSample: uint32(bits), tiffdir.TagSampleFormat: formatSigned}), values
}

// Signed integers are numbers, such as heights or Hounsfield units, and not shades of grey: they stay what they are.
func TestSignedIntegers(t *testing.T) {
	for _, bits := range []int{8, 16} {
		file, values := signedTIFF(bits)
		m := decode(t, file)
		require.Equal(t, values, m.Pix)
		require.Equal(t, [2]int{32, bits}, [2]int{m.Depth, m.SourceDepth})
		require.Equal(t, values, decode(t, encode(t, m, WriteOptions{Format: TIFF})).Pix)
	}
}
