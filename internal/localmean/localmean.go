// Package localmean keeps a denoiser from darkening a photograph.
//
// The noise of a sensor has no mean, and a camera's tone curve gives it one that darkens: so over an area of some 100
// pixels what a denoiser makes should be as bright as what it was given, or brighter. A network that has learned from
// simulated cameras makes a dark grey wall under strong noise up to 8 of 255 darker in red and blue, and so green: it has
// learned that noise which black limits brightens. It does, where a channel is near black and another is not, in
// saturated colours; there the network is right.
//
// What is missing elsewhere is put back as an image that is fixed for the photograph: a denoiser T becomes
// x ↦ T(x) + c, and is averaged as T is, with the same constant.
package localmean

import (
	"math"
	"sync"
)

const (
	// cell is the side of the squares whose means are taken, in pixels, and spread the standard deviation in cells of
	// the Gaussian that smooths them: 32 pixels.
	cell, spread = 16, 2.0
	radius       = 6 // of the Gaussian, in cells
	// Smoothed so, noise of density σ has a standard deviation of σ/(2√π·32) = σ/113, and that of colour may be twice
	// as strong. What differs by less than two of these is noise, and the rest is put back less that much.
	deviations = 2 * 2
	// A channel whose mean is up to saturated of the brightest one's is left as it is, from neutral on what it
	// lacks is put back. On simulated cameras in six sets what was missing at ratios below 0.3 was −0.3 to −0.6 of what
	// the network took, from 0.5 on 0.45 to 1.3.
	saturated, neutral = 0.25, 0.45
)

// Keep adds to denoised what its local means lack of those of noisy, both planes of the same size, where noise of the
// level sigma does not explain it. It returns the most that it has added anywhere.
func Keep(noisy, denoised []float32, channels, height, width int, sigma float64) float64 {
	pixels := height * width
	// Of an image that is smaller than the Gaussian the mean is over all of it.
	noise := sigma * max(1/(2*math.Sqrt(math.Pi)*spread*cell), 1/math.Sqrt(float64(pixels)))
	before, after := make([]*grid, channels), make([]*grid, channels)
	each := func(do func(c int)) {
		var group sync.WaitGroup
		for c := range channels {
			group.Go(func() { do(c) })
		}
		group.Wait()
	}
	each(func(c int) {
		before[c], after[c] = means(noisy[c*pixels:][:pixels], height, width), means(denoised[c*pixels:][:pixels], height, width)
	})
	most := 0.0
	for i := range before[0].value {
		brightest := 1e-9
		for _, g := range before {
			brightest = max(brightest, g.value[i])
		}
		for c, g := range after { // what is put back takes the place of the means
			mean := before[c].value[i]
			ratio := mean / brightest
			g.value[i] = max(mean-g.value[i]-deviations*noise, 0) * min(max((ratio-saturated)/(neutral-saturated), 0), 1)
			most = max(most, g.value[i])
		}
	}
	if most > 0 {
		each(func(c int) { after[c].add(denoised[c*pixels:][:pixels]) })
	}
	return most
}

// grid is one value for each cell of a plane.
type grid struct {
	height, width int // of the plane
	rows, cols    int
	value         []float64
}

// means returns the smoothed means of a plane.
func means(plane []float32, height, width int) *grid {
	rows, cols := (height+cell-1)/cell, (width+cell-1)/cell
	g := &grid{height, width, rows, cols, make([]float64, rows*cols)}
	count := make([]float64, len(g.value))
	for y := range height {
		row := y / cell * cols
		for x := range width {
			g.value[row+x/cell] += float64(plane[y*width+x])
			count[row+x/cell]++
		}
	}
	g.smooth(g.value)
	g.smooth(count) // so that cells at the edge count for what is in them
	for i := range g.value {
		g.value[i] /= count[i]
	}
	return g
}

// smooth adds up neighbours with the weights of a Gaussian; there are none beyond the edge.
func (g *grid) smooth(value []float64) {
	var weights [2*radius + 1]float64
	for i := range weights {
		d := float64(i-radius) / spread
		weights[i] = math.Exp(-d * d / 2)
	}
	pass := func(lines, length, line, step int) {
		sums := make([]float64, length)
		for l := range lines {
			for e := range length {
				sum := 0.0
				for o := max(e-radius, 0); o <= min(e+radius, length-1); o++ {
					sum += float64(weights[o-e+radius] * value[l*line+o*step])
				}
				sums[e] = sum
			}
			for e, s := range sums {
				value[l*line+e*step] = s
			}
		}
	}
	pass(g.rows, g.cols, g.cols, 1)
	pass(g.cols, g.rows, 1, g.cols)
}

// add adds the values to a plane, bilinearly between the middles of cells.
func (g *grid) add(plane []float32) {
	between := func(at, count int) (low, high int, share float64) {
		p := min(max((float64(at)+0.5)/cell-0.5, 0), float64(count-1))
		low = int(p)
		return low, min(low+1, count-1), p - float64(low)
	}
	for y := range g.height {
		top, bottom, down := between(y, g.rows)
		for x := range g.width {
			left, right, across := between(x, g.cols)
			mix := func(row int) float64 {
				a, b := g.value[row*g.cols+left], g.value[row*g.cols+right]
				return a + float64((b-a)*across)
			}
			upper := mix(top)
			plane[y*g.width+x] += float32(upper + float64((mix(bottom)-upper)*down))
		}
	}
}
