package noiselevel

import (
	"cmp"
	"math"
	"slices"
)

// Screenshots, diagrams, scanned text and line art have no noise, but lines as dense as it. What tells them
// from photographs is that many neighbours are exactly equal there where others are far apart. Of noise of d
// steps between neighbours at most 0.4/d are equal, so that the product of the share that is equal and of the
// root mean square of the steps is at most 0.4, on smooth ground as on noise; an editor that has stretched the
// contrast multiplies it. Lines have 3 to 100 (NOTEBOOK.md has what was measured).

const (
	// An image is drawn if that product, in steps of a 255th, is above drawnSteps in all but drawnQuantile of the
	// squares that noise is looked for in.
	drawnSteps, drawnQuantile = 3.0, 0.3
	// Noise of one channel on black ground has as many clipped neighbours, and that product is a fifth of its standard
	// deviation; in three channels they are rarely clipped together. A grey image without other squares has to have
	// ink as well: what is farthest from the ground is at the median no farther than so many times the distance of the
	// rest, by energy. Clipped noise has 2.0 to 2.3 there, ink 1.2 to 1.6.
	mostInk = 1.8
	// It is also drawn if the share of its squares that are pure white, or pure black, times how far from that the
	// rest of a square is that is partly so, is at least groundContrast, and if few of the squares that vary have no
	// clipped pixels. The distance is by energy, at the median, in steps of a 255th. Clouds and dark rooms fade
	// into what is clipped.
	// Where that share is below leastGround, as many fewer may have none: a photograph of black and white things has some
	// of either.
	groundContrast, groundOthers, leastGround = 5.0, 0.3, 0.09
	// Or if half of it is pure white, and hardly any square is without.
	paperShare, paperOthers = 0.5, 0.1
	// Or if hardly any square that varies is without clipped pixels, inkGround of all pixels in them are pure white, or
	// pure black, and the rest is ink, inkContrast from that: plots and text that were reduced leave no square
	// empty. Noise that is clipped leaves 0.05 of the pixels there in real photographs, plots 0.12 and more. Of a
	// single channel it leaves half and more, so that this says nothing of grey images, and coarse noise in near black
	// 1.78 as the ratio of mostInk.
	inkGround, inkContrast, inkOthers, surelyInk = 0.12, 15.0, 0.03, 1.6
	// In a square that lies partly at a limit that share of the pixels is there.
	partFrom, partTo = 0.1, 0.97
	// Where at most this share of the squares is constant away from the limits, flat areas are only clipped.
	offLimits = 0.02
)

// square is what is looked at in one of groupSide pixels.
type square struct {
	constant bool
	clipped  float32    // share of pixels with a value at an end of its channel's range
	steps    float32    // the product of above
	at       [2]float32 // share of pixels all of whose values are at the low or at the high end
	contrast [2]float32 // how far the others are from that end, by energy, in steps of a 255th; or 0
	farthest [2]float32 // the most of that
}

// drawing is what tells drawings from photographs.
type drawing struct {
	grey    bool
	squares []square
}

// newDrawing looks at an image of any number of channels; one that is smaller than a square has none.
func newDrawing(pix []float32, channels, height, width int, ranges []valueRange) drawing {
	if min(height, width) < groupSide {
		return drawing{}
	}
	stride := groupStride(height, width)
	rows, cols := (height-groupSide)/stride+1, (width-groupSide)/stride+1
	d := drawing{channels == 1, make([]square, rows*cols)}
	ends := [2]float64{endOf(ranges, 0), endOf(ranges, 1)}
	inPieces(rows, func(row int) {
		for col := range cols {
			d.squares[row*cols+col].measure(pix, channels, height*width, width, row*stride*width+col*stride, ranges, ends)
		}
	})
	return d
}

// measure fills a square whose first sample is at a place in each plane. ends are the means of the channels' low and high
// ends.
func (t *square) measure(pix []float32, channels, plane, width, at int, ranges []valueRange, ends [2]float64) {
	const pairs = 2 * groupSide * (groupSide - 1)
	equal, power, clipped := 0, 0.0, 0
	var atEnd [2]int
	var sums, squares [2]float64
	for y := range groupSide {
		for x := range groupSide {
			i := at + y*width + x
			right, below := x+1 < groupSide, y+1 < groupSide
			sameRight, sameBelow := right, below
			low, high, mean, limit := true, true, 0.0, false
			for c := range channels {
				v := pix[c*plane+i]
				r := ranges[c]
				low, high = low && v == r.low, high && v == r.high
				limit = limit || v == r.low || v == r.high
				mean += float64(v) / float64(channels)
				if right {
					s := float64(pix[c*plane+i+1] - v)
					power += s * s
					sameRight = sameRight && s == 0
				}
				if below {
					s := float64(pix[c*plane+i+width] - v)
					power += s * s
					sameBelow = sameBelow && s == 0
				}
			}
			for _, same := range [2]bool{sameRight, sameBelow} {
				if same {
					equal++
				}
			}
			if limit {
				clipped++
			}
			for e, there := range [2]bool{low, high} {
				if there {
					atEnd[e]++
					continue
				}
				s := 255 * (mean - ends[e])
				sums[e] += math.Abs(s)
				squares[e] += s * s
				t.farthest[e] = max(t.farthest[e], float32(math.Abs(s)))
			}
		}
	}
	t.constant = equal == pairs
	t.clipped = float32(clipped) / (groupSide * groupSide)
	t.steps = float32(255 * math.Sqrt(power/float64(pairs*channels)) * float64(equal) / pairs)
	for e := range t.at {
		t.at[e] = float32(atEnd[e]) / (groupSide * groupSide)
		if sums[e] > 0 {
			t.contrast[e] = float32(squares[e] / sums[e])
		}
	}
}

// endOf is the mean of the channels' values at the low end (0) or at the high one (1).
func endOf(ranges []valueRange, end int) float64 {
	sum := 0.0
	for _, r := range ranges {
		sum += float64([2]float32{r.low, r.high}[end])
	}
	return sum / float64(len(ranges))
}

// share is that of the squares for which a property holds.
func (d drawing) share(holds func(t square) bool) float64 {
	n := 0
	for _, t := range d.squares {
		if holds(t) {
			n++
		}
	}
	return float64(n) / math.Max(float64(len(d.squares)), 1)
}

// clippedOnly says that flat areas are at an end of the range, where noise is clipped, and nowhere else.
func (d drawing) clippedOnly() bool {
	return d.share(func(t square) bool { return t.constant && t.clipped < 1 }) <= offLimits
}

// groundEnd is the end at which most pixels of the squares are.
func groundEnd(squares []square) int {
	var low, high float32
	for _, t := range squares {
		low, high = low+t.at[0], high+t.at[1]
	}
	if high > low {
		return 1
	}
	return 0
}

// inked says that what is not at an end lies at about one distance from it: what is farthest at the median at most that
// many times as far as the rest.
func inked(squares []square, end int, most float32) bool {
	var ratios []float32
	for _, t := range squares {
		if t.contrast[end] > 0 {
			ratios = append(ratios, t.farthest[end]/t.contrast[end])
		}
	}
	return median(ratios) <= most
}

// drawn says that the image is no photograph.
func (d drawing) drawn() bool {
	varied := slices.DeleteFunc(slices.Clone(d.squares), func(t square) bool { return t.constant })
	if len(varied) == 0 {
		return false
	}
	slices.SortStableFunc(varied, func(a, b square) int { return cmp.Compare(a.clipped, b.clipped) })
	// Those that a spectrum is made of.
	unclipped, usable := leastClipped(len(varied), func(i int) float32 { return varied[i].clipped })
	looked := varied[:usable]
	steps := make([]float32, len(looked))
	for i, t := range looked {
		steps[i] = t.steps
	}
	slices.Sort(steps)
	lines := len(looked) >= minGroups && float64(steps[int(drawnQuantile*float64(len(steps)-1)+0.5)]) > drawnSteps
	if lines && (!d.grey || len(looked) == unclipped || inked(looked, groundEnd(looked), mostInk)) {
		return true
	}
	others := float64(unclipped) / float64(len(varied))
	for e := range 2 {
		ground := d.share(func(t square) bool { return t.constant && t.at[e] == 1 })
		if e == 1 && ground >= paperShare && others <= paperOthers {
			return true
		}
		var contrasts []float32
		at := 0.0
		for _, t := range varied {
			at += float64(t.at[e]) / float64(len(varied))
			if t.at[e] > partFrom && t.at[e] < partTo {
				contrasts = append(contrasts, t.contrast[e])
			}
		}
		contrast := float64(median(contrasts))
		if ground*contrast >= groundContrast && others <= groundOthers*math.Min(ground/leastGround, 1) {
			return true
		}
		if !d.grey && at >= inkGround && contrast >= inkContrast && others <= inkOthers && inked(varied, e, surelyInk) {
			return true
		}
	}
	return false
}
