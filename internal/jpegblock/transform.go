package jpegblock

import "math"

// half-cosines cos(kπ/16)/2; that of k = 4 is the weight of the constant too.
var (
	halfCos1 = float32(math.Cos(1*math.Pi/16) / 2)
	halfCos2 = float32(math.Cos(2*math.Pi/16) / 2)
	halfCos3 = float32(math.Cos(3*math.Pi/16) / 2)
	halfCos4 = float32(math.Cos(4*math.Pi/16) / 2)
	halfCos5 = float32(math.Cos(5*math.Pi/16) / 2)
	halfCos6 = float32(math.Cos(6*math.Pi/16) / 2)
	halfCos7 = float32(math.Cos(7*math.Pi/16) / 2)
)

// Forward replaces a block, in rows, by its orthonormal discrete cosine transform of
// type II.
func Forward(b *[64]float32) {
	for i := 0; i < 64; i += 8 {
		dct8(b[i:i+8:i+8], 1)
	}
	for i := range 8 {
		dct8(b[i:], 8)
	}
}

// Inverse undoes Forward, to rounding.
func Inverse(b *[64]float32) {
	for i := range 8 {
		inverse8(b[i:], 8)
	}
	for i := 0; i < 64; i += 8 {
		inverse8(b[i:i+8:i+8], 1)
	}
}

// dct8 is the orthonormal discrete cosine transform of type II of the eight
// samples that are step apart, by even and odd halves.
func dct8(p []float32, step int) {
	s0, d0 := p[0]+p[7*step], p[0]-p[7*step]
	s1, d1 := p[step]+p[6*step], p[step]-p[6*step]
	s2, d2 := p[2*step]+p[5*step], p[2*step]-p[5*step]
	s3, d3 := p[3*step]+p[4*step], p[3*step]-p[4*step]

	p[0] = ((s0 + s3) + (s1 + s2)) * halfCos4
	p[4*step] = ((s0 + s3) - (s1 + s2)) * halfCos4
	p[2*step] = float32((s0-s3)*halfCos2) + float32((s1-s2)*halfCos6)
	p[6*step] = float32((s0-s3)*halfCos6) - float32((s1-s2)*halfCos2)

	p[step] = float32(d0*halfCos1) + float32(d1*halfCos3) + float32(d2*halfCos5) + float32(d3*halfCos7)
	p[3*step] = float32(d0*halfCos3) - float32(d1*halfCos7) - float32(d2*halfCos1) - float32(d3*halfCos5)
	p[5*step] = float32(d0*halfCos5) - float32(d1*halfCos1) + float32(d2*halfCos7) + float32(d3*halfCos3)
	p[7*step] = float32(d0*halfCos7) - float32(d1*halfCos5) + float32(d2*halfCos3) - float32(d3*halfCos1)
}

// inverse8 is the transpose of dct8.
func inverse8(p []float32, step int) {
	c0, c1, c2, c3 := p[0], p[step], p[2*step], p[3*step]
	c4, c5, c6, c7 := p[4*step], p[5*step], p[6*step], p[7*step]

	e0, e1 := float32((c0+c4)*halfCos4), float32((c0-c4)*halfCos4)
	a := float32(c2*halfCos2) + float32(c6*halfCos6)
	b := float32(c2*halfCos6) - float32(c6*halfCos2)
	s0, s1, s2, s3 := e0+a, e1+b, e1-b, e0-a

	d0 := float32(c1*halfCos1) + float32(c3*halfCos3) + float32(c5*halfCos5) + float32(c7*halfCos7)
	d1 := float32(c1*halfCos3) - float32(c3*halfCos7) - float32(c5*halfCos1) - float32(c7*halfCos5)
	d2 := float32(c1*halfCos5) - float32(c3*halfCos1) + float32(c5*halfCos7) + float32(c7*halfCos3)
	d3 := float32(c1*halfCos7) - float32(c3*halfCos5) + float32(c5*halfCos3) - float32(c7*halfCos1)

	p[0], p[7*step] = s0+d0, s0-d0
	p[step], p[6*step] = s1+d1, s1-d1
	p[2*step], p[5*step] = s2+d2, s2-d2
	p[3*step], p[4*step] = s3+d3, s3-d3
}
