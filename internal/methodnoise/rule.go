package methodnoise

import (
	"math"

	"github.com/averaged/imaging/weights"
)

// A rule is a polynomial of degree 2 in signs, which are shifted and scaled, and Raised: the sum is the logarithm of the
// factor. One is for photographs in colour and one for grey ones that the network for cameras denoises, and one for grey ones
// that the network for all noise does: in colour a rule for that saves next to nothing. Package learn makes the polynomials, and
// says of what.

// farthest is how far a sign counts, in standard deviations of what the rule was learned from.
const farthest = 3

// LeastFactor and MostFactor are the limits of Factor.
const LeastFactor, MostFactor = 0.1, 2.0

// rule holds coefficients: a shift and a scale for each sign, a weight for each term.
type rule struct{ shift, scale, weight []float64 }

// Tries tells whether there is a rule for a network, by its name in package weights, and images of so many channels.
func Tries(method string, channels int) bool {
	return method == weights.Camera && (channels == 1 || channels == 3) || method == weights.Guided && channels == 1
}

// Factor returns by what the strength of a network should be multiplied where it has the signs at a strength of 1, from
// LeastFactor to MostFactor.
func Factor(s Signs) float64 {
	r := &learned
	switch {
	case s.Grey && s.Guided:
		r = &learnedGuided
	case s.Grey:
		r = &learnedGrey
	}
	log := r.log(s) + Raised(s)
	if s.White > 0 {
		log = firm(log, s.White)
	}
	return min(max(math.Exp(log), LeastFactor), MostFactor)
}

// Noise that is white has a level that is known well, unless what looks like it is texture, or it is not white after
// all: a factor between calmFrom and calmTo counts for nothing, one below surelyLess or of MostFactor for all of it. What seems
// to be stronger than its level is noise of a dark photograph that a camera has reduced. Above strongFrom a factor above 1
// counts for less, and from strongTo on for nothing: such noise is as white as it seems.
const calmFrom, calmTo, surelyLess, strongFrom, strongTo = 0.6, 1.8, 0.25, 0.04, 0.06

// firm is the logarithm of the factor where noise is white and of that level.
func firm(log, level float64) float64 {
	if log < 0 {
		return log * ramp(log, math.Log(calmFrom), math.Log(surelyLess))
	}
	return log * ramp(log, math.Log(calmTo), math.Log(MostFactor)) * ramp(level, strongTo, strongFrom)
}

// ramp rises from 0 to 1 as v goes from one number to another.
func ramp(v, from, to float64) float64 { return min(max((v-from)/(to-from), 0), 1) }

// log is the polynomial's value; 0 of an empty one, with which package learn begins where signs have changed.
func (r *rule) log(s Signs) float64 {
	if len(r.weight) == 0 {
		return 0
	}
	sum := 0.0
	for i, v := range Terms(s, r.shift, r.scale) {
		sum += float64(v * r.weight[i])
	}
	return sum
}

// Terms are those of the rule, for signs that are shifted and multiplied by scale: the signs, their products, and 1.
func Terms(s Signs, shift, scale []float64) []float64 {
	values := s.Values()
	n := len(values)
	terms := make([]float64, n, n+n*(n+1)/2+1)
	for i, v := range values {
		terms[i] = min(max(float64((v-shift[i])*scale[i]), -farthest), farthest)
	}
	for i := range n {
		for j := i; j < n; j++ {
			terms = append(terms, float64(terms[i]*terms[j])/2)
		}
	}
	return append(terms, 1)
}

// Values returns the signs of the polynomial in the order of its coefficients; the others count by way of Share.
func (s Signs) Values() []float64 {
	if s.Grey {
		return []float64{s.Together, s.Floor, s.Taken, s.Share}
	}
	return []float64{s.Together, s.Colour, s.Floor, s.Coarse, s.Share}
}

// Cameras that smooth most where a picture is calm leave more noise than the level says, which is measured there, and
// simulated cameras do not smooth so. Where colour is quiet, and what is taken is not weaker where there is more detail, as it is
// in most photographs by simulated cameras, the factor is up to raisedBy times higher: from raisedFrom to raisedTo of Together.
const raisedBy, raisedFrom, raisedTo = 1.5, -0.3, 0.0

// Raised is what the rule adds to the polynomial.
func Raised(s Signs) float64 {
	return s.Quiet * min(max((s.Together-raisedFrom)/(raisedTo-raisedFrom), 0), 1) * math.Log(raisedBy)
}
