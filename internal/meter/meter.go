// Package meter turns what the solvers of a restoration report into one fraction of the work done.
package meter

import "math"

// Report is how far a restoration has come: restore.ProgressReport.
type Report struct {
	Fraction  float64 // an estimate of the work done, 0 to 1, never falling
	Iteration int     // iterations made
	Residual  float64 // what is compared with Tolerance
	Tolerance float64
}

// Meter reports the progress of one call. It is not safe for concurrent use.
type Meter struct {
	call      func(Report) error
	tolerance float64
	last      Report
	first     float64 // the residual at the start of the group or run
	at        int     // the group that first belongs to
}

// New returns a meter that calls call, or nothing if that is nil.
func New(call func(Report) error, tolerance float64) *Meter {
	return &Meter{call: call, tolerance: tolerance, at: -1}
}

// Group reports an iteration in one of several groups of equal length.
func (m *Meter) Group(group, groups, iteration int, residual float64) error {
	if group != m.at {
		m.at, m.first = group, residual
	}
	return m.Report((float64(group)+m.share(residual))/float64(groups), iteration, residual)
}

// share is how far the residual has come from its first value to the tolerance,
// on a logarithmic scale: the solvers converge about linearly on it.
func (m *Meter) share(residual float64) float64 {
	if !(residual > m.tolerance) || !(m.first > m.tolerance) {
		if residual > m.tolerance {
			return 0
		}
		return 1
	}
	return math.Min(1, math.Max(0, math.Log(m.first/residual)/math.Log(m.first/m.tolerance)))
}

// Report reports a fraction of the work.
func (m *Meter) Report(fraction float64, iteration int, residual float64) error {
	if m.call == nil {
		return nil
	}
	m.last = Report{Fraction: math.Max(fraction, m.last.Fraction), Iteration: iteration, Residual: residual, Tolerance: m.tolerance}
	return m.call(m.last)
}

// Run reports the iterations of a run that begins after made others. It and what comes after it are left runs of about
// equal length. A run ends at a tolerance or a number of iterations, whichever comes first.
func (m *Meter) Run(made, left int) func(iteration, maxIterations int, residual float64) error {
	base, begun := m.last.Fraction, false
	return func(iteration, maxIterations int, residual float64) error {
		if !begun {
			begun, m.first = true, residual
		}
		share := math.Max(m.share(residual), float64(iteration)/float64(maxIterations))
		return m.Report(base+(1-base)*share/float64(left), made+iteration, residual)
	}
}

// Steps reports some of a number of steps before a last run, after made iterations.
func (m *Meter) Steps(made, steps int) func(step int, change float64) error {
	base := m.last.Fraction
	return func(step int, change float64) error {
		return m.Report(base+(1-base)*0.5*float64(step)/float64(steps), made+step, change)
	}
}

// End reports that all is done.
func (m *Meter) End() error { return m.Report(1, m.last.Iteration, m.last.Residual) }
