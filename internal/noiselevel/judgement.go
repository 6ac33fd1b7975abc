package noiselevel

import (
	"fmt"
	"math"
	"slices"
)

// judgement is what the learned rule says: quantiles of the level.
type judgement struct{ low, middle, high float64 }

// Tuned on the validation photographs of data/open and BSDS500 with noise of all kinds, and on
// data/real (NOTEBOOK.md).
const (
	// In colour, white noise is as strong in brightness unless the rule's interval begins this
	// much higher.
	brighter = 1.25
	// White noise that is not sure is texture from this many times the end of the rule's interval on; noise that is white in
	// colour has up to 1.2 times that in variants of SIDD and PolyU.
	beyondRule = 2
	// Where the estimate agrees with a flat spectrum of colour, weak noise is white up to
	// weakBrighter: the rest is texture. That holds up to weakWhite, and no more from twice that on.
	weakBrighter, weakWhite = 1.6, 8.0 / 255
	// A spectrum is flat if its second highest band is at most this much higher than its highest, and an
	// estimate agrees within the other.
	flatWithin, agreesWithin = 1.1, 0.03
	// Noise that is not weak is in brightness alone as well where the rule's interval begins a little higher and
	// brightness has far more in its highest band, and not much less there than in the second highest:
	// texture, which is in brightness too, falls more steeply.
	leastBright, slightlyBrighter, farBrighter, flatBrightness = 5.0 / 255, 1.05, 1.35, 1.2
	// Where the second highest band has that much more than the highest, what is brighter is texture.
	steepBrightness = 1.3
	// Weak noise that is white in colour is white in brightness as well, and up to whiteMost times as strong there, where the
	// second lowest band of brightness has up to evenLowest to evenLowestEnd of its finest, and the one between up to
	// evenSecond to evenSecondEnd: texture falls. Up to brightWeak the level is that, and not from brightStrong on.
	evenLowest, evenLowestEnd, evenSecond, evenSecondEnd = 1.15, 1.3, 1.1, 1.2
	whiteFrom, whiteMost, brightWeak, brightStrong       = 1.2, 1.6, 14.0 / 255, 20.0 / 255
	// The coarse bands of colour are within the factor plateau where noise has been interpolated, and the finest has a
	// share of them between the other two.
	plateau, falling, fallen = 1.2, 0.9, 0.4
	// Such noise is that of cameras, and weakest in the calmest tenth of an image, where it is measured:
	// the level is up to calmer more, from calmFrom to calmTo.
	calmer, calmFrom, calmTo = 0.25, 8.0 / 255, 12.0 / 255
	// An image is soft, and its level is softFloor times the floor of its lowest band, where its highest band has
	// less than softMost of its middle one, at the squares with most of both; and wholly so softRange
	// below that. Where colour's highest band shows noise, no camera has smoothed it, and softness says nothing.
	softMost, softRange = 0.28, 0.12
	// softFactor is how far above the rule's level that of a soft image can be, and softLeast how far below,
	// and softPower by what part of that, as a power, the level follows.
	softFloor, softFactor, softLeast, softPower = 1.15, 2, 0.9, 0.7
	// Strong noise is seen well enough in soft images, too: from softFrom to softTo softness counts less and less.
	softFrom, softTo = 12.0 / 255, 18.0 / 255
	// Of sharp images levels up to weakFrom are reduced to weakShare, up to weakTo less and less: what is
	// weak is most often texture.
	weakFrom, weakTo, weakShare = 3.0 / 255, 6.0 / 255, 0.3
	// Of sharp images whose second band of brightness has steepFrom to steepTo times as much as the third, levels
	// are reduced by up to steepShare: noise that is white but for JPEG is not as steep, and grass is.
	steepFrom, steepTo, steepShare = 1.4, 1.8, 0.25
	// An interval is wide from wideFrom times its lower end on, and as wide as counts at wideTo times.
	wideFrom, wideTo = 1.7, 2.2
	// A level is believed as a whole where the lowest band has up to doubtedFrom times as much of it, and above
	// the less, the more it has: doubtedShare of it at least, but from maskedFrom on by that power less.
	doubtedFrom, doubtedShare = 2.7, 0.65
	maskedFrom, maskedPower   = 5, 2.5
	// It is believed as a whole where the second band of colour has maskedColour of it, and less and less
	// down to maskedRange below that. Colour of colourfulFrom to colourfulTo times the rule's level is no
	// noise that goes with that of brightness, but that of the image or false colour of a mosaic: a level is
	// doubted by colourfulShare of the power all the same, and from falseFrom to falseTo times by all of it.
	maskedColour, maskedRange                  = 0.6, 0.1
	colourfulFrom, colourfulTo, colourfulShare = 1.3, 1.8, 0.3
	falseFrom, falseTo                         = 1.9, 2.1
	// Where the finest band has been smoothed, to smoothFrom of the level and wholly to smoothTo, a level is also
	// doubted by the second band, from coveredFrom times the level on by that power: down to coveredShare.
	smoothFrom, smoothTo                    = 0.6, 0.4
	coveredFrom, coveredPower, coveredShare = 1.5, 1.5, 0.5
	// Where the second band has more than buriedFrom times the rule's level, the level is doubted by that power, down to
	// buriedShare, even where the finest band is there: gravel has as much, and of noise little would be gained. Noise under
	// JPEG's rounding is left out of that: white noise at a quality of 95 is found by other signs.
	buriedFrom, buriedPower, buriedShare = 2, 2.5, 0.3
	// Colour is noise alone where its finest band has coloured of its second lowest and the lowest at most colouredBase
	// of that. Noise in brightness is at most overColour times as strong (1.2 to 1.8 times in SIDD), or the rest is
	// texture: wholly where brightness falls by fallsTo from its second lowest band to the finest, and not
	// up to fallsFrom, as noise in brightness alone, such as a film's grain, is white there.
	coloured, colouredBase, overColour = 0.7, 1.5, 1.5
	fallsFrom, fallsTo                 = 1.1, 1.4
)

// Noise is as strong in one square as in the next, and texture is not: a fine band of brightness is even where its
// floor at a tenth of the squares is hardly above its lowest one, and what is in it is noise, however much
// texture there is in the coarser ones. White noise that was saved as JPEG has an even finest band at a
// quality of 95, and an even second one where JPEG has taken the finest; gravel is even there without JPEG, so that the
// second band counts only where JPEG is seen.
var (
	finestEven = evenness{band: 3, most: 1.06, end: 1.10, least: 3.0 / 255, share: 0.5, full: 0.7}
	secondEven = evenness{band: 2, most: 1.10, end: 1.20, least: 5.0 / 255, share: 0.7, full: 0.8, above: 1.6, beyond: 2}
)

// mostEven is the floor at a tenth of the squares over the lowest one that noise has at most. Nine blurred
// photographs with noise of cameras have 1.02 to 1.14, two thirds of 96 without any more than 1.15.
const mostEven = 1.15

// overFinest is the floor of an even finest band over the level: JPEG leaves the noise of colour there as
// brightness, and adds its own. Such a level is known within evenWithin.
const overFinest, evenWithin = 1.35, 1.4

// Without JPEG's rounding an even finest band is noise up to aboveFrom times the rule's level, less and less up to aboveEnd:
// of 40 pictures with noise one has more than the level (1.3 times), clean sea and grass have 1.8 to 5 times as much.
const aboveFrom, aboveEnd = 1.3, 1.7

// rise goes from 0 at from to 1 at to, which may be below it, and stays there.
func rise(v, from, to float64) float64 { return min(max((v-from)/(to-from), 0), 1) }

// Indices of quantiles: the calmest squares, a tenth of them, and nearly all.
const lowest, tenth, most = 0, 1, len(quantiles) - 1

// judged decides between white noise, of which p tells, and what the rule says.
func (p Profile) judged(s *spectrum, j judgement) Profile {
	if s.axes == 1 {
		return p.judgedGrey(s, j)
	}
	top, flat := s.topOfColour()
	if flat && !p.Reliable && top < p.Sigma { // of texture, which has little colour
		p = p.rescaled(top)
		p.Reliable, p.Note = true, ""
	}
	agrees := flat && math.Abs(p.Sigma/top-1) <= agreesWithin
	believable := p.Reliable || p.Sigma <= beyondRule*j.high
	if agrees || s.whiteInColour() && believable && p.Sigma >= 0.6*math.Max(s.floor[axisOfColour][1][lowest], leastWhite) {
		return p.judgedWhite(s, j, agrees)
	}
	softness := s.softness() * rise(j.middle, softTo, softFrom)
	level := j.level(s, softness)
	return p.judgedCoarse(s, j, level, level*j.believed(s, level), softness)
}

// judgedCoarse is noise that is not white, of a level as far as it is believed, or more where a fine band is even.
func (p Profile) judgedCoarse(s *spectrum, j judgement, level, believed, softness float64) Profile {
	seen, even := s.seenInFinest(j)
	if even > 0 {
		believed = raised(believed, seen, even)
		if even > 0.5 {
			j.low, j.high = math.Max(j.low, j.middle/evenWithin), math.Min(j.high, j.middle*evenWithin)
		}
	}
	if even := secondEven.of(s, j.middle); even > 0 && believed < j.middle {
		part := 1 - softness
		if !s.blurred {
			part = s.rounded()
		}
		believed = raised(believed, j.middle, even*part)
	}
	p = p.coarse(j, s.limitedByColour(believed))
	if believed < level/2 && p.Kind != None {
		p.Reliable = false
		p.Note = fmt.Sprintf("what varies is mostly texture, in which noise of %.2g may hide: if noise is left, try --strength strong", level)
	}
	return p
}

// rescaled is p with another standard deviation of white noise.
func (p Profile) rescaled(sigma float64) Profile {
	p.PerChannel = slices.Clone(p.PerChannel)
	for c := range p.PerChannel {
		p.PerChannel[c] *= sigma / p.Sigma
	}
	p.Sigma, p.Low, p.High = sigma, sigma, sigma
	return p
}

// judgedWhite decides whether noise that is white in colour is white in brightness as well, or stronger there. It
// agrees with a flat spectrum or not.
func (p Profile) judgedWhite(s *spectrum, j judgement, agrees bool) Profile {
	limit := brighter
	if agrees {
		limit += (weakBrighter - brighter) * min(max(2-p.Sigma/weakWhite, 0), 1)
	}
	light, second := s.floor[axisOfBrightness][3][lowest], s.floor[axisOfBrightness][2][lowest]
	if level, finest, next := s.interpolated(); level > p.Sigma && !agrees {
		p = p.rescaled(level)
		light, second = light/finest, second/next
	}
	least := p.Sigma * s.whiteInBrightness(light/p.Sigma, light)
	bright := p.Sigma >= leastBright && j.low > slightlyBrighter*p.Sigma && light > farBrighter*p.Sigma && second < flatBrightness*light
	if j.low <= limit*p.Sigma && !bright || second > steepBrightness*light {
		if least > p.Sigma {
			return p.rescaled(least)
		}
		return p
	}
	level := math.Max(least, math.Min(j.middle, light))
	return p.coarse(j, s.limitedByColour(level*(1+calmer*rise(level, calmFrom, calmTo))))
}

// whiteInBrightness returns how many times as strong as in colour noise is in brightness, 1 or more, where brightness is as
// flat as colour. Its finest band has a floor, light, that is ratio times the level in colour.
func (s *spectrum) whiteInBrightness(ratio, light float64) float64 {
	b := s.floor[axisOfBrightness]
	if !(ratio > whiteFrom) || light < whiteFrom*leastBright {
		return 1
	}
	even := rise(b[1][tenth]/b[3][tenth], evenLowestEnd, evenLowest) * rise(b[2][tenth]/b[3][tenth], evenSecondEnd, evenSecond)
	return math.Pow(math.Min(ratio, whiteMost), even*rise(light, brightStrong, brightWeak))
}

// limitedByColour returns the level, or less where colour shows white noise that is far weaker, and brightness texture.
func (s *spectrum) limitedByColour(level float64) float64 {
	light, colour := s.floor[axisOfBrightness], s.floor[axisOfColour]
	noise := colour[1][tenth]
	if noise < leastWhite || colour[3][tenth] < coloured*noise || colour[0][tenth] > colouredBase*noise {
		return level
	}
	falls := rise(light[1][tenth]/math.Max(light[3][tenth], 1e-9), fallsFrom, fallsTo)
	return math.Pow(level, 1-falls) * math.Pow(math.Min(level, overColour*noise), falls)
}

// interpolated finds white noise that was interpolated, as when a photograph was turned, straightened or resized: it
// lacks part of the finest band and of the second, by factors that colour shows, and below it is as strong as it was. Its
// level is 0 where colour has no such plateau.
func (s *spectrum) interpolated() (level, finest, next float64) {
	c := s.floor[axisOfColour]
	level = c[1][lowest]
	finest, next = c[3][lowest]/level, c[2][lowest]/level
	if !(level >= leastWhite) || c[0][lowest] > plateau*level || next > plateau || finest > falling || finest < fallen {
		return 0, 1, 1
	}
	return level, finest, min(next, 1)
}

// softness is how soft an image is, from 0 to 1, by its finest band; not where that shows noise in colour.
func (s *spectrum) softness() float64 {
	fine, middle := s.floor[axisOfBrightness][3][most], s.floor[axisOfBrightness][1][most]
	softness := min(max((softMost-fine/math.Max(middle, 1e-9))/softRange, 0), 1)
	return softness * min(max(2*(1-s.floor[axisOfColour][3][tenth]/leastWhite), 0), 1)
}

// level is the rule's level, raised in soft images and reduced in sharp ones.
func (j judgement) level(s *spectrum, softness float64) float64 {
	quiet := 1.0
	if !s.blurred {
		quiet = QuietColour(math.Max(j.middle, 1e-9), s.floor[axisOfColour][0][tenth])
	}
	soft := j.soft(softFloor*s.floor[axisOfBrightness][0][tenth], quiet)
	sharp := j.middle * (weakShare + (1-weakShare)*rise(j.middle, weakFrom, weakTo))
	sharp *= s.steepness()
	level := math.Pow(math.Max(soft, 1e-6), softness) * math.Pow(math.Max(sharp, 1e-6), 1-softness)
	return level * j.caution()
}

// steepness is what is left of the level of a sharp image whose brightness is steep.
func (s *spectrum) steepness() float64 {
	steep := s.floor[axisOfBrightness][1][tenth] / math.Max(s.floor[axisOfBrightness][2][tenth], 1e-9)
	return 1 - steepShare*rise(steep, steepFrom, steepTo)
}

// believed is the share of a level that is believed: the least that one of the doubts leaves.
func (j judgement) believed(s *spectrum, level float64) float64 {
	low, second, finest := s.floor[axisOfBrightness][0][tenth], s.floor[axisOfBrightness][1][tenth], s.floor[axisOfBrightness][3][lowest]
	colour, rule := s.floor[axisOfColour][1][tenth], math.Max(j.middle, 1e-9)
	texture := rise(colour/level, maskedColour, maskedColour-maskedRange)
	if s.blurred {
		return masked(low/level, texture)
	}
	texture = max(texture, colourfulShare*rise(colour/rule, colourfulFrom, colourfulTo), rise(colour/rule, falseFrom, falseTo))
	share := min(masked(low/level, texture), covered(second/level, finest/level))
	if deep := buried(second / rule); deep < share {
		share *= math.Pow(deep/share, 1-s.rounded())
	}
	return share
}

// evenness says when a band of brightness is even: wholly where its floor at a tenth of the squares is up to
// most times the lowest one, and not from end times on. A floor up to least says nothing, nor does one of less
// than share of the level; from full of it on the band counts wholly. Where beyond is set, a floor of more than
// above times the level counts less and less, and from beyond times on it is texture all the same.
type evenness struct {
	band          int
	most, end     float64
	least         float64
	share, full   float64
	above, beyond float64
}

// seenInFinest returns the level that the finest band of brightness shows, and how certain it is, from 0 to 1, that it shows
// noise. Under JPEG's rounding, which leaves the rule too little to see, that can be more than the rule says, as far as its
// interval goes.
func (s *spectrum) seenInFinest(j judgement) (level, even float64) {
	shown := s.floor[axisOfBrightness][finestEven.band][lowest] / overFinest
	most := math.Max(j.middle, shown)
	if even = finestEven.of(s, most); even == 0 || shown <= j.middle || s.blurred {
		return most, even
	}
	jpeg := s.rounded()
	even *= math.Max(rise(shown/j.middle, aboveEnd, aboveFrom), jpeg)
	return raised(j.middle, math.Min(shown, math.Max(j.high, j.middle)), jpeg), even
}

// of returns how even the band is, from 0 to 1, where the level of noise would be level.
func (e evenness) of(s *spectrum, level float64) float64 {
	const risen = 1.3
	floor := s.floor[axisOfBrightness][e.band]
	if floor[lowest] <= e.least {
		return 0
	}
	even := rise(floor[tenth]/floor[lowest], e.end, e.most) * rise(floor[lowest], e.least, risen*e.least)
	ratio := floor[lowest] / math.Max(level, 1e-9)
	if even *= rise(ratio, e.share, e.full); e.beyond > 0 {
		even *= rise(ratio, e.beyond, e.above)
	}
	return even
}

// raised returns a level that is raised to another, if that is higher, by a part of the way.
func raised(level, to, part float64) float64 {
	if to <= level {
		return level
	}
	return math.Pow(to, part) * math.Pow(math.Max(level, 1e-6), 1-part)
}

// caution is the factor on a level of which the rule is not sure: from a wide interval on, as it is of
// texture more often than of noise, the lower end counts.
func (j judgement) caution() float64 {
	if !(j.low > 0) {
		return 1
	}
	return math.Pow(j.low/j.middle, min(max((j.high/j.low-wideFrom)/(wideTo-wideFrom), 0), 1))
}

// masked returns the share of a level that is believed where the lowest band has ratio times as much in
// the calmest tenth of an image. Texture that is so much stronger hides noise, which gains little when it
// is taken away, and may as well be all that there is: from 0, where colour speaks for noise, to 1.
func masked(ratio, texture float64) float64 {
	return math.Pow(min(max(doubtedFrom/ratio, doubtedShare), math.Pow(maskedFrom/ratio, maskedPower), 1), texture)
}

// covered returns the share of a level that is believed where the second band has second times as much in
// the calmest tenth of an image, and the finest one finest times: noise whose finest detail is gone is as
// good as hidden by that much texture.
func covered(second, finest float64) float64 {
	return math.Pow(min(max(math.Pow(coveredFrom/second, coveredPower), coveredShare), 1), rise(finest, smoothFrom, smoothTo))
}

// buried returns the share of a level that is believed where the second band has second times as much as the rule says,
// in the calmest tenth of an image.
func buried(second float64) float64 {
	return min(max(math.Pow(buriedFrom/second, buriedPower), buriedShare), 1)
}

// Cameras that smooth most where an image is calm, so that the rule says too little, smooth its colour even more.
// Where the floor of colour in the lowest band, at periods of QuietPeriod pixels, is quietMost of the level or
// less, such a camera is believed in, from loudLeast on not.
const (
	quietMost, loudLeast = 0.6, 1.0
	QuietPeriod          = 12
)

// QuietColour returns how certain it is, from 0 to 1, that a camera has smoothed coarse noise of a level above
// 0 most where an image is calm. Its argument colour is the floor of colour at periods of QuietPeriod pixels, 0 of a
// grey image.
func QuietColour(level, colour float64) float64 { return rise(colour/level, loudLeast, quietMost) }

// soft is the level of a soft image whose lowest band has a floor, where colour is as quiet as QuietColour says. A
// floor that is far above the rule's level is texture, and says the less the farther it is.
func (j judgement) soft(floor, quiet float64) float64 {
	ratio := floor / math.Max(j.middle, 1e-9)
	if ratio > softFactor {
		ratio = math.Max(softFactor*math.Sqrt(softFactor/ratio), 1)
	}
	if ratio > 1 {
		ratio = math.Pow(ratio, quiet)
	}
	return math.Pow(math.Max(ratio, softLeast), softPower) * j.middle
}
