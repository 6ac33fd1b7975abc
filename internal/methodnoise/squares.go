package methodnoise

import (
	"math"
	"slices"
)

// What was taken from a square of ShareSide×ShareSide pixels is partly noise. How much of it is, a square does not say by
// itself: what its neighbours and all other squares are like counts as well, and so do the Signs. So each square has features
// of its own, their means over the squares beside it and, weighted by what was taken, over all, and how it stands among squares
// as bright as it is.

// ShareSide is the side of these squares, in pixels.
const ShareSide = 16

// Square is what is seen of a square of a sample.
type Square struct {
	Top, Left int       // in the sample
	Taken     float64   // energy of what was taken from brightness, in squared 255ths
	Features  []float32 // see Squares
}

// local are the features of a square by itself.
type local struct {
	taken  float64 // energy
	bright float64 // brightness from 0 to 1
	values []float64
}

// Places of local.values that are compared with those of squares as bright: the energies of what was taken from brightness, of
// detail of the middle band that is left, and of what was taken from colour.
const placeTaken, placeDetail, placeColour = 0, 5, 22

// Logarithms are of energies over the square of the level, and of leastEnergy at least; leastProduct keeps ratios of energies in
// squared 255ths within bounds, and leastKurtosis and leastColour logarithms.
const leastEnergy, leastProduct, leastKurtosis, leastColour = 2e-3, 0.05, 0.3, 2.0

// Squares returns the squares of a sample, with the features that the share of noise in what was taken is told by (share):
// what each has by itself, then the same as a mean over it and the squares beside it, then as a mean over all, weighted by what
// was taken; then how its energies stand among those of squares as bright, and how these are spread; then the signs.
func Squares(s *Sample, denoised []float32, level float64, signs Signs) []Square {
	return separate(s, denoised).squares(s, level, signs)
}

func (d *separated) squares(s *Sample, level float64, signs Signs) []Square {
	var squares []Square
	var all []local
	var beside [][]float64
	for y := 0; y < s.Height; y += s.patchHeight {
		for x := 0; x < s.Width; x += s.patchWidth {
			grid, columns := d.patch(y, x, s.patchHeight, s.patchWidth, level)
			for i, l := range grid {
				squares = append(squares, Square{
					Top: y + margin + i/columns*ShareSide, Left: x + margin + i%columns*ShareSide, Taken: l.taken,
				})
			}
			all = append(all, grid...)
			beside = append(beside, neighbourhoods(grid, columns)...)
		}
	}
	if len(all) == 0 {
		return nil
	}
	mean := weightedMean(all)
	places := []int{placeTaken, placeDetail}
	if !signs.Grey {
		places = append(places, placeColour)
	}
	var ofImage []float64
	residuals := make([][]float64, len(places))
	for k, place := range places {
		residuals[k] = amongBright(all, place)
		low, spread := lowAndSpread(residuals[k])
		ofImage = append(ofImage, low, spread)
	}
	ofImage = append(ofImage, signs.all()...)
	ofImage = append(ofImage, math.Log(255*level))
	for i, l := range all {
		var f []float32
		add := func(values []float64) {
			for _, v := range values {
				f = append(f, float32(v))
			}
		}
		add(l.values)
		add(beside[i])
		add(mean)
		for _, r := range residuals {
			add(r[i : i+1])
		}
		add(ofImage)
		squares[i].Features = f
	}
	return squares
}

// all returns the signs that have a meaning.
func (s Signs) all() []float64 {
	if s.Grey {
		return []float64{s.Together, s.Along, s.Spread, s.Floor, s.Taken}
	}
	return []float64{s.Together, s.Along, s.Spread, s.Floor, s.Taken, s.Colour, s.Coarse, s.Quiet}
}

// neighbourhoods are means of the values over 3×3 squares of a grid; beyond its sides the outermost count again.
func neighbourhoods(grid []local, columns int) [][]float64 {
	means := make([][]float64, len(grid))
	rows := 0
	if columns > 0 {
		rows = len(grid) / columns
	}
	for i := range grid {
		sum := make([]float64, len(grid[i].values))
		for dy := -1; dy <= 1; dy++ {
			for dx := -1; dx <= 1; dx++ {
				y, x := min(max(i/columns+dy, 0), rows-1), min(max(i%columns+dx, 0), columns-1)
				for k, v := range grid[y*columns+x].values {
					sum[k] += v / 9
				}
			}
		}
		means[i] = sum
	}
	return means
}

// weightedMean is the mean of values, by the energy of what was taken.
func weightedMean(all []local) []float64 {
	total, sum := 0.0, make([]float64, len(all[0].values))
	for _, l := range all {
		total += l.taken + leastTaken
		for k, v := range l.values {
			sum[k] += float64((l.taken + leastTaken) * v)
		}
	}
	for k := range sum {
		sum[k] /= total
	}
	return sum
}

// amongBright is a value of each square without what follows from how bright squares are.
func amongBright(all []local, place int) []float64 {
	values, bright := make([]float64, len(all)), make([]float64, len(all))
	for i, l := range all {
		values[i], bright[i] = l.values[place], l.bright
	}
	without(values, bright)
	return values
}

// lowAndSpread are the value that lowShare of values are below, and the standard deviation of values with mean 0.
func lowAndSpread(values []float64) (low, spread float64) {
	const lowShare = 0.15
	square := 0.0
	for _, v := range values {
		square += float64(v * v)
	}
	sorted := slices.Sorted(slices.Values(values))
	return sorted[int(lowShare*float64(len(sorted)))], math.Sqrt(square / float64(len(values)))
}

// plane holds values of a patch.
type plane struct {
	height, width int
	values        []float64
}

func newPlane(h, w int) plane { return plane{h, w, make([]float64, h*w)} }

func (p plane) part(top, left, h, w int) plane {
	q := newPlane(h, w)
	for y := range h {
		copy(q.values[y*w:][:w], p.values[(top+y)*p.width+left:])
	}
	return q
}

// rows returns a row, the one above and the one below; beyond the sides the outermost counts again.
func (p plane) rows(y int) (above, row, below []float64) {
	of := func(y int) []float64 { return p.values[min(max(y, 0), p.height-1)*p.width:][:p.width] }
	return of(y - 1), of(y), of(y + 1)
}

// laplacian has the energy of white noise.
func (p plane) laplacian() plane {
	q := newPlane(p.height, p.width)
	for y := range p.height {
		above, row, below := p.rows(y)
		for x, v := range row {
			beside := above[x] + below[x] + row[max(x-1, 0)] + row[min(x+1, p.width-1)]
			q.values[y*p.width+x] = (float64(4*v) - beside) * (1 / math.Sqrt(20))
		}
	}
	return q
}

// smooth is p by [1 2 1]/4 along both axes.
func (p plane) smooth() plane {
	q := newPlane(p.height, p.width)
	for y := range p.height {
		above, row, below := p.rows(y)
		down := func(x int) float64 { return above[x] + float64(2*row[x]) + below[x] }
		for x := range row {
			q.values[y*p.width+x] = (down(max(x-1, 0)) + float64(2*down(x)) + down(min(x+1, p.width-1))) / 16
		}
	}
	return q
}

// halved has means of 2×2 pixels.
func (p plane) halved() plane {
	q := newPlane(p.height/2, p.width/2)
	for y := range q.height {
		for x := range q.width {
			i := 2*y*p.width + 2*x
			q.values[y*q.width+x] = (p.values[i] + p.values[i+1] + p.values[i+p.width] + p.values[i+p.width+1]) / 4
		}
	}
	return q
}

// bands are Laplacians of p as it is, halved, and halved again.
func (p plane) bands() [3]plane {
	half := p.halved()
	return [3]plane{p.laplacian(), half.laplacian(), half.halved().laplacian()}
}

// energy is the mean square over a square.
func (p plane) energy(top, left, side int) float64 {
	sum := 0.0
	for y := range side {
		for _, v := range p.values[(top+y)*p.width+left:][:side] {
			sum += float64(v * v)
		}
	}
	return sum / float64(side*side)
}

// separated is what was taken from a sample and what is left, along brightness and two axes of colour, in 255ths. In grey, where
// axes is 1, the planes of colour hold zeros.
type separated struct {
	left, taken [3]plane
	axes        int
}

// separate compares a sample with what a denoiser made of it. One plane stands for three equal ones.
func separate(s *Sample, denoised []float32) *separated {
	d := &separated{axes: s.Channels}
	n := s.Height * s.Width
	for axis := range d.left {
		d.left[axis], d.taken[axis] = newPlane(s.Height, s.Width), newPlane(s.Height, s.Width)
	}
	for i := range n {
		if s.Channels == 1 {
			is := 255 * float64(denoised[i])
			d.left[0].values[i] = math.Sqrt(3) * is
			d.taken[0].values[i] = math.Sqrt(3) * (255*float64(s.Pix[i]) - is)
			continue
		}
		var is, was [3]float64
		for c := range is {
			is[c] = 255 * float64(denoised[c*n+i])
			was[c] = 255*float64(s.Pix[c*n+i]) - is[c]
		}
		for axis, v := range axesOf(is) {
			d.left[axis].values[i] = v
		}
		for axis, v := range axesOf(was) {
			d.taken[axis].values[i] = v
		}
	}
	return d
}

// axesOf turns red, green and blue to brightness and two axes of colour, as long as they were.
func axesOf(v [3]float64) [3]float64 {
	return [3]float64{
		(v[0] + v[1] + v[2]) / math.Sqrt(3), (v[0] - v[2]) / math.Sqrt2, (v[0] - float64(2*v[1]) + v[2]) / math.Sqrt(6),
	}
}

// patch returns the squares of a patch, but for its margin, row by row, and how many are in a row.
func (d *separated) patch(top, left, height, width int, level float64) (grid []local, columns int) {
	p := newPatch(d, top, left, height, width, level)
	for y := margin; y+ShareSide+margin <= height; y += ShareSide {
		columns = 0
		for x := margin; x+ShareSide+margin <= width; x += ShareSide {
			grid = append(grid, p.square(y, x))
			columns++
		}
	}
	return grid, columns
}

// patch is a part of what was taken and left, filtered.
type patch struct {
	axes                                int
	unit                                float64 // the square of the level, in squared 255ths
	taken, left                         [3]plane
	smooth                              plane    // what is left of brightness
	fine, softer                        plane    // Laplacians of what is left of brightness, as it is and smooth
	takenBands, leftBands, noisyBands   [3]plane // of brightness
	firstColourBands, secondColourBands [3]plane // of what was taken
}

func newPatch(d *separated, top, left, height, width int, level float64) *patch {
	p := &patch{axes: d.axes, unit: 255 * level * 255 * level}
	for axis := range d.axes {
		p.taken[axis] = d.taken[axis].part(top, left, height, width)
		p.left[axis] = d.left[axis].part(top, left, height, width)
	}
	noisy := newPlane(height, width)
	for i, v := range p.left[0].values {
		noisy.values[i] = v + p.taken[0].values[i]
	}
	p.smooth = p.left[0].smooth()
	p.fine, p.softer = p.left[0].laplacian(), p.smooth.laplacian()
	p.takenBands, p.leftBands, p.noisyBands = p.taken[0].bands(), p.left[0].bands(), noisy.bands()
	if d.axes == 3 {
		p.firstColourBands, p.secondColourBands = p.taken[1].bands(), p.taken[2].bands()
	}
	return p
}

// log is the logarithm of an energy over the square of the level.
func (p *patch) log(energy float64) float64 { return math.Log(energy/p.unit + leastEnergy) }

// square returns the features of a square by itself.
func (p *patch) square(top, left int) local {
	m := p.moments(top, left)
	values := []float64{p.log(m.energy)}
	for _, bands := range [][3]plane{p.takenBands, p.leftBands, p.noisyBands} {
		for k, b := range bands {
			values = append(values, p.log(b.energy(top>>k, left>>k, ShareSide>>k)))
		}
	}
	l := local{taken: m.energy, bright: m.bright}
	e := m.energy + leastProduct
	values = append(values,
		m.fine/math.Sqrt((m.fineEnergy+leastProduct)*e),
		m.softer/math.Sqrt((m.softerEnergy+leastProduct)*e),
		m.sizes/math.Sqrt((float64(m.softerSize*m.softerSize)+leastProduct)*(float64(m.size*m.size)+leastProduct)),
		math.Log(m.fourth/(e*e)+leastKurtosis),
		oriented(p.taken[0], top, left), oriented(p.smooth, top, left),
		math.Abs(m.right-m.below)/e, math.Abs(m.falling-m.rising)/e,
		(m.right+m.below)/(2*e), (m.falling+m.rising)/(2*e), m.farther/(2*e),
		m.bright)
	if p.axes == 3 {
		half := m.colour / 2
		values = append(values, p.log(half))
		for _, k := range []int{0, 2} {
			both := p.firstColourBands[k].energy(top>>k, left>>k, ShareSide>>k) + p.secondColourBands[k].energy(top>>k, left>>k, ShareSide>>k)
			values = append(values, p.log(both/2))
		}
		values = append(values,
			math.Log(m.saturation+leastColour), math.Hypot(m.withFirst, m.withSecond)/math.Sqrt(e*(half+leastProduct)))
	}
	l.values = values
	return l
}

// squareMoments are means over the pixels of a square: of what was taken from brightness, without its mean, by itself and times
// others.
type squareMoments struct {
	bright                        float64 // what is left, from 0 to 1
	energy, fourth, size          float64
	fine, fineEnergy              float64 // times the Laplacian of what is left, and the square of that
	softer, softerEnergy          float64 // the same of what is left, smooth
	sizes, softerSize             float64 // absolute values of both, and of that
	right, below, falling, rising float64 // times its neighbours
	farther                       float64 // times those two pixels to the right and below
	colour, withFirst, withSecond float64 // energy along axes of colour, and the products with them
	saturation                    float64 // how far what is left is from grey
}

func (p *patch) moments(top, left int) (m squareMoments) {
	const pixels = ShareSide * ShareSide
	width, taken := p.taken[0].width, p.taken[0].values
	each := func(do func(i int)) {
		for y := range ShareSide {
			for x := range ShareSide {
				do((top+y)*width + left + x)
			}
		}
	}
	var mean [3]float64
	each(func(i int) {
		for axis := range p.axes {
			mean[axis] += p.taken[axis].values[i] / pixels
		}
		m.bright += p.left[0].values[i] / (pixels * 255 * math.Sqrt(3))
	})
	each(func(i int) {
		t := taken[i] - mean[0]
		fine, softer := p.fine.values[i], p.softer.values[i]
		m.energy += float64(t * t)
		m.fourth += float64(float64(t*t) * float64(t*t))
		m.size += math.Abs(t)
		m.fine += float64(fine * t)
		m.fineEnergy += float64(fine * fine)
		m.softer += float64(softer * t)
		m.softerEnergy += float64(softer * softer)
		m.sizes += math.Abs(softer * t)
		m.softerSize += math.Abs(softer)
		m.right += float64(t * (taken[i+1] - mean[0]))
		m.below += float64(t * (taken[i+width] - mean[0]))
		m.falling += float64(t * (taken[i+width+1] - mean[0]))
		m.rising += float64(t * (taken[i-width+1] - mean[0]))
		m.farther += float64(t * (taken[i+2] + taken[i+2*width] - float64(2*mean[0])))
		if p.axes == 3 {
			first, second := p.taken[1].values[i]-mean[1], p.taken[2].values[i]-mean[2]
			m.colour += float64(first*first) + float64(second*second)
			m.withFirst += float64(t * first)
			m.withSecond += float64(t * second)
			m.saturation += math.Hypot(p.left[1].values[i], p.left[2].values[i])
		}
	})
	for _, v := range []*float64{
		&m.energy, &m.fourth, &m.size, &m.fine, &m.fineEnergy, &m.softer, &m.softerEnergy, &m.sizes, &m.softerSize, &m.right,
		&m.below, &m.falling, &m.rising, &m.farther, &m.colour, &m.withFirst, &m.withSecond, &m.saturation,
	} {
		*v /= pixels
	}
	return m
}

// oriented says how much the slopes of a square have one direction, from 0 to 1: the anisotropy of its structure tensor.
func oriented(p plane, top, left int) float64 {
	var xx, yy, xy float64
	for y := top; y < top+ShareSide; y++ {
		for x := left; x < left+ShareSide; x++ {
			i := y*p.width + x
			dx, dy := p.values[i+1]-p.values[i-1], p.values[i+p.width]-p.values[i-p.width]
			xx += float64(dx * dx)
			yy += float64(dy * dy)
			xy += float64(dx * dy)
		}
	}
	const pixels = ShareSide * ShareSide
	return math.Hypot(xx-yy, 2*xy) / (xx + yy + pixels*leastProduct)
}
