package backendtest

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/arguments"
)

// ballGroups are arrays, how many of their channels make a vector, and whether every pixel
// has a radius of its own.
type ballGroups struct {
	shape backend.Shape
	size  int
	ofMap bool
}

// ballShapes have groups of every size that a processor's vector may have, of others, and
// of all channels; one pixel, odd extents, batches, and more pixels than any block that a
// device works in.
var ballShapes = []ballGroups{
	{backend.Vector(12), 4, false},
	{backend.Image(2, 1, 7), 1, false},
	{backend.Image(2, 7, 1), 2, false},
	{backend.Image(6, 3, 5), 3, false},
	{backend.Image(8, 4, 4), 4, false},
	{backend.Image(16, 5, 7), 8, false},
	{backend.Image(20, 5, 3), 5, false},
	{backend.Image(32, 3, 7), 16, false},
	{backend.Image(24, 4, 5), 24, false},
	{backend.Image(64, 3, 5), 64, false},
	{backend.Shape{N: 2, C: 24, H: 5, W: 9}, 8, false},
	{backend.Shape{N: 3, C: 4, H: 4, W: 4}, 2, false},
	{backend.Shape{N: 2, C: 7, H: 3, W: 3}, 7, false},
	{backend.Image(8, 67, 129), 8, false},
	{backend.Image(6, 67, 129), 2, false},
	{backend.Image(2, 1, 7), 1, true},
	{backend.Image(6, 3, 5), 3, true},
	{backend.Image(16, 5, 7), 8, true},
	{backend.Shape{N: 2, C: 24, H: 5, W: 9}, 8, true},
	{backend.Shape{N: 3, C: 7, H: 3, W: 3}, 7, true},
	{backend.Shape{N: 2, C: 32, H: 4, W: 11}, 16, true},
	{backend.Image(8, 67, 129), 8, true},
	{backend.Shape{N: 2, C: 6, H: 67, W: 129}, 2, true},
}

func (b ballGroups) String() string {
	s := fmt.Sprintf("%s in groups of %d", size(b.shape), b.size)
	if b.ofMap {
		s += " by a map"
	}
	return s
}

// radiusOperand has radii that about half of all vectors of so many random numbers are
// longer than. What a NaN among them does is undefined.
func radiusOperand(name string, shape backend.Shape, size int) operand {
	return operand{name: name, shape: shape, quiet: true, adjust: func(x tensor) {
		// Numbers that are uniform in [−1, 1) have the root mean square 1/√3.
		for i, v := range x.v {
			x.v[i] = (0.95 + 0.1*math.Abs(v)) * math.Sqrt(float64(size)/3)
		}
	}}
}

// filled returns the contents of an operand of radii.
func (o operand) filled() []float32 {
	x := noise(o.shape, "radius"+o.name)
	o.adjust(x)
	v := make([]float32, len(x.v))
	for i := range v {
		v[i] = float32(x.v[i])
	}
	return v
}

// radius is the operand of the radii.
func (b ballGroups) radius() operand {
	shape := backend.Vector(b.shape.C / b.size)
	if b.ofMap {
		shape = b.shape
		shape.C /= b.size
	}
	return radiusOperand("radius", shape, b.size)
}

func ballCases() []*testCase {
	var cases []*testCase
	for _, b := range ballShapes {
		cases = append(cases, projectionCase(b), projectionGradientCase(b, 0), projectionGradientCase(b, 0.9))
	}
	return cases
}

func timedBallCases(p Photograph) []*testCase {
	b := ballGroups{p.image(64), 8, false}
	ofMap := ballGroups{p.image(64), 8, true}
	return []*testCase{projectionCase(b), projectionGradientCase(b, 1), projectionCase(ofMap), projectionGradientCase(ofMap, 1)}
}

func projectionCase(b ballGroups) *testCase {
	return (&testCase{
		operation: "ProjectBalls",
		name:      b.String(),
		operands:  []operand{{name: "dst", role: destination, shape: b.shape}, {name: "src", shape: b.shape}, b.radius()},
		prepare: simple(func(dev backend.Device, x []backend.Buffer) error {
			return dev.ProjectBalls(x[0], x[1], x[2])
		}),
		reference: silent(func(x []tensor) { referenceProjectBalls(x[0], x[1], x[2]) }),
		limit:     projection,
		fits:      func(s []backend.Shape) bool { return same(s[:2]) && arguments.CheckBalls(s[1], s[2]) == nil },
		inPlace:   [][2]int{{0, 1}},
		local:     true,
		bytes:     8 * float64(b.shape.Len()),
	}).complete()
}

func projectionGradientCase(b ballGroups, beta float32) *testCase {
	dradius := operand{name: "dradius", role: updated, shape: b.radius().shape}
	if beta == 0 {
		dradius.role = destination
	}
	return (&testCase{
		operation: "ProjectBallsGradient",
		name:      fmt.Sprintf("%v, beta %v", b, beta),
		operands: []operand{
			{name: "dst", role: destination, shape: b.shape}, dradius,
			{name: "src", shape: b.shape}, {name: "dy", shape: b.shape}, b.radius(),
		},
		prepare: simple(func(dev backend.Device, x []backend.Buffer) error {
			return dev.ProjectBallsGradient(x[0], x[1], x[2], x[3], x[4], beta)
		}),
		reference: silent(func(x []tensor) { referenceProjectBallsGradient(x[0], x[1], x[2], x[3], x[4], beta) }),
		limit:     directSum,
		fits: func(s []backend.Shape) bool {
			return s[0] == s[2] && s[0] == s[3] && s[1] == s[4] && arguments.CheckBalls(s[0], s[4]) == nil
		},
		inPlace: [][2]int{{0, 3}},
		local:   true,
		bytes:   12 * float64(b.shape.Len()),
	}).complete()
}

func ballChecks() []check {
	return []check{
		{operation: "ProjectBalls", name: "inside, outside and on the sphere", run: checkSpheres},
		{operation: "ProjectBalls", name: "firmly nonexpansive", run: checkFirmlyNonexpansive},
		{operation: "ProjectBalls", name: "a NaN for every group", run: checkBallNaN},
		{operation: "ProjectBallsGradient", name: "inside, outside and on the sphere", run: checkSphereGradients},
		{operation: "ProjectBallsGradient", name: "finite differences", run: checkBallDifferences},
		{operation: "ProjectBalls", name: "firmly nonexpansive by a map", run: checkMapFirmlyNonexpansive},
		{operation: "ProjectBallsGradient", name: "finite differences by a map", run: checkMapDifferences},
	}
}

// sphere is a vector with an exact norm, and what belongs to it for a radius: all squares
// and sums of them are float32 numbers, in any order.
type sphere struct {
	v      []float32
	norm   float32
	radius float32
}

// spheres are vectors on their spheres, far inside, and projected onto 0.
var spheres = func() []sphere {
	var s []sphere
	for _, v := range [][]float32{{2}, {-3, 4}, {1, -2, 2}, {1, 1, -1, 1}, {1, 1, 1, 1, 1, -1, 1, 3}, slices.Repeat([]float32{-1}, 16)} {
		norm := 0.0
		for _, x := range v {
			norm += float64(x) * float64(x)
		}
		n := float32(math.Sqrt(norm))
		for _, radius := range []float32{n, 2 * n, math.MaxFloat32, 0} {
			s = append(s, sphere{v, n, radius})
		}
		s = append(s, sphere{make([]float32, len(v)), 0, 0}, sphere{make([]float32, len(v)), 0, 1})
	}
	return s
}()

// each calls f with a vector as two pixels of one group, and with its radius, on the
// device.
func (s sphere) each(e *environment, f func(shape backend.Shape, src, radius backend.Buffer) error) error {
	shape := backend.Image(len(s.v), 1, 2)
	var twice []float32
	for _, x := range s.v {
		twice = append(twice, x, x)
	}
	src, err := upload(e.dev, shape, twice)
	if err != nil {
		return err
	}
	defer src.Free()
	radius, err := upload(e.dev, backend.Vector(1), []float32{s.radius})
	if err != nil {
		return err
	}
	defer radius.Free()
	return wrap(fmt.Sprintf("%v with radius %v", s.v, s.radius), f(shape, src, radius))
}

// checkSpheres wants vectors on the sphere and inside back, to the bit, and 0 from a ball
// of radius 0.
func checkSpheres(e *environment) error {
	for _, s := range spheres {
		err := s.each(e, func(shape backend.Shape, src, radius backend.Buffer) error {
			dst, err := e.dev.Alloc(shape)
			if err != nil {
				return err
			}
			defer dst.Free()
			if err := e.dev.ProjectBalls(dst, src, radius); err != nil {
				return err
			}
			got, err := download(e.dev, dst)
			if err != nil {
				return err
			}
			for i, x := range got {
				if s.radius == 0 {
					if x != 0 { // of either sign
						return fmt.Errorf("dst%s is %v, want 0", position(shape, i), x)
					}
				} else if !sameBits(x, s.v[i/2]) {
					return fmt.Errorf("dst%s is %v, want exactly %v", position(shape, i), x, s.v[i/2])
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// checkSphereGradients wants dy back on the sphere and inside, to the bit, with nothing
// for the radius; and from a ball of radius 0, outside, 0 and ⟨v/‖v‖, dy⟩.
func checkSphereGradients(e *environment) error {
	for _, s := range spheres {
		err := s.each(e, func(shape backend.Shape, src, radius backend.Buffer) error {
			numbers := random(shape.Len(), "dy")
			dy, err := upload(e.dev, shape, numbers)
			if err != nil {
				return err
			}
			defer dy.Free()
			dradius, err := e.dev.Alloc(backend.Vector(1))
			if err != nil {
				return err
			}
			defer dradius.Free()
			if err := e.dev.ProjectBallsGradient(dy, dradius, src, dy, radius, 0); err != nil {
				return err
			}
			dst, err := download(e.dev, dy)
			if err != nil {
				return err
			}
			sum, err := download(e.dev, dradius)
			if err != nil {
				return err
			}
			if s.norm <= s.radius {
				if sum[0] != 0 {
					return fmt.Errorf("dradius is %v, want 0", sum[0])
				}
				return checkBits("dst", shape, dst, numbers)
			}
			want, scale := 0.0, 0.0
			for i, x := range numbers {
				if dst[i] != 0 {
					return fmt.Errorf("dst%s is %v, want 0", position(shape, i), dst[i])
				}
				term := float64(x) * float64(s.v[i/2]) / float64(s.norm)
				want, scale = want+term, scale+math.Abs(term)
			}
			if !(math.Abs(float64(sum[0])-want) <= math.Sqrt(directSum)*scale) {
				return fmt.Errorf("dradius is %v, want %v", sum[0], want)
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// checkFirmlyNonexpansive compares ‖Px − Py‖² with ⟨Px − Py, x − y⟩ for pairs of arrays
// that lie apart and close together, group by group. A projection is off by √limit of the
// radius at most; both sides are then off by that times the distances.
func checkFirmlyNonexpansive(e *environment) error { return checkFirmly(e, false) }

// checkMapFirmlyNonexpansive is the same with a radius for every pixel.
func checkMapFirmlyNonexpansive(e *environment) error { return checkFirmly(e, true) }

func checkFirmly(e *environment, ofMap bool) error {
	for _, b := range ballShapes {
		if b.ofMap != ofMap {
			continue
		}
		radii := b.radius().filled()
		radius, err := upload(e.dev, b.radius().shape, radii)
		if err != nil {
			return err
		}
		defer radius.Free()
		projected := func(v tensor) (tensor, error) {
			numbers := make([]float32, len(v.v))
			for i, x := range v.v {
				numbers[i] = float32(x)
				v.v[i] = float64(numbers[i])
			}
			x, err := upload(e.dev, b.shape, numbers)
			if err != nil {
				return tensor{}, err
			}
			defer x.Free()
			if err := e.dev.ProjectBalls(x, x, radius); err != nil {
				return tensor{}, err
			}
			out, err := download(e.dev, x)
			return widen(b.shape, out), err
		}
		for _, distance := range []float64{2, 0.1, 1e-4} {
			x, y := noise(b.shape, "x"), noise(b.shape, "x")
			y.add(distance, noise(b.shape, "y"))
			px, err := projected(x)
			if err != nil {
				return err
			}
			py, err := projected(y)
			if err != nil {
				return err
			}
			x.add(-1, y)
			px.add(-1, py)
			eachBall(x, widen(b.radius().shape, radii), func(g int, at []int) {
				off := 2 * math.Sqrt(projection) * float64(radii[g])
				left, right, apart := products(px, px, at), products(px, x, at), math.Sqrt(products(x, x, at))
				if err == nil && !(left <= right+off*(apart+2*math.Sqrt(left))) {
					err = fmt.Errorf("%v: ‖Px − Py‖² is %v, ⟨Px − Py, x − y⟩ is %v, at %s", b, left, right, position(b.shape, at[0]))
				}
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// checkBallNaN puts a NaN into every channel of a group in turn: it makes that group NaN
// at that pixel, and nothing else.
func checkBallNaN(e *environment) error {
	for _, b := range []ballGroups{{backend.Image(6, 1, 3), 2, false}, {backend.Image(12, 2, 3), 4, false}, {backend.Image(16, 3, 6), 8, false}, {backend.Image(32, 1, 7), 16, false}} {
		radius, err := upload(e.dev, b.radius().shape, b.radius().filled())
		if err != nil {
			return err
		}
		defer radius.Free()
		for c := range b.shape.C {
			v := random(b.shape.Len(), "src")
			at := offset(b.shape, 0, c, b.shape.H-1, c%b.shape.W)
			v[at] = nan
			x, err := upload(e.dev, b.shape, v)
			if err != nil {
				return err
			}
			defer x.Free()
			if err := e.dev.ProjectBalls(x, x, radius); err != nil {
				return err
			}
			got, err := download(e.dev, x)
			if err != nil {
				return err
			}
			plane := b.shape.Plane()
			for i, w := range got {
				spoiled := i%plane == at%plane && i/plane/b.size == c/b.size
				if (w != w) != spoiled {
					return fmt.Errorf("%v, NaN in channel %d: dst%s is %v", b, c, position(b.shape, i), w)
				}
			}
		}
	}
	return nil
}

// checkBallDifferences compares the derivative of ⟨dy, P(v)⟩ along a random direction of
// vectors and radii with a central difference, group size by group size. P is smooth but
// for the sphere, which of some thousand vectors a few change sides of.
func checkBallDifferences(e *environment) error { return checkDifferences(e, false) }

// checkMapDifferences is the same with a radius for every pixel.
func checkMapDifferences(e *environment) error { return checkDifferences(e, true) }

func checkDifferences(e *environment, ofMap bool) error {
	for _, n := range []int{1, 2, 3, 4, 8, 16, 48} {
		b := ballGroups{backend.Shape{N: 2, C: 48, H: 9, W: 11}, n, ofMap}
		const h = 1.0 / 256
		limit := 1e-3
		if ofMap { // the spheres move apart from one another
			limit = 2e-3
		}
		radii := b.radius()
		v, dy, r := random(b.shape.Len(), "v"), random(b.shape.Len(), "dy"), radii.filled()
		moveV, moveR := random(len(v), "direction of vectors"), random(len(r), "direction of radii")
		moved := func(x, by []float32, sign float32) []float32 {
			y := slices.Clone(x)
			for i := range y {
				y[i] += sign * h * by[i]
			}
			return y
		}
		value := func(sign float32) (number, error) {
			x, err := upload(e.dev, b.shape, moved(v, moveV, sign))
			if err != nil {
				return number{}, err
			}
			defer x.Free()
			radius, err := upload(e.dev, radii.shape, moved(r, moveR, sign))
			if err != nil {
				return number{}, err
			}
			defer radius.Free()
			if err := e.dev.ProjectBalls(x, x, radius); err != nil {
				return number{}, err
			}
			out, err := download(e.dev, x)
			return inner(widen(b.shape, out), widen(b.shape, dy)), err
		}
		above, err := value(1)
		if err != nil {
			return err
		}
		below, err := value(-1)
		if err != nil {
			return err
		}
		gradients, err := ballGradients(e.dev, b, v, dy, r)
		if err != nil {
			return err
		}
		derivative := inner(widen(b.shape, gradients[0]), widen(b.shape, moveV)).value +
			inner(widen(radii.shape, gradients[1]), widen(radii.shape, moveR)).value
		difference := (above.value - below.value) / (2 * h)
		if !(math.Abs(difference-derivative) <= limit*above.scale) {
			return fmt.Errorf("%v: derivative %v, central difference %v, of terms of %v", b, derivative, difference, above.scale)
		}
	}
	return nil
}

// ballGradients returns those of ⟨dy, P(v)⟩ with respect to v and to the radii.
func ballGradients(dev backend.Device, b ballGroups, v, dy, radii []float32) (out [2][]float32, err error) {
	vector := b.radius().shape
	var x [5]backend.Buffer
	for i, c := range []struct {
		shape backend.Shape
		v     []float32
	}{{b.shape, make([]float32, len(v))}, {vector, make([]float32, len(radii))}, {b.shape, v}, {b.shape, dy}, {vector, radii}} {
		if x[i], err = upload(dev, c.shape, c.v); err != nil {
			return out, err
		}
		defer x[i].Free()
	}
	if err := dev.ProjectBallsGradient(x[0], x[1], x[2], x[3], x[4], 0); err != nil {
		return out, err
	}
	for i := range out {
		var derr error
		out[i], derr = download(dev, x[i])
		err = errors.Join(err, derr)
	}
	return out, err
}
