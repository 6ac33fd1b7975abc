package estimate

import (
	"math"
	"slices"

	"github.com/averaged/imaging/internal/fft"
	"github.com/averaged/imaging/internal/parallel"
)

// level is a part of the photograph at one scale, on a torus so large that a kernel cannot
// reach around it. The photograph is in rows 0…h−1 and columns 0…w−1. What lies beyond, and
// what is clipped, is not known: it is what the image found last gives under the kernel, but
// where it is clipped at white at least that.
type level struct {
	pool   *parallel.Pool
	plan   *fft.Plan
	h, w   int // of the photograph
	ph, pw int // periods
	r      int // radius of the kernels

	v     []float32 // photograph
	known []bool
	lit   []bool       // what lamps may have lit; nil: nothing
	white []int        // samples that are clipped at white: the light was that bright or brighter
	least []float32    // how bright these are
	u     []float32    // sharp image
	x     [2][]float32 // its differences along rows and columns

	rough    [2][]float64 // |1 − exp(iθ)|² for the frequencies along columns and rows
	response *fft.Spectrum
	base     []float32 // Kᵀv
	room     []float32
}

// newLevel puts a part on a torus for kernels of radius r. clipped and lit, which may be nil, say which samples say
// nothing of the light, and of light that is not a lamp's.
func newLevel(pool *parallel.Pool, v plane, clipped, lit []bool, r int) (*level, error) {
	l := &level{pool: pool, h: v.h, w: v.w, r: r}
	l.ph, l.pw = fft.GoodSize(v.h+2*r+2), fft.GoodSize(v.w+2*r+2)
	var err error
	if l.plan, err = fft.New(l.ph, l.pw); err != nil {
		return nil, err
	}
	n := l.ph * l.pw
	l.v, l.known, l.u = make([]float32, n), make([]bool, n), make([]float32, n)
	l.x = [2][]float32{make([]float32, n), make([]float32, n)}
	l.base, l.room = make([]float32, n), make([]float32, n)
	if l.response, err = l.plan.Forward(pool, l.room); err != nil {
		return nil, err
	}
	l.rough = [2][]float64{roughness(l.ph), roughness(l.pw)}
	rows, columns := joints(v.h, l.ph), joints(v.w, l.pw)
	for y, a := range rows {
		for x, b := range columns {
			at := y*l.pw + x
			top := (1-b.turn)*v.pix[a.from*v.w+b.from] + b.turn*v.pix[a.from*v.w+b.to]
			bottom := (1-b.turn)*v.pix[a.to*v.w+b.from] + b.turn*v.pix[a.to*v.w+b.to]
			l.v[at] = (1-a.turn)*top + a.turn*bottom
			l.known[at] = y < v.h && x < v.w && !clipped[y*v.w+x]
		}
	}
	if lit != nil {
		l.lit = make([]bool, n)
		for i, near := range lit {
			if near {
				at := i/v.w*l.pw + i%v.w
				l.lit[at], l.known[at] = true, false
			}
		}
	}
	return l, nil
}

// clip says which samples are clipped at white: where lamps is above 0. Rows and columns at the border that are white throughout
// may be a frame around the photograph, and say nothing.
func (l *level) clip(lamps plane) {
	top, bottom, left, right := lamps.zeroExtent()
	for y := top; y <= bottom; y++ {
		for x := left; x <= right; x++ {
			if at := y*l.pw + x; lamps.pix[y*l.w+x] > 0 && !l.known[at] {
				l.white, l.least = append(l.white, at), append(l.least, l.v[at])
			}
		}
	}
}

// roughness returns |1 − exp(iθ)|² at the frequencies of n samples.
func roughness(n int) []float64 {
	s := make([]float64, n)
	for f := range s {
		sin := math.Sin(math.Pi * float64(f) / float64(n))
		s[f] = 4 * sin * sin
	}
	return s
}

// joint says what a sample of a torus is a mean of: (1−turn) of one and turn of the other.
type joint struct {
	from, to int
	turn     float32
}

// joints continues n samples to a period, by a smooth turn from their reflection at the
// end to that at the beginning.
func joints(n, period int) []joint {
	all := make([]joint, period)
	gap := period - n
	for i := range all {
		if i < n {
			all[i] = joint{from: i, to: i}
			continue
		}
		j := i - n
		t := (float64(j) + .5) / float64(gap)
		all[i] = joint{from: max(n-1-j, 0), to: min(gap-1-j, n-1), turn: float32(t * t * (3 - 2*t))}
	}
	return all
}

// wrap takes i modulo n into [0, n).
func wrap(i, n int) int {
	if i %= n; i < 0 {
		i += n
	}
	return i
}

// blurring returns the convolution with a kernel, and |K|² by row and column frequency.
func (l *level) blurring(s support) (k *fft.Filter, power []float64, err error) {
	n := s.side()
	clear(l.room)
	for i, v := range s.k {
		l.room[wrap(i/n-s.r, l.ph)*l.pw+wrap(i%n-s.r, l.pw)] += float32(v)
	}
	spectrum, err := l.plan.Forward(l.pool, l.room)
	if err != nil {
		return nil, nil, err
	}
	half := l.pw/2 + 1
	power = make([]float64, l.ph*half)
	spectrum.Each(func(fy, fx int, v complex64) complex64 {
		re, im := float64(real(v)), float64(imag(v))
		power[fy*half+fx] = float64(re*re) + float64(im*im)
		return v
	})
	return spectrum.Filter(), power, nil
}

// apply sets dst to the convolution of src with f, or with its adjoint.
func (l *level) apply(f *fft.Filter, dst, src []float32, adjoint bool) error {
	from := fft.Rows{H: l.ph, W: l.pw, Row: func(_, y int, row []float32) { copy(row, src[y*l.pw:]) }}
	to := fft.Rows{H: l.ph, W: l.pw, Row: func(_, y int, row []float32) { copy(dst[y*l.pw:(y+1)*l.pw], row) }}
	return f.Apply(l.pool, 1, to, from, adjoint)
}

// each calls f for all rows, with the rows above and below.
func (l *level) each(f func(above, at, below int)) {
	l.pool.For(l.ph, func(y int) {
		f(wrap(y-1, l.ph)*l.pw, y*l.pw, wrap(y+1, l.ph)*l.pw)
	})
}

// moments are what the kernel step needs of levels: Σ‖y − x∗k‖² is
// kᵀAk − 2bᵀk and a constant, A the Toeplitz matrix of a.
type moments struct {
	r    int
	a    []float64 // autocorrelation of the sharp differences, lags −2r…2r in rows and columns
	b    []float64 // correlation of the photograph's differences with them, lags −r…r
	left float64   // squares of what the kernel leaves of the known differences
	data float64   // number of these
	// texture, if it is not zero, weights the frequencies of a and b.
	texture  texture
	spectrum []complex128 // of a, where energy has made it; or nil
}

func newMoments(r int) moments {
	return moments{r: r, a: make([]float64, (4*r+1)*(4*r+1)), b: make([]float64, (2*r+1)*(2*r+1))}
}

// measure adds the moments of a level, whose sharp image is for the kernel s. Sharp differences where lamps may have lit
// are no evidence of the kernel: hardly a sample that is fitted shows them, and what fills the others is their blur by s
// itself, so that they would hold the kernel where it is. What they add to the samples that are fitted is subtracted.
func (m *moments) measure(l *level, s support) error {
	k, power, err := l.blurring(s)
	if err != nil {
		return err
	}
	m.spectrum = nil
	n := l.ph * l.pw
	blurred, out := make([]float32, n), make([]float32, n)
	for c, x := range l.x {
		if err := l.apply(k, blurred, x, false); err != nil {
			return err
		}
		fitted, to := x, blurred
		if l.lit != nil {
			fitted, to = l.unlit(x), make([]float32, n)
			if err := l.apply(k, to, fitted, false); err != nil {
				return err
			}
		}
		for y := range l.ph {
			row, below := y*l.pw, wrap(y+1, l.ph)*l.pw
			for i := range l.pw {
				at, other := row+i, row+wrap(i+1, l.pw)
				if c == 1 {
					other = below + i
				}
				if !l.known[at] || !l.known[other] {
					continue
				}
				d := l.v[other] - l.v[at]
				e := float64(d - blurred[at])
				m.left += e * e
				m.data++
				if l.lit == nil {
					to[at] = d
				} else {
					to[at] += float32(e)
				}
			}
		}
		spectrum, err := l.plan.Forward(l.pool, fitted)
		if err != nil {
			return err
		}
		if m.texture.variance > 0 {
			spectrum.Each(func(fy, fx int, v complex64) complex64 {
				weight := m.texture.weight(power[fy*(l.pw/2+1)+fx], l.rough[0][fy]+l.rough[1][fx])
				return v * complex(float32(weight), 0)
			})
		}
		correlate := spectrum.Filter()
		for _, of := range []struct {
			src []float32
			dst []float64
			r   int
		}{{fitted, m.a, 2 * m.r}, {to, m.b, m.r}} {
			if err := l.apply(correlate, out, of.src, true); err != nil {
				return err
			}
			side := 2*of.r + 1
			for i := range of.dst {
				of.dst[i] += float64(out[wrap(i/side-of.r, l.ph)*l.pw+wrap(i%side-of.r, l.pw)])
			}
		}
	}
	return nil
}

// unlit returns differences of the sharp image without those where lamps may have lit.
func (l *level) unlit(x []float32) []float32 {
	dark := slices.Clone(x)
	for i, lit := range l.lit {
		if lit {
			dark[i] = 0
		}
	}
	return dark
}
