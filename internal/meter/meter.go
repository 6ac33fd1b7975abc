// Package meter turns what the solvers of a restoration report into one fraction of the work done.
package meter

import (
	"math"

	"github.com/averaged/imaging/backend"
)

// Meter reports the progress of one call. It is not safe for concurrent use.
type Meter struct {
	call      backend.ProgressFunc
	tolerance float64
	last      backend.Progress
}

// New returns a meter that calls call, or nothing if that is nil.
func New(call backend.ProgressFunc, tolerance float64) *Meter {
	return &Meter{call: call, tolerance: tolerance}
}

// Report reports a fraction of the work.
func (m *Meter) Report(fraction float64, iteration int, residual float64) error {
	if m.call == nil {
		return nil
	}
	m.last = backend.Progress{Fraction: math.Max(fraction, m.last.Fraction), Iteration: iteration, Residual: residual, Tolerance: m.tolerance}
	return m.call(m.last)
}

// Run reports the iterations of a run that begins after made others. It and what comes after it are left runs of about
// equal length. A run ends at a tolerance or a number of iterations, whichever comes first.
func (m *Meter) Run(made, left int) backend.ProgressFunc {
	base, first := m.last.Fraction, -1.0
	return func(p backend.Progress) error {
		if first < 0 {
			first = p.Residual
		}
		p.Tolerance = m.tolerance
		share := max(p.Towards(first), p.Fraction)
		return m.Report(base+(1-base)*share/float64(left), made+p.Iteration, p.Residual)
	}
}

// Steps reports some of a number of steps before a last run, after made iterations.
func (m *Meter) Steps(made, steps int) func(step int, change float64) error {
	base := m.last.Fraction
	return func(step int, change float64) error {
		return m.Report(base+(1-base)*0.5*float64(step)/float64(steps), made+step, change)
	}
}

// Part returns what reports the progress of a part of the work as that of all, from one fraction to another. It is nil if call is.
func Part(call backend.ProgressFunc, from, to float64) backend.ProgressFunc {
	if call == nil {
		return nil
	}
	return func(p backend.Progress) error {
		p.Fraction = from + (to-from)*p.Fraction
		return call(p)
	}
}

// End reports that all is done.
func (m *Meter) End() error { return m.Report(1, m.last.Iteration, m.last.Residual) }
