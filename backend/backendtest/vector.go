package backendtest

import (
	"errors"
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
)

func vectorCases() []*testCase {
	var cases []*testCase
	for _, s := range plainShapes {
		cases = append(cases, fillCase(s, 0.1))
	}
	cases = append(cases,
		fillCase(backend.Image(1, 3, 3), 0),
		fillCase(backend.Image(1, 3, 3), float32(math.Inf(-1))),
		fillCase(backend.Image(1, 3, 3), float32(math.NaN())))
	for _, s := range plainShapes {
		cases = append(cases,
			combinationCase(s, 1),
			combinationCase(s, -0.3),
			combinationCase(s, 0.7, -1.9),
			combinationCase(s, 1, 0.25, -3),
			combinationCase(s, 0.1, 0.2, 0.4, -0.8))
	}
	cases = append(cases, combinationCase(backend.Image(2, 5, 7), 0, 1), combinationCase(backend.Image(2, 5, 7), 0, 0, 0))
	for _, s := range plainShapes {
		cases = append(cases, productCase(s))
	}
	for _, s := range plainShapes {
		cases = append(cases, clipCase(s, 0, 0.5))
	}
	cases = append(cases,
		clipCase(backend.Image(2, 5, 7), 0.25, 0.25),
		clipCase(backend.Image(2, 5, 7), float32(math.Inf(-1)), 0.1),
		clipCase(backend.Image(2, 5, 7), -0.1, float32(math.Inf(1))))
	for _, s := range plainShapes {
		for _, out := range []int{1, 3, s.C} {
			cases = append(cases, mixCase(s, out))
		}
	}
	cases = append(cases, mixCase(backend.Image(2, 5, 7), 5), mixCase(backend.Image(5, 5, 7), 16))
	for _, s := range plainShapes {
		cases = append(cases,
			reduceCase(s, backend.Dot),
			reduceCase(s, backend.SumSquares),
			reduceCase(s, backend.DiffSquares),
			reduceCase(s, backend.DiffSquares, backend.Dot, backend.SumSquares, backend.Dot))
	}
	// Long enough for float32 partial sums to be seen.
	cases = append(cases, reduceCase(backend.Image(1, 401, 499), backend.SumSquares, backend.Dot))
	for i, s := range plainShapes {
		cases = append(cases, gaussianCase(s, uint64(i)*0x9e3779b97f4a7c15, 0, 1))
	}
	return append(cases,
		gaussianCase(backend.Image(3, 17, 31), 1, 0.5, 0.15),
		gaussianCase(backend.Image(3, 17, 31), math.MaxUint64, -2, 0.1),
		gaussianCase(backend.Image(1, 5, 5), 7, 0.3, 0))
}

func timedVectorCases(p Photograph) []*testCase {
	s := p.image(3)
	return []*testCase{
		fillCase(s, 0.1),
		combinationCase(s, 1),
		combinationCase(s, 0.7, -1.9),
		combinationCase(s, 0.1, 0.2, 0.4, -0.8),
		productCase(s),
		clipCase(s, 0, 1),
		mixCase(s, 3),
		reduceCase(s, backend.SumSquares),
		reduceCase(s, backend.DiffSquares, backend.SumSquares),
		gaussianCase(s, 1, 0, 0.1),
	}
}

func fillCase(s backend.Shape, v float32) *testCase {
	return (&testCase{
		operation: "Fill",
		name:      fmt.Sprintf("%v %s", v, size(s)),
		operands:  []operand{{name: "dst", role: destination, shape: s}},
		prepare: simple(func(dev backend.Device, b []backend.Buffer) error {
			return dev.Fill(b[0], v)
		}),
		reference: silent(func(x []tensor) {
			for i := range x[0].v {
				x[0].v[i] = float64(v)
			}
		}),
		limit: exact,
		bytes: 4 * float64(s.Len()),
	}).complete()
}

func combinationCase(s backend.Shape, a ...float32) *testCase {
	c := &testCase{
		operation: "LinearCombination",
		name:      fmt.Sprintf("%v %s", a, size(s)),
		operands:  []operand{{name: "dst", role: destination, shape: s}},
		prepare: simple(func(dev backend.Device, b []backend.Buffer) error {
			terms := make([]backend.Term, len(a))
			for k := range a {
				terms[k] = backend.Term{A: a[k], X: b[k+1]}
			}
			return dev.LinearCombination(b[0], terms...)
		}),
		reference: silent(func(x []tensor) { referenceCombination(x[0], a, x[1:]) }),
		limit:     elementwise,
		fits:      same,
		local:     true,
		bytes:     4 * float64(len(a)+1) * float64(s.Len()),
	}
	for k := range a {
		c.operands = append(c.operands, operand{name: fmt.Sprintf("X%d", k), shape: s})
		c.inPlace = append(c.inPlace, [2]int{0, k + 1})
	}
	if len(a) == 1 && a[0] == 1 {
		c.limit = exact
	}
	return c.complete()
}

func productCase(s backend.Shape) *testCase {
	return (&testCase{
		operation: "Multiply",
		name:      size(s),
		operands:  []operand{{name: "dst", role: destination, shape: s}, {name: "x", shape: s}, {name: "y", shape: s}},
		prepare: simple(func(dev backend.Device, b []backend.Buffer) error {
			return dev.Multiply(b[0], b[1], b[2])
		}),
		reference: silent(func(x []tensor) { referenceProduct(x[0], x[1], x[2]) }),
		limit:     exact,
		fits:      same,
		inPlace:   [][2]int{{0, 1}, {0, 2}},
		local:     true,
		bytes:     12 * float64(s.Len()),
	}).complete()
}

func clipCase(s backend.Shape, lo, hi float32) *testCase {
	return (&testCase{
		operation: "Clip",
		name:      fmt.Sprintf("[%v,%v] %s", lo, hi, size(s)),
		operands:  []operand{{name: "dst", role: destination, shape: s}, {name: "src", shape: s}},
		prepare: simple(func(dev backend.Device, b []backend.Buffer) error {
			return dev.Clip(b[0], b[1], lo, hi)
		}),
		reference: silent(func(x []tensor) { referenceClip(x[0], x[1], lo, hi) }),
		limit:     exact,
		fits:      same,
		inPlace:   [][2]int{{0, 1}},
		local:     true,
		bytes:     8 * float64(s.Len()),
	}).complete()
}

func mixCase(s backend.Shape, out int) *testCase {
	d := s
	d.C = out
	name := fmt.Sprintf("%d from %s", out, size(s))
	c := &testCase{
		operation: "MixChannels",
		name:      name,
		operands:  []operand{{name: "dst", role: destination, shape: d}, {name: "src", shape: s}},
		prepare: simple(func(dev backend.Device, b []backend.Buffer) error {
			m := random(out*s.C, "matrix", name)
			err := dev.MixChannels(b[0], b[1], m)
			poison(m) // the caller's again, even if the work is not yet done
			return err
		}),
		reference: silent(func(x []tensor) { referenceMix(x[0], x[1], random(out*s.C, "matrix", name)) }),
		limit:     elementwise,
		fits: func(x []backend.Shape) bool {
			return x[0].C == out && x[1].C == s.C && x[0].N == x[1].N && x[0].H == x[1].H && x[0].W == x[1].W
		},
		local: true,
		bytes: 4 * float64(s.Len()+d.Len()),
	}
	if out == s.C {
		c.inPlace = [][2]int{{0, 1}}
	}
	return c.complete()
}

var reductionNames = map[backend.ReductionKind]string{
	backend.Dot: "Dot", backend.SumSquares: "SumSquares", backend.DiffSquares: "DiffSquares",
}

// reduceCase makes all reductions in one call, each with arrays of its own; every
// second one is one row longer, as shapes may differ between reductions.
func reduceCase(s backend.Shape, kinds ...backend.ReductionKind) *testCase {
	c := &testCase{operation: "Reduce", numbers: float64Sum}
	for k, kind := range kinds {
		sk := s
		sk.H += k % 2
		c.name += reductionNames[kind] + " "
		c.operands = append(c.operands, operand{name: fmt.Sprintf("X%d", k), shape: sk})
		if kind != backend.SumSquares {
			c.operands = append(c.operands, operand{name: fmt.Sprintf("Y%d", k), shape: sk})
		}
	}
	c.name += size(s)
	c.prepare = counted(func(dev backend.Device, b []backend.Buffer) ([]float64, error) {
		rs := make([]backend.Reduction, len(kinds))
		for k, kind := range kinds {
			rs[k] = backend.Reduction{Kind: kind, X: b[0]}
			if b = b[1:]; kind != backend.SumSquares {
				rs[k].Y = b[0]
				b = b[1:]
			}
		}
		out := make([]float64, len(kinds))
		err := dev.Reduce(out, rs...)
		return out, err
	})
	c.reference = func(x []tensor) []number {
		var out []number
		for _, kind := range kinds {
			a, y := x[0], tensor{}
			if x = x[1:]; kind != backend.SumSquares {
				y, x = x[0], x[1:]
			}
			out = append(out, referenceReduction(kind, a, y))
		}
		return out
	}
	c.fits = func(x []backend.Shape) bool {
		for _, kind := range kinds {
			if kind == backend.SumSquares {
				x = x[1:]
				continue
			}
			if x[0] != x[1] {
				return false
			}
			x = x[2:]
		}
		return true
	}
	for _, o := range c.operands {
		c.bytes += 4 * float64(o.shape.Len())
	}
	return c.complete()
}

func gaussianCase(s backend.Shape, seed uint64, mean, std float32) *testCase {
	return (&testCase{
		operation: "Gaussian",
		name:      fmt.Sprintf("seed %d, %v ± %v, %s", seed, mean, std, size(s)),
		operands:  []operand{{name: "dst", role: destination, shape: s}},
		prepare: simple(func(dev backend.Device, b []backend.Buffer) error {
			return dev.Gaussian(b[0], seed, mean, std)
		}),
		reference: silent(func(x []tensor) { referenceGaussian(x[0], seed, mean, std) }),
		limit:     exact,
		bytes:     4 * float64(s.Len()),
	}).complete()
}

func vectorChecks() []check {
	return []check{
		{operation: "LinearCombination", name: "arguments", run: checkCombinationArguments},
		{operation: "Multiply", name: "special numbers", run: checkProducts},
		{operation: "Clip", name: "arguments", run: checkClipArguments},
		{operation: "MixChannels", name: "arguments", run: checkMixArguments},
		{operation: "Reduce", name: "arguments", run: checkReduceArguments},
		{operation: "Gaussian", name: "moments", run: checkGaussianMoments},
	}
}

func checkCombinationArguments(e *environment) error {
	x, err := e.dev.Alloc(backend.Image(1, 2, 2))
	if err != nil {
		return err
	}
	five := make([]backend.Term, backend.MaxTerms+1)
	for i := range five {
		five[i] = backend.Term{A: 1, X: x}
	}
	return errors.Join(
		wantError("no terms", e.dev.LinearCombination(x), backend.ErrArgument),
		wantError("too many terms", e.dev.LinearCombination(x, five...), backend.ErrArgument),
		// Every term may be the destination itself.
		wrap("all terms the destination", e.dev.LinearCombination(x, five[:backend.MaxTerms]...)))
}

// checkProducts multiplies every pair of special numbers, and squares them in place.
func checkProducts(e *environment) error {
	special := []float32{
		0, float32(math.Copysign(0, -1)), 1, -1, 0.5, -3, 1 + 0x1p-23, 0x1p-100, -0x1p-126, 0x1p-149, 0x1p100,
		math.MaxFloat32, float32(math.Inf(1)), float32(math.Inf(-1)), nan,
	}
	n := len(special)
	s := backend.Image(1, n, n)
	a, b := make([]float32, s.Len()), make([]float32, s.Len())
	products, squares := make([]float32, s.Len()), make([]float32, s.Len())
	for i, v := range special {
		for j, w := range special {
			k := i*n + j
			a[k], b[k], products[k], squares[k] = v, w, v*w, w*w
		}
	}
	x, err := upload(e.dev, s, a)
	if err != nil {
		return err
	}
	y, err := upload(e.dev, s, b)
	if err != nil {
		return err
	}
	if err := errors.Join(e.dev.Multiply(x, x, y), e.dev.Multiply(y, y, y)); err != nil {
		return err
	}
	for _, r := range []struct {
		name   string
		buffer backend.Buffer
		want   []float32
	}{{"products", x, products}, {"squares, all in one buffer", y, squares}} {
		got, err := download(e.dev, r.buffer)
		if err != nil {
			return err
		}
		if err := checkBits(r.name, s, got, r.want); err != nil {
			return err
		}
	}
	return nil
}

func checkClipArguments(e *environment) error {
	x, err := e.dev.Alloc(backend.Image(1, 2, 2))
	if err != nil {
		return err
	}
	return errors.Join(
		wantError("lo > hi", e.dev.Clip(x, x, 1, 0), backend.ErrArgument),
		wantError("lo is NaN", e.dev.Clip(x, x, nan, 0), backend.ErrArgument),
		wantError("hi is NaN", e.dev.Clip(x, x, 0, nan), backend.ErrArgument))
}

func checkMixArguments(e *environment) error {
	small, err := e.dev.Alloc(backend.Image(2, 2, 2))
	if err != nil {
		return err
	}
	large, err := e.dev.Alloc(backend.Image(17, 2, 2))
	if err != nil {
		return err
	}
	two := func(m []float32) error {
		return guarded(func() error { return e.dev.MixChannels(small, small, m) })
	}
	return errors.Join(
		wantError("matrix too short", two(make([]float32, 3)), backend.ErrShape, backend.ErrArgument),
		wantError("matrix too long", two(make([]float32, 5)), backend.ErrShape, backend.ErrArgument),
		wantError("no matrix", two(nil), backend.ErrShape, backend.ErrArgument),
		wantError("17 channels from 2", e.dev.MixChannels(large, small, make([]float32, 34)), backend.ErrShape, backend.ErrArgument),
		wantError("2 channels from 17", e.dev.MixChannels(small, large, make([]float32, 34)), backend.ErrShape, backend.ErrArgument))
}

func checkReduceArguments(e *environment) error {
	x, err := e.dev.Alloc(backend.Image(1, 2, 2))
	if err != nil {
		return err
	}
	one := backend.Reduction{Kind: backend.SumSquares, X: x}
	reduce := func(out []float64, rs ...backend.Reduction) error {
		return guarded(func() error { return e.dev.Reduce(out, rs...) })
	}
	return errors.Join(
		wrap("nothing to reduce", reduce(nil)),
		wantError("no room for the value", reduce(nil, one), backend.ErrShape, backend.ErrArgument),
		wantError("room for two values of one", reduce(make([]float64, 2), one), backend.ErrShape, backend.ErrArgument),
		wantError("unknown kind", reduce(make([]float64, 1), backend.Reduction{Kind: backend.DiffSquares + 1, X: x, Y: x}), backend.ErrArgument),
		wantError("Dot without Y", reduce(make([]float64, 1), backend.Reduction{Kind: backend.Dot, X: x})))
}

// checkGaussianMoments is a check of the whole path: mean and variance of the
// numbers, and none of them shared by two seeds, at five standard errors.
func checkGaussianMoments(e *environment) error {
	s := backend.Image(1, 301, 333)
	const mean, std = 0.5, 0.25
	x, err := e.dev.Alloc(s)
	if err != nil {
		return err
	}
	y, err := e.dev.Alloc(s)
	if err != nil {
		return err
	}
	if err := errors.Join(e.dev.Gaussian(x, 1, mean, std), e.dev.Gaussian(y, 2, mean, std)); err != nil {
		return err
	}
	a, err := download(e.dev, x)
	if err != nil {
		return err
	}
	b, err := download(e.dev, y)
	if err != nil {
		return err
	}
	n := float64(len(a))
	var m1, m2, cross float64
	for i := range a {
		u, v := (float64(a[i])-mean)/std, (float64(b[i])-mean)/std
		m1 += u / n
		m2 += u * u / n
		cross += u * v / n
	}
	if bound := 5 / math.Sqrt(n); math.Abs(m1) > bound || math.Abs(m2-1) > bound*math.Sqrt2 || math.Abs(cross) > bound {
		return fmt.Errorf("standardised mean %v, mean square %v, correlation of two seeds %v; 5 standard errors are %v", m1, m2, cross, bound)
	}
	return nil
}
