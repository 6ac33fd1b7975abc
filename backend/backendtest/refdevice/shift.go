package refdevice

// shift lays one h×w plane over another: pixel (y, x) of the lower one meets pixel
// (y+dy, x+dx) of the upper one, where there is such a pixel.
//
// Convolutions are made of these loops, and most of the device's time goes there.
// They touch nothing but the device's own memory, on its one goroutine: the race
// detector, with which they take ten times as long, has nothing to find in them.
type shift struct{ h, w, dy, dx int }

// rows returns the range of the lower plane's rows that meet one of the upper's.
func (s shift) rows() (from, to int) { return max(0, -s.dy), min(s.h, s.h-s.dy) }

// columns is the same for columns.
func (s shift) columns() (from, to int) { return max(0, -s.dx), min(s.w, s.w-s.dx) }

// gather adds a·upper to the lower plane.
//
//go:norace
func (s shift) gather(lower []float64, a float64, upper []float64) {
	top, bottom := s.rows()
	left, right := s.columns()
	for y := top; y < bottom; y++ {
		for x := left; x < right; x++ {
			lower[y*s.w+x] += a * upper[(y+s.dy)*s.w+x+s.dx]
		}
	}
}

// scatter adds a·lower to the upper plane.
//
//go:norace
func (s shift) scatter(upper []float64, a float64, lower []float64) {
	top, bottom := s.rows()
	left, right := s.columns()
	for y := top; y < bottom; y++ {
		for x := left; x < right; x++ {
			upper[(y+s.dy)*s.w+x+s.dx] += a * lower[y*s.w+x]
		}
	}
}

// product returns the inner product of the two planes.
//
//go:norace
func (s shift) product(lower, upper []float64) float64 {
	sum := 0.0
	top, bottom := s.rows()
	left, right := s.columns()
	for y := top; y < bottom; y++ {
		for x := left; x < right; x++ {
			sum += lower[y*s.w+x] * upper[(y+s.dy)*s.w+x+s.dx]
		}
	}
	return sum
}
