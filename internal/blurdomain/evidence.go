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
	"slices"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/parallel"
	"github.com/averaged/imaging/internal/srgb"
)

// Evidence is by how much kernels explain the spectra: logarithms of likelihood ratios, summed over the squares.
type Evidence struct {
	// Samples and Light say how much likelier the spectra of the samples, and of light, are under the kernels than without them.
	Samples, Light Sum
	// Difference is by how much more the spectra of light gain than they are expected to, if the kernels blurred light, minus the same
	// of samples. Light and samples themselves cannot be compared: a spectrum gains less where noise hides more of it.
	Difference Sum
	// Squares is how many there were.
	Squares int
}

// Sum is a sum over squares, and how far it is from 0, as a normal distribution has standard deviations (Student's t of the squares).
type Sum struct{ Value, Deviations float64 }

const (
	// significant is the number of standard deviations that are asked of light and of a kernel, and likely that of samples, which are assumed anyway.
	significant, likely = 2, 1
	// enoughSquares is how many there must be for a decision.
	enoughSquares = 5
)

// IsLight says whether the kernels explain light, and explain it better than the samples.
func (e Evidence) IsLight() bool {
	return e.Squares >= enoughSquares && e.Light.Value > 0 && e.Difference.Deviations > significant
}

// IsSamples says whether it is the other way round, or whether there are too few squares to tell. What is neither is open.
func (e Evidence) IsSamples() bool {
	return e.Squares < enoughSquares || e.Samples.Deviations > significant && e.Difference.Deviations < -likely
}

// Explains says whether the spectra of light, or of the samples, are significantly likelier under the kernels than without them, or
// whether there are too few squares to tell.
func (e Evidence) Explains(light bool) bool {
	s := e.Samples
	if light {
		s = e.Light
	}
	return e.Squares < enoughSquares || s.Deviations > significant
}

const (
	// A square has at least so many samples in a row for each of the kernel, so that the window does not fill its zeros, and at
	// least minSide.
	kernelsInSide, minSide = 4, 64
	// Squares are left out with a larger share of samples that are clipped.
	maxClipped = 0.01
	// So many samples of each channel are looked at, at most, in squares that are evenly spread over the frame.
	maxSamples = 1 << 20
	// The noise fills the zeros of k̂, and may be weaker than it is where there is no blur, because files round it and cameras smooth it.
	// So it has one of these standard deviations: strongestNoise and so many halves of it. In each domain the likeliest is taken for all
	// squares.
	strongestNoise = 16. / 255
	noiseLevels    = 8
	// What the window leaks into the zeros is about this share of the power around them.
	leak = 1e-3
	// Slower waves than so many in a square are left out.
	firstCycle = 2.5
)

// Weigh returns the evidence of a photograph under each of some grids of kernels. There is none where the photograph is too small for
// the largest kernel. All grids are weighed in the same squares, so that sums may be compared. The squares are independent of each
// other, and so is the result of the number of threads.
func Weigh(ctx context.Context, p *imageplanes.Planes, threads int, grids ...deblur.Grid) ([]Evidence, error) {
	evidence := make([]Evidence, len(grids))
	size := 0
	for _, g := range grids {
		for _, k := range g.Kernels {
			size = max(size, k.H, k.W)
		}
	}
	side := minSide
	for side < kernelsInSide*size {
		side *= 2
	}
	for side > min(p.Height, p.Width) {
		side /= 2
	}
	if size < 2 || side < 2*size {
		return evidence, nil
	}
	w := newWindow(side, size)
	responses := make([][]*response, len(grids))
	for i, g := range grids {
		for _, k := range g.Kernels {
			responses[i] = append(responses[i], w.response(k))
		}
	}
	corners := spread(p.Height, p.Width, side)
	gains := make([][]*gain, len(grids))
	for i := range gains {
		gains[i] = make([]*gain, len(corners))
	}
	pool := parallel.New(threads)
	defer pool.Close()
	pool.For(len(corners), func(i int) {
		square := make([]float64, side*side)
		for channel := range p.Channels {
			if ctx.Err() != nil || !cut(square, p, channel, corners[i], side) {
				continue
			}
			d := w.domains(square)
			for j, g := range grids {
				row := (corners[i].y + side/2) * g.Rows / p.Height
				column := (corners[i].x + side/2) * g.Columns / p.Width
				if gains[j][i] == nil {
					gains[j][i] = new(gain)
				}
				w.gain(gains[j][i], d, responses[j][row*g.Columns+column])
			}
		}
	})
	for i := range evidence {
		evidence[i] = weighed(gains[i])
	}
	return evidence, ctx.Err()
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

// gain is what a square of all channels says, for each level of the noise.
type gain struct{ samples, light [noiseLevels]told }

// told is how much likelier a spectrum is with the kernel than without it, and by how much that is more than is expected with the
// kernel. The latter is about 0 in the domain that was blurred. In the other one the curve has filled the minima, and it is below.
type told struct{ gain, surplus float64 }

// weighed adds what all squares say, with the likeliest level of the noise in each domain. It is the same noise in both. In the domain
// that was not blurred, what fills the minima looks like more noise, so the surpluses are those of the lower level.
func weighed(gains []*gain) Evidence {
	gains = slices.DeleteFunc(gains, func(g *gain) bool { return g == nil })
	var samples, light [noiseLevels]float64
	for _, g := range gains {
		for i := range noiseLevels {
			samples[i] += g.samples[i].gain
			light[i] += g.light[i].gain
		}
	}
	s, l := likeliest(samples), likeliest(light)
	lower := max(s, l)
	return Evidence{
		Samples:    sum(gains, func(g *gain) float64 { return g.samples[s].gain }),
		Light:      sum(gains, func(g *gain) float64 { return g.light[l].gain }),
		Difference: sum(gains, func(g *gain) float64 { return g.light[lower].surplus - g.samples[lower].surplus }),
		Squares:    len(gains),
	}
}

// sum adds what squares say. The distribution of Student's t becomes nearly a normal one by Wallace's formula (1959).
func sum(gains []*gain, of func(g *gain) float64) (s Sum) {
	squares := 0.0
	for _, g := range gains {
		s.Value += of(g)
		squares += of(g) * of(g)
	}
	n := float64(len(gains))
	freedom := n - 1
	if variance := (squares - s.Value*s.Value/n) / freedom; variance > 0 {
		t2 := s.Value * s.Value / (n * variance)
		s.Deviations = math.Copysign(math.Sqrt(freedom*math.Log1p(t2/freedom))*(8*freedom+1)/(8*freedom+3), s.Value)
	}
	return s
}

// likeliest returns where the largest of the values is.
func likeliest(v [noiseLevels]float64) (at int) {
	for i := range v {
		if v[i] > v[at] {
			at = i
		}
	}
	return at
}

// domains is a square in both domains. slopes is the mean square of the curve's, by which noise has more power in light.
type domains struct {
	samples, light spectrum
	slopes         float64
}

func (w *window) domains(square []float64) (d domains) {
	light := make([]float64, len(square))
	for i, v := range square {
		var slope float64
		light[i], slope = srgb.LinearWithSlope(v)
		d.slopes += slope * slope * w.weights[i] * w.weights[i]
	}
	d.samples, d.light = w.spectra(square, light)
	return d
}

// gain adds what a square says in both domains.
func (w *window) gain(g *gain, d domains, r *response) {
	w.weigh(g.samples[:], d.samples, r, 1)
	w.weigh(g.light[:], d.light, r, d.slopes)
}

// weigh adds what a spectrum tells about the kernel's response, for each level of noise, whose power the curve has multiplied by
// gained. The power at each frequency is exponentially distributed about its expectation (Whittle 1953). Without the kernel that is
// the power m around; with it, s·|k̂|² + n, where n is the noise, and s such that the power around is m, too.
func (w *window) weigh(all []told, s spectrum, r *response, gained float64) {
	for i, y := range s.power {
		if !w.used[i] {
			continue
		}
		m := s.around[i]
		without := math.Log(m) + y/m
		noise := strongestNoise * strongestNoise * gained
		for j := range all {
			n := min(noise, m)
			with := max((m-n)/r.around[i]*r.power[i]+n, leak*m)
			all[j].gain += without - math.Log(with) - y/with
			all[j].surplus += y/m - y/with - with/m + 1 // the gain without what is expected for y = with
			noise /= 4
		}
	}
}
