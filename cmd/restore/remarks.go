package main

import (
	"time"

	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/cmd/restore/internal/record"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/averaged/imaging/restore"
)

// stopwatch starts one, and returns what reads it.
func stopwatch() func() record.Number {
	began := time.Now()
	return func() record.Number { return record.Number(time.Since(began).Seconds()) }
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
		for _, line := range message.Lines(r.Iteration.Run.Certificate.String()) {
			a.Detail("%s: %s", message.FileName(input), line)
		}
	}
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
