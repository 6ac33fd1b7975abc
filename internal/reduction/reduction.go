// Package reduction makes planes smaller by weighted means, and takes what was found in the smaller
// plane back to the larger one by the adjoint, in units in which neither makes anything longer.
package reduction

import "fmt"

// Line takes lines of n samples to m ≤ n. With w_ij the weights of linear interpolation from m places,
// spread evenly over the line and constant beyond the first and the last, to the n samples, and
// c_j = Σ_i w_ij, it is
//
//	(Ax)_j = Σ_i w_ij·x_i / c_j.
//
// The rows of A sum to 1 and its columns to at most 1/c, c the least of the c_j, so that ‖A‖² ≤ 1/c by
// Schur's test: L = √c·A has a norm of at most 1.
type Line struct {
	from, to int
	left     []int     // of each sample the place before it, or the last but one
	right    []float32 // the weight of the next place
	sums     []float32 // c_j
	least    float32   // c
}

// NewLine returns the reduction from a number of samples to another, 1 or more and no larger.
func NewLine(from, to int) *Line {
	if to < 1 || to > from {
		panic(fmt.Sprintf("reduction: from %d samples to %d", from, to))
	}
	l := &Line{from: from, to: to, left: make([]int, from), right: make([]float32, from), sums: make([]float32, to)}
	for i := range from {
		// Samples and places are in the middle of equal parts of the line.
		at := float64((float64(i)+0.5)*float64(to)/float64(from)) - 0.5
		at = min(max(at, 0), float64(to-1))
		l.left[i] = min(int(at), max(to-2, 0))
		l.right[i] = float32(at - float64(l.left[i]))
		l.sums[l.left[i]] += 1 - l.right[i]
		if to > 1 {
			l.sums[l.left[i]+1] += l.right[i]
		}
	}
	l.least = l.sums[0]
	for _, c := range l.sums {
		l.least = min(l.least, c)
	}
	return l
}

// Plane is L of rows and columns, L = √(c·c′)·A⊗A′.
type Plane struct{ Rows, Columns *Line }

// NewPlane returns the reduction of h×w samples by a factor of 1 or more, as far as it goes into them.
func NewPlane(h, w, factor int) Plane {
	return Plane{NewLine(h, max(1, h/factor)), NewLine(w, max(1, w/factor))}
}

// Size returns the rows and columns of the smaller plane.
func (p Plane) Size() (h, w int) { return p.Rows.to, p.Columns.to }

// Means sets small to the means A⊗A′·large.
func (p Plane) Means(small, large []float32) {
	clear(small)
	line := make([]float32, p.Columns.to)
	for y := range p.Rows.from {
		clear(line)
		p.Columns.add(line, large[y*p.Columns.from:][:p.Columns.from])
		p.eachRow(y, func(j int, weight float32) { addLine(small[j*p.Columns.to:][:p.Columns.to], line, weight) })
	}
	for i := range small {
		small[i] /= float32(p.Rows.sums[i/p.Columns.to] * p.Columns.sums[i%p.Columns.to])
	}
}

// AddAdjoint adds factor·Lᵀ·√(c·c′)·small to large: what becomes of a change of the means, in their
// units. That is about an interpolation of small.
func (p Plane) AddAdjoint(large, small []float32, factor float32) {
	shares := make([]float32, len(small))
	for i, v := range small {
		row, column := i/p.Columns.to, i%p.Columns.to
		shares[i] = factor * v * float32(p.Rows.least/p.Rows.sums[row]) * float32(p.Columns.least/p.Columns.sums[column])
	}
	line := make([]float32, p.Columns.to)
	for y := range p.Rows.from {
		clear(line)
		p.eachRow(y, func(j int, weight float32) { addLine(line, shares[j*p.Columns.to:][:p.Columns.to], weight) })
		to := large[y*p.Columns.from:][:p.Columns.from]
		for x := range to {
			to[x] += p.Columns.between(x, line)
		}
	}
}

// eachRow calls f with the rows of the smaller plane next to row y of the larger one.
func (p Plane) eachRow(y int, f func(j int, weight float32)) {
	f(p.Rows.left[y], 1-p.Rows.right[y])
	if p.Rows.to > 1 {
		f(p.Rows.left[y]+1, p.Rows.right[y])
	}
}

func addLine(to, from []float32, weight float32) {
	for i, v := range from {
		to[i] += float32(weight * v)
	}
}

// add adds Σ_i w_ij·x_i to the sums.
func (l *Line) add(sums, x []float32) {
	if l.to == 1 {
		for _, v := range x {
			sums[0] += v
		}
		return
	}
	for i, v := range x {
		w := float32(l.right[i] * v)
		sums[l.left[i]] += v - w
		sums[l.left[i]+1] += w
	}
}

// between returns Σ_j w_ij·v_j.
func (l *Line) between(i int, v []float32) float32 {
	if l.to == 1 {
		return v[0]
	}
	a, b := v[l.left[i]], v[l.left[i]+1]
	return a + float32(l.right[i]*(b-a))
}
