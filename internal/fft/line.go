package fft

import "math"

// lanes is the number of lines that are transformed at the same time.
const lanes = 16

// record is one element of each of the lines: real parts, then imaginary parts.
type record = [2 * lanes]float32

// line is the plan of a complex transform of n elements.
type line struct {
	n      int
	stages []stage
	// frequency[p] is the frequency that forward leaves at position p, and
	// position is the inverse of that permutation.
	frequency, position []int
	// room is how many records a stage needs beside the line.
	room int
}

// stage cuts every block of radix·m elements into radix blocks of m.
type stage struct {
	radix, m int
	// twiddle has radix−1 complex numbers for every p in [0, m): exp(−2πi·p·k/(radix·m))
	// for k = 1…radix−1.
	twiddle []float32
	// cos and sin of 2πj/radix, of a radix that has no code of its own.
	cos, sin []float32
}

func newLine(n int) *line {
	l := &line{n: n, frequency: make([]int, n), position: make([]int, n)}
	m := n
	for _, r := range radices(n) {
		m /= r
		s := stage{radix: r, m: m}
		for p := range m {
			for k := 1; k < r; k++ {
				c, sin := root(p*k, r*m)
				s.twiddle = append(s.twiddle, c, -sin)
			}
		}
		if r > 5 {
			for j := range r {
				c, sin := root(j, r)
				s.cos, s.sin = append(s.cos, c), append(s.sin, sin)
			}
			l.room = max(l.room, r+1)
		}
		l.stages = append(l.stages, s)
	}
	for p := range l.frequency {
		// Position p = Σ kₛ·mₛ holds frequency k₁ + r₁(k₂ + r₂(k₃ + …)).
		f, weight, rest := 0, 1, p
		for _, s := range l.stages {
			f += rest / s.m * weight
			rest %= s.m
			weight *= s.radix
		}
		l.frequency[p], l.position[f] = f, p
	}
	return l
}

// radices factors n: first what is not 2, 3 or 5, then 2 at most once, 3, 5, and
// 4 last, because the last stage has no twiddles and they are the most common.
func radices(n int) []int {
	var small, large []int
	for _, r := range [...]int{4, 5, 3, 2} {
		for n%r == 0 {
			small = append(small, r)
			n /= r
		}
	}
	for r := 7; n > 1; r += 2 {
		if r*r > n {
			r = n
		}
		for n%r == 0 {
			large = append(large, r)
			n /= r
		}
	}
	for i, j := 0, len(small)-1; i < j; i, j = i+1, j-1 {
		small[i], small[j] = small[j], small[i]
	}
	return append(large, small...)
}

// root returns the cosine and sine of 2πj/n, rounded once.
func root(j, n int) (cos, sin float32) {
	j %= n
	// Multiples of a quarter are exact; the rest of the angle is at most π/4, where
	// the functions are most accurate.
	quarter := (4*j + n/2) / n
	s, c := math.Sincos(math.Pi / 2 * float64(4*j-quarter*n) / float64(n))
	switch quarter % 4 {
	case 1:
		c, s = -s, c
	case 2:
		c, s = -c, -s
	case 3:
		c, s = s, -c
	}
	return float32(c), float32(s)
}

// forward transforms x, of n records, X[f] = Σ x[j]·exp(−2πi·jf/n), and leaves
// X[frequency[p]] in x[p].
func (l *line) forward(k *Kernels, x, room []record) {
	for i := range l.stages {
		s := &l.stages[i]
		if s.radix <= largestOwn {
			k.forward[s.radix](&x[0], l.n/(s.radix*s.m), s.m, &s.twiddle[0])
			continue
		}
		w := 2 * (s.radix - 1)
		for b := 0; b < l.n; b += s.radix * s.m {
			block := x[b : b+s.radix*s.m]
			for p := range s.m {
				s.forward(block, p, s.twiddle[p*w:(p+1)*w], room)
			}
		}
	}
}

// inverse undoes forward up to a factor: x[j] = Σ X[f]·exp(+2πi·jf/n) from
// X[frequency[p]] in x[p].
func (l *line) inverse(k *Kernels, x, room []record) {
	for i := len(l.stages) - 1; i >= 0; i-- {
		s := &l.stages[i]
		if s.radix <= largestOwn {
			k.inverse[s.radix](&x[0], l.n/(s.radix*s.m), s.m, &s.twiddle[0])
			continue
		}
		w := 2 * (s.radix - 1)
		for b := 0; b < l.n; b += s.radix * s.m {
			block := x[b : b+s.radix*s.m]
			for p := range s.m {
				s.inverse(block, p, s.twiddle[p*w:(p+1)*w], room)
			}
		}
	}
}
