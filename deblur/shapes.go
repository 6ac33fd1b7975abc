package deblur

import (
	"fmt"
	"math"
)

// Motion is the blur of a camera that moves evenly along a straight line: a bar one sample wide and length
// samples long, with its middle on the centre. Each weight is the area of the bar in that sample. The angle
// is in degrees, counterclockwise from a horizontal line. 1 ≤ length ≤ 2000; Motion(1, 0) is no blur.
func Motion(length, angleDegrees float64) (Kernel, error) {
	if !(length >= 1 && length <= 2000) {
		return Kernel{}, fmt.Errorf("deblur: motion of length %v, want 1 to 2000 samples", length)
	}
	if math.IsNaN(angleDegrees) || math.IsInf(angleDegrees, 0) {
		return Kernel{}, fmt.Errorf("deblur: motion at an angle of %v, want a finite number of degrees", angleDegrees)
	}
	sin, cos := math.Sincos(math.Mod(angleDegrees, 180) * (math.Pi / 180))
	// Rows count downward, so counterclockwise on the screen is (cos, −sin).
	ax, ay := cos*length/2, -sin*length/2
	bx, by := sin/2, cos/2
	bar := [][2]float64{{ax + bx, ay + by}, {ax - bx, ay - by}, {-ax - bx, -ay - by}, {-ax + bx, -ay + by}}
	ry := reach(math.Abs(ay) + math.Abs(by))
	rx := reach(math.Abs(ax) + math.Abs(bx))
	return sampled(ry, rx, func(y, x float64) float64 { return coverage(bar, y, x) })
}

// Gaussian is a normal distribution with the standard deviation std in samples, cut off at 4·std. 0 < std ≤
// 250.
func Gaussian(std float64) (Kernel, error) {
	if !(std > 0 && std <= 250) {
		return Kernel{}, fmt.Errorf("deblur: Gaussian of standard deviation %v, want more than 0 and at most 250 samples", std)
	}
	r := int(math.Ceil(4 * std))
	return sampled(r, r, func(y, x float64) float64 { return math.Exp(-(y*y + x*x) / (2 * std * std)) })
}

// Disk is the blur of a lens out of focus: a disk of the given radius in samples. Each weight is its area in
// that sample. 0 < radius ≤ 1000; up to a radius of 0.5 it is no blur.
func Disk(radius float64) (Kernel, error) {
	if !(radius > 0 && radius <= 1000) {
		return Kernel{}, fmt.Errorf("deblur: disk of radius %v, want more than 0 and at most 1000 samples", radius)
	}
	r := reach(radius)
	return sampled(r, r, func(y, x float64) float64 {
		// One octant for all eight, so that the kernel is symmetric to the bit.
		y, x = math.Abs(y), math.Abs(x)
		if y > x {
			y, x = x, y
		}
		corner := func(y, x float64) float64 { return quarterDisk(radius, y, x) }
		return corner(y+.5, x+.5) - corner(y-.5, x+.5) - corner(y+.5, x-.5) + corner(y-.5, x-.5)
	})
}

// Box is the mean over a square of size×size samples with its middle on the centre. If size is even, the
// outermost weights count half, so that the image stays in place. 1 ≤ size ≤ 2000.
func Box(size int) (Kernel, error) {
	if size < 1 || size > 2000 {
		return Kernel{}, fmt.Errorf("deblur: box of size %d, want 1 to 2000 samples", size)
	}
	r := size / 2
	edge := 1.0
	if size%2 == 0 {
		edge = .5
	}
	side := func(d float64) float64 {
		if math.Abs(d) == float64(r) {
			return edge
		}
		return 1
	}
	if r == 0 {
		return sampled(0, 0, func(_, _ float64) float64 { return 1 })
	}
	return sampled(r, r, func(y, x float64) float64 { return side(y) * side(x) })
}

// reach is the number of samples beside the centre that the interval (−d, d)
// touches.
func reach(d float64) int { return max(0, int(math.Ceil(d-.5))) }

// sampled makes a kernel of (2ry+1)×(2rx+1) weights f(y, x), (0,0) in the middle.
func sampled(ry, rx int, f func(y, x float64) float64) (Kernel, error) {
	h, w := 2*ry+1, 2*rx+1
	weights := make([]float64, h*w)
	for i := range weights {
		weights[i] = max(0, f(float64(i/w-ry), float64(i%w-rx)))
	}
	return normalised(weights, h, w)
}

// coverage is the area that a convex polygon, corners (x, y), has in the unit
// square around (y, x): the polygon is cut along the square's four sides
// (Sutherland and Hodgman 1974), and its area is the shoelace formula.
func coverage(polygon [][2]float64, y, x float64) float64 {
	var room [2][16][2]float64
	cut := room[0][:0]
	for _, p := range polygon {
		cut = append(cut, [2]float64{p[0] - x, p[1] - y})
	}
	for side := range 4 {
		axis, sign := side/2, float64(1-side%2*2)
		// Inside is where sign·p[axis] ≤ ½.
		out := room[(side+1)%2][:0]
		for i, p := range cut {
			q := cut[(i+1)%len(cut)]
			dp, dq := sign*p[axis]-.5, sign*q[axis]-.5
			if dp <= 0 {
				out = append(out, p)
			}
			if (dp < 0 && dq > 0) || (dp > 0 && dq < 0) {
				t := dp / (dp - dq)
				out = append(out, [2]float64{p[0] + t*(q[0]-p[0]), p[1] + t*(q[1]-p[1])})
			}
		}
		if cut = out; len(cut) == 0 {
			return 0
		}
	}
	area := 0.0
	for i, p := range cut {
		q := cut[(i+1)%len(cut)]
		area += p[0]*q[1] - p[1]*q[0]
	}
	return math.Abs(area) / 2
}

// quarterDisk is the area of a disk of radius r in the rectangle between the
// origin, its centre, and (x, y), with a minus sign for each negative coordinate:
// differences of it give the area in any rectangle.
func quarterDisk(r, y, x float64) float64 {
	if y < 0 {
		return -quarterDisk(r, -y, x)
	}
	if x < 0 {
		return -quarterDisk(r, y, -x)
	}
	y, x = min(y, r), min(x, r)
	if x*x+y*y <= r*r {
		return x * y
	}
	// Up to x = a the rectangle's upper side is inside, beyond it the circle is lower.
	a := math.Sqrt(max(0, r*r-y*y))
	under := func(t float64) float64 { // ∫ √(r²−t²) dt
		return (t*math.Sqrt(max(0, r*r-t*t)) + r*r*math.Asin(t/r)) / 2
	}
	return a*y + under(x) - under(a)
}
