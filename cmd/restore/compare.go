package main

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/spf13/cobra"

	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/cmd/restore/internal/record"
	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/internal/quality"
)

func (a *app) compareCommand() *cobra.Command {
	var reads reading
	var center bool
	c := &cobra.Command{
		Use:   "compare A B",
		Short: "Measure how near image B is to the reference A",
		Long: `Prints how near B is to A, the reference: the PSNR with a peak of 1 (white), the
PSNR with the largest value of A as the peak (the definition of the paper), and
the mean structural similarity SSIM (Wang et al. 2004: Gaussian window of 11×11,
standard deviation 1.5, inside the image, mean over the channels), which an image
below 11×11 does not have.

Values are compared as stored, as parts of white, without clipping; transparency
is ignored. Equal images have an infinite PSNR (null with --json). Images must
both be grey or both be colour, and of one size: --center crops the larger one to
its middle, for a result of 'degrade' or 'deblur' that is smaller than its
original.`,
		Example: `  restore compare original.png restored.png
  restore compare original.png blurred.pfm --center --json`,
		Args: inputs(2, 2, "two images, a reference and another"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := reads.check(); err != nil {
				return err
			}
			if args[0] == message.StandardStream && args[1] == message.StandardStream {
				return usagef("- (standard input) can be read once; name a file for the other")
			}
			rec, err := a.compare(c.Context(), args[0], args[1], reads, center)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(rec)
			}
			a.result("PSNR  %s, peak 1", record.Decibels(float64(rec.PSNR)))
			if math.IsNaN(float64(rec.PSNRPaper)) {
				a.result("PSNR  undefined with the largest value of A as the peak: it is not positive")
			} else {
				a.result("PSNR  %s, peak %.6g, the largest value of A", record.Decibels(float64(rec.PSNRPaper)), rec.PaperPeak)
			}
			if math.IsNaN(float64(rec.SSIM)) {
				a.result("SSIM  undefined below %d×%d pixels", quality.WindowSize, quality.WindowSize)
			} else {
				a.result("SSIM  %.4f", rec.SSIM)
			}
			return nil
		},
	}
	c.Flags().BoolVar(&center, "center", false, "crop the larger image to its middle")
	reads.bind(c)
	return c
}

func (a *app) compare(ctx context.Context, pathA, pathB string, r reading, center bool) (*record.Compare, error) {
	ref, err := a.read(ctx, pathA, r)
	if err != nil {
		return nil, err
	}
	img, err := a.read(ctx, pathB, r)
	if err != nil {
		return nil, err
	}
	if ref.Channels != img.Channels {
		return nil, fileError{pathB, fmt.Errorf("is %s and the reference %s; compare two of a kind", colours(img.Channels), colours(ref.Channels))}
	}
	if ref.Width != img.Width || ref.Height != img.Height {
		if !center {
			return nil, fileError{pathB, fmt.Errorf("has %d×%d pixels and the reference %d×%d; --center crops the larger one to its middle",
				img.Width, img.Height, ref.Width, ref.Height)}
		}
		h, w := min(ref.Height, img.Height), min(ref.Width, img.Width)
		for _, m := range []*imagefile.Image{ref, img} {
			m.Crop(h, w, (m.Height-h)/2, (m.Width-w)/2)
		}
	}
	rec := &record.Compare{
		Schema: record.Schema, Command: "compare", Reference: pathA, Image: pathB,
		Width: ref.Width, Height: ref.Height, Channels: ref.Channels,
		PaperPeak: record.Number(quality.Peak(ref.Pix)),
		Exact:     record.ExactNames("reference", pathA, "image", pathB),
	}
	mse, err := quality.MSE(ref.Pix, img.Pix)
	if err != nil {
		return nil, fileError{pathB, err}
	}
	rec.MSE = record.Number(mse)
	if rec.Fidelity, err = record.FidelityOf(ref.Pix, img.Pix); err != nil {
		return nil, fileError{pathB, err}
	}
	for c := range ref.Channels {
		if err := ctx.Err(); err != nil {
			return nil, err // of a large image each channel takes seconds
		}
		ssim, err := quality.SSIM(ref.Plane(c), img.Plane(c), 1, ref.Height, ref.Width)
		switch {
		case errors.Is(err, quality.ErrTooSmall):
			ssim = math.NaN()
		case err != nil:
			return nil, fileError{pathB, err}
		}
		rec.SSIM += record.Number(ssim / float64(ref.Channels))
	}
	return rec, ctx.Err()
}
