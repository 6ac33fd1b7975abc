package record

import (
	"fmt"
	"math"
	"strings"
)

// Summary is the outcome in a line for people: what became of the image, how far the computation
// came, and what is proven, in this order.
func (o *Outcome) Summary(achieved string) string {
	if o.Unchanged {
		kept := "nothing changed"
		if o.Anew != "" {
			kept = "only written anew, " + o.Anew
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
	if o.Fidelity != nil {
		parts = append(parts, "PSNR "+Decibels(float64(o.PSNR)))
	}
	parts = append(parts, fmt.Sprintf("%.1f s", o.Seconds))
	text := strings.Join(parts, ", ")
	if o.Network == nil && o.Certificate.iterationCertificate == nil {
		return text // total variation: its duality gap is the residual
	}
	text += "; " + o.Certificate.Claim(finished)
	if o.Guide != nil {
		text += " for the radii frozen for this photograph"
	}
	if i := o.Certificate.iterationCertificate; i != nil && finished && i.RoundingCovered {
		text += fmt.Sprintf(", with rounding to a residual of %.3g of 255", 255*i.ProvenResidual)
	}
	if o.KernelEstimate != nil && o.KernelEstimate.Kind != NoBlur {
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

// NoiseRemoved names the noise that was removed.
func (o *Outcome) NoiseRemoved() string {
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

// Claim is what a certificate proves, in a few words. If an iteration has not converged, it
// is about the iterations that were not made.
func (c *Certificate) Claim(finished bool) string {
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

// Decibels writes a PSNR, which is infinite for equal images.
func Decibels(v float64) string {
	if math.IsInf(v, 1) {
		return "infinite (the images are equal)"
	}
	return fmt.Sprintf("%.2f dB", v)
}
