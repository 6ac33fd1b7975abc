package restore

import (
	"context"
	"fmt"
	"image"
	"slices"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/methodnoise"
	"github.com/averaged/imaging/internal/noiselevel"
)

// TrialReport is about the trial of a network on a part of a photograph (Adaptation): what its method noise says, which is
// what it takes away there.
type TrialReport struct {
	// Factor is what the strength is multiplied by, 0.1 to 2.
	Factor float64
	// Together is the correlation of the energy of what is taken and of the detail that is left, over squares of 8×8
	// pixels, and Along that of what is taken and of the Laplacian of what is left, over pixels. Both are of brightness,
	// −1 to 1, and about 0 where all that is taken is noise.
	Together, Along float64
	// Spread is the standard deviation over these squares of the logarithm of the energy of what is taken from brightness.
	Spread float64
	// Colour is the logarithm of how much more is taken along colour than along brightness, Coarse that of what is taken
	// along colour in means over 4×4 pixels over the estimate's Sigma, and Floor that of the estimate's band of brightness
	// at periods of 12 pixels over it. In grey Colour and Coarse say nothing.
	Colour, Coarse, Floor float64
	// Quiet is how certain it is, from 0 to 1, that a camera has smoothed its noise most where the photograph is calm: coarse
	// colour is weak there. It is 0 in grey.
	Quiet float64
	// Taken is the logarithm of how much is taken from brightness: of the standard deviation in 255ths.
	Taken float64
	// Share is what a learned network makes of how much of that is noise: the logarithm of S/(1.2 − S) for a share S.
	Share float64
}

// Trial makes the trial that Denoise makes of an image with the same options (Adaptation); nil where it makes none. In the
// estimate that the option Noise is given, as NoiseEstimate.Trial, it serves for parts of the image, which then are denoised
// as in the whole.
func Trial(ctx context.Context, img image.Image, options ...Option) (*TrialReport, error) {
	r, err := forOne(taskDenoise, options)
	if err != nil {
		return nil, err
	}
	defer r.close()
	return r.Trial(ctx, img)
}

// Trial does what the function Trial does.
func (r *Restorer) Trial(ctx context.Context, img image.Image, options ...Option) (*TrialReport, error) {
	var trial *TrialReport
	_, _, err := r.run(ctx, taskDenoise, img, options, (*Planar).noise,
		func(ctx context.Context, _ backend.Device, pic *picture, c settings, report *Report) ([]float32, error) {
			p := pic.planar
			if !report.noiseless() {
				c, err := c.forNoise(report)
				if err != nil {
					return nil, err
				}
				if c.tries(p, report) {
					phi, err := c.fitTo(ctx, c.on(), p, report)
					if err != nil {
						return nil, err
					}
					defer phi.free()
					if trial, err = c.trial(ctx, phi, p, report); err != nil {
						return nil, err
					}
				}
			}
			return slices.Clone(p.Pix), nil
		})
	return trial, err
}

// tries says whether a network is tried on a part of an image before it denoises all of it.
func (c settings) tries(p *Planar, report *Report) bool {
	e := report.Estimate
	return c.adapt && c.prior == nil && e != nil && e.Kind != NoNoise && len(e.Bands) > 0 &&
		c.stretch(report.Sigma, p.Channels) == 1 && methodnoise.Tries(report.Method, p.Channels, e.Kind == WhiteNoise) && c.guided()
}

// tried returns the settings with the strength that a trial asks for.
func (c settings) tried(ctx context.Context, phi *fitted, p *Planar, report *Report) (settings, error) {
	if !c.tries(p, report) {
		return c, nil
	}
	trial, err := c.trial(ctx, phi, p, report)
	if trial == nil {
		return c, err
	}
	e := *report.Estimate
	e.Trial = trial
	report.Estimate, report.Adaptation = &e, trial.Factor
	c.strength *= trial.Factor
	if trial.Factor < mostlyTexture {
		report.Doubts = append(report.Doubts, fmt.Sprintf(
			"much of what looks like noise is texture, so the network has %.2g of its strength: if noise is left, try --strength strong", trial.Factor))
	}
	return c, nil
}

// mostlyTexture is the factor below which a trial is mentioned.
const mostlyTexture = 0.6

// trial denoises a part of an image, and looks at what is taken from it: where that is strong beside what is left, and
// follows it, texture was taken for noise. It returns nil where there is too little to say anything.
func (c settings) trial(ctx context.Context, phi *fitted, p *Planar, report *Report) (*TrialReport, error) {
	e := report.Estimate
	if e.Trial != nil {
		return e.Trial, nil
	}
	part := methodnoise.NewSample(p.Pix, p.Channels, p.Height, p.Width)
	sample, out := &Planar{Width: part.Width, Height: part.Height, Channels: p.Channels, Pix: part.Pix}, NewPlanar(p.Channels, part.Height, part.Width)
	dev := c.on()
	src, err := lend(dev, sample.shape(), sample.Pix)
	if err != nil {
		return nil, err
	}
	defer src.Free()
	if err := phi.freeze(ctx, src, 1); err != nil {
		return nil, err
	}
	if err := applyTo(ctx, dev, phi.Denoiser, out, sample); err != nil {
		return nil, err
	}
	known := methodnoise.Known{
		Level: report.Sigma, Floor: e.Band(methodnoise.FloorPeriod).Brightness, White: e.Kind == WhiteNoise, Method: report.Method,
	}
	if p.Channels == 3 {
		known.Quiet = noiselevel.QuietColour(report.Sigma, e.Band(noiselevel.QuietPeriod).Colour)
	}
	methodnoise.Show(ctx, methodnoise.Trial{Sample: part, Denoised: out.Pix, Known: known})
	signs, ok := methodnoise.Measure(part, out.Pix, known)
	if !ok {
		return nil, nil
	}
	return &TrialReport{
		Factor: methodnoise.Factor(signs), Together: signs.Together, Along: signs.Along,
		Spread: signs.Spread, Colour: signs.Colour, Coarse: signs.Coarse, Floor: signs.Floor, Quiet: signs.Quiet, Taken: signs.Taken,
		Share: signs.Share,
	}, nil
}
