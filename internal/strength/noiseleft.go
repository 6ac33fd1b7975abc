package strength

// NoiseLeft is what the results of runs for an estimated noise level hold.
type NoiseLeft struct {
	First   float64   // level of noise in the first result that was noisy, 0 for none
	last    float64   // the same of the one before
	raised  []float64 // factors by which the level was raised
	Settled bool      // no result is looked at any more
}

// Judge returns the factor by which the level of the next run is another, 1 for none, and whether it is to be made
// again, where the result of one for noise of sigma holds noise of a level.
func (n *NoiseLeft) Judge(level, sigma float64) (factor float64, again bool) {
	times := len(n.raised)
	switch {
	case n.Settled:
		return 1, false
	case times == 0 && (level <= noisyFrom || level <= noisyRatio*sigma):
		return 1, false
	case times == 0:
		n.First = level
	case level <= stillNoisy:
		n.Settled = true
		return afterwards, false
	case level <= noTexture && level*quieter > n.last:
		n.Settled = true
		return 1 / n.raised[times-1], true
	case times == mostLouder:
		n.Settled = true
		if level*mostQuieter <= n.First {
			return afterwards, false
		}
		factor = 1
		for _, f := range n.raised {
			factor /= f
		}
		return factor, true
	}
	n.last, factor = level, louder
	if level > farNoisier*sigma {
		factor = farLouder
	}
	n.raised = append(n.raised, factor)
	return factor, true
}
