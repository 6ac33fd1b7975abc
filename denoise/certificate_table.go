package denoise

import (
	"fmt"
	"math"
	"strings"
	"text/tabwriter"

	"github.com/averaged/imaging/denoise/rungekutta"
)

// String prints the certificate for people: a row for each block, a line for each conclusion with its theorem, and
// the assumptions.
func (c Certificate) String() string {
	var b strings.Builder
	if len(c.Blocks) > 0 {
		c.printBlocks(&b)
	}
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	line := func(what, is string) { fmt.Fprintf(w, "%s\t%s\n", what, is) }
	if len(c.Blocks) > 0 {
		line("composition", c.composition())
		line("lift, project", "appending zero channels and dropping them keeps the constant (the paper, section 3.3)")
		if c.Shuffle > 1 {
			line("shuffle", fmt.Sprintf("%d×%d pixels become channels, an isometry U: UᵀΦU keeps the constant of Φ", c.Shuffle, c.Shuffle))
		}
		if len(c.Sigmas) > 0 {
			if c.Activation.IsBalls() {
				line("noise levels", "for every noise level: A is the same, and the constants do not depend on biases and radii")
				line("", "radii and biases are given at "+c.levels()+", beyond them rescaled")
			} else {
				line("noise levels", "for every noise level: A = diag(√g)V with gains 0 ≤ g ≤ 1 that depend on it, so ‖A‖ ≤ ‖V‖ ≤ S")
				line("", "gains and biases are given at "+c.levels()+", beyond them rescaled")
			}
		}
	}
	for _, wrapper := range c.Wrappers {
		if c.Proven {
			line("wrapper", fmt.Sprintf("%s: %.9g-averaged: %s", wrapper.Name, wrapper.Averagedness, wrapper.Theorem))
		} else {
			line("wrapper", wrapper.Name)
		}
	}
	line("whole", c.conclusion())
	if len(c.Blocks) > 0 && c.Proven {
		line("assumed", "zero padding, at any image size; the maps in exact arithmetic, what float32 adds is bounded apart (Rounding)")
		line("", "the bounds of the norms hold with all rounding of their computation (normbound.Prove)")
		if math.IsInf(c.Radius, 1) {
			line("", "implicit steps are solved to a stated error, which adds to ‖Φ(x) − Φ(y)‖ (ApplyWithin)")
		}
		line("checksum", c.Weights+" of this map in float32")
	}
	if c.Origin != "" {
		line("certificate", c.Origin)
	}
	// A strings.Builder takes everything.
	_ = w.Flush()
	return b.String()
}

// printBlocks prints the table of the blocks.
func (c Certificate) printBlocks(b *strings.Builder) {
	radius := "unbounded"
	if !math.IsInf(c.Radius, 1) {
		radius = fmt.Sprintf("%.9g", c.Radius)
	}
	fmt.Fprintf(b, "integrator %s, radius of circle contractivity r: %s; activation %s\n", c.Integrator, radius, c.activation())
	w := tabwriter.NewWriter(b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "block\tS ≤\tS ≥\tlength h\tsteps N\t(h/N)S²L\tstep α\t")
	for i, block := range c.Blocks {
		fmt.Fprintf(w, "%d\t%.6f\t%.6f\t%.6g\t%d\t%.6f\t%.6f\t\n", i, block.Norm.Upper, block.Norm.Lower, block.Length, block.Steps,
			block.Length/float64(block.Steps)*block.Norm.Upper*block.Norm.Upper*c.Lipschitz, block.Averagedness)
	}
	_ = w.Flush()
	a := "A"
	if len(c.Sigmas) > 0 && !c.Activation.IsBalls() {
		a = "V"
	}
	fmt.Fprintf(b, "S is the norm of the convolution %s on the infinite grid: ‖%s‖ ≤ S at every image size (normbound.Prove)\n", a, a)
	switch {
	case math.IsInf(c.Radius, 1):
		b.WriteString("each step is a proximal map, so ½-averaged for every h (Bauschke and Combettes 2011, proposition 12.27)\n")
	case c.usesEulerTheorem():
		b.WriteString("each step is α-averaged with α = (h/N)S²L/2 (the paper, theorem 2.8), where N ≥ hS²L/(2r)\n")
	default:
		b.WriteString("each step is nonexpansive, for (h/N)S²L ≤ 2r (the paper, theorem 2.3 and lemma 2.5; Dahlquist and Jeltsch 1979)\n")
	}
}

// activation names σ and says why L is its constant.
func (c Certificate) activation() string {
	name := c.Activation.Name
	if c.Activation.Slope != 0 {
		name = fmt.Sprintf("%s (slope %v)", name, float32(c.Activation.Slope))
	}
	if c.Activation.IsBalls() {
		return fmt.Sprintf("%s, σ projects groups of channels onto balls: firmly nonexpansive, L = %v, "+
			"and the gradient of a convex function (Bauschke and Combettes 2017, propositions 4.16 and 12.30)", name, c.Lipschitz)
	}
	return fmt.Sprintf("%s, 0 ≤ σ' ≤ L = %v", name, c.Lipschitz)
}

// usesEulerTheorem tells whether the constants of the steps are those of Euler steps.
func (c Certificate) usesEulerTheorem() bool {
	for _, b := range c.Blocks {
		if b.Averagedness < 1 {
			return true
		}
	}
	return c.Integrator == rungekutta.ForwardEuler().Name
}

// levels names the noise levels of the tables.
func (c Certificate) levels() string {
	if k := len(c.Sigmas); k > 1 {
		return fmt.Sprintf("%d noise levels from %.6g to %.6g", k, c.Sigmas[0], c.Sigmas[k-1])
	}
	return fmt.Sprintf("the noise level %.6g", c.Sigmas[0])
}

// composition prints the constant of all steps.
func (c Certificate) composition() string {
	switch {
	case !(c.Composition <= 1):
		return "nothing follows"
	case c.Composition == 1:
		return "nonexpansive, because every step is"
	}
	return fmt.Sprintf("%.9g-averaged (Combettes and Yamada 2015, proposition 2.5); %.9g by the paper, theorem 2.9", c.Composition, c.Uniform)
}

// conclusion prints what is proven of the whole.
func (c Certificate) conclusion() string {
	switch {
	case !c.Proven && c.Reason == "":
		return "nothing is proven"
	case !c.Proven:
		return "nothing is proven: " + c.Reason
	case c.Averagedness < 1:
		return fmt.Sprintf("Φ is %.9g-averaged: ‖Φ(x) − Φ(y)‖ ≤ ‖x − y‖, and x ← Φ(x) converges if Φ has a fixed point", c.Averagedness)
	}
	return "Φ is nonexpansive: ‖Φ(x) − Φ(y)‖ ≤ ‖x − y‖; relaxed, it is averaged"
}
