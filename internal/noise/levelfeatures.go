package noise

import (
	"context"
	"math"
	"slices"

	"github.com/averaged/imaging/internal/parallel"
)

// countsOf is the number of what Counts counts.
const countsOf = 4

// Counts returns what convolutions cannot count, for each square of three planes of h×w samples, multiples of Square:
// the mean, the shares of pixels with a sample at or below 0 and at or above 1, and the share of pixels that are equal
// to their left neighbour in all channels, as drawings have many.
func Counts(pix []float32, h, w int) []float32 {
	rows, columns := h/Square, w/Square
	plane, squares := h*w, rows*columns
	out := make([]float32, countsOf*squares)
	const share = 1.0 / (Square * Square)
	for row := range rows {
		for y := row * Square; y < (row+1)*Square; y++ {
			for x := range w {
				i := y*w + x
				at := row*columns + x/Square
				a, b, c := pix[i], pix[plane+i], pix[2*plane+i]
				out[at] += (a + b + c) * (share / 3)
				if min(a, b, c) <= 0 {
					out[squares+at] += share
				}
				if max(a, b, c) >= 1 {
					out[2*squares+at] += share
				}
				if x > 0 && a == pix[i-1] && b == pix[plane+i-1] && c == pix[2*plane+i-1] {
					out[3*squares+at] += share
				}
			}
		}
	}
	return out
}

// Magnitudes returns the mean magnitudes of channels of h×w numbers in cells of side×side.
func Magnitudes(x []float32, channels, h, w, side int) []float32 {
	rows, columns := h/side, w/side
	out := make([]float32, channels*rows*columns)
	parallel.Concurrently(channels, func(c int) {
		for y := range rows * side {
			addMagnitudes(out[(c*rows+y/side)*columns:][:columns], x[(c*h+y)*w:][:w], side)
		}
	})
	return out
}

// addMagnitudes adds to means of cells of side×side what a row of numbers has in them.
func addMagnitudes(means, row []float32, side int) {
	scale := 1 / float32(side*side)
	for i := range means {
		sum := float32(0)
		for _, v := range row[i*side:][:side] {
			sum += math.Float32frombits(math.Float32bits(v) &^ (1 << 31)) // its magnitude
		}
		means[i] += scale * sum
	}
}

// quiet is added to a magnitude before its logarithm: that of noise of a tenth of a step of 8 bits.
const quiet = 1e-3

// logarithm is what the head sees of a mean magnitude.
func logarithm(magnitude float32) float32 { return float32(math.Log(float64(magnitude)+quiet)) * 0.5 }

// LogarithmSlope is its derivative.
func LogarithmSlope(magnitude float32) float32 { return 0.5 / (magnitude + quiet) }

// Statistics is how many numbers the head sees of each feature: that of the square, the mean over all squares, and the
// mean over the lowest eighth of them, where noise stands alone.
const Statistics = 3

// Global is what HeadInput has made of all squares, which the way back needs.
type Global struct {
	Means, Lows []float32 // of the magnitudes
	Lowest      [][]int   // the squares of the lowest eighth, of each magnitude
}

// HeadInput returns what the head sees, Statistics·features×squares: logarithms of magnitudes, and counts.
func HeadInput(ctx context.Context, magnitudes, counts []float32, squares int) ([]float32, *Global, error) {
	logs := len(magnitudes) / squares
	features := logs + countsOf
	input := make([]float32, Statistics*features*squares)
	g := &Global{Means: make([]float32, logs), Lows: make([]float32, logs), Lowest: make([][]int, logs)}
	open := unclipped(counts, squares)
	parallel.Concurrently(features, func(k int) {
		if ctx.Err() != nil {
			return
		}
		from, seen := magnitudes, logarithm
		if k >= logs {
			from, seen = counts[(k-logs)*squares:], func(count float32) float32 { return count }
		} else {
			from = from[k*squares:]
		}
		from = from[:squares]
		sum, low := 0.0, 0.0
		for i, v := range from {
			sum += float64(v)
			input[k*squares+i] = seen(v)
		}
		lowest := lowestEighth(from, open)
		for _, i := range lowest {
			low += float64(from[i])
		}
		mean, least := float32(sum/float64(squares)), float32(low/float64(len(lowest)))
		if k < logs {
			g.Means[k], g.Lows[k], g.Lowest[k] = mean, least, lowest
		}
		whole, quietest := seen(mean), seen(least)
		for i := range squares {
			input[(features+k)*squares+i], input[(2*features+k)*squares+i] = whole, quietest
		}
	})
	return input, g, ctx.Err()
}

// unclipped returns the squares of which less than half is clipped or equal to its left neighbour, as drawings are: those
// say nothing of the noise of others. It returns all where there are none.
func unclipped(counts []float32, squares int) []int {
	var open, all []int
	for i := range squares {
		all = append(all, i)
		if counts[squares+i]+counts[2*squares+i]+counts[3*squares+i] < 0.5 {
			open = append(open, i)
		}
	}
	if len(open) == 0 {
		return all
	}
	return open
}

// lowestEighth returns the eighth of some places at which values are lowest, at least one.
func lowestEighth(values []float32, places []int) []int {
	order := make([]uint64, len(places)) // by value, then by place
	for i, place := range places {
		bits := math.Float32bits(values[place])
		if bits>>31 == 1 {
			bits = ^bits
		} else {
			bits |= 1 << 31
		}
		order[i] = uint64(bits)<<32 | uint64(place)
	}
	lowest := make([]int, (len(places)+7)/8)
	selected(order, len(lowest)-1)
	slices.Sort(order[:len(lowest)])
	for i := range lowest {
		lowest[i] = int(uint32(order[i]))
	}
	return lowest
}

// Level returns the noise level of the network's number u: 0 up to u = 0, then linear up to 0.005 at u = 1, then in
// octaves, up to MaxLevel.
func Level(u float32) float32 {
	switch {
	case !(u > 0):
		return 0
	case u <= 1:
		return 0.005 * u
	}
	return float32(min(0.005*math.Exp2(float64(u)-1), MaxLevel))
}

// MaxLevel is the highest noise level that the network says.
const MaxLevel = 0.64
