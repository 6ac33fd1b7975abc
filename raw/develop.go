package raw

import (
	"math"

	"github.com/averaged/imaging/internal/demosaic"
	"github.com/averaged/imaging/internal/matrix3"
)

// Develop makes a picture of an image of this file for viewing. It applies the file's white balance and
// colour matrix, demosaicking (Malvar, He and Cutler 2004), and the tone curve of sRGB. It returns the planes
// of red, green and blue, or one grey plane, each of the image's size, from 0 to 1. They are not turned by
// Orientation. It is plain on purpose: no lens correction, no opcodes, no tone curve of a maker.
func (f *File) Develop(img *Image) (planes []float32, channels int, err error) {
	if err := img.Check(); err != nil {
		return nil, 0, err
	}
	n := img.Width * img.Height
	if img.Samples != 3 && !img.Mosaic { // of which no colours are known
		planes = make([]float32, n)
		for i := range planes {
			planes[i] = encode(float64(img.Pix[i*img.Samples]))
		}
		return planes, 1, nil
	}
	var balanced []float32
	gains := f.gains()
	if img.Mosaic {
		balanced = f.demosaicked(img, gains)
	} else {
		balanced = make([]float32, 3*n)
		for i, v := range img.Pix {
			balanced[i%3*n+i/3] = min(v*gains[i%3], 1)
		}
	}
	matrix := cameraToRGB(f.raw.Matrix)
	for i := range n {
		r, g, b := float64(balanced[i]), float64(balanced[n+i]), float64(balanced[2*n+i])
		for c := range 3 {
			balanced[c*n+i] = encode(matrix[3*c]*r + matrix[3*c+1]*g + matrix[3*c+2]*b)
		}
	}
	return balanced, 3, nil
}

// Orientation is that of EXIF, 1 to 8: how to turn the image for viewing.
func (f *File) Orientation() int { return f.raw.Orientation }

// gains is the white balance, and the exposure.
func (f *File) gains() (g [3]float32) {
	least := math.Inf(1)
	for _, v := range f.raw.Neutral {
		least = min(least, 1/v)
	}
	for c, v := range f.raw.Neutral {
		g[c] = float32(1 / v / least * math.Exp2(f.raw.Exposure))
	}
	return g
}

func (f *File) demosaicked(img *Image, gains [3]float32) []float32 {
	balanced := make([]float32, len(img.Pix))
	for y := range img.Height {
		for x := range img.Width {
			// What is above white is cut off, so that highlights stay white.
			i := y*img.Width + x
			balanced[i] = min(img.Pix[i]*gains[img.Colour(x, y)], 1)
		}
	}
	if img.Width < 2 || img.Height < 2 { // of a line there are no neighbours
		return append(append(balanced, balanced...), balanced...)
	}
	m := demosaic.New(img.Height, img.Width, img.Pattern.filters())
	m.Fill(balanced)
	planes := make([]float32, 3*len(balanced))
	m.Planes(planes, demosaic.Malvar, nil)
	return planes
}

// filters is the pattern for package demosaic.
func (p Pattern) filters() demosaic.Pattern {
	return demosaic.Pattern{uint8(p[0][0]), uint8(p[0][1]), uint8(p[1][0]), uint8(p[1][1])}
}

// cameraToRGB is the inverse of what takes linear sRGB to the sensor's colours, with rows that add up to 1, so that grey
// stays grey; the identity if there is none.
func cameraToRGB(xyzToCamera [9]float64) [9]float64 {
	m := matrix3.Matrix(xyzToCamera).Times(matrix3.SRGBToXYZ)
	sums := m.Of([3]float64{1, 1, 1})
	for i := range m {
		m[i] /= sums[i/3]
	}
	inverse := m.Inverse()
	for _, v := range inverse {
		if !(math.Abs(v) < 1e3) { // beyond all use
			return [9]float64{1, 0, 0, 0, 1, 0, 0, 0, 1}
		}
	}
	return inverse
}

// encode is the curve of sRGB.
func encode(x float64) float32 {
	switch {
	case !(x > 0):
		return 0
	case x <= .0031308:
		return float32(12.92 * x)
	case x >= 1:
		return 1
	}
	return float32(1.055*math.Pow(x, 1/2.4) - .055)
}
