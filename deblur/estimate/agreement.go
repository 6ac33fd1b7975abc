package estimate

import "math"

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

// softened is the kernel under a 3×3 binomial: two kernels that are one sample apart are nearly alike.
func (s support) softened() support {
	t, n := newSupport(s.r), s.side()
	weights := [3]float64{.25, .5, .25}
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
	common := s.scaled(.5, radius(reach, halfSize)).softened()
	kernels, edges, most := make([]support, len(parts)), make([]float64, len(parts)), 0.0
	for i, p := range parts {
		var err error
		if kernels[i], _, _, err = e.half(func(int) []part { return []part{p} }, reach); err != nil {
			return nil, err
		}
		edges[i] = edgeMap(p).over(0, 0, max(p.v.h, p.v.w))
		most = max(most, edges[i])
	}
	var like []float64
	for i, k := range kernels {
		if edges[i] >= leastEdges*most {
			like = append(like, likeness(k.softened(), common, 2))
		}
	}
	return like, nil
}

// leastEdges is what a part needs of the edges of the richest.
const leastEdges = 0.3
