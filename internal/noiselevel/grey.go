package noiselevel

import "math"

// Tuned on 435 grey pictures with all kinds of noise and none (NOTEBOOK.md).
const (
	// A grey image's level of white noise is believed within this factor of the rule's interval.
	greyAgreement = 1.8
	// Grey images show no colour to tell texture by. Of what tells it in colour these count: how unsure the rule is, by this
	// power, how steep brightness is, and whether the second band covers or buries the noise.
	greyCaution = 0.5
	// Under JPEG's rounding, which takes noise from the finest bands, that counts by this share less.
	greyRounded = 0.5
)

// judgedGrey decides between white noise, of which p tells, and what the rule says of an image in grey.
func (p Profile) judgedGrey(s *spectrum, j judgement) Profile {
	j.middle = math.Max(j.middle, 1e-9)
	switch white := p.Reliable && p.Sigma >= j.low/greyAgreement && p.Sigma <= j.high*greyAgreement; {
	case white:
		return p
	case s.blurred:
		return p.coarse(j, j.middle)
	}
	softness := s.softness() * rise(j.middle, softTo, softFrom)
	jpeg := s.rounded()
	level := j.middle * math.Pow(j.caution(), greyCaution) * math.Pow(s.steepness(), 1-softness)
	second, finest := s.floor[axisOfBrightness][1][tenth], s.floor[axisOfBrightness][3][lowest]
	believed := level * covered(second/math.Max(level, 1e-9), finest/math.Max(level, 1e-9))
	believed = j.middle * math.Pow(believed/j.middle, 1-greyRounded*jpeg) * math.Pow(buried(second/j.middle), 1-jpeg)
	return p.judgedCoarse(s, j, level, believed, softness)
}
