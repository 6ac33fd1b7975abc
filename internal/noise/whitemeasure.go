package noise

import "math"

// axis is a direction in colour space, one weight per channel. White noise has the same standard deviation along every
// axis of unit length.
type axis []float64

// normalMAD is the median of |n| for standard normal n.
const normalMAD = 0.6744897501960817

// measurement is a noise level and the patches it comes from.
type measurement struct {
	sigma    float64
	axes     []axis
	flat     selection
	reliable bool
	note     string
}

// measure finds the root mean square over axes of the noise's standard deviation: which patches are flat, and how much
// clipping took from them, depends on the level, so it is the fixed point of measuring and choosing anew.
func (s *samples) measure(axes ...axis) measurement {
	level := func(flat selection) float64 {
		square := 0.0
		for _, a := range axes {
			d := s.deviation(flat, a)
			square += d * d
		}
		return math.Sqrt(square / float64(len(axes)))
	}
	m := measurement{axes: axes, flat: s.flattest(-1), reliable: true}
	m.sigma = level(m.flat)
	const limit, tolerance = 12, 1e-3
	for range limit {
		flat := s.flattest(m.sigma)
		if len(flat.index) == 0 {
			m.reliable, m.note = false, noteClipped
			return m
		}
		last := m.sigma
		m.flat, m.sigma = flat, level(flat)
		if math.Abs(m.sigma-last) <= tolerance*last {
			return m
		}
	}
	// Patches that come and go at the edge of the selection can keep the last digit from settling; that does not
	// matter.
	return m
}

// judge says whether what was measured looks like noise.
func (s *samples) judge(m measurement) measurement {
	if m.sigma == 0 {
		return m
	}
	if m.reliable {
		least := math.Inf(1)
		for _, a := range m.axes {
			least = min(least, s.homogeneity(m.flat, a))
		}
		quiet := float64(m.flat.quiet) >= minQuiet*float64(m.flat.candidates)
		if least >= minHomogeneity && quiet {
			return m
		}
		m.reliable, m.note = false, noteTexture
	}
	constant := 0
	for i := range s.count {
		if s.constant(i) {
			constant++
		}
	}
	if float64(constant) >= constantShare*float64(s.count) {
		m.sigma, m.note = 0, noteGraphics
	}
	return m
}

// deviation is the standard deviation of the noise along an axis: the median absolute value of the high-frequency
// coefficients, over that of a standard normal variable.
func (s *samples) deviation(flat selection, a axis) float64 {
	values := s.scratch[:0]
	s.coefficients(flat, a, func(terms *[noiseTerms]float32) {
		for _, t := range terms {
			values = append(values, max(t, -t))
		}
	})
	s.scratch = values
	return float64(selected(values, len(values)/2)) / normalMAD
}

// homogeneity compares the tenth percentile of the patches' energies along an axis with what white Gaussian noise of
// the same median has: about 1 for noise, near 0 for texture, which is never spread so evenly.
func (s *samples) homogeneity(flat selection, a axis) float64 {
	sigma := s.deviation(flat, a)
	if sigma == 0 {
		return 1
	}
	energies := make([]float64, 0, len(flat.index))
	s.coefficients(flat, a, func(terms *[noiseTerms]float32) {
		e := 0.0
		for _, t := range terms {
			e += float64(t) * float64(t)
		}
		energies = append(energies, e/noiseTerms)
	})
	// The tenth percentile of χ² over its degrees of freedom (Wilson and Hilferty 1931).
	const percentile, v = -1.2815515655446004, 2.0 / (9 * noiseTerms)
	expected := math.Pow(1-v+percentile*math.Sqrt(v), 3)
	return selected(energies, (len(energies)-1)/10) / (sigma * sigma * expected)
}

// coefficients visits the high-frequency coefficients along an axis of every patch, clipping undone.
func (s *samples) coefficients(flat selection, a axis, visit func(*[noiseTerms]float32)) {
	for i, index := range flat.index {
		var terms [noiseTerms]float32
		for c := range a {
			w := float32(a[c]) * flat.weight[i*s.channels+c]
			if w == 0 {
				continue
			}
			for k, f := range s.at(index, c).noise {
				terms[k] += float32(w * f)
			}
		}
		visit(&terms)
	}
}

// selected puts number k of v in order where it belongs, after what is not above it, and returns it; that of nothing is
// 0. Hoare's selection: linear time, and the pivots depend on the values only.
func selected[T float32 | float64 | uint64](v []T, k int) T {
	if len(v) == 0 {
		return 0
	}
	lo, hi := 0, len(v)-1
	for lo < hi {
		pivot := v[lo+(hi-lo)/2]
		i, j := lo, hi
		for i <= j {
			for v[i] < pivot {
				i++
			}
			for v[j] > pivot {
				j--
			}
			if i <= j {
				v[i], v[j] = v[j], v[i]
				i++
				j--
			}
		}
		switch {
		case k <= j:
			hi = j
		case k >= i:
			lo = i
		default:
			return v[k]
		}
	}
	return v[k]
}
