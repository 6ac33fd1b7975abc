package methodnoise

import (
	"math"

	"github.com/averaged/imaging/weights"
)

// The rule is a polynomial of degree 2 in the signs but Quiet, each shifted and scaled, and Raised: the sum is the logarithm
// of the factor. Package learn makes the polynomial, and says of what.

// signCount is the number of signs in the polynomial, and termCount that of the rule's terms: the signs, their products, and 1.
const signCount, termCount = 6, signCount + signCount*(signCount+1)/2 + 1

// Values are a number for each sign.
type Values [signCount]float64

// farthest is how far a sign counts, in standard deviations of what the rule was learned from.
const farthest = 3

// LeastFactor and MostFactor are the limits of Factor.
const LeastFactor, MostFactor = 0.1, 2.0

// rule holds coefficients.
type rule struct {
	shift, scale Values
	weight       [termCount]float64
}

// Method is the network that the rule is for, by the name of package weights.
const Method = weights.Camera

// Factor returns by what the strength of Method should be multiplied where it has the signs at a strength of 1, from
// LeastFactor to MostFactor.
func Factor(s Signs) float64 {
	return min(max(math.Exp(learned.log(s)+Raised(s)), LeastFactor), MostFactor)
}

// log is the polynomial's value.
func (r *rule) log(s Signs) float64 {
	sum := 0.0
	for i, v := range Terms(s, r.shift, r.scale) {
		sum += float64(v * r.weight[i])
	}
	return sum
}

// Terms are those of the rule, for signs that are shifted and multiplied by scale.
func Terms(s Signs, shift, scale Values) (terms [termCount]float64) {
	n := signCount
	for i, v := range s.Values() {
		terms[i] = min(max(float64((v-shift[i])*scale[i]), -farthest), farthest)
	}
	for i := range signCount {
		for j := i; j < signCount; j++ {
			terms[n] = float64(terms[i]*terms[j]) / 2
			n++
		}
	}
	terms[n] = 1
	return terms
}

// Values returns the signs in the order of the rule's coefficients.
func (s Signs) Values() Values {
	return Values{s.Together, s.Along, s.Colour, s.Spread, s.Floor, s.Coarse}
}

// Cameras that smooth most where a picture is calm leave more noise than the level says, which is measured there, and
// simulated cameras do not smooth so. Where colour is quiet, and what is taken is not weaker where there is more detail, as it is
// in most photographs by simulated cameras, the factor is up to raisedBy times higher: from raisedFrom to raisedTo of Together.
const raisedBy, raisedFrom, raisedTo = 1.5, -0.3, 0.0

// Raised is what the rule adds to the polynomial.
func Raised(s Signs) float64 {
	return s.Quiet * min(max((s.Together-raisedFrom)/(raisedTo-raisedFrom), 0), 1) * math.Log(raisedBy)
}
