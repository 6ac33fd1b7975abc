package estimate

import (
	"math"
	"slices"

	"github.com/averaged/imaging/deblur"
)

// support is a kernel under estimation: (2r+1)×(2r+1) weights that are not negative
// and sum to 1, with its centre in the middle.
type support struct {
	r int
	k []float64
}

func newSupport(r int) support { return support{r, make([]float64, (2*r+1)*(2*r+1))} }

// supportOf is a kernel in a support of radius r, which it must not exceed.
func supportOf(k deblur.Kernel, r int) support {
	s := newSupport(r)
	for i, w := range k.Weights {
		s.k[(i/k.W-k.CY+r)*s.side()+i%k.W-k.CX+r] = float64(w)
	}
	return s
}

func (s support) side() int { return 2*s.r + 1 }

// normalise makes the weights sum to 1 and returns what they summed to.
func (s support) normalise() float64 {
	sum := 0.0
	for _, v := range s.k {
		sum += v
	}
	if sum > 0 {
		for i := range s.k {
			s.k[i] /= sum
		}
	}
	return sum
}

// energy is ‖k‖₂².
func (s support) energy() float64 {
	sum := 0.0
	for _, v := range s.k {
		sum += v * v
	}
	return sum
}

// mean returns the centre of mass, from the middle.
func (s support) mean() (y, x float64) {
	n := s.side()
	for i, v := range s.k {
		y += v * float64(i/n-s.r)
		x += v * float64(i%n-s.r)
	}
	return y, x
}

// moved returns the kernel moved by whole samples; what would leave the support is lost.
func (s support) moved(dy, dx int) support {
	t, n := newSupport(s.r), s.side()
	for i, v := range s.k {
		y, x := i/n+dy, i%n+dx
		if y >= 0 && y < n && x >= 0 && x < n {
			t.k[y*n+x] = v
		}
	}
	return t
}

// turned returns the kernel turned by 180 degrees.
func (s support) turned() support {
	t := support{s.r, slices.Clone(s.k)}
	slices.Reverse(t.k)
	return t
}

// centred returns the kernel with its centre of mass within half a sample of the middle.
func (s support) centred() support {
	y, x := s.mean()
	dy, dx := -int(math.Round(y)), -int(math.Round(x))
	if dy == 0 && dx == 0 {
		return s
	}
	t := s.moved(dy, dx)
	t.normalise()
	return t
}

// scaled returns the kernel of an image that is factor times as large, in a support of
// radius r.
func (s support) scaled(factor float64, r int) support {
	t, n := newSupport(r), s.side()
	// Linear interpolation of a density, which is smaller where it is stretched.
	for i := range t.k {
		y, x := float64(i/t.side()-r)/factor, float64(i%t.side()-r)/factor
		y, x = y+float64(s.r), x+float64(s.r)
		iy, ix := int(math.Floor(y)), int(math.Floor(x))
		fy, fx := y-float64(iy), x-float64(ix)
		at := func(y, x int) float64 {
			if y < 0 || x < 0 || y >= n || x >= n {
				return 0
			}
			return s.k[y*n+x]
		}
		t.k[i] = (1-fy)*((1-fx)*at(iy, ix)+fx*at(iy, ix+1)) + fy*((1-fx)*at(iy+1, ix)+fx*at(iy+1, ix+1))
	}
	t.normalise()
	return t
}

// row returns the kernel with its middle row alone.
func (s support) row() support {
	t, n := newSupport(s.r), s.side()
	copy(t.k[s.r*n:(s.r+1)*n], s.k[s.r*n:])
	t.normalise()
	return t
}

// inRow says which weights are in the middle row, and in within unless it is nil.
func (s support) inRow(within []bool) []bool {
	n := s.side()
	all := make([]bool, n*n)
	for i := s.r * n; i < (s.r+1)*n; i++ {
		all[i] = within == nil || within[i]
	}
	return all
}

// cleaned returns the kernel without weights below threshold of the largest, and without islands
// that have less than island of the weight of the largest one.
func (s support) cleaned(threshold, island float64) support {
	t := support{s.r, slices.Clone(s.k)}
	least := threshold * slices.Max(s.k)
	for i, v := range t.k {
		if v < least {
			t.k[i] = 0
		}
	}
	of, masses := t.islands()
	least = 0
	for _, m := range masses {
		least = max(least, island*m)
	}
	for i := range t.k {
		if t.k[i] > 0 && masses[of[i]] < least {
			t.k[i] = 0
		}
	}
	t.normalise()
	return t
}

// islands numbers the weights above 0 by what touches, corners included, and returns how much
// weight each island has.
func (s support) islands() (of []int, masses []float64) {
	n := s.side()
	of = make([]int, len(s.k))
	for i := range of {
		of[i] = -1
	}
	var stack []int
	for i, v := range s.k {
		if v == 0 || of[i] >= 0 {
			continue
		}
		id := len(masses)
		masses = append(masses, 0)
		of[i], stack = id, append(stack[:0], i)
		for len(stack) > 0 {
			j := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			masses[id] += s.k[j]
			for y := max(j/n-1, 0); y <= min(j/n+1, n-1); y++ {
				for x := max(j%n-1, 0); x <= min(j%n+1, n-1); x++ {
					if at := y*n + x; s.k[at] > 0 && of[at] < 0 {
						of[at], stack = id, append(stack, at)
					}
				}
			}
		}
	}
	return of, masses
}

// largestIsland is the island with most weight, as it is, and nothing else.
func (s support) largestIsland() support {
	of, masses := s.islands()
	top := slices.Max(masses)
	t := newSupport(s.r)
	for i, v := range s.k {
		if v > 0 && masses[of[i]] == top {
			t.k[i] = v
		}
	}
	return t
}

// extent is how many rows or columns the weights above 0 span, whichever are more.
func (s support) extent() int {
	n := s.side()
	top, left, bottom, right := n, n, -1, -1
	for i, v := range s.k {
		if v > 0 {
			top, left, bottom, right = min(top, i/n), min(left, i%n), max(bottom, i/n), max(right, i%n)
		}
	}
	return max(bottom-top, right-left) + 1
}

// square says which weights are at most r from the middle, in rows and columns.
func (s support) square(r int) []bool {
	n := s.side()
	all := make([]bool, n*n)
	for i := range all {
		all[i] = max(i/n-s.r, s.r-i/n, i%n-s.r, s.r-i%n) <= r
	}
	return all
}

// reach is how far the weights above 0 go from the middle, in rows or columns.
func (s support) reach() int {
	n, far := s.side(), 0
	for i, v := range s.k {
		if v > 0 {
			far = max(far, i/n-s.r, s.r-i/n, i%n-s.r, s.r-i%n)
		}
	}
	return far
}

// outside is the weight farther than r from the middle, in rows or columns.
func (s support) outside(r int) float64 {
	n, sum := s.side(), 0.0
	for i, v := range s.k {
		if max(i/n-s.r, s.r-i/n, i%n-s.r, s.r-i%n) > r {
			sum += v
		}
	}
	return sum
}

// variance returns the variances along rows and columns, and the covariance, in samples squared.
func (s support) variance() (yy, xx, yx float64) {
	n := s.side()
	my, mx := s.mean()
	for i, v := range s.k {
		y, x := float64(i/n-s.r)-my, float64(i%n-s.r)-mx
		yy += v * y * y
		xx += v * x * x
		yx += v * y * x
	}
	return yy, xx, yx
}
