package cameranoise

import "math"

// The tone curve is S(G(x)): G is sRGB's gamma (IEC 61966-2-1), and S = (1−t)·v + t·(3v² − 2v³) a
// mixture with smoothstep, the tone curve of Brooks et al.

// steps of the tables of gamma; values between are interpolated. The largest errors are
// 5e-6 for the encoding and 3e-8 for the decoding.
const (
	encodingSteps = 1 << 13
	decodingSteps = 1 << 12
)

var encoding, decoding = func() (enc [encodingSteps + 2]float32, dec [decodingSteps + 2]float32) {
	for i := range enc {
		enc[i] = float32(encodeGamma(min(float64(i)/encodingSteps, 1)))
	}
	for i := range dec {
		dec[i] = float32(decodeGamma(min(float64(i)/decodingSteps, 1)))
	}
	return enc, dec
}()

func decodeGamma(v float64) float64 {
	if v <= 0.04045 {
		return v / 12.92
	}
	// b^2.4 = (b^⅕)^12
	p := root((v+0.055)/1.055, 5)
	p3 := p * p * p
	return p3 * p3 * p3 * p3
}

func encodeGamma(x float64) float64 {
	if x <= 0.0031308 {
		return 12.92 * x
	}
	// x^(1/2.4) = (x^(1/12))^5
	p := root(math.Sqrt(math.Sqrt(x)), 3)
	p2 := p * p
	return float64(1.055*float64(p2*p2*p)) - 0.055
}

// root returns the n-th root of x in (0, 1] by Newton's method, which comes down from 1.
func root(x float64, n int) float64 {
	y := 1.0
	for {
		power := 1.0
		for range n - 1 {
			power *= y
		}
		next := (float64(float64(n-1)*y) + x/power) / float64(n)
		if next >= y {
			return y
		}
		y = next
	}
}

// interpolate reads a table of steps+2 values at v in [0, 1]. steps is a power of two, so that the
// product is exact.
func interpolate(table []float32, steps, v float32) float32 {
	at := v * steps
	i := int(at)
	a, b := table[i], table[i+1]
	return a + float32((b-a)*(at-float32(i)))
}

// Dimmed returns a picture of values in [0,1] whose scene has the given share of its light, above 0 and
// at most 1.
func Dimmed(pix []float32, light float64) []float32 {
	dimmed := make([]float32, len(pix))
	for i, v := range pix {
		dimmed[i] = develop(float32(undevelop(v, 0)*float32(light)), 0)
	}
	return dimmed
}

// develop takes linear light to a display, both in [0,1]; light outside is clipped.
func develop(x, tone float32) float32 {
	v := interpolate(encoding[:], encodingSteps, min(max(x, 0), 1))
	return min(max(curve(v, tone), 0), 1)
}

// undevelop is the inverse of develop for v in [0,1].
func undevelop(v, tone float32) float32 {
	return interpolate(decoding[:], decodingSteps, uncurve(v, tone))
}

// curve is S.
func curve(v, tone float32) float32 {
	return v + float32(tone*(float32(float32(v*v)*(3-float32(2*v)))-v))
}

// uncurve is the inverse of S. Newton's method comes down on it from the right of the lower,
// convex half; the upper half is the lower one turned around. A step's error is below 12 times the
// square of its length, up to t = 0.8, so that the one after a short step is not needed.
func uncurve(y, tone float32) float32 {
	if tone == 0 {
		return y
	}
	if y > 0.5 {
		return 1 - uncurve(1-y, tone)
	}
	v := min(y/(1-tone), 0.5) // S(v) ≥ (1−t)·v
	for step := float32(1); step > 1e-4; {
		slope := 1 - tone + float32(float32(6*tone)*float32(v*(1-v)))
		step = (curve(v, tone) - y) / slope
		v -= step
	}
	return min(max(v, 0), 0.5)
}
