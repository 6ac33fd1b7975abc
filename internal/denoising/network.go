package denoising

import (
	"context"
	"fmt"
	"math"
	"runtime"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/meter"
	"github.com/averaged/imaging/internal/networks"
	"github.com/averaged/imaging/internal/outcome"
	"github.com/averaged/imaging/internal/strength"
	"github.com/averaged/imaging/weights"
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
	phi, err := j.fitTo(ctx, p, report)
	if err != nil {
		return nil, err
	}
	defer phi.Free()
	src, err := imageplanes.Lend(j.Device, p.Shape(), p.Pix)
	if err != nil {
		return nil, err
	}
	defer src.Free()
	from, to := 0., 1. // of the work, what the part under way is
	watched, stop := backend.WithProgress(ctx, func(p backend.Progress) error {
		return progress.Report(from+(to-from)*p.Fraction, 0, 0)
	})
	defer stop()
	ended := func(err error) error {
		if cause := context.Cause(watched); cause != nil && ctx.Err() == nil {
			return cause
		}
		return err
	}
	if phi.Network.Guided() {
		to = guideShare
		if err := phi.FreezeAt(watched, src, j.Strength, levelsFor(report.Noise.Estimate, j.Choice.Method)); err != nil {
			return nil, ended(err)
		}
		from, to = to, 1
		if p.Width*p.Height >= largeImage {
			// What the guide has made is garbage of about the size of the result. A collector beside the computation comes too late.
			runtime.GC()
		}
	}
	phi.Describe(report, j.Strength)
	out := imageplanes.New(p.Channels, p.Height, p.Width)
	dst, fetch, err := imageplanes.Borrow(j.Device, p.Shape(), out.Pix)
	if err != nil {
		return nil, err
	}
	defer dst.Free()
	tolerance := j.Tolerance
	if tolerance == 0 {
		tolerance = denoise.DefaultInnerError
	}
	root := math.Sqrt(float64(p.Shape().Len()))
	bound, err := applyWithin(watched, phi.Denoiser, dst, src, tolerance*root)
	if err != nil {
		return nil, ended(err)
	}
	if err := fetch(); err != nil {
		return nil, err
	}
	report.Iteration.Converged = true
	if bound > 0 {
		report.Iteration.Tolerance, report.Iteration.Residual = tolerance, bound/root
		report.Iteration.Converged = report.Iteration.Residual <= tolerance
	}
	if err := checkFinite(out.Pix, p, j.Choice.Method); err != nil {
		return nil, err
	}
	return out.Pix, progress.End()
}

// fitTo fits the network to an image and its noise.
func (j Job) fitTo(ctx context.Context, p *imageplanes.Planes, report *outcome.Report) (*networks.Fitted, error) {
	sigma, err := j.Choice.AxisNoise(p.Channels, math.Max(report.Noise.Sigma, strength.LeastSigma))
	if err != nil {
		return nil, err
	}
	if j.Adapt && j.Choice.Adapts() {
		report.Network.Adaptation = adaptation(p, math.Max(report.Noise.Sigma, strength.LeastSigma), sigma)
		sigma *= report.Network.Adaptation
	}
	j.doubtUnproven(report, sigma)
	return j.Choice.Fit(ctx, j.Device, p.Channels, sigma, j.Strength)
}

// applyWithin sets dst = Φ(src) with an error of at most maxError, if that can be
// reached, and returns the bound of the error.
func applyWithin(ctx context.Context, phi denoise.Denoiser, dst, src backend.Buffer, maxError float64) (float64, error) {
	if inexact, ok := phi.(denoise.InexactDenoiser); ok {
		return inexact.ApplyWithin(ctx, dst, src, maxError)
	}
	return 0, phi.Apply(ctx, dst, src)
}

// An unconstrained network is meant for noise within this factor of what it has learned.
const unprovenRange = 1.5

// doubtUnproven says of a network of which nothing is proven where it is used for noise that it has not
// learned: there it can break a picture.
func (j Job) doubtUnproven(report *outcome.Report, sigma float64) {
	card, given, err := j.Choice.Card()
	if err != nil || !given || card.Architecture.Family != weights.FamilyDnCNN {
		return
	}
	ratio := j.Strength * sigma / card.Sigma
	coarse := report.Noise.Estimate != nil && report.Noise.Estimate.Kind == outcome.CoarseNoise
	if !coarse && ratio < unprovenRange && ratio > 1/unprovenRange {
		return
	}
	report.Doubts = append(report.Doubts, fmt.Sprintf(
		"%s has learned white noise of %.3g only and has no certificate: noise like this can make it ruin the picture; use a certified network, such as %s",
		card.Name, card.Sigma, networks.DefaultMethod()))
}
