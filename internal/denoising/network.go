package denoising

import (
	"cmp"
	"context"
	"fmt"
	"image"
	"math"
	"runtime"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/meter"
	"github.com/averaged/imaging/internal/networks"
	"github.com/averaged/imaging/internal/outcome"
	"github.com/averaged/imaging/internal/strength"
)

// guideShare is about how much of the time of "guided" its guide takes.
const guideShare = 0.45

// largeImage is how many pixels an image has whose computation takes far longer than a collection of garbage.
const largeImage = 4e6

// byNetwork applies the network to all channels.
func (j Job) byNetwork(ctx context.Context, p *imageplanes.Planes, report *outcome.Report) ([]float32, error) {
	progress := meter.New(j.Progress, 0)
	if err := progress.Report(0, 0, 0); err != nil {
		return nil, err
	}
	given := p
	if level, ok := j.greyLevel(p, report); ok {
		p = WithColourNoise(p, level, levelsFor(report.Noise.Estimate, j.Choice.Method), j.Device.Description().Threads)
	}
	phi, err := j.fitTo(ctx, given, p.Channels, report)
	if err != nil {
		return nil, err
	}
	defer phi.Free()
	// What is added is fixed for the photograph, as the radii are, so that the network moves two images no further apart.
	wide := p.Mirrored(j.Choice.Even(p.Height, p.Width))
	from, to := 0., 1. // of the work, what the part under way is
	watched, stop := backend.WithProgress(ctx, func(p backend.Progress) error {
		return progress.Report(from+(to-from)*p.Fraction, 0, 0)
	})
	defer stop()
	ended := func(err error) error {
		if cause := context.Cause(watched); err != nil && cause != nil && ctx.Err() == nil {
			return cause
		}
		return err
	}
	if phi.Network.Guided() {
		to = guideShare
		if err := j.freeze(watched, phi, p, wide, report); err != nil {
			return nil, ended(err)
		}
		from, to = to, 1
	}
	phi.Describe(report, j.Strength)
	tolerance := cmp.Or(j.Tolerance, denoise.DefaultInnerError)
	root, bound := math.Sqrt(float64(len(wide.Pix))), 0.0
	out, err := j.apply(wide, func(dst, src backend.Buffer) error {
		if inexact, ok := phi.Denoiser.(denoise.InexactDenoiser); ok {
			bound, err = inexact.ApplyWithin(watched, dst, src, tolerance*root)
			return ended(err)
		}
		return ended(phi.Apply(watched, dst, src))
	})
	if err != nil {
		return nil, err
	}
	report.Iteration.Converged = true
	if bound > 0 {
		report.Iteration.Tolerance, report.Iteration.Residual = tolerance, bound/root
		report.Iteration.Converged = report.Iteration.Residual <= tolerance
	}
	if out = p.Unmirrored(out, wide); p != given {
		out = brightness(out)
	}
	return out, progress.End()
}

// greyLevel returns the level of noise along the axis of brightness of a grey image, and whether it is white noise for a network of
// colour with a guide.
func (j Job) greyLevel(p *imageplanes.Planes, report *outcome.Report) (level float64, ok bool) {
	e := report.Noise.Estimate
	card, is, err := j.Choice.Card()
	if p.Channels != 1 || !is || err != nil || len(card.Architecture.Guide) == 0 || card.Architecture.Channels != 3 || e != nil && e.Kind != outcome.WhiteNoise {
		return 0, false
	}
	return strength.AlongBrightness(report.Noise.Sigma, 3), true
}

// fitTo fits the network to an image and its noise, for images of so many channels. A certified network without a guide follows the
// detail of the image.
func (j Job) fitTo(ctx context.Context, p *imageplanes.Planes, channels int, report *outcome.Report) (*networks.Fitted, error) {
	level := math.Max(report.Noise.Sigma, strength.MinSigma)
	sigma, err := j.Choice.AxisNoise(p.Channels, level)
	if err != nil {
		return nil, err
	}
	if j.Adapt && j.Choice.Adapts() {
		report.Network.Adaptation = 1
		if g := p.Gradients(strength.GradientSide); g != nil {
			report.Network.Adaptation = strength.DenoiseFactor(*g, level, sigma, p.Channels, p.Saturated())
		}
		sigma *= report.Network.Adaptation
	}
	coarse := report.Noise.Estimate != nil && report.Noise.Estimate.Kind == outcome.CoarseNoise
	if doubt := j.Choice.Doubt(j.Strength*sigma, coarse); doubt != "" {
		report.Doubts = append(report.Doubts, outcome.Doubt{Text: doubt})
	}
	return j.Choice.Fit(ctx, j.Device, channels, sigma, j.Strength)
}

// freeze has the guide of a network look at a widened image.
func (j Job) freeze(ctx context.Context, phi *networks.Fitted, p, wide *imageplanes.Planes, report *outcome.Report) error {
	levels := levelsFor(report.Noise.Estimate, j.Choice.Method)
	if levels != nil && wide != p {
		if err := levels.Check(p.Height, p.Width); err != nil {
			return fmt.Errorf("restore: noise level: %w", err)
		}
		levels = levels.Part(image.Rect(0, 0, wide.Width, wide.Height))
	}
	src, err := imageplanes.Lend(j.Device, wide.Shape(), wide.Pix)
	if err != nil {
		return err
	}
	defer src.Free()
	if err := phi.FreezeAt(ctx, src, j.Strength, levels); err != nil {
		return err
	}
	if p.Width*p.Height >= largeImage {
		// The guide leaves garbage of about the size of the result, and a collector beside the computation comes too late.
		// The second collection takes the contents of each sync.Pool.
		runtime.GC()
		runtime.GC()
	}
	return nil
}
