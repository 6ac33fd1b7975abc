package quality

import (
	"errors"
	"fmt"
	"math"

	"github.com/averaged/imaging/internal/parallel"
)

// WindowSize is the side of the window of SSIM, and so the smallest height and
// width that it is defined for.
const WindowSize = 11

// ErrTooSmall is wrapped by the error of SSIM about an image that the window
// does not fit into.
var ErrTooSmall = errors.New("quality: image is smaller than the SSIM window")

// The constants of SSIM.
const (
	windowDeviation = 1.5
	c1              = 0.01 * 0.01 // (K₁L)², with a dynamic range L of 1
	c2              = 0.03 * 0.03 // (K₂L)²
)

// SSIM returns the mean structural similarity index of Wang, Bovik, Sheikh and
// Simoncelli ("Image quality assessment: from error visibility to structural
// similarity", 2004, equation 13) of images on [0,1]: local means, variances and
// the covariance under a Gaussian window of 11×11 samples and standard deviation
// 1.5, K₁ = 0.01, K₂ = 0.03, where the window fits inside the image, without
// downsampling, and the mean over positions and channels. It is 1 for equal
// images and at most 1.
//
// Each image has the given number of channels of h rows and w columns. An image
// below 11×11 has no position for the window: ErrTooSmall. The work runs on all
// processors, and the result does not depend on their number.
func SSIM(reference, estimate []float32, channels, h, w int) (float64, error) {
	if h < 1 || w < 1 || channels < 1 || len(reference) != len(estimate) || len(reference) != channels*h*w {
		return 0, fmt.Errorf("%w: %d and %d samples for %d channels of %d×%d", ErrShape, len(reference), len(estimate), channels, h, w)
	}
	if h < WindowSize || w < WindowSize {
		return 0, fmt.Errorf("%w: %d×%d pixels, want %d×%d or more", ErrTooSmall, w, h, WindowSize, WindowSize)
	}
	pool := parallel.New(0)
	defer pool.Close()
	window := gaussianWindow()
	rows := h - WindowSize + 1
	const band = 64
	bands := (rows + band - 1) / band
	sums := make([]float64, channels*bands)
	pool.For(len(sums), func(i int) {
		c, from := i/bands, i%bands*band
		plane := c * h * w
		sums[i] = similarity(reference[plane:plane+h*w], estimate[plane:plane+h*w], w, from, min(from+band, rows), &window)
	})
	total := 0.0
	for _, s := range sums {
		total += s
	}
	return total / float64(channels*rows*(w-WindowSize+1)), nil
}

func gaussianWindow() (g [WindowSize]float64) {
	sum := 0.0
	for i := range g {
		d := float64(i - WindowSize/2)
		g[i] = math.Exp(-d * d / (2 * windowDeviation * windowDeviation))
		sum += g[i]
	}
	for i := range g {
		g[i] /= sum
	}
	return g
}

// The five local moments that SSIM is made of.
const (
	meanX = iota
	meanY
	squareX
	squareY
	product
	moments
)

// similarity returns the sum of SSIM over the window positions in rows
// [from, to) of one plane. The window is separable: every row of the image is
// filtered along the row once, and a ring of the last 11 results is summed down
// the columns.
func similarity(x, y []float32, w, from, to int, window *[WindowSize]float64) float64 {
	cols := w - WindowSize + 1
	var ring [WindowSize][moments][]float64
	for i := range ring {
		for m := range ring[i] {
			ring[i][m] = make([]float64, cols)
		}
	}
	filter := func(row int) {
		rx, ry := x[row*w:(row+1)*w], y[row*w:(row+1)*w]
		out := &ring[row%WindowSize]
		for j := range cols {
			var s [moments]float64
			for k, g := range window {
				a, b := float64(rx[j+k]), float64(ry[j+k])
				ga, gb := float64(g*a), float64(g*b)
				s[meanX] += ga
				s[meanY] += gb
				s[squareX] += float64(ga * a)
				s[squareY] += float64(gb * b)
				s[product] += float64(ga * b)
			}
			for m, v := range s {
				out[m][j] = v
			}
		}
	}
	for row := from; row < from+WindowSize-1; row++ {
		filter(row)
	}
	total := 0.0
	for row := from; row < to; row++ {
		filter(row + WindowSize - 1)
		sum := 0.0
		for j := range cols {
			var s [moments]float64
			for k, g := range window {
				line := &ring[(row+k)%WindowSize]
				for m := range s {
					s[m] += float64(g * line[m][j])
				}
			}
			sum += index(&s)
		}
		total += sum
	}
	return total
}

// index is equation 13.
func index(s *[moments]float64) float64 {
	xx, yy, xy := float64(s[meanX]*s[meanX]), float64(s[meanY]*s[meanY]), float64(s[meanX]*s[meanY])
	varX, varY, cov := s[squareX]-xx, s[squareY]-yy, s[product]-xy
	return (2*xy + c1) * (2*cov + c2) / ((xx + yy + c1) * (varX + varY + c2))
}
