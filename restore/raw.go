package restore

import (
	"context"
	"slices"

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
// and demosaicked by "camera", and the result is the mean; LinearRaw is denoised as a picture. Method or weights that are given
// take the place of both, and CoarseNetwork that of "camera".
//
// Local means of each colour are kept. Saturated pixels stay as they are. An image in which no noise is found comes back as
// it is (Report.Unchanged).
//
// What Report says is proven is of the networks, each frozen for this photograph, in the transformed image. Averagedness is that
// of the weaker one, and Network the certificate of the one for squares. The map of the raw image as a whole, with
// the transform, the demosaicking and the means, is not part of it. Sigma is 1 there, and Report.Raw has the noise.
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
	demosaickedCamera = 1.25
	demosaickedOther  = 2
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
	report := &Report{Method: c.method, Sigma: 1, Converged: true, Averagedness: 1, Certified: true, Raw: &RawReport{}}
	demosaicked, factor := c, float64(demosaickedOther)
	switch {
	case c.coarse != nil:
		card, _ := c.coarse.Card()
		if demosaicked.method, err = MethodOf(card); err != nil {
			return nil, nil, err
		}
		demosaicked.network = c.coarse
	case c.unnamed && c.method == Guided && slices.Contains(weights.Embedded(), Camera):
		demosaicked.method = Camera
		if demosaicked.weights, err = c.kept.open(Camera); err != nil {
			return nil, nil, err
		}
	}
	if demosaicked.method == Camera {
		factor = demosaickedCamera
	}
	meter := newMeter(c.progress, 0)
	white := func(from, to float64) rawdenoise.Denoiser {
		return func(ctx context.Context, p rawdenoise.Picture, sigma float64) ([]float32, error) {
			return c.denoisePart(ctx, p, sigma, meter, from, to, report)
		}
	}
	share := 1.
	if img != nil && img.Mosaic {
		share = squaresShare
	}
	out, found, err := rawdenoise.Denoise(ctx, img, rawdenoise.Denoisers{
		White: white(0, share),
		Demosaicked: func(ctx context.Context, p rawdenoise.Picture, sigma float64) ([]float32, error) {
			second := *report
			pix, err := demosaicked.denoisePart(ctx, p, factor*sigma, meter, share, 1, &second)
			report.Raw.Demosaicked = second.Method
			report.Averagedness = max(report.Averagedness, second.Averagedness)
			report.Certified = report.Certified && second.Certified
			report.Converged = report.Converged && second.Converged
			report.Residual = max(report.Residual, second.Residual)
			return pix, err
		},
	})
	if err != nil {
		return nil, nil, err
	}
	report.Raw.Noise, report.Raw.Claimed = found.Noise, found.Claimed
	if report.Unchanged = found.Unchanged; report.Unchanged {
		report.Method = ""
	}
	return out, report, meter.end()
}

// denoisePart denoises one of the pictures that a raw image becomes, which is the given part of all the work.
func (c settings) denoisePart(ctx context.Context, p rawdenoise.Picture, sigma float64, meter *meter, from, to float64, report *Report) ([]float32, error) {
	if meter.call != nil {
		c.progress = func(at ProgressReport) error {
			return meter.report(from+(to-from)*at.Fraction, at.Iteration, at.Residual)
		}
	}
	part := &Report{Method: c.method, Sigma: sigma}
	pix, err := denoiseBright(ctx, c.on(), &Planar{Width: p.Width, Height: p.Height, Channels: p.Channels, Pix: p.Pix}, c, part)
	if err != nil {
		return nil, err
	}
	part.Sigma, part.Raw = report.Sigma, report.Raw
	*report = *part
	return pix, nil
}
