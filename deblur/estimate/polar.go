package estimate

import "math"

// polar is a photograph about a point: rows are radii, a sample apart, and columns are angles, which are a sample apart at
// the radius unit. A turn about the point moves all columns alike.
type polar struct {
	cy, cx float64 // the point, in rows and columns of the photograph
	unit   float64
	near   float64 // radius of the first row
	start  float64 // angle of the first column
	far    float64 // largest radius

	rows, columns int
}

// newPolar covers a photograph of h×w samples about the point (y, x) from its middle, but for what is next to the point.
func newPolar(h, w int, y, x float64) polar {
	const centre = 0.25 // of unit, which is left out
	p := polar{cy: float64(h-1)/2 + y, cx: float64(w-1)/2 + x}
	p.unit = math.Sqrt(y*y + x*x + float64(h*h+w*w)/12)
	dy, dx := max(math.Abs(y)-float64(h-1)/2, 0), max(math.Abs(x)-float64(w-1)/2, 0)
	p.near = max(math.Hypot(dy, dx), centre*p.unit)
	p.far = math.Hypot(math.Abs(y)+float64(h-1)/2, math.Abs(x)+float64(w-1)/2)
	p.rows = max(int(p.far-p.near), 1)
	p.start, p.columns = -math.Pi, int(2*math.Pi*p.unit)
	if dy == 0 && dx == 0 {
		return p
	}
	// From outside the corners are farthest apart, about the direction of the middle.
	middle, wide := math.Atan2(-y, -x), 0.0
	for i := range 4 {
		cy, cx := (float64(i/2)-.5)*float64(h-1)-y, (float64(i%2)-.5)*float64(w-1)-x
		wide = max(wide, math.Abs(math.Remainder(math.Atan2(cy, cx)-middle, 2*math.Pi)))
	}
	p.start, p.columns = middle-wide, max(int(2*wide*p.unit), 1)
	return p
}

// of resamples a part. What is not in the frame is clipped.
func (p polar) of(whole part) part {
	to := part{newPlane(p.rows, p.columns), newPlane(p.rows, p.columns), newPlane(p.rows, p.columns)}
	h, w := whole.v.h, whole.v.w
	for j := range p.columns {
		sin, cos := math.Sincos(p.start + (float64(j)+.5)/p.unit)
		for i := range p.rows {
			r := p.near + float64(i)
			y, x := p.cy+r*sin, p.cx+r*cos
			at := i*p.columns + j
			inside := y >= 0 && x >= 0 && y <= float64(h-1) && x <= float64(w-1)
			y, x = min(max(y, 0), float64(h-1)), min(max(x, 0), float64(w-1))
			iy, ix := min(int(y), h-2), min(int(x), w-2)
			fy, fx := float32(y-float64(iy)), float32(x-float64(ix))
			mix := func(v plane) float32 {
				a, b := v.pix[iy*w+ix:][:2], v.pix[(iy+1)*w+ix:][:2]
				return (1-fy)*((1-fx)*a[0]+fx*a[1]) + fy*((1-fx)*b[0]+fx*b[1])
			}
			to.v.pix[at], to.clipped.pix[at], to.lamps.pix[at] = mix(whole.v), mix(whole.clipped), mix(whole.lamps)
			if !inside {
				to.clipped.pix[at] = 1
			}
		}
	}
	return to
}
