package strength

// Leaving is what a first run of deblurring leaves of a photograph under a camera shake, y − Kx₁, as a multiple of the
// noise level that it is for: below Min that is too high, at Usual about right, above Max too low.
type Leaving struct{ Min, Usual, Max float64 }

// Doubts says whether a noise level should be tested against an estimate: a run for it left left
// times as much of the photograph, and estimated times as much was estimated.
func (l Leaving) Doubts(left, estimated float64, reliable bool) bool {
	switch {
	case estimated < minRight:
		return left < l.Usual
	case estimated > maxRight:
		// An estimate that is not reliable is most often an upper bound.
		return left > l.Max || reliable && left > l.Usual
	}
	return false
}

// Believes says whether an estimate, factor times the doubted level, is believed where a run for it
// left left times as much as it says.
func (l Leaving) Believes(left, factor float64) bool {
	if factor < 1 {
		return left < l.Max
	}
	return left > l.Min
}
