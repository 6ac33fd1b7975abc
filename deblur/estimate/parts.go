package estimate

import (
	"cmp"
	"math"
	"slices"
)

// Of a large photograph the parts are used that have most edges.
const (
	// wholeSamples is the size up to which a photograph is used whole.
	wholeSamples = 640 * 480
	// maxParts is how many parts of a larger one are used.
	maxParts = 4
	// minSide is the side of a part, in samples; of a wide kernel it is partReach of its reach.
	minSide, maxSide, partReach = 320, 640, 14
)

// partSide is the side of a part of a large photograph, for a kernel that reaches reach samples.
func partSide(reach int) int { return min(max(minSide, partReach*reach), maxSide) }

// pieces returns the parts of a photograph to find a kernel in that reaches reach samples.
func pieces(whole part, reach int) []part {
	h, w := whole.v.h, whole.v.w
	side := partSide(reach)
	if h*w <= wholeSamples || min(h, w) < side {
		return []part{whole.middle(max(side, wholeSamples/min(h, w)))}
	}
	type window struct {
		y, x int
		edge float64
	}
	var windows []window
	energy := edgeMap(whole)
	for y := 0; y+side <= h; y += side / 4 {
		for x := 0; x+side <= w; x += side / 4 {
			windows = append(windows, window{y, x, energy.over(y, x, side)})
		}
	}
	slices.SortStableFunc(windows, func(a, b window) int { return cmp.Compare(b.edge, a.edge) })
	var chosen []window
	for _, c := range windows {
		overlaps := slices.ContainsFunc(chosen, func(o window) bool {
			return max(c.y-o.y, o.y-c.y) < side && max(c.x-o.x, o.x-c.x) < side
		})
		if !overlaps && len(chosen) < maxParts {
			chosen = append(chosen, c)
		}
	}
	var parts []part
	for _, c := range chosen {
		parts = append(parts, whole.crop(c.y, c.x, side, side))
	}
	return parts
}

func (p part) crop(y, x, h, w int) part {
	return part{p.v.crop(y, x, h, w), p.clipped.crop(y, x, h, w), p.lamps.crop(y, x, h, w)}
}

func (p part) resized(h, w int) part {
	return part{p.v.resized(h, w), p.clipped.resized(h, w), p.lamps.resized(h, w)}
}

// middle cuts a long strip to most samples.
func (p part) middle(most int) part {
	h, w := min(p.v.h, most), min(p.v.w, most)
	if h == p.v.h && w == p.v.w {
		return p
	}
	return p.crop((p.v.h-h)/2, (p.v.w-w)/2, h, w)
}

// quarters cuts a part in four, or along its longer side if it is a strip.
func (p part) quarters() []part {
	h, w := p.v.h, p.v.w
	rows, columns := 2, 2
	if h > 2*w {
		rows, columns = 4, 1
	}
	if w > 2*h {
		rows, columns = 1, 4
	}
	var all []part
	for i := range rows {
		for j := range columns {
			y, x := i*h/rows, j*w/columns
			all = append(all, p.crop(y, x, (i+1)*h/rows-y, (j+1)*w/columns-x))
		}
	}
	return all
}

// halves cuts a part in two across its longer side.
func (p part) halves() (one, other part) {
	h, w := p.v.h, p.v.w
	if h > w {
		return p.crop(0, 0, h/2, w), p.crop(h/2, 0, h-h/2, w)
	}
	return p.crop(0, 0, h, w/2), p.crop(0, w/2, h, w-w/2)
}

// edges is the energy of the differences in blocks of edgeBlock×edgeBlock samples.
type edges struct {
	h, w   int
	energy []float64
}

const edgeBlock = 16

// edgeMap measures differences of means over 2×2 samples, in which noise is weaker.
func edgeMap(p part) edges {
	e := edges{h: p.v.h/edgeBlock + 1, w: p.v.w/edgeBlock + 1}
	e.energy = make([]float64, e.h*e.w)
	for y := 0; y+3 < p.v.h; y += 2 {
		for x := 0; x+3 < p.v.w; x += 2 {
			mean := func(y, x int) (float64, bool) {
				i := y*p.v.w + x
				v, c := p.v.pix, p.clipped.pix
				return float64(v[i]+v[i+1]+v[i+p.v.w]+v[i+p.v.w+1]) / 4,
					c[i]+c[i+1]+c[i+p.v.w]+c[i+p.v.w+1] > 0
			}
			a, ca := mean(y, x)
			b, cb := mean(y, x+2)
			c, cc := mean(y+2, x)
			if ca || cb || cc {
				continue
			}
			// The root keeps one bright edge from outweighing many others.
			e.energy[y/edgeBlock*e.w+x/edgeBlock] += math.Sqrt(math.Hypot(b-a, c-a))
		}
	}
	return e
}

// over sums the energy in a square.
func (e edges) over(y, x, side int) float64 {
	sum := 0.0
	for i := y / edgeBlock; i < min((y+side)/edgeBlock, e.h); i++ {
		for j := x / edgeBlock; j < min((x+side)/edgeBlock, e.w); j++ {
			sum += e.energy[i*e.w+j]
		}
	}
	return sum
}
