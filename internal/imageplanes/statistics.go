package imageplanes

import (
	"math"

	"github.com/averaged/imaging/internal/strength"
)

// Contrast is the standard deviation of the samples, each channel about its own mean.
func (p *Planes) Contrast() float64 {
	square := 0.0
	for c := range p.Channels {
		mean, m2 := 0.0, 0.0
		for i, v := range p.Plane(c) {
			d := float64(v) - mean
			mean += d / float64(i+1)
			m2 += d * (float64(v) - mean)
		}
		square += m2
	}
	return math.Sqrt(square / float64(len(p.Pix)))
}

// Saturated returns the share of samples that are black or white: noise that is cut off there
// leaves less to remove than its standard deviation says.
func (p *Planes) Saturated() float64 {
	n := 0
	for _, v := range p.Pix {
		if v == 0 || v == 1 {
			n++
		}
	}
	return float64(n) / float64(len(p.Pix))
}

// Gradients measures the lengths of the gradients of the mean of the channels, averaged over blocks
// of side×side pixels; nil for an image of less than 2×2 blocks. The median is right to 0.4 %.
func (p *Planes) Gradients(side int) *strength.Gradients {
	h, w := p.Height/side, p.Width/side
	if h < 2 || w < 2 {
		return nil
	}
	above, row, sums := make([]float64, w), make([]float64, w), make([]float64, p.Width)
	counts := make([]int, 1<<lengthBits)
	sum := 0.0
	p.blocks(above, sums, 0, side)
	for y := 1; y < h; y++ {
		p.blocks(row, sums, y, side)
		for x, v := range above[:w-1] {
			right, down := above[x+1]-v, row[x]-v
			length := math.Sqrt(right*right + down*down)
			sum += length
			counts[math.Float32bits(float32(length))>>(31-lengthBits)]++
		}
		above, row = row, above
	}
	n := (h - 1) * (w - 1)
	bin := 0
	for below := counts[0]; below <= n/2; below += counts[bin] {
		bin++
	}
	return &strength.Gradients{Mean: sum / float64(n), Median: float64(math.Float32frombits(uint32(bin) << (31 - lengthBits)))}
}

// lengthBits are the leading bits of a positive float32 that lengths are counted by: all of its
// exponent, and eight of its mantissa.
const lengthBits = 16

// blocks sets to to the means of row y of blocks; sums is scratch for a row of the image.
func (p *Planes) blocks(to, sums []float64, y, side int) {
	clear(sums)
	for c := range p.Channels {
		for r := y * side; r < (y+1)*side; r++ {
			for x, v := range p.Plane(c)[r*p.Width:][:p.Width] {
				sums[x] += float64(v)
			}
		}
	}
	scale := 1 / float64(p.Channels*side*side)
	for x := range to {
		sum := 0.0
		for _, v := range sums[x*side:][:side] {
			sum += v
		}
		to[x] = scale * sum
	}
}
