package noise

import (
	"context"
	"math"
	"slices"
)

// FindImpulses returns which samples of a picture are impulses: salt and pepper, or a sensor's hot, stuck and dead
// pixels. It returns their share of all samples, too. pix has channels planes of h rows of w samples, where black is 0
// and white 1; values may be outside. The mask has a value for each sample, and is nil where the picture has no impulse
// noise, or is smaller than 5×5.
//
// An impulse differs from its neighbours far more than they differ from each other, and impulses fall on pixels
// independently of each other. A picture has some only where both hold: many samples are clearly outside the range of
// their 5×5 neighbours, no more are nearly so, as the tail of noise or texture would have them, and they neither crowd
// together nor line up, as dots in text, drawings and screens do. Everything else is left alone, as are stars.
func FindImpulses(ctx context.Context, pix []float32, channels, h, w int) (bad []bool, share float64, err error) {
	if h < 5 || w < 5 {
		return nil, 0, nil
	}
	planes := make([]*plane, channels)
	bad = make([]bool, len(pix))
	var clearPixels, nearPixels []int
	for c := range planes {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		p := &plane{v: pix[c*h*w:][:h*w], h: h, w: w, suspect: make([]int8, h*w), bad: bad[c*h*w:][:h*w]}
		p.findOutliers()
		for _, o := range p.outliers {
			if o.ratio >= clearRatio {
				clearPixels = append(clearPixels, o.at)
			} else {
				nearPixels = append(nearPixels, o.at)
			}
		}
		planes[c] = p
	}
	clearSamples := len(clearPixels)
	slices.Sort(clearPixels)
	slices.Sort(nearPixels)
	clearPixels, nearPixels = slices.Compact(clearPixels), slices.Compact(nearPixels) // where several channels have one
	if len(clearPixels) < 3 || len(clearPixels) < len(nearPixels) || !Independent(clearPixels, h, w) {
		return nil, 0, nil
	}

	for salt, pepper := saltLevel(planes, 1), saltLevel(planes, -1); ; salt, pepper = noLevel, noLevel {
		count := 0
		for _, p := range planes {
			if err := ctx.Err(); err != nil {
				return nil, 0, err
			}
			p.findSpread()
			clear(p.bad)
			clear(p.suspect)
			for i, v := range p.v {
				if v >= salt {
					p.suspect[i] = 1
				} else if v <= -pepper {
					p.suspect[i] = -1
				}
			}
			p.mark()
			for _, b := range p.bad {
				if b {
					count++
				}
			}
		}
		share = float64(count) / float64(len(pix))
		// Of independent impulses a share of (1-share)²⁴ has no other among 24 neighbours. Far fewer are clear where the
		// value of salt or pepper is that of something else: of text, with dust on the page.
		if alone := float64(count) * math.Pow(1-share, 24); alone <= crowd*float64(clearSamples) || salt == noLevel && pepper == noLevel {
			return bad, share, nil
		}
	}
}

// outlier is a sample outside the range of its 5×5 neighbours.
type outlier struct {
	at    int     // its pixel
	sign  float32 // 1 above them, −1 below
	ratio float32 // of what it exceeds them by to their spread
}

type plane struct {
	v        []float32
	h, w     int
	spread   float32 // typical, of eight neighbours: from their median to their largest; 0 until it is needed
	outliers []outlier
	suspect  []int8 // 1 has the value of salt, −1 of pepper
	bad      []bool
}

// findSpread finds the spread, unless it was found: few pictures need it. It is the median over the plane, flat parts
// apart, and looks at the middle four of eight neighbours, so that impulses hardly change it; for Gaussian noise they span
// 0.6 of what lies between their median and the largest.
func (p *plane) findSpread() {
	if p.spread > 0 {
		return
	}
	spans := []float32{0}
	// Some 10000 samples are enough for a median; an odd stride sees all phases of a pattern of two.
	stride := max(17, p.h*p.w/10000|1)
	for at := p.w + 1; at < (p.h-1)*p.w-1; at += stride {
		n := p.eight(at, 1)
		if span := n[5] - n[2]; span > 0 {
			spans = append(spans, span)
		}
	}
	p.spread = max(2./255, selected(spans, len(spans)/2)/0.6) // min: what rounding to 8 bits makes of a flat plane
}

// eight returns the neighbours of an inner pixel, times a sign, in ascending order.
func (p *plane) eight(at int, sign float32) [8]float32 {
	v, w := p.v, p.w
	n := [8]float32{v[at-w-1], v[at-w], v[at-w+1], v[at-1], v[at+1], v[at+w-1], v[at+w], v[at+w+1]}
	for i := range n {
		n[i] *= sign
		for k := i; k > 0 && n[k] < n[k-1]; k-- {
			n[k], n[k-1] = n[k-1], n[k]
		}
	}
	return n
}

// findOutliers keeps the samples that exceed all 24 neighbours by impulseStep and by clearRatio/2 spreads. Two
// comparisons refuse nearly all pairs of samples of a photograph.
func (p *plane) findOutliers() {
	for y := 2; y < p.h-2; y++ {
		for x, row := 2, p.v[y*p.w:][:p.w]; x < p.w-2; x++ {
			left, right := row[x]-row[x-1], row[x]-row[x+1]
			switch {
			case right >= -impulseStep && right <= impulseStep:
				x++ // the next one has a neighbour that is near, too
			case left > impulseStep && right > impulseStep:
				p.try(y*p.w+x, 1)
			case left < -impulseStep && right < -impulseStep:
				p.try(y*p.w+x, -1)
			}
		}
	}
}

func (p *plane) try(at int, sign float32) {
	own := sign * p.v[at]
	if own-sign*p.v[at-p.w] <= impulseStep || own-sign*p.v[at+p.w] <= impulseStep {
		return
	}
	largest := sign * p.v[at-1]
	for dy := -2; dy <= 2; dy++ {
		for dx := -2; dx <= 2; dx++ {
			if dy != 0 || dx != 0 {
				largest = max(largest, sign*p.v[at+dy*p.w+dx])
			}
		}
	}
	if own-largest <= impulseStep {
		return
	}
	p.findSpread()
	n := p.eight(at, sign)
	ratio := (own - largest) / max(largest-(n[3]+n[4])/2, p.spread)
	if p.blurred(at/p.w, at%p.w) {
		ratio = min(ratio, clearRatio/2)
	}
	if ratio >= clearRatio/2 {
		p.outliers = append(p.outliers, outlier{at, sign, ratio})
	}
}

// Independent tells whether pixels, places in rows of w in an image of h rows, fall into rows, columns and cells as if
// each had been drawn by itself, as those of a sensor's faults do and those of texture do not.
func Independent(pixels []int, h, w int) bool {
	across := (w + impulseCell - 1) / impulseCell
	rows, columns, cells := make([]int, h), make([]int, w), make([]int, across*((h+impulseCell-1)/impulseCell))
	for _, at := range pixels {
		y, x := at/w, at%w
		rows[y]++
		columns[x]++
		cells[y/impulseCell*across+x/impulseCell]++
	}
	n := float64(len(pixels))
	for _, counts := range [][]int{rows, columns, cells} {
		pairs := 0.0
		for _, k := range counts {
			pairs += float64(k) * float64(k-1) / 2
		}
		// A few pixels may share a row by chance: two pairs, but not three in a row.
		if pairs > crowd*n*(n-1)/2/float64(len(counts))+2 {
			return false
		}
	}
	return true
}

const noLevel = math.MaxFloat32 // of samples, which are smaller

// saltLevel returns from which value on, times the sign, a sample may be salt (1) or pepper (−1), or noLevel where the
// outliers of that sign are not about the largest value that there is, as white is, or beyond.
func saltLevel(planes []*plane, sign float32) float32 {
	var values []float32
	largest := float32(-noLevel)
	for _, p := range planes {
		for _, v := range p.v {
			largest = max(largest, sign*v)
		}
		for _, o := range p.outliers {
			if o.sign == sign && o.ratio >= clearRatio {
				values = append(values, sign*p.v[o.at])
			}
		}
	}
	slices.Sort(values)
	if n := len(values); n >= minSalt && min(largest, max(sign, 0))-values[n/20] <= saltRange {
		return values[n/20]
	}
	return noLevel
}
