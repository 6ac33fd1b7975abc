package refdevice

import (
	"math"

	"github.com/averaged/imaging/backend"
)

// ProjectBalls implements devicekit.Kernels.
func (d *stream) ProjectBalls(dst, src, radius array) error {
	to, from, r := own(dst), own(src), own(radius)
	return d.queue("ProjectBalls", func() { project(to.data, from.data, from.shape, newRadii(r)) })
}

// radii are a number for each group, or for each group at each pixel.
type radii struct {
	groups int
	ofMap  bool
	data   []float64
}

func newRadii(b *buffer) radii {
	r := b.shape.C
	return radii{r, b.shape != backend.Vector(r), b.data}
}

// at is where the radius of vector i of a shape is, counted in the order of a map.
func (r radii) at(i int, s backend.Shape) int {
	if r.ofMap {
		return i
	}
	return i / s.Plane() % r.groups
}

// project sets to to the projection of from.
func project(to, from []float64, s backend.Shape, radius radii) {
	eachGroup(s, radius.groups, func(v int, at []int) {
		scale, r := 1.0, radius.data[radius.at(v, s)]
		if n := groupNorm(from, at); !(n <= r) {
			scale = r / n
		}
		for _, i := range at {
			to[i] = scale * from[i]
		}
	})
}

// ProjectBallsGradient implements devicekit.Gradients.
func (d *stream) ProjectBallsGradient(dst, dradius, src, dy, radius array, beta float32) error {
	to, sums, v, from, r := own(dst), own(dradius), own(src), own(dy), own(radius)
	return d.queue("ProjectBallsGradient", func() {
		add, radius := make([]float64, len(r.data)), newRadii(r)
		eachGroup(v.shape, radius.groups, func(vector int, at []int) {
			g := radius.at(vector, v.shape)
			n := groupNorm(v.data, at)
			if n <= r.data[g] {
				for _, i := range at {
					to.data[i] = from.data[i]
				}
				return
			}
			along := 0.0
			for _, i := range at {
				along += v.data[i] / n * from.data[i]
			}
			add[g] += along
			for _, i := range at {
				to.data[i] = r.data[g] / n * (from.data[i] - along*v.data[i]/n)
			}
		})
		for g, a := range add {
			if beta != 0 {
				a += float64(beta) * sums.data[g]
			}
			sums.data[g] = a
		}
	})
}

// eachGroup calls f with the number of each vector, in the order of a map of radii, and with
// the places of its channels.
func eachGroup(s backend.Shape, groups int, f func(vector int, at []int)) {
	size := s.C / groups
	at := make([]int, size)
	for n := range s.N {
		for g := range groups {
			for p := range s.Plane() {
				for c := range at {
					at[c] = (n*s.C+g*size+c)*s.Plane() + p
				}
				f((n*groups+g)*s.Plane()+p, at)
			}
		}
	}
}

func groupNorm(x []float64, at []int) float64 {
	sum := 0.0
	for _, i := range at {
		sum += x[i] * x[i]
	}
	return math.Sqrt(sum)
}
