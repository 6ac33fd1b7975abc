package estimate

import (
	"context"
	"math"
	"slices"

	"github.com/averaged/imaging/internal/fft"
	"github.com/averaged/imaging/internal/parallel"
)

// spectra are the power spectra of overlapping squares of a photograph, in units of the noise. They judge a blur without
// a sharp image: under a blur with the frequency response k̂, the power of a photograph without noise is its sharp power
// times |k̂|².
type spectra struct {
	pool    *parallel.Pool
	squares []square // row by row
	columns int      // of squares
	// fy and fx are the frequencies in cycles per sample, sorted by direction; first has the first of each direction, and
	// their number at the end.
	fy, fx []float64
	first  []int
	length []float64 // logarithms of the lengths of the frequencies
	sigma  float64   // standard deviation of the noise
	// coloured says that the noise may have less power at high frequencies, as that of JPEGs and of what programs have smoothed.
	coloured bool
	last     laws // of misfit, for the next call
}

// square is the square about (y, x), in samples from the middle of the frame.
type square struct {
	y, x  float64
	power []float64
}

const (
	// The frequencies from firstCycle cycles in a square on are used, in so many directions.
	firstCycle, directions = 2, 12
)

// newSpectra measures the spectra of a photograph with noise of standard deviation sigma, in squares of side samples, half of
// which each shares with the next, up to a frequency of lastCycle cycles in a square. There is none where the photograph is
// smaller than a square.
func newSpectra(ctx context.Context, pool *parallel.Pool, v plane, sigma float64, side int, lastCycle float64) (*spectra, error) {
	s := &spectra{pool: pool}
	if min(v.h, v.w) < side {
		return s, nil
	}
	plan, err := fft.New(side, side)
	if err != nil {
		return nil, err
	}
	window, sum, squares := make([]float64, side), 0.0, 0.0
	for i := range window {
		sin := math.Sin(math.Pi * (float64(i) + .5) / float64(side))
		window[i] = sin * sin
		sum += window[i]
		squares += window[i] * window[i]
	}
	// Where in a spectrum the frequencies are, by direction.
	at := make([][]int, directions)
	for i := range side * (side/2 + 1) {
		fy, fx := i/(side/2+1), i%(side/2+1)
		if fy > side/2 {
			fy -= side
		}
		if cycles := math.Hypot(float64(fy), float64(fx)); cycles < firstCycle || cycles > lastCycle || fx == 0 && fy < 0 {
			continue
		}
		turn := math.Atan2(float64(fy), float64(fx))/math.Pi + 1
		at[int(turn*directions+.5)%directions] = append(at[int(turn*directions+.5)%directions], i)
	}
	var order []int
	for _, of := range at {
		s.first = append(s.first, len(order))
		order = append(order, of...)
	}
	s.first = append(s.first, len(order))
	for _, i := range order {
		fy, fx := i/(side/2+1), i%(side/2+1)
		if fy > side/2 {
			fy -= side
		}
		y, x := float64(fy)/float64(side), float64(fx)/float64(side)
		s.fy, s.fx, s.length = append(s.fy, y), append(s.fx, x), append(s.length, math.Log(math.Hypot(y, x)))
	}
	unit := 1 / (squares * squares)
	room, all := make([]float32, side*side), make([]float64, side*(side/2+1))
	s.columns = len(starts(v.w, side))
	for _, y := range starts(v.h, side) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		for _, x := range starts(v.w, side) {
			mean := 0.0
			for i := range side {
				for j, a := range v.row(y + i)[x : x+side] {
					mean += window[i] * window[j] * float64(a)
				}
			}
			mean /= sum * sum
			for i := range side {
				for j, a := range v.row(y + i)[x : x+side] {
					room[i*side+j] = float32(window[i] * window[j] * (float64(a) - mean))
				}
			}
			spectrum, err := plan.Forward(pool, room)
			if err != nil {
				return nil, err
			}
			spectrum.Each(func(fy, fx int, c complex64) complex64 {
				re, im := float64(real(c)), float64(imag(c))
				all[fy*(side/2+1)+fx] = unit * (re*re + im*im)
				return c
			})
			q := square{y: float64(y) + float64(side-v.h)/2, x: float64(x) + float64(side-v.w)/2}
			for _, i := range order {
				q.power = append(q.power, all[i])
			}
			s.squares = append(s.squares, q)
		}
	}
	s.sigma = math.Sqrt(max(sigma*sigma, minNoise*minNoise, s.floor()))
	for _, q := range s.squares {
		for i := range q.power {
			q.power[i] /= s.sigma * s.sigma
		}
	}
	return s, nil
}

// floor is the mean power at the highest frequencies, of the square that has less of it than nine in ten. It is hardly more than
// the noise where that is white, and tells that of a JPEG, whose rounding hides it from cosine transforms of 8×8 samples.
func (s *spectra) floor() float64 {
	const share, highest = 10, 0.9 // of the longest frequency
	top := slices.Max(s.length) + math.Log(highest)
	var means []float64
	for _, q := range s.squares {
		sum, n := 0.0, 0
		for i, p := range q.power {
			if s.length[i] >= top {
				sum += p
				n++
			}
		}
		means = append(means, sum/float64(n))
	}
	slices.Sort(means)
	return means[len(means)/share]
}

// minNoise is the standard deviation of the noise that is assumed at least, half a step of 8 bits.
const minNoise = 0.5 / 255

// starts are where squares of side samples begin on an axis of n samples, half of one apart or closer.
func starts(n, side int) (all []int) {
	gaps := (2*(n-side) + side - 1) / side
	for i := range gaps + 1 {
		all = append(all, (2*i*(n-side)+gaps)/max(2*gaps, 1))
	}
	return all
}

// sparse has fewer squares: every second along rows and columns, or even fewer, so that there are few more than most.
func (s *spectra) sparse() *spectra {
	const most = 40
	step := max(2, int(math.Sqrt(float64(len(s.squares))/most)))
	t := *s
	t.squares, t.columns = nil, (s.columns+step-1)/step
	for i, q := range s.squares {
		if i/s.columns%step == 0 && i%s.columns%step == 0 {
			t.squares = append(t.squares, q)
		}
	}
	return &t
}

// count is how many powers there are.
func (s *spectra) count() int { return len(s.squares) * len(s.length) }

// misfit is minus the logarithm of the likelihood of the spectra, less a constant (Whittle 1953), under a blur that has the
// power responses that response writes for the frequencies of a square. The sharp image has, in every square and direction, a
// power of a·|f|^−fall, with the a that is likeliest there. So it is only the fall of the power along a direction that tells
// of blur, not which way the edges of a square run. The noise has a power of
// exp(noise·(1 − |f|/m)), with m the largest |f|. Calls must not be concurrent.
func (s *spectra) misfit(fall, noise float64, response func(to []float64, q square)) float64 {
	l := s.last
	if l.fall != fall || l.noise != noise || l.sharp == nil {
		l = s.laws(fall, noise)
		s.last = l
	}
	of := make([]float64, len(s.squares))
	s.pool.For(len(s.squares), func(i int) {
		q := s.squares[i]
		model, power := make([]float64, len(l.sharp)), q.power
		response(model, q)
		for j, v := range l.sharp {
			model[j] *= v
		}
		if l.noises != nil {
			power = slices.Clone(power)
			for j, v := range l.noises {
				power[j] /= v
				model[j] /= v
			}
		}
		of[i] = l.logs
		for d := range directions {
			from, to := s.first[d], s.first[d+1]
			of[i] += directionMisfit(power[from:to], model[from:to])
		}
	})
	sum := 0.0
	for _, v := range of {
		sum += v
	}
	return sum
}

// laws are the powers of a sharp image and of noise that spectra.misfit assumes.
type laws struct {
	fall, noise   float64
	sharp, noises []float64 // no noises: all are 1
	logs          float64   // sum of the logarithms of noises
}

func (s *spectra) laws(fall, noise float64) laws {
	l := laws{fall: fall, noise: noise, sharp: make([]float64, len(s.length))}
	for i, v := range s.length {
		l.sharp[i] = math.Exp(-fall * v)
	}
	if noise == 0 {
		return l
	}
	l.noises = make([]float64, len(s.length))
	most := math.Exp(slices.Max(s.length))
	for i, fy := range s.fy {
		v := noise * (1 - math.Hypot(fy, s.fx[i])/most)
		l.noises[i] = math.Exp(v)
		l.logs += v
	}
	return l
}

// directionMisfit is Σ p/(a·m+1) + log(a·m+1) for the powers p and the model m, with an a that nearly minimises it,
// by Fisher's scoring of log a.
func directionMisfit(power, model []float64) float64 {
	const steps, maxStep, most = 3, 1.5, 1e9
	data, all := 0.0, 0.0
	for i, p := range power {
		data += max(p-1, 0)
		all += model[i]
	}
	if !(all > 0) {
		return 0
	}
	a := max(data/all, 1/most)
	for range steps {
		slope, curve := 0.0, 1e-6
		for i, p := range power {
			v := a * model[i]
			inverse := 1 / (v + 1)
			share := v * inverse
			slope += (p - v - 1) * share * inverse
			curve += share * share
		}
		a = min(max(a*math.Exp(min(max(slope/curve, -maxStep), maxStep)), 1/most), most)
	}
	sum, product := 0.0, 1.0
	for i, p := range power {
		v := a*model[i] + 1
		sum += p / v
		if product *= v; product > 1e200 {
			sum += math.Log(product)
			product = 1
		}
	}
	return sum + math.Log(product)
}
