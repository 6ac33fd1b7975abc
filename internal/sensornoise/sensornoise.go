// Package sensornoise measures the noise of a raw photograph: its variance, gain·x + offset, as a
// function of the light x (Foi, Trimeche, Katkovnik and Egiazarian 2008, "Practical
// Poissonian-Gaussian noise modeling and fitting for single-image raw-data").
//
// Blocks of 8×8 samples of one colour are transformed by the cosine transform and sorted by their mean.
// Among blocks of about the same mean, those with the least energy at low frequencies are taken to be flat,
// and the noise is measured on their high frequencies, by a median, as package noise does for
// noise that is the same everywhere. What texture adds to these variances is positive, and in a photograph full of it most of
// them are too large. So the line is that with which most of them agree, and which few are below.
package sensornoise

import (
	"cmp"
	"errors"
	"math"
	"slices"
)

// Line is the variance of noise: Gain·x + Offset, where x is light, and 0 is black. Both are from 0.
type Line struct{ Gain, Offset float64 }

// At returns the variance for light x; below 0 it is that of 0.
func (l Line) At(x float64) float64 { return l.Gain*max(x, 0) + l.Offset }

// Plane is samples of one colour: Height rows of Width of them. Black is 0. Those at Low or below it, or at High or above it, have no
// noise (FindRange).
type Plane struct {
	Width, Height int
	Pix           []float32
	Low, High     float32
}

// ErrTooLittle: there are too few blocks of samples that are not clipped.
var ErrTooLittle = errors.New("sensornoise: too little of the image is inside the range of the sensor")

const (
	side = 8
	// stride is the distance of blocks, which overlap.
	stride = 4
	// fewestBlocks is what there must be.
	fewestBlocks = 40
	// maxBlocks bounds the blocks that are looked at, in all planes together.
	maxBlocks = 40_000
	// Bins of blocks by mean, and how many of a bin's blocks, the flattest, are measured.
	maxBins, blocksPerBin = 12, 240
	flatShare, fewestFlat = .02, 12
	// Frequencies u + v of a block: up to lowFrequency they tell how flat it is, from highFrequency
	// its noise.
	lowFrequency, highFrequency = 9, 10
	// medianOfSquare is the median of the square of a standard normal variable.
	medianOfSquare = .454936
)

// block is what counts of 8×8 samples.
type block struct {
	mean, texture float64
	high          [15]float64 // squares of the coefficients of high frequencies
}

// Estimate measures the noise of planes of the same colour, whose numbers are step apart, or 0 if that is not known. Blocks with samples
// at low or below it, or beyond the range of their plane, are left out: there the noise ends. white is light that saturates. The variance is never below that of rounding to whole steps, but where there is no other noise, which is Line{}. The result
// is the same for the same planes.
func Estimate(low, white, step float32, planes ...Plane) (Line, error) {
	blocks := sample(low, planes)
	bins := max(min(len(blocks)/blocksPerBin, maxBins), 1)
	if len(blocks) < fewestBlocks {
		return Line{}, ErrTooLittle
	}
	slices.SortStableFunc(blocks, func(a, b block) int { return cmp.Compare(a.mean, b.mean) })
	f := fit{rounding: float64(step) * float64(step) / 12, usual: usualRead * float64(white)}
	most := 0.
	for i := range bins {
		p := measure(blocks[i*len(blocks)/bins : (i+1)*len(blocks)/bins])
		most = max(most, p.variance)
		f.points = append(f.points, p)
	}
	if most <= f.rounding {
		return Line{}, nil
	}
	for i := range f.points {
		f.points[i].variance = max(f.points[i].variance, f.rounding, 1e-9*most)
	}
	return f.line(), nil
}

// across and down are the numbers of blocks in the two directions.
func (p Plane) across() int { return (max(p.Width, side-stride) - side + stride) / stride }
func (p Plane) down() int   { return (max(p.Height, side-stride) - side + stride) / stride }

// sample transforms blocks on a grid over all planes.
func sample(low float32, planes []Plane) []block {
	total := 0
	for _, p := range planes {
		total += p.across() * p.down()
	}
	// An odd step looks at all rows and columns of blocks in turn.
	step := max(1, total/maxBlocks) | 1
	var blocks []block
	next := 0
	for _, p := range planes {
		p.Low = max(p.Low, low)
		across := p.across()
		n := across * p.down()
		for ; next < n; next += step {
			x, y := next%across*stride, next/across*stride
			if b, ok := p.transform(x, y); ok {
				blocks = append(blocks, b)
			}
		}
		next -= n
	}
	return blocks
}

// basis[u] is the orthonormal cosine of frequency u.
var basis = func() (c [side][side]float64) {
	for u := range c {
		scale := math.Sqrt(2. / side)
		if u == 0 {
			scale = math.Sqrt(1. / side)
		}
		for x := range side {
			c[u][x] = scale * math.Cos(math.Pi*float64(u)*(float64(x)+.5)/side)
		}
	}
	return c
}()

func (p Plane) transform(x0, y0 int) (b block, ok bool) {
	var rows [side][side]float64 // [row][u]
	for y := range side {
		line := p.Pix[(y0+y)*p.Width+x0:][:side]
		for _, v := range line {
			if !(v > p.Low && v < p.High) {
				return b, false
			}
		}
		for u := range side {
			for x, v := range line {
				rows[y][u] += basis[u][x] * float64(v)
			}
		}
	}
	n := 0
	for v := range side {
		for u := range side {
			c := 0.
			for y := range side {
				c += basis[v][y] * rows[y][u]
			}
			switch {
			case u+v == 0:
				b.mean = c / side
			case u+v <= lowFrequency:
				b.texture += c * c
			case u+v >= highFrequency:
				b.high[n] = c * c
				n++
			}
		}
	}
	return b, true
}

// point is the variance of noise at a mean.
type point struct{ mean, variance float64 }

// measure returns the noise of the flattest blocks.
func measure(blocks []block) point {
	blocks = slices.Clone(blocks)
	slices.SortStableFunc(blocks, func(a, b block) int { return cmp.Compare(a.texture, b.texture) })
	blocks = blocks[:max(fewestFlat, int(flatShare*float64(len(blocks))))]
	var p point
	var squares []float64
	for _, b := range blocks {
		p.mean += b.mean / float64(len(blocks))
		squares = append(squares, b.high[:]...)
	}
	slices.Sort(squares)
	p.variance = squares[len(squares)/2] / medianOfSquare
	return p
}

const (
	// agreement is the error of a variance, as a part of it, and outlier the cost of one that is too large, where an
	// error of 1 costs ½.
	agreement, outlier = .2, 1
	// A read noise of usualElectrons, or of usualRead of saturation, is usual at most. That of an unusual one costs as much as
	// unusual of all variances.
	usualElectrons, usualRead = 10, 1e-3
	unusual                   = .5
)

// fit is what a line is found for.
type fit struct {
	points   []point
	rounding float64 // the smallest variance
	usual    float64 // deviation of read noise
}

// line is the line of the smallest cost among those through two points, through one and black, or of one variance. It is then fitted to
// the points that agree with it.
func (f fit) line() Line {
	best, least := Line{}, math.Inf(1)
	try := func(l Line) {
		if l.Gain < 0 || l.Offset < 0 {
			return
		}
		if c := f.cost(l); c < least {
			best, least = l, c
		}
	}
	for i, p := range f.points {
		try(Line{Offset: p.variance})
		if p.mean > 0 {
			try(Line{Gain: (p.variance - f.rounding) / p.mean, Offset: f.rounding})
		}
		for _, q := range f.points[:i] {
			if p.mean > q.mean {
				gain := (p.variance - q.variance) / (p.mean - q.mean)
				try(Line{Gain: gain, Offset: p.variance - gain*p.mean})
			}
		}
	}
	try(f.refined(best))
	best.Offset = max(best.Offset, f.rounding)
	return best
}

// errorOf is how far a point is above a line, in units of its error.
func errorOf(p point, l Line) float64 {
	return math.Log(p.variance/max(l.At(p.mean), 1e-3*p.variance)) / agreement
}

func (f fit) cost(l Line) float64 {
	sum := 0.
	for _, p := range f.points {
		e := errorOf(p, l)
		c := e * e / 2
		if e > 0 {
			c = min(c, outlier)
		}
		sum += c
	}
	if read := math.Sqrt(l.Offset) / (usualElectrons*l.Gain + f.usual); read > 0 {
		sum += unusual * outlier * float64(len(f.points)) * min(1, read*read*read*read)
	}
	return sum
}

// refined is the line of weighted least squares through the points that agree with l.
func (f fit) refined(l Line) Line {
	var n, x, xx, v, xv float64
	for _, p := range f.points {
		if e := errorOf(p, l); e*e/2 > outlier {
			continue
		}
		w := 1 / (l.At(p.mean) * l.At(p.mean))
		n, x, xx, v, xv = n+w, x+w*p.mean, xx+w*p.mean*p.mean, v+w*p.variance, xv+w*p.mean*p.variance
	}
	d := n*xx - x*x
	if !(d > 1e-9*n*xx) {
		return l
	}
	return Line{Gain: (n*xv - x*v) / d, Offset: (xx*v - x*xv) / d}
}
