// Package srgb has the curve between light and the samples of sRGB (IEC 61966-2-1).
package srgb

import "math"

// Linear is the light of a sample.
func Linear(v float64) float64 {
	if v <= 0.04045 {
		return v / 12.92
	}
	return math.Pow((v+0.055)/1.055, 2.4)
}

// Encoded is the sample of light, the inverse of Linear.
func Encoded(x float64) float64 {
	if x <= 0.0031308 {
		return 12.92 * x
	}
	return 1.055*math.Pow(x, 1/2.4) - 0.055
}

// LinearWithSlope is Linear, and its derivative.
func LinearWithSlope(v float64) (light, slope float64) {
	light = Linear(v)
	if v <= 0.04045 {
		return light, 1 / 12.92
	}
	return light, 2.4 * light / (v + 0.055)
}

// EncodedWithSlope is Encoded, and its derivative.
func EncodedWithSlope(x float64) (v, slope float64) {
	v = Encoded(x)
	if x <= 0.0031308 {
		return v, 12.92
	}
	return v, (v + 0.055) / (2.4 * x)
}
