package methodnoise

import (
	"math"

	"github.com/averaged/imaging/internal/perceptron"
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

// Tries tells whether there is a rule for a network, by its name in package weights, and images of so many channels, with
// noise that is white or coarse.
func Tries(method string, channels int, white bool) bool {
	switch method {
	case weights.Camera:
		return !white && (channels == 1 || channels == 3)
	case weights.Guided:
		return channels == 1
	}
	return false
}

// Factor returns by what the strength of a network should be multiplied where it has the signs at a strength of 1, from
// LeastFactor to MostFactor.
func Factor(s Signs) float64 {
	r, _ := s.learned()
	log := r.log(s) + Raised(s)
	if s.WhiteLevel > 0 {
		log = firm(log, s.WhiteLevel)
	}
	return min(max(math.Exp(log), LeastFactor), MostFactor)
}

// learned returns the rule for the signs, and the network that tells Share.
func (s Signs) learned() (*rule, *perceptron.Network) {
	switch {
	case s.Grey && s.Guided:
		return &learnedGuided, &learnedGuidedShare
	case s.Grey:
		return &learnedGrey, &learnedGreyShare
	}
	return &learned, &learnedShare
}

// Noise that is white has a level that is known well, unless what looks like it is texture, or it is not white after
// all: a factor between calmFrom and calmTo counts for nothing, one below surelyLess or of MostFactor for all of it. What seems
// to be stronger than its level is noise of a dark photograph that a camera has reduced. Above strongFrom a factor above 1
// counts for less, and from strongTo on for nothing: such noise is as white as it seems.
const calmFrom, calmTo, surelyLess, strongFrom, strongTo = 0.6, 1.8, 0.25, 0.04, 0.06

// firm is the logarithm of the factor where noise is white and of that level.
func firm(log, level float64) float64 {
	if log < 0 {
		return log * rise(log, math.Log(calmFrom), math.Log(surelyLess))
	}
	return log * rise(log, math.Log(calmTo), math.Log(MostFactor)) * rise(level, strongTo, strongFrom)
}

// rise is 0 up to from and 1 beyond to, and even between them.
func rise(v, from, to float64) float64 { return min(max((v-from)/(to-from), 0), 1) }

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
	return s.Quiet * rise(s.Together, raisedFrom, raisedTo) * math.Log(raisedBy)
}
