package imageplanes

import (
	"math"

	"gonum.org/v1/gonum/mat"
)

// ToneRounding is the root mean square distance from the line of a Tone, in units of the largest sample: half a step of 8
// bits. Rounding to 8 bits leaves half as much.
const ToneRounding = 0.5 / 255

// Tone is a line in the space of colours: grey, or the one tint of a picture in sepia.
type Tone struct {
	// axis is its direction, with 1 for the channel that changes most.
	axis [3]float64
}

// Brightness is the line of greys.
var Brightness = Tone{axis: [3]float64{1, 1, 1}}

// Tone returns the line that the colours of an image are on, up to rounding. An image of other than three channels, of more
// colours or of only one has none, and a line along which a channel does not grow with the others is none either.
func (p *Planes) Tone() (t Tone, is bool) {
	if p.Channels != 3 {
		return Tone{}, false
	}
	n := p.Width * p.Height
	var first, sum [3]float64
	var product [3][3]float64
	most := 0.0
	for c := range first {
		first[c] = float64(p.Pix[c*n])
	}
	for i := range n {
		var d [3]float64 // from the first pixel: far from 0 the sums of squares would cancel
		for c := range d {
			v := float64(p.Pix[c*n+i])
			most = max(most, math.Abs(v))
			d[c] = v - first[c]
		}
		for a, x := range d {
			sum[a] += x
			for b := a; b < 3; b++ {
				product[a][b] += x * d[b]
			}
		}
	}
	covariance := mat.NewSymDense(3, nil)
	for a := range 3 {
		for b := a; b < 3; b++ {
			covariance.SetSym(a, b, (product[a][b]-sum[a]*sum[b]/float64(n))/float64(n))
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(covariance, true) {
		return Tone{}, false
	}
	values := eigen.Values(nil) // in ascending order
	limit := ToneRounding * most
	if beside := values[0] + values[1]; !(values[2] > 0) || !(beside <= 3*limit*limit) {
		return Tone{}, false
	}
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	largest := 0.0
	for c := range t.axis {
		if v := vectors.At(c, 2); math.Abs(v) > math.Abs(largest) {
			largest = v
		}
	}
	for c := range t.axis {
		if t.axis[c] = vectors.At(c, 2) / largest; !(t.axis[c] > 0) {
			return Tone{}, false
		}
	}
	return t, true
}

// Grey returns the positions of an image's colours on the line, as an image of one channel: what the strongest channel of
// the tint has, so that of an image that was tinted it is the image before.
func (t Tone) Grey(p *Planes) *Planes {
	g := &Planes{Width: p.Width, Height: p.Height, Channels: 1, Pix: make([]float32, p.Width*p.Height), Alpha: p.Alpha}
	for i := range g.Pix {
		g.Pix[i] = t.at(p, i)
	}
	return g
}

// at is the position of a pixel.
func (t Tone) at(p *Planes, i int) float32 {
	n := p.Width * p.Height
	sum, square := 0.0, 0.0
	for c, a := range t.axis {
		sum += a * float64(p.Pix[c*n+i])
		square += a * a
	}
	return float32(sum / square)
}

// Restored returns the samples of an image whose positions on the line have become grey. What lies beside the line stays.
func (t Tone) Restored(p *Planes, grey []float32) []float32 {
	n := p.Width * p.Height
	out := make([]float32, 3*n)
	for i, v := range grey {
		change := v - t.at(p, i)
		for c, a := range t.axis {
			out[c*n+i] = p.Pix[c*n+i] + float32(a)*change
		}
	}
	return out
}
