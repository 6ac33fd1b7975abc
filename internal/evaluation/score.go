// Package evaluation measures how near methods come to known images that it degrades, and shows it on a page: distributions,
// means, and the photographs that were restored worst.
package evaluation

import (
	"errors"
	"fmt"
	"math"

	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/internal/quality"
)

// Score is how near a result came to the original: the PSNR before and after, in dB with a peak of 1; the SSIM, not a number
// below 11×11; and the seconds it took.
type Score struct {
	Noisy, PSNR, SSIM, Seconds float64
}

// Measure compares samples with those of the original.
func Measure(clean *imagefile.Image, given, restored []float32) (s Score, err error) {
	if s.Noisy, err = quality.PSNR(clean.Pix, given, 1); err != nil {
		return s, err
	}
	if s.PSNR, err = quality.PSNR(clean.Pix, restored, 1); err != nil {
		return s, err
	}
	s.SSIM, err = quality.SSIM(clean.Pix, restored, clean.Channels, clean.Height, clean.Width)
	if errors.Is(err, quality.ErrTooSmall) {
		s.SSIM, err = math.NaN(), nil
	}
	return s, err
}

// Total sums up scores.
type Total struct {
	sum              Score
	Images, withSSIM int
}

// Add adds the score of an image.
func (t *Total) Add(s Score) {
	t.Images++
	t.sum.Noisy, t.sum.PSNR, t.sum.Seconds = t.sum.Noisy+s.Noisy, t.sum.PSNR+s.PSNR, t.sum.Seconds+s.Seconds
	if !math.IsNaN(s.SSIM) {
		t.withSSIM++
		t.sum.SSIM += s.SSIM
	}
}

// Mean is the mean of the scores.
func (t *Total) Mean() Score {
	n := float64(t.Images)
	return Score{t.sum.Noisy / n, t.sum.PSNR / n, t.sum.SSIM / float64(t.withSSIM), t.sum.Seconds / n}
}

// SSIMText is an SSIM in a table; images below 11×11 have none.
func SSIMText(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return fmt.Sprintf("%.4f", v)
}
