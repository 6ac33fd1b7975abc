package main

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/restore"
)

// stopwatch starts one, and returns what reads it.
func stopwatch() func() number {
	began := time.Now()
	return func() number { return number(time.Since(began).Seconds()) }
}

func outcomeOf(m *imagefile.Image, r *restore.Report) *outcome {
	o := &outcome{
		Width: m.Width, Height: m.Height, Channels: m.Channels,
		Method: r.Method, Sigma: number(r.Noise.Sigma), SigmaGiven: number(r.Noise.Given), Disturbance: number(r.Noise.Disturbance), Clipped: number(r.Noise.Clipped), Estimated: r.Noise.Estimate != nil, Unchanged: r.Unchanged,
		Weight: number(r.Weight), Rescaling: number(r.Network.Rescaling), Level: number(r.Network.Level),
		Adaptation: number(r.Network.Adaptation), Certificate: certificateOf(r), Impulses: number(r.Noise.Impulses),
	}
	if n := r.Noise; n.ShadowSlope > 0 {
		o.Shadows = &shadowInfo{Raised: number(n.ShadowsRaised), Slope: number(n.ShadowSlope)}
	}
	if g := r.Network.Guide; g != nil {
		o.Guide = &guideInfo{Strength: number(g.Strength), Looks: g.Looks, Parameters: g.Parameters, Multiplications: number(g.Multiplications)}
	}
	if r.Noise.Estimate != nil {
		o.Reliable = &r.Noise.Estimate.Reliable
		o.Noise = noiseInfoOf(r.Noise.Estimate)
	}
	if r.Iteration.Tolerance > 0 { // else it is a formula
		o.solver = &solver{
			Iterations: r.Iteration.Count, Converged: r.Iteration.Converged,
			Residual: number(r.Iteration.Residual), Tolerance: number(r.Iteration.Tolerance),
		}
		if r.Iteration.Run != nil && !math.IsInf(r.Iteration.Run.ErrorBar, 1) {
			o.ErrorBar = number(r.Iteration.Run.ErrorBar / math.Sqrt(float64(len(m.Pix))))
			o.ErrorBarRounding = number(r.Iteration.Run.ErrorBarRounding / math.Sqrt(float64(len(m.Pix))))
		}
	}
	return o
}

// doubtFlags say which flags help where something is doubtful.
var doubtFlags = map[restore.DoubtKind]string{
	restore.NoiseDoubt:    "; --sigma S gives it, where it is known",
	restore.InvertedMask:  "; --mask-invert exchanges them",
	restore.TurnedKernel:  "; --kernel-flip turns it",
	restore.ForeignKernel: "; without --kernel it is estimated",
}

func (a *app) remarkDoubts(input string, doubts []restore.Doubt) {
	for _, doubt := range doubts {
		a.Remark(input, "%s%s", doubt, doubtFlags[doubt.Kind])
	}
}

// remarkRun says what a person should know of a run besides its result.
func (a *app) remarkRun(input string, r *restore.Report) {
	a.remarkDoubts(input, r.Doubts)
	if r.Noise.Impulses > 0 {
		a.Remark(input, "%.2g %% of the samples were hot pixels, or salt and pepper, and were filled from their neighbours", 100*r.Noise.Impulses)
	}
	if e := r.Noise.Estimate; e != nil {
		if e.Reliable && e.Note != "" {
			a.Remark(input, "sigma: %s", e.Note)
		}
		if m := e.Levels; m != nil {
			a.Detail("%s: noise levels from %.3g to %.3g, where 1 is white, half of the squares below %.3g", message.FileName(input), m.Quantile(0), m.Max(), m.Quantile(0.5))
		}
	}
	switch {
	case r.Iteration.Converged:
	case r.Iteration.Count == 0:
		a.Remark(input, "the root mean square error of the result may be %.2g, above the tolerance of %.2g; float32 cannot do better", r.Iteration.Residual, r.Iteration.Tolerance)
	default:
		a.Remark(input, "stopped after %d iterations at a residual of %.2g, above the tolerance of %.2g; --iterations N allows more, --tolerance T accepts more",
			r.Iteration.Count, r.Iteration.Residual, r.Iteration.Tolerance)
	}
	if r.Network.Certificate != nil {
		for _, w := range r.Network.Certificate.Wrappers {
			a.Detail("%s: %s", message.FileName(input), w.Name)
		}
	}
	if r.Iteration.Run != nil {
		for _, line := range lines(r.Iteration.Run.Certificate.String()) {
			a.Detail("%s: %s", message.FileName(input), line)
		}
	}
}

// noiseOf names the noise that was removed.
func noiseOf(o *outcome) string {
	text := fmt.Sprintf("noise of sigma %.4g", o.Sigma)
	if o.Noise != nil {
		switch o.Noise.Kind {
		case "none":
			return "hardly any noise found, and that"
		case "coarse":
			text = fmt.Sprintf("coarse noise of level %.4g", o.Sigma)
		}
	}
	switch {
	case o.Reliable != nil && !*o.Reliable:
		text += " (a doubtful estimate)"
	case o.Estimated:
		text += " (estimated)"
	}
	return text
}

// summary is the outcome in a line for people: what became of the image, how far the computation
// came, and what is proven, in this order.
func summary(achieved string, o *outcome) string {
	if o.Unchanged {
		kept := "nothing changed"
		if o.anew != "" {
			kept = "only written anew, " + o.anew
		}
		return fmt.Sprintf("%s, %s, %.1f s", achieved, kept, o.Seconds)
	}
	parts := []string{achieved}
	if o.Method != "" {
		parts[0] += " by " + o.Method
	}
	if o.Shadows != nil && o.Shadows.Raised >= 0.5/255 {
		parts = append(parts, fmt.Sprintf("shadows raised by up to %.0f of 255", 255*o.Shadows.Raised))
	}
	iterated := o.solver != nil && (o.Iterations > 0 || o.Network == nil)
	finished := o.solver == nil || o.Converged
	if iterated {
		state := "converged in %d iterations"
		if !finished {
			state = "not converged after %d iterations"
		}
		parts = append(parts, fmt.Sprintf(state, o.Iterations), fmt.Sprintf("residual %.1e", o.Residual))
	}
	if o.fidelity != nil {
		parts = append(parts, "PSNR "+decibels(float64(o.PSNR)))
	}
	parts = append(parts, fmt.Sprintf("%.1f s", o.Seconds))
	text := strings.Join(parts, ", ")
	if o.Network == nil && o.Certificate.iterationCertificate == nil {
		return text // total variation: its duality gap is the residual
	}
	text += "; " + claim(o.Certificate, finished)
	if o.Guide != nil {
		text += " for the radii frozen for this photograph"
	}
	if i := o.Certificate.iterationCertificate; i != nil && finished && i.RoundingCovered {
		text += fmt.Sprintf(", with rounding to a residual of %.3g of 255", 255*i.ProvenResidual)
	}
	if o.KernelEstimate != nil && o.KernelEstimate.Kind != noBlur {
		text += ", for the kernel that was estimated"
	}
	if iterated && o.ErrorBar > 0 {
		text += fmt.Sprintf(", within %.1e of the fixed point", o.ErrorBar)
		if !math.IsInf(float64(o.ErrorBarRounding), 1) {
			text += fmt.Sprintf(", to which rounding adds %.1e at most", o.ErrorBarRounding)
		}
	}
	return text
}

// claim is what a certificate proves, in a few words. If an iteration has not converged, it
// is about the iterations that were not made.
func claim(c *certificate, finished bool) string {
	switch {
	case !c.Proven:
		return "nothing proven"
	case c.iterationCertificate != nil && c.Converges && finished && c.RoundingCovered:
		return "convergence proven"
	case c.iterationCertificate != nil && c.Converges && finished:
		return "proven to converge in exact arithmetic, not as rounded"
	case c.iterationCertificate != nil && c.Converges:
		return "with more iterations it converges in exact arithmetic (proven)"
	case c.iterationCertificate != nil:
		return "convergence not proven"
	case c.Averagedness < 1:
		return fmt.Sprintf("%.6g-averaged", c.Averagedness)
	}
	return "nonexpansive"
}

// remarkMethod says what the network in use means for the flags and for the proof.
func (b *batchFlags) remarkMethod(a *app) {
	switch {
	case b.network == nil:
	case b.flag == selectPrior:
		if certificate := b.network.Certificate(); !certificate.Proven {
			a.Remark(b.source(), "convergence is not guaranteed: %s", certificate.Reason)
		}
	default:
		if b.iterations > 0 {
			a.Remark("", "--iterations has no effect: %s is applied once", b.method)
		}
		if b.tolerance > 0 && b.method != rungekutta.BackwardEuler().Name {
			a.Remark("", "--tolerance has no effect: %s is computed by a formula", b.method)
		}
	}
}

// decibels writes a PSNR, which is infinite for equal images.
func decibels(v float64) string {
	if math.IsInf(v, 1) {
		return "infinite (the images are equal)"
	}
	return fmt.Sprintf("%.2f dB", v)
}
