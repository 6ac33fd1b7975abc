package restore

import (
	"context"
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/pnp"
	"github.com/averaged/imaging/weights"
)

// guideShare is about how much of the time of "guided" its guide takes.
const guideShare = 0.45

// denoiseNetwork applies the network to all channels.
func denoiseNetwork(ctx context.Context, dev backend.Device, p *Planar, c settings, report *Report) ([]float32, error) {
	meter := newMeter(c.progress, 0)
	if err := meter.report(0, 0, 0); err != nil {
		return nil, err
	}
	phi, err := c.fitTo(ctx, dev, p, report)
	if err != nil {
		return nil, err
	}
	defer phi.free()
	src, err := lend(dev, p.shape(), p.Pix)
	if err != nil {
		return nil, err
	}
	defer src.Free()
	// A progress function that returns an error ends the work by its context.
	watched, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	part := func(from, to float64) context.Context {
		return backend.WithProgress(watched, func(fraction float64) {
			if err := meter.report(from+(to-from)*fraction, 0, 0); err != nil {
				stop(err)
			}
		})
	}
	ended := func(err error) error {
		if cause := context.Cause(watched); cause != nil && ctx.Err() == nil {
			return cause
		}
		return err
	}
	guided := 0.
	if phi.network.Guided() {
		guided = guideShare
		if err := phi.freezeAt(part(0, guided), src, c.strength, report.Estimate.levelsFor(c.method)); err != nil {
			return nil, ended(err)
		}
	}
	phi.describe(report, c.strength)
	out := NewPlanar(p.Channels, p.Height, p.Width)
	dst, fetch, err := borrow(dev, p.shape(), out.Pix)
	if err != nil {
		return nil, err
	}
	defer dst.Free()
	tolerance := c.tolerance
	if tolerance == 0 {
		tolerance = denoise.DefaultInnerError
	}
	root := math.Sqrt(float64(p.shape().Len()))
	bound, err := applyWithin(part(guided, 1), phi.Denoiser, dst, src, tolerance*root)
	if err != nil {
		return nil, ended(err)
	}
	if err := fetch(); err != nil {
		return nil, err
	}
	report.Converged = true
	if bound > 0 {
		report.Tolerance, report.Residual = tolerance, bound/root
		report.Converged = report.Residual <= tolerance
	}
	if err := checkFinite(out.Pix, p, c.method); err != nil {
		return nil, err
	}
	return out.Pix, meter.end()
}

// fitTo is fit for an image and its noise.
func (c settings) fitTo(ctx context.Context, dev backend.Device, p *Planar, report *Report) (*fitted, error) {
	sigma, err := c.axisNoise(p.Channels, math.Max(report.Sigma, leastSigma))
	if err != nil {
		return nil, err
	}
	if c.adapts() {
		report.Adaptation = p.denoisingAdaptation(math.Max(report.Sigma, leastSigma), sigma)
		sigma *= report.Adaptation
	}
	c.doubtUnproven(report, sigma)
	return c.fit(ctx, dev, p.Channels, sigma)
}

// applyTo sets out to Φ(p).
func applyTo(ctx context.Context, dev backend.Device, phi pnp.Denoiser, out, p *Planar) error {
	src, err := lend(dev, p.shape(), p.Pix)
	if err != nil {
		return err
	}
	defer src.Free()
	dst, fetch, err := borrow(dev, p.shape(), out.Pix)
	if err != nil {
		return err
	}
	defer dst.Free()
	if err := phi.Apply(ctx, dst, src); err != nil {
		return err
	}
	return fetch()
}

// applyWithin sets dst = Φ(src) with an error of at most maxError, if that can be
// reached, and returns the bound of the error.
func applyWithin(ctx context.Context, phi denoise.Denoiser, dst, src backend.Buffer, maxError float64) (float64, error) {
	if inexact, ok := phi.(denoise.InexactDenoiser); ok {
		return inexact.ApplyWithin(ctx, dst, src, maxError)
	}
	return 0, phi.Apply(ctx, dst, src)
}

// checkFinite finds what a network has made too large for float32, as one may that has
// no bound.
func checkFinite(pix []float32, p *Planar, method string) error {
	for i, v := range pix {
		if v-v != 0 {
			n := p.Width * p.Height
			return fmt.Errorf("restore: method %q makes %v of the sample at column %d, row %d; use a certified one", method, v, i%n%p.Width, i%n/p.Width)
		}
	}
	return nil
}

// An unconstrained network is meant for noise within this factor of what it has learned.
const unprovenRange = 1.5

// doubtUnproven says of a network of which nothing is proven where it is used for noise that it has not
// learned: there it can break a picture.
func (c settings) doubtUnproven(report *Report, sigma float64) {
	card, given, err := c.card()
	if err != nil || !given || card.Architecture.Family != weights.FamilyDnCNN {
		return
	}
	ratio := c.strength * sigma / card.Sigma
	coarse := report.Estimate != nil && report.Estimate.Kind == CoarseNoise
	if !coarse && ratio < unprovenRange && ratio > 1/unprovenRange {
		return
	}
	report.Doubts = append(report.Doubts, fmt.Sprintf(
		"%s has learned white noise of %.3g only and has no certificate: noise like this can make it ruin the picture; use a certified network, such as %s",
		card.Name, card.Sigma, DefaultMethod()))
}
