package strength

// NoiseLeft is what the results of runs for an estimated noise level hold.
type NoiseLeft struct {
	First   float64   // level of noise in the first result that was noisy, 0 for none
	last    float64   // the same of the one before
	raised  []float64 // factors by which the level was raised
	Settled bool      // no result is looked at any more
}

// Judge returns the factor on the level of the next run, and whether that is the same run again, after a run for noise
// of sigma whose result holds noise of a level.
func (n *NoiseLeft) Judge(level, sigma float64) (factor float64, again bool) {
	times := len(n.raised)
	clean := level <= max(cleanBelow, cleanRatio*sigma)
	switch {
	case n.Settled, clean && times == 0:
		return 1, false
	case times == 0:
		n.First = level
	case level > cleanBelow && level <= noTexture && level*quieter > n.last:
		n.Settled = true
		return 1 / n.raised[times-1], true
	case clean:
		n.Settled = true
		return afterwards, false
	case times == maxRaises:
		n.Settled = true
		if level*quieter*quieter <= n.First {
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
