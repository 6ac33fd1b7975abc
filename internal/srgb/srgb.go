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

// LinearSlope is the derivative of Linear.
func LinearSlope(v float64) float64 {
	if v <= 0.04045 {
		return 1 / 12.92
	}
	return 2.4 / 1.055 * math.Pow((v+0.055)/1.055, 1.4)
}

// EncodedSlope is the derivative of Encoded.
func EncodedSlope(x float64) float64 {
	if x <= 0.0031308 {
		return 12.92
	}
	return 1.055 / 2.4 * math.Pow(x, 1/2.4-1)
}
