package backendtest

import (
	"errors"
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
)

// holds reports whether pixel (y, x) is in the region.
func holds(r backend.Region, y, x int) bool { return y >= r.Y0 && y < r.Y1 && x >= r.X0 && x < r.X1 }

// regionShape is the shape of the region cut out of an array of shape s.
func regionShape(s backend.Shape, r backend.Region) backend.Shape {
	s.H, s.W = r.Size()
	return s
}

// cut returns the region of an array.
func cut[T any](s backend.Shape, v []T, r backend.Region) []T {
	out := make([]T, 0, regionShape(s, r).Len())
	for first := 0; first < len(v); first += s.Plane() {
		for y := r.Y0; y < r.Y1; y++ {
			out = append(out, v[first+y*s.W+r.X0:first+y*s.W+r.X1]...)
		}
	}
	return out
}

// checkOutside compares two arrays bit for bit outside of the region.
func checkOutside(name string, r backend.Region, s backend.Shape, got, want []float32) error {
	for i, w := range want {
		if !holds(r, i/s.W%s.H, i%s.W) && !sameBits(got[i], w) {
			return fmt.Errorf("%s%s, outside of %v, is %v, want the bits of %v", name, position(s, i), r, got[i], w)
		}
	}
	return nil
}

func regionCases() []*testCase {
	var cases []*testCase
	for _, c := range []struct {
		dst  backend.Shape
		y, x int
		src  backend.Shape
		r    backend.Region
	}{
		{backend.Image(1, 1, 1), 0, 0, backend.Image(1, 1, 1), backend.Region{Y1: 1, X1: 1}},
		{backend.Vector(5), 0, 0, backend.Vector(7), backend.Region{Y1: 1, X1: 1}},
		{backend.Image(1, 1, 9), 0, 2, backend.Image(2, 1, 7), backend.Region{Y1: 1, X0: 1, X1: 7}},
		{backend.Image(3, 9, 1), 8, 0, backend.Image(1, 7, 1), backend.Region{Y0: 6, Y1: 7, X1: 1}},
		{backend.Image(3, 5, 6), 0, 0, backend.Image(3, 5, 6), backend.Region{Y1: 5, X1: 6}},
		// One array's halves, which would do, were it not one array.
		{backend.Image(2, 8, 6), 4, 0, backend.Image(2, 8, 6), backend.Region{Y1: 4, X1: 6}},
		{backend.Image(2, 8, 6), 0, 3, backend.Image(3, 8, 6), backend.Region{Y1: 8, X1: 3}},
		{backend.Image(5, 9, 11), 3, 4, backend.Image(3, 13, 7), backend.Region{Y0: 2, Y1: 7, X0: 1, X1: 7}},
		{backend.Image(3, 9, 11), 0, 6, backend.Image(64, 13, 7), backend.Region{Y0: 8, Y1: 13, X0: 2, X1: 7}},
		{backend.Image(64, 7, 9), 1, 1, backend.Image(3, 17, 31), backend.Region{Y0: 5, Y1: 10, X0: 20, X1: 27}},
		{backend.Image(16, 67, 129), 1, 0, backend.Image(17, 70, 131), backend.Region{Y0: 3, Y1: 69, X0: 1, X1: 130}},
		{backend.Shape{N: 3, C: 2, H: 6, W: 5}, 2, 1, backend.Shape{N: 3, C: 4, H: 9, W: 8}, backend.Region{Y0: 5, Y1: 9, X0: 4, X1: 8}},
		{backend.Shape{N: 2, C: 5, H: 4, W: 4}, 1, 3, backend.Shape{N: 2, C: 2, H: 3, W: 3}, backend.Region{Y1: 3, X0: 2, X1: 3}},
	} {
		cases = append(cases, regionCase(c.dst, c.y, c.x, c.src, c.r))
	}
	return cases
}

func regionCase(dst backend.Shape, y, x int, src backend.Shape, r backend.Region) *testCase {
	h, w := r.Size()
	return (&testCase{
		operation: "CopyRegion",
		name:      fmt.Sprintf("%v of %s to (%d,%d) of %s", r, size(src), y, x, size(dst)),
		operands:  []operand{{name: "dst", role: updated, shape: dst}, {name: "src", shape: src}},
		prepare: simple(func(dev backend.Device, b []backend.Buffer) error {
			return dev.CopyRegion(b[0], y, x, b[1], r)
		}),
		reference: silent(func(t []tensor) { copyPixels(t[0], y, x, t[1], r) }),
		limit:     exact,
		fits: func(s []backend.Shape) bool {
			return s[0].N == s[1].N && r.Check(s[1]) == nil && y <= s[0].H-h && x <= s[0].W-w
		},
		local:  true,
		memory: true,
	}).complete()
}

func regionChecks() []check {
	return []check{
		{operation: "CopyRegion", name: "arguments", memory: true, run: checkRegionArguments},
		{operation: "CopyRegion", name: "every kind of number", memory: true, run: checkRegionNumbers},
	}
}

// wrongRegions are no regions of an image of the given size.
func wrongRegions(h, w int) []backend.Region {
	return []backend.Region{
		{}, {Y1: h}, {X1: w}, {Y0: 1, Y1: 1, X1: w}, {Y0: 2, Y1: 1, X1: w}, {Y1: h, X0: 2, X1: 1}, {Y0: h, Y1: h + 1, X1: w},
		{Y0: -1, Y1: h, X1: w}, {Y1: h, X0: -1, X1: w}, {Y1: h + 1, X1: w}, {Y1: h, X1: w + 1},
		{Y0: math.MinInt, Y1: math.MaxInt, X1: w}, {Y1: h, X0: math.MinInt, X1: math.MaxInt},
	}
}

func checkRegionArguments(e *environment) error {
	d, s := backend.Image(2, 6, 7), backend.Image(2, 4, 5)
	before := random(d.Len(), "dst")
	dst, err := upload(e.dev, d, before)
	if err != nil {
		return err
	}
	src, err := upload(e.dev, s, random(s.Len(), "src"))
	if err != nil {
		return err
	}
	for _, r := range wrongRegions(s.H, s.W) {
		err = errors.Join(err, wantError(fmt.Sprintf("%v of %v", r, s),
			guarded(func() error { return e.dev.CopyRegion(dst, 0, 0, src, r) }), backend.ErrShape))
	}
	for _, at := range [][2]int{{-1, 0}, {0, -1}, {3, 0}, {0, 3}, {6, 7}, {math.MinInt, 0}, {0, math.MinInt}, {math.MaxInt, 0}, {0, math.MaxInt}} {
		err = errors.Join(err, wantError(fmt.Sprintf("%v to (%d,%d) of %v", s, at[0], at[1], d),
			guarded(func() error { return e.dev.CopyRegion(dst, at[0], at[1], src, s.Whole()) }), backend.ErrShape))
	}
	if err != nil {
		return err
	}
	after, err := download(e.dev, dst)
	if err != nil {
		return err
	}
	return checkBits("dst after nothing but errors", d, after, before)
}

// checkRegionNumbers copies what arithmetic would change.
func checkRegionNumbers(e *environment) error {
	want := []float32{
		float32(math.Copysign(0, -1)), math.SmallestNonzeroFloat32, -0x1p-127, math.MaxFloat32,
		float32(math.Inf(1)), float32(math.Inf(-1)), nan, 1 + 0x1p-23,
	}
	s := backend.Image(1, 2, 4)
	src, err := upload(e.dev, s, want)
	if err != nil {
		return err
	}
	dst, err := e.dev.Alloc(s)
	if err != nil {
		return err
	}
	if err := e.dev.CopyRegion(dst, 0, 0, src, s.Whole()); err != nil {
		return err
	}
	got, err := download(e.dev, dst)
	if err != nil {
		return err
	}
	return checkBits("the copy", s, got, want)
}
