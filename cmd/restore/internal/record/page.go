package record

import (
	"fmt"

	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/internal/htmlreport"
)

// Facts lists the numbers of an outcome.
func (o *Outcome) Facts() []htmlreport.Fact {
	var facts []htmlreport.Fact
	say := func(name, format string, args ...any) {
		facts = append(facts, htmlreport.Fact{Name: name, Value: fmt.Sprintf(format, args...)})
	}
	sayNumber := func(name string, v Number) {
		if v != 0 {
			say(name, "%.4g", v)
		}
	}
	kind := "colour"
	if o.Channels == 1 {
		kind = "grey"
	}
	say("Size", "%d×%d pixels, %s", o.Width, o.Height, kind)
	if o.Unchanged {
		say("Method", "none: the picture is as it was")
	} else {
		say("Method", "%s", o.Method)
	}
	origin := "given"
	switch {
	case o.Reliable != nil && !*o.Reliable:
		origin = "a doubtful estimate"
	case o.Estimated:
		origin = "estimated"
	}
	if o.Raw != nil {
		o.Raw.facts(say)
	}
	say("Noise level (sigma, 1 is white)", "%.4g (%s)", o.Sigma, origin)
	if o.SigmaGiven != o.Sigma {
		sayNumber("Noise level that was given", o.SigmaGiven)
	}
	if n := o.Noise; n != nil {
		say("Kind of noise", "%s", n.Kind)
		if n.Low != n.High {
			say("Noise level in eight squares of ten", "%.4g to %.4g", n.Low, n.High)
		}
		for i, s := range n.PerChannel {
			channel := "brightness"
			if len(n.PerChannel) == 3 {
				channel = []string{"red", "green", "blue"}[i]
			}
			say("White noise in "+channel, "%.4g", s)
		}
	}
	sayNumber("Noise level with the kernel's error", o.Disturbance)
	sayNumber("Clipped at white", o.Clipped)
	sayNumber("Weight of total variation", o.Weight)
	sayNumber("Rescaling of the network", o.Rescaling)
	sayNumber("Level of the network", o.Level)
	sayNumber("Adaptation to the image", o.Adaptation)
	if o.Shadows != nil {
		say("Shadows raised by up to", "%.3g of 255", 255*o.Shadows.Raised)
	}
	if o.Guide != nil {
		say("Strength of the guide", "%.4g", o.Guide.Strength)
	}
	if o.Network != nil {
		say("Weights", "%s, %s", message.OneLine(o.Network.Name), message.OneLine(o.Network.Checksum))
	}
	if o.Kernel != "" {
		say("Kernel", "%s", message.FileName(o.Kernel))
	}
	if o.Boundary != "" {
		say("Beyond the frame", "%s", o.Boundary)
		if o.LinearLight {
			say("Blur", "of light, before sRGB's curve")
		} else {
			say("Blur", "of samples as they are stored, not of light")
		}
	}
	if o.Mask != "" {
		say("Mask", "%s", message.FileName(o.Mask))
	}
	if o.Factor != 0 {
		say("Enlarged", "%d times, scaled down by %s", o.Factor, o.Antialias)
	}
	if s := o.solver; s != nil {
		say("Iterations", "%d", s.Iterations)
		say("Residual at the end (relative)", "%.4g", s.Residual)
		say("Tolerance", "%.4g", s.Tolerance)
	}
	if o.Fidelity != nil {
		say("PSNR", "%s", Decibels(float64(o.PSNR)))
	}
	say("Time", "%.1f s", o.Seconds)
	return facts
}

// Proof says what is proven of a run, a sentence or two each, as its summary does.
func (o *Outcome) Proof() []string {
	c := o.Certificate
	var words []string
	say := func(format string, args ...any) { words = append(words, fmt.Sprintf(format, args...)) }
	i := c.iterationCertificate
	switch {
	case !c.Proven && i == nil:
		say("This denoiser has no certificate.")
	case !c.Proven:
		say("This denoiser has no certificate, so convergence is not guaranteed. This run stopped; another image may not.")
	case i == nil && c.Averagedness < 1:
		say("The denoiser is proven to be %.6g-averaged: it never moves two images further apart, and repeated it cannot go round in circles.", c.Averagedness)
	case i == nil:
		say("The denoiser is proven to be nonexpansive: it never moves two images further apart.")
	case !i.Converges:
		say("The iteration is proven never to move two images further apart, which is not enough to say that it converges.")
	default:
		text := "The iteration is proven to converge, from every start, to an image that it leaves alone"
		if i.FixedPointExists {
			text += "; such an image exists"
			if i.Contraction > 0 {
				text += ", and there is only one"
			}
		}
		say("%s. Its constants: the denoiser is %.6g-averaged, the step towards the photograph %.6g-averaged, and together they are %.6g-averaged.", text, i.Denoiser, i.Gradient, c.Averagedness)
		if o.solver != nil && !o.Converged {
			say("This run was stopped before its end; the proof says that it would have converged.")
		}
		if i.RoundingCovered {
			say("That is proven for what was computed, with the rounding of float32, down to a residual of %.3g of 255.", 255*i.ProvenResidual)
		} else {
			say("That is proven in exact arithmetic; the rounding of float32 is not covered.")
		}
		if o.solver != nil && o.ErrorBar > 0 {
			say("The result is within %.2g of the fixed point (root mean square; 1 is white).", o.ErrorBar)
		}
	}
	if !c.Proven {
		return words
	}
	if o.Raw != nil {
		say("This is proven of the network where the noise has been made white, between two transforms of the light; the map from one raw image to the other is not part of it.")
	}
	if o.Guide != nil {
		say("This is proven for the network as it was frozen for this photograph, whatever its guide chose. How the choice follows the photograph is not proven.")
	}
	if o.Shadows != nil {
		say("Shadows were brightened after that, by a curve for each colour. The proof does not cover this: the curves move two images apart by a factor of %.3g at most (--shadows=false leaves them out).", o.Shadows.Slope)
	}
	if o.Adaptation > 0 {
		say("The strength of the network follows the image. The proof does not cover that choice (--adapt=false leaves it out).")
	}
	if i == nil && o.Network == nil && o.solver != nil {
		say("The result is that of total variation to a relative duality gap of %.2g.", o.Residual)
	}
	say("No method proves that the result is the true image.")
	return words
}
