package deblur

import (
	"fmt"
	"math"
)

// Pose is how a camera stood for a part of an exposure, beside how it stood on the average: at the point p, in rows and
// columns from the middle of the frame, it saw what otherwise is at
//
//	(cos·p.y − sin·p.x + Y, sin·p.y + cos·p.x + X),
//
// with the cosine and sine of Angle, in radians. Y and X are in samples.
type Pose struct{ Angle, Y, X, Weight float64 }

// PoseAbout returns the pose of a camera that turned by an angle in radians about the point y samples below and x right of the
// middle of the frame.
func PoseAbout(y, x, angle, weight float64) Pose {
	sin, cos := math.Sincos(angle)
	return Pose{Angle: angle, Y: y - (cos*y - sin*x), X: x - (sin*y + cos*x), Weight: weight}
}

// CameraMotion is the motion of a camera during an exposure: it turned about the optical axis and moved, so that the
// photograph is a mean of the sharp image in many poses (Whyte, Sivic, Zisserman and Ponce 2010; Gupta, Joshi, Zitnick,
// Cohen and Curless 2010). Weights are not negative and sum to 1.
type CameraMotion struct{ Poses []Pose }

// UniformTurn returns the motion of a camera that turned evenly by an angle in radians, at most a half turn, about the point y samples
// below and x right of the middle of a frame of h×w samples. From one pose to the next no sample moves by more than half a sample.
func UniformTurn(angle, y, x float64, h, w int) (CameraMotion, error) {
	const most = 1e6 // of a coordinate, in samples: a point so far away makes shifts
	if !(angle > 0 && angle <= math.Pi) || !(math.Abs(y) <= most && math.Abs(x) <= most) || h < 1 || w < 1 {
		return CameraMotion{}, fmt.Errorf("deblur: a turn by %v radians about the point (%v, %v) from the middle of %d×%d samples, want more than 0 and at most π, and coordinates of at most %v", angle, y, x, h, w, most)
	}
	far := math.Hypot(math.Abs(y)+float64(h)/2, math.Abs(x)+float64(w)/2)
	if far*angle > MaxKernelSize {
		return CameraMotion{}, fmt.Errorf("deblur: a turn that moves a corner by %.0f samples, want at most %d", far*angle, MaxKernelSize)
	}
	n := int(2*far*angle) + 2
	var m CameraMotion
	for i := range n {
		a := angle * ((float64(i)+.5)/float64(n) - .5)
		m.Poses = append(m.Poses, PoseAbout(y, x, a, 1/float64(n)))
	}
	return m, nil
}

// Check returns an error unless there is a pose, all numbers are finite, no weight is negative, and they sum to 1 within
// 1e-6.
func (m CameraMotion) Check() error {
	sum := 0.0
	for i, p := range m.Poses {
		for _, v := range []float64{p.Angle, p.Y, p.X, p.Weight} {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("deblur: pose %d of a camera's motion has %v, want finite numbers", i, v)
			}
		}
		if p.Weight < 0 {
			return fmt.Errorf("deblur: pose %d of a camera's motion has a weight of %v, want none below 0", i, p.Weight)
		}
		sum += p.Weight
	}
	if !(math.Abs(sum-1) <= 1e-6) {
		return fmt.Errorf("deblur: weights of %d poses of a camera's motion sum to %v, want 1", len(m.Poses), sum)
	}
	return nil
}

// moved is where in the photograph, from where it stands in the sharp image, a pose shows the point y rows below and x
// columns right of the middle.
func (p Pose) moved(y, x float64) (dy, dx float64) {
	sin, cos := math.Sincos(p.Angle)
	y1, x1 := y-p.Y, x-p.X
	return cos*y1 + sin*x1 - y, cos*x1 - sin*y1 - x
}

// Kernel returns what becomes of a point y rows below and x columns right of the middle of the sharp frame. Each pose
// gives its weight to the four samples around where it shows the point, by bilinear interpolation.
func (m CameraMotion) Kernel(y, x float64) (Kernel, error) {
	if err := m.Check(); err != nil {
		return Kernel{}, err
	}
	reach := 0.0
	for _, p := range m.Poses {
		dy, dx := p.moved(y, x)
		reach = max(reach, math.Abs(dy), math.Abs(dx)) // NaN if one is
	}
	if !(2*reach+3 <= MaxKernelSize) {
		return Kernel{}, fmt.Errorf("deblur: a camera's motion of %.0f samples, want at most %d", reach, (MaxKernelSize-3)/2)
	}
	r := int(reach) + 1
	side := 2*r + 1
	weights := make([]float64, side*side)
	for _, p := range m.Poses {
		dy, dx := p.moved(y, x)
		i, fy := split(dy, r)
		j, fx := split(dx, r)
		at := i*side + j
		weights[at] += p.Weight * (1 - fy) * (1 - fx)
		weights[at+1] += p.Weight * (1 - fy) * fx
		weights[at+side] += p.Weight * fy * (1 - fx)
		weights[at+side+1] += p.Weight * fy * fx
	}
	return normalised(weights, side, side)
}

// Grid returns the kernels of a photograph of h×w samples, so many that from one to the next no weight moves by more than
// 2.5 samples, but at most MaxCells in a row or column.
func (m CameraMotion) Grid(h, w int) (Grid, error) {
	least, most := math.Inf(1), math.Inf(-1)
	for _, p := range m.Poses {
		if p.Weight > 0 {
			least, most = min(least, p.Angle), max(most, p.Angle)
		}
	}
	const cellMoves = 2.5
	of := func(n int) int {
		return max(1, min(MaxCells, n, int(math.Ceil(float64(n)*(most-least)/cellMoves))))
	}
	if err := m.Check(); err != nil {
		return Grid{}, err
	}
	if h < 1 || w < 1 {
		return Grid{}, fmt.Errorf("deblur: a grid of kernels for a photograph of %d×%d samples", h, w)
	}
	g := Grid{Rows: of(h), Columns: of(w)}
	for i := range g.Rows * g.Columns {
		middle := func(i, of, n int) float64 { return ((float64(i)+.5)/float64(of) - .5) * float64(n) }
		k, err := m.Kernel(middle(i/g.Columns, g.Rows, h), middle(i%g.Columns, g.Columns, w))
		if err != nil {
			return Grid{}, err
		}
		g.Kernels = append(g.Kernels, k)
	}
	return g, nil
}
