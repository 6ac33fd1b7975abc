// Package blurdomain tells what was blurred in a photograph: light, as in a camera, before sRGB's curve made samples of it, or the
// samples as they are stored, as in a program.
//
// A blur multiplies the spectrum of what it blurs by the kernel's frequency response k̂, and so leaves its minima and zeros
// there. In the other domain the curve, which is not linear, fills them. So the power spectra of squares of the photograph are
// compared with |k̂|² in both domains, without any image that would have to be restored.
package blurdomain

import (
	"context"
	"math"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/parallel"
	"github.com/averaged/imaging/internal/srgb"
)

// Evidence is by how much kernels explain the spectra: logarithms of likelihood ratios, summed over the squares.
type Evidence struct {
	// Samples and Light say how much likelier the spectra of the samples, and of light, are under the kernels than without them.
	Samples, Light Sum
	// Difference is Light − Samples.
	Difference Sum
	// Squares is how many there were, of all channels.
	Squares int
}

// Sum is a sum over squares, and the same in units of the standard deviation that it would have if its terms had either sign.
type Sum struct{ Value, Deviations float64 }

// significant is the number of standard deviations from which on a sum counts.
const significant = 2

// IsLight says whether the kernels explain light, and explain it better than the samples.
func (e Evidence) IsLight() bool { return e.Light.Value > 0 && e.Difference.Deviations > significant }

// IsSamples says whether it is the other way round, or whether there are too few squares to tell. What is neither is open.
func (e Evidence) IsSamples() bool {
	return e.Squares <= significant*significant || e.Samples.Deviations > significant && e.Difference.Deviations < -significant
}

const (
	// A square has at least so many samples in a row for each of the kernel, so that the window does not fill its zeros, and at
	// least minSide.
	kernelsInSide, minSide = 4, 64
	// Squares are left out with a larger share of samples that are clipped.
	maxClipped = 0.01
	// So many samples of each channel are looked at, at most, in squares that are evenly spread over the frame.
	maxSamples = 2 << 20
	// The noise has at most the given level, and the level is at least that of minSigma. Where it has less, the zeros of k̂
	// are deeper: shares of its power are tried, and the likeliest is taken for all squares of a domain.
	minSigma               = 1. / 255
	noiseShares, shareStep = 9, 0.5
	// What the window leaks into the zeros is about this share of the power around them.
	leak = 1e-3
	// Slower waves than so many in a square are left out.
	firstCycle = 2.5
)

// Weigh returns the evidence of a photograph, whose noise has a standard deviation of at most sigma, under a grid of kernels. There
// is none where the photograph is too small for the kernel. The squares are independent of each other, and so is the result of
// the number of threads.
func Weigh(ctx context.Context, p *imageplanes.Planes, grid deblur.Grid, sigma float64, threads int) (Evidence, error) {
	sigma = max(sigma, minSigma)
	size := 0
	for _, k := range grid.Kernels {
		size = max(size, k.H, k.W)
	}
	side := minSide
	for side < kernelsInSide*size {
		side *= 2
	}
	for side > min(p.Height, p.Width) {
		side /= 2
	}
	if size < 2 || side < 2*size {
		return Evidence{}, nil
	}
	responses := make([]*response, len(grid.Kernels))
	w := newWindow(side)
	for i, k := range grid.Kernels {
		responses[i] = w.response(k, size)
	}
	corners := spread(p.Height, p.Width, side)
	gains := make([]*gain, len(corners)*p.Channels)
	pool := parallel.New(threads)
	defer pool.Close()
	pool.For(len(gains), func(i int) {
		if ctx.Err() != nil {
			return
		}
		at, channel := corners[i/p.Channels], i%p.Channels
		square := make([]float64, side*side)
		if !cut(square, p, channel, at, side) {
			return
		}
		row := (at.y + side/2) * grid.Rows / p.Height
		column := (at.x + side/2) * grid.Columns / p.Width
		gains[i] = w.gain(square, responses[row*grid.Columns+column], sigma)
	})
	if err := ctx.Err(); err != nil {
		return Evidence{}, err
	}
	return sum(gains), nil
}

// corner is the upper left one of a square.
type corner struct{ y, x int }

// spread returns where squares are that overlap by half, or fewer if there are too many, in rows and columns of equal distance.
func spread(h, w, side int) (at []corner) {
	rows, columns := 1+2*(h-side)/side, 1+2*(w-side)/side
	for rows*columns*side*side > maxSamples && rows*columns > 1 {
		if rows > columns {
			rows--
		} else {
			columns--
		}
	}
	place := func(i, n, room int) int {
		if n == 1 {
			return room / 2
		}
		return i * room / (n - 1)
	}
	for i := range rows * columns {
		at = append(at, corner{place(i/columns, rows, h-side), place(i%columns, columns, w-side)})
	}
	return at
}

// cut copies a square of a channel, and says whether it is one to look at.
func cut(square []float64, p *imageplanes.Planes, channel int, at corner, side int) bool {
	plane, clipped := p.Plane(channel), 0
	for y := range side {
		from := (at.y+y)*p.Width + at.x
		for x, v := range plane[from : from+side] {
			if p.Alpha != nil && p.Alpha[from+x] == 0 {
				return false
			}
			if v <= 0 || v >= 1 {
				clipped++
			}
			square[y*side+x] = float64(v)
		}
	}
	return float64(clipped) <= maxClipped*float64(len(square))
}

// gain is what a square says, for each share of the noise.
type gain struct{ samples, light [noiseShares]float64 }

// sum adds what all squares say, with the likeliest share of the noise in each domain.
func sum(gains []*gain) Evidence {
	var samples, light [noiseShares]float64
	for _, g := range gains {
		if g == nil {
			continue
		}
		for i := range noiseShares {
			samples[i] += g.samples[i]
			light[i] += g.light[i]
		}
	}
	s, l := likeliest(samples), likeliest(light)
	var e Evidence
	var squares [3]float64
	for _, g := range gains {
		if g == nil {
			continue
		}
		e.Squares++
		difference := g.light[l] - g.samples[s]
		e.Difference.Value += difference
		for i, v := range [3]float64{g.samples[s], g.light[l], difference} {
			squares[i] += v * v
		}
	}
	e.Samples.Value, e.Light.Value = samples[s], light[l]
	for i, sum := range []*Sum{&e.Samples, &e.Light, &e.Difference} {
		if squares[i] > 0 {
			sum.Deviations = sum.Value / math.Sqrt(squares[i])
		}
	}
	return e
}

// likeliest returns where the largest of the values is.
func likeliest(v [noiseShares]float64) (at int) {
	for i := range v {
		if v[i] > v[at] {
			at = i
		}
	}
	return at
}

// gain weighs a square in both domains.
func (w *window) gain(square []float64, r *response, sigma float64) *gain {
	var g gain
	w.weigh(g.samples[:], square, r, sigma*sigma)
	slopes := 0.0
	for i, v := range square {
		light, slope := srgb.LinearWithSlope(v)
		square[i] = light
		slopes += slope * slope * w.weights[i] * w.weights[i]
	}
	w.weigh(g.light[:], square, r, sigma*sigma*slopes)
	return &g
}

// weigh sets gain to how much likelier the spectrum of a square is with the kernel's response than without it, for each
// share of a noise power. The power at each frequency is exponentially distributed about its expectation (Whittle 1953). Without the
// kernel that is the power m around; with it, s·|k̂|² + n, where n is the noise, and s such that the power around is m, too.
func (w *window) weigh(gain, square []float64, r *response, noise float64) {
	power, around := w.spectra(square, r.taper)
	for i, y := range power {
		if !w.used[i] {
			continue
		}
		m := around[i]
		without := math.Log(m) + y/m
		share := 1.0
		for j := range gain {
			n := share * noise
			with := max(max(m-n, 0)/r.around[i]*r.power[i]+n, leak*m)
			gain[j] += without - math.Log(with) - y/with
			share *= shareStep
		}
	}
}
