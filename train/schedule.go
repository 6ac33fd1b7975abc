package train

import (
	"fmt"
	"math"
)

// Names of a Schedule.
const (
	// Constant is the maximum at all times.
	Constant = "constant"
	// PiecewiseLinear is the paper's (section 3.4): from the minimum up to the maximum
	// over the first half of the iterations, down to 0 over the second.
	PiecewiseLinear = "piecewise-linear"
	// Cosine is half a period from the maximum down to the minimum (Loshchilov and Hutter
	// 2017).
	Cosine = "cosine"
	// Exponential goes from the minimum to the maximum by equal factors: the range test's.
	Exponential = "exponential"
)

// Schedule is the learning rate as a function of the iteration.
type Schedule struct {
	Name    string  `json:"name"`
	Minimum float64 `json:"minimum"`
	Maximum float64 `json:"maximum"`
	// Warmup is the number of iterations in which the rate rises linearly to the schedule's.
	Warmup int `json:"warmup"`
}

// Rate returns the learning rate of an iteration, counted from 0, out of iterations.
func (s Schedule) Rate(iteration, iterations int) float64 {
	rate := s.Maximum
	t := float64(iteration) / float64(iterations)
	switch s.Name {
	case PiecewiseLinear:
		if rate = s.Minimum + 2*t*(s.Maximum-s.Minimum); t >= 0.5 {
			rate = 2 * (1 - t) * s.Maximum
		}
	case Cosine:
		rate = s.Minimum + (s.Maximum-s.Minimum)*(1+math.Cos(math.Pi*t))/2
	case Exponential:
		rate = s.Minimum * math.Pow(s.Maximum/s.Minimum, t)
	}
	if iteration < s.Warmup {
		rate *= float64(iteration+1) / float64(s.Warmup+1)
	}
	return rate
}

func (s Schedule) check() error {
	switch s.Name {
	case Constant, PiecewiseLinear, Cosine, Exponential:
	default:
		return fmt.Errorf("schedule %.40q, must be %q, %q, %q or %q", s.Name, Constant, PiecewiseLinear, Cosine, Exponential)
	}
	if !(s.Minimum >= 0 && s.Minimum <= s.Maximum && s.Maximum > 0) || math.IsInf(s.Maximum, 1) {
		return fmt.Errorf("learning rates from %v to %v, must be 0 or more, rising, and not both 0", s.Minimum, s.Maximum)
	}
	if s.Name == Exponential && s.Minimum == 0 {
		return fmt.Errorf("the schedule %q begins at a rate above 0", Exponential)
	}
	if s.Warmup < 0 {
		return fmt.Errorf("a warm-up of %d iterations, must be 0 or more", s.Warmup)
	}
	return nil
}
