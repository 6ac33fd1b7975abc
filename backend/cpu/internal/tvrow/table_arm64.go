//go:build !noasm

package tvrow

func init() { NEON = &neon }

var neon = Kernels{
	primal:   primalNEON,
	dual:     [MaxFused]dualKernel{dual1NEON, dual2NEON, dual3NEON},
	sweep:    [MaxFused]sweepKernel{sweep1NEON, sweep2NEON, sweep3NEON},
	evaluate: [MaxFused]evaluateKernel{evaluate1NEON, evaluate2NEON, evaluate3NEON},
}
