package restore

import (
	"context"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/meter"
	"github.com/averaged/imaging/internal/networks"
	"github.com/averaged/imaging/internal/outcome"
	"github.com/averaged/imaging/internal/rawdenoise"
	"github.com/averaged/imaging/raw"
	"github.com/averaged/imaging/weights"
)

// RawReport is about the noise of a raw image.
type RawReport struct {
	// Noise is its variance, of red, green and blue in a mosaic, of each sample otherwise.
	Noise []raw.Noise
	// Claimed says that it could not be measured and is what the camera claims.
	Claimed bool
	// Demosaicked is the method that was used for the demosaicked image, "" if there was none.
	Demosaicked string
}

// DenoiseRaw removes noise from the image of a raw photograph, where it is as the sensor made it. The noise is measured in
// each colour, as a variance that grows with the light, and made white by the generalised Anscombe transform and its
// exact unbiased inverse (Mäkitalo and Foi 2013). Between the two, a mosaic is denoised in squares of two by two pixels by "guided",
// and demosaicked by "camera", and the result is a mean of both; LinearRaw is denoised as a picture. Method or weights that are given
// take the place of both, and CoarseNetwork that of "camera".
//
// Local means of each colour are kept. Saturated pixels stay as they are. An image in which no noise is found comes back as
// it is (Report.Unchanged).
//
// What Report says is proven is of the networks, each frozen for this photograph, in the transformed image. Averagedness is that
// of the weaker one, and Network.Certificate that of the one for squares. The map of the raw image as a whole, with
// the transform, the demosaicking and the means, is not part of it. Noise.Sigma is 1 there, and Report.Raw has the noise.
//
// Errors say that the image is not one, that there is no way to know its noise, or what the denoisers say.
func DenoiseRaw(ctx context.Context, img *raw.Image, options ...Option) (*raw.Image, *Report, error) {
	r, err := forOne(taskDenoiseRaw, options)
	if err != nil {
		return nil, nil, err
	}
	defer r.close()
	return r.DenoiseRaw(ctx, img)
}

// Demosaicking colours noise. What a network is told is this much of the standard deviation of a sample: of "camera", which has learned
// such noise, and of others. By measurement on simulated raw images from ISO 400 to 25600.
const (
	demosaickedCamera = 1.65
	demosaickedOther  = 1.75
)

// squaresShare is about how much of the time of DenoiseRaw the squares of a mosaic take.
const squaresShare = 0.2

// DenoiseRaw does what the function DenoiseRaw does.
func (r *Restorer) DenoiseRaw(ctx context.Context, img *raw.Image, options ...Option) (*raw.Image, *Report, error) {
	c, done, err := r.begin(ctx, taskDenoiseRaw, options)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	report := &outcome.Report{Averagedness: 1, Certified: true}
	report.Iteration.Converged = true
	demosaicked, factor, method := c.choice, float64(demosaickedOther), ""
	if c.coarse != nil {
		if demosaicked, err = c.coarse(); err != nil {
			return nil, nil, err
		}
	}
	if demosaicked.Method == weights.Camera {
		factor = demosaickedCamera
	}
	progress := meter.New(c.asked.progress, 0)
	share := 1.
	if img != nil && img.Mosaic {
		share = squaresShare
	}
	out, found, err := rawdenoise.Denoise(ctx, img, rawdenoise.Denoisers{
		White: func(ctx context.Context, p rawdenoise.Picture, sigma float64) ([]float32, error) {
			return c.denoisePart(ctx, c.choice, p, sigma, progress, 0, share, report)
		},
		Demosaicked: func(ctx context.Context, p rawdenoise.Picture, sigma float64) ([]float32, error) {
			second := &outcome.Report{}
			pix, err := c.denoisePart(ctx, demosaicked, p, factor*sigma, progress, share, 1, second)
			method = second.Method
			report.Averagedness = max(report.Averagedness, second.Averagedness)
			report.Certified = report.Certified && second.Certified
			report.Iteration.Converged = report.Iteration.Converged && second.Iteration.Converged
			report.Iteration.Residual = max(report.Iteration.Residual, second.Iteration.Residual)
			return pix, err
		},
	})
	if err != nil {
		return nil, nil, err
	}
	report.Unchanged = found.Unchanged
	report.Noise.Sigma = 1
	said := reportOf(report)
	said.Raw = &RawReport{Noise: found.Noise, Claimed: found.Claimed, Demosaicked: method}
	return out, said, progress.End()
}

// denoisePart denoises one of the pictures that a raw image becomes, which is the given part of all the work.
func (p *plan) denoisePart(ctx context.Context, choice *networks.Choice, picture rawdenoise.Picture, sigma float64, progress *meter.Meter, from, to float64, report *outcome.Report) ([]float32, error) {
	job := p.denoising()
	job.Choice, job.Coarse, job.Device = choice, nil, choice.Device(p.device)
	job.Progress = func(at backend.Progress) error {
		return progress.Report(from+(to-from)*at.Fraction, at.Iteration, at.Residual)
	}
	*report = outcome.Report{Method: choice.Method, Noise: outcome.Noise{Sigma: sigma}}
	planes := imageplanes.Planes{Width: picture.Width, Height: picture.Height, Channels: picture.Channels, Pix: picture.Pix}
	return job.Denoise(ctx, &planes, report)
}
