package estimate

import (
	"math"
	"slices"
)

// likeness is the largest correlation of two kernels, moved against each other by at most most
// samples in rows and columns: 1 if they are the same, 0 if nothing is in common.
func likeness(a, b support, most int) float64 {
	n := a.side()
	best := 0.0
	for dy := -most; dy <= most; dy++ {
		for dx := -most; dx <= most; dx++ {
			sum := 0.0
			for i, v := range a.k {
				y, x := i/n+dy, i%n+dx
				if v > 0 && y >= 0 && y < n && x >= 0 && x < n {
					sum += v * b.k[y*n+x]
				}
			}
			best = max(best, sum)
		}
	}
	return best / math.Sqrt(a.energy()*b.energy())
}

// binomial is the variance of the blur by ¼, ½, ¼. Under it two kernels that are one sample apart are nearly alike.
const binomial = 0.5

// softened is the kernel under a blur of 3×3 samples that has the given variance, at most binomial, along rows and
// along columns.
func (s support) softened(variance float64) support {
	t, n := newSupport(s.r), s.side()
	weights := [3]float64{variance / 2, 1 - variance, variance / 2}
	for i, v := range s.k {
		if v == 0 {
			continue
		}
		for j, a := range weights {
			for l, b := range weights {
				if y, x := i/n+j-1, i%n+l-1; y >= 0 && y < n && x >= 0 && x < n {
					t.k[y*n+x] += v * a * b
				}
			}
		}
	}
	return t
}

// agreement estimates the kernel of every part by itself at half size, from nothing, and returns how
// like it they are to the common one. A part with hardly an edge says nothing.
func (e *estimation) agreement(parts []part, s support) ([]float64, error) {
	reach := s.reach() + s.reach()/4 + 2
	common := s.scaled(.5, radius(reach, halfSize)).softened(binomial)
	var like []float64
	for _, p := range parts {
		k, _, _, err := e.half(func(int) []part { return []part{p} }, reach)
		if err != nil {
			return nil, err
		}
		like = append(like, likeness(k.softened(binomial), common, 2))
	}
	return like, nil
}

// halves lets two halves of what the kernel was found in make the last steps from it on, each by itself, and returns
// how like each other their kernels are. It is 0 where a half is too small.
func (e *estimation) halves(parts []part, s support) (float64, error) {
	of := [2][]part{}
	if len(parts) == 1 {
		one, other := parts[0].halves()
		of = [2][]part{{one}, {other}}
	} else {
		for i, p := range parts {
			of[i%2] = append(of[i%2], p)
		}
	}
	var kernels [2]support
	for i, half := range of {
		if min(half[0].v.h, half[0].v.w) < 2*s.side() {
			return 0, nil
		}
		levels, err := e.levels(half, 0, s.r)
		if err != nil {
			return 0, err
		}
		if kernels[i], err = e.finish(levels, s, 0); err != nil {
			return 0, err
		}
	}
	return likeness(kernels[0], kernels[1], 2), nil
}

// withEdges returns the parts that have enough edges to say something.
func withEdges(parts []part) (rich []part) {
	of, most := make([]float64, len(parts)), 0.0
	for i, p := range parts {
		of[i] = edgeMap(p).over(0, 0, max(p.v.h, p.v.w))
		most = max(most, of[i])
	}
	for i, p := range parts {
		if of[i] >= minEdges*most {
			rich = append(rich, p)
		}
	}
	return rich
}

// minEdges is what a part needs of the edges of the richest.
const minEdges = 0.3

// variation lets every part change the common kernel into its own, and returns 1 less the least
// likeness of two of these, noise and lack of edges allowed for, and the narrowest and the widest of
// their spreads, in samples. Under one blur the parts stay together, where kernels that they find from
// nothing differ by their texture.
func (e *estimation) variation(parts []part, s support) (most float64, spreads [2]float64, err error) {
	var kernels []support
	var edges, errors []float64
	for _, p := range parts {
		_, k, m, err := e.follow(p, s, variationSteps)
		if err != nil {
			return 0, spreads, err
		}
		kernels = append(kernels, k.softened(binomial))
		edges, errors = append(edges, m.a[len(m.a)/2]), append(errors, m.error(k))
	}
	for i, a := range kernels {
		for j, b := range kernels[:i] {
			if min(edges[i], edges[j]) < minShare*slices.Max(edges) {
				continue
			}
			v := 1 - likeness(a, b, 2) - colouredEdges*(errors[i]+errors[j])/2
			if v <= most {
				continue
			}
			most, spreads = v, [2]float64{a.spread(), b.spread()}
			slices.Sort(spreads[:])
		}
	}
	for i := range spreads {
		spreads[i] *= 2 // from half size
	}
	return most, spreads, nil
}

const (
	variationSteps = 10
	// minShare is what a part needs of the energy of the sharp edges of the richest.
	minShare = 0.1
	// colouredEdges is by how much the error of a kernel is larger than error says, since the
	// spectrum of edges is not flat.
	colouredEdges = 6
)

// error is the square of a kernel's error for its own, where edges have a flat spectrum: then each
// weight has the variance of what is left, divided by the energy of the edges.
func (m *moments) error(k support) float64 {
	return float64(k.count()) * m.left / m.data / (m.a[len(m.a)/2] * k.energy())
}

// spread is the root mean square distance of the weights from their centre of mass.
func (s support) spread() float64 {
	yy, xx, _ := s.variance()
	return math.Sqrt(yy + xx)
}

// follow makes steps of image and kernel at half size from a kernel on, and returns it there and what
// comes out, with the moments of the last step.
func (e *estimation) follow(p part, s support, steps int) (given, found support, m *moments, err error) {
	given = s.scaled(.5, radius(s.r, halfSize)+2)
	levels, err := e.levels([]part{p}, halfSize, given.r)
	if err != nil {
		return given, found, nil, err
	}
	found, m, err = e.alternate(levels, given, steps)
	if err != nil {
		return given, found, nil, err
	}
	return given, found.cleaned(tuned.threshold, tuned.island), m, nil
}
