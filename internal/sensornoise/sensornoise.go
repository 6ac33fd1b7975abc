// Package sensornoise measures the noise of a raw photograph: its variance, gain·x + offset, as a
// function of the light x (Foi, Trimeche, Katkovnik and Egiazarian 2008, "Practical
// Poissonian-Gaussian noise modeling and fitting for single-image raw-data").
//
// Blocks of 8×8 samples of one colour are transformed by the cosine transform and sorted by their mean.
// Among blocks of about the same mean, those with the least energy at low frequencies are taken to be flat,
// and the noise is measured on their high frequencies, by a median, as package noiselevel does for
// noise that is the same everywhere. A line is fitted to these variances. What texture adds to them is
// positive, so variances above the line count for less than those below it.
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

// Plane is samples of one colour: Height rows of Width of them. Black is 0.
type Plane struct {
	Width, Height int
	Pix           []float32
}

// ErrTooLittle: there are too few blocks of samples that are not clipped.
var ErrTooLittle = errors.New("sensornoise: too little of the image is inside the range of the sensor")

const (
	side = 8
	// fewestBlocks is what there must be.
	fewestBlocks = 40
	// mostBlocks bounds the blocks that are looked at, in all planes together.
	mostBlocks = 40_000
	// Bins of blocks by mean, and how many of a bin's blocks, the flattest, are measured.
	mostBins, blocksPerBin = 12, 240
	flatShare, fewestFlat  = .02, 12
	// Frequencies u + v of a block: up to lowFrequency they tell how flat it is, from highFrequency
	// its noise.
	lowFrequency, highFrequency = 5, 8
	// medianOfSquare is the median of the square of a standard normal variable.
	medianOfSquare = .454936
)

// block is what counts of 8×8 samples.
type block struct {
	mean, texture float64
	high          [28]float64 // squares of the coefficients of high frequencies
}

// Estimate measures the noise of planes of the same colour. Blocks with samples at low or below it, or
// at high or above it, are left out: there the sensor's range ends, and with it the noise. The result
// is the same for the same planes.
func Estimate(low, high float32, planes ...Plane) (Line, error) {
	blocks := sample(low, high, planes)
	bins := max(min(len(blocks)/blocksPerBin, mostBins), 1)
	if len(blocks) < fewestBlocks {
		return Line{}, ErrTooLittle
	}
	slices.SortStableFunc(blocks, func(a, b block) int { return cmp.Compare(a.mean, b.mean) })
	points := make([]point, bins)
	for i := range points {
		points[i] = measure(blocks[i*len(blocks)/bins : (i+1)*len(blocks)/bins])
	}
	return fit(points), nil
}

// sample transforms blocks on a grid over all planes.
func sample(low, high float32, planes []Plane) []block {
	total := 0
	for _, p := range planes {
		total += (p.Width / side) * (p.Height / side)
	}
	// An odd step looks at all rows and columns of blocks in turn.
	step := max(1, total/mostBlocks) | 1
	var blocks []block
	next := 0
	for _, p := range planes {
		across := p.Width / side
		n := across * (p.Height / side)
		for ; next < n; next += step {
			x, y := next%across*side, next/across*side
			if b, ok := p.transform(x, y, low, high); ok {
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

func (p Plane) transform(x0, y0 int, low, high float32) (b block, ok bool) {
	var rows [side][side]float64 // [row][u]
	for y := range side {
		line := p.Pix[(y0+y)*p.Width+x0:][:side]
		for _, v := range line {
			if !(v > low && v < high) {
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

// fit returns the line, by weighted least squares in which the weights follow from the line before:
// the error of a variance is a part of the variance itself.
func fit(points []point) Line {
	const (
		rounds = 20
		// above is the ratio of a variance to that of the line from where on it counts for less.
		above = 1.15
	)
	var l Line
	for _, p := range points {
		l.Offset += p.variance / float64(len(points))
	}
	for range rounds {
		var n, x, xx, v, xv float64
		for _, p := range points {
			expected := max(l.Gain*p.mean+l.Offset, 1e-3*l.Offset, math.SmallestNonzeroFloat64)
			w := 1 / (expected * expected)
			if ratio := p.variance / expected; ratio > above {
				w *= math.Pow(above/ratio, 4)
			}
			n, x, xx, v, xv = n+w, x+w*p.mean, xx+w*p.mean*p.mean, v+w*p.variance, xv+w*p.mean*p.variance
		}
		if n == 0 || math.IsInf(n, 0) {
			return l // no noise at all
		}
		l = Line{}
		if d := n*xx - x*x; d > 1e-9*n*xx {
			l = Line{Gain: (n*xv - x*v) / d, Offset: (xx*v - x*xv) / d}
		}
		switch {
		case l.Gain <= 0:
			l = Line{Offset: v / n}
		case l.Offset < 0:
			l = Line{Gain: max(xv/xx, 0)}
		}
	}
	return l
}
