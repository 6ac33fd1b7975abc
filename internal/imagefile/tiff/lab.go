package tiff

import (
	"github.com/averaged/imaging/internal/imagefile/picture"
	"github.com/averaged/imaging/internal/srgb"
)

// TIFF with CIELab (TIFF 6.0, section 23) and ICCLab (its supplement 2): lightness from 0 to 100, and two
// axes of colour from −128 to 127, which CIELab stores as signed integers and ICCLab with 128 added. White
// is D50.

func (d *decoder) lab() bool {
	return d.photometric == photometricCIELab || d.photometric == photometricICCLab
}

// finishLab turns planes of codes, divided by the largest one, into sRGB. Colours that sRGB lacks are clipped.
func (d *decoder) finishLab(m *picture.Image) {
	codes, unit := 255., 1. // the largest code, and those of one unit of an axis
	lightest := 255.
	if d.bits == 16 {
		codes, unit, lightest = 65535, 256, 65535
		if d.photometric == photometricICCLab {
			lightest = 65280
		}
	}
	axis := func(v float32) float64 {
		code := float64(v) * codes / unit
		if d.photometric == photometricICCLab {
			return code - 128
		}
		if code >= 128 {
			code -= 256
		}
		return code
	}
	// The inverse of the function of CIE 15:2004, section 8.2.1.
	inverse := func(t float64) float64 {
		if t > 6./29 {
			return t * t * t
		}
		return (t - 4./29) * 108 / 841
	}
	planes := [3][]float32{m.Plane(0), m.Plane(1), m.Plane(2)}
	for i, l := range planes[0] {
		t := (100*float64(l)*codes/lightest + 16) / 116
		x, y, z := 0.96422*inverse(t+axis(planes[1][i])/500), inverse(t), 0.82521*inverse(t-axis(planes[2][i])/200)
		// From XYZ of D50 to linear sRGB, by Bradford's adaptation to D65.
		for c, v := range [3]float64{
			3.1338561*x - 1.6168667*y - 0.4906146*z,
			-0.9787684*x + 1.9161415*y + 0.0334540*z,
			0.0719453*x - 0.2289914*y + 1.4052427*z,
		} {
			planes[c][i] = float32(srgb.Encoded(min(max(v, 0), 1)))
		}
	}
	m.Warn("CIELab is converted to sRGB")
}
