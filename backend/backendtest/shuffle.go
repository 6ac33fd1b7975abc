package backendtest

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/averaged/imaging/backend"
)

// shuffleShapes are fine shapes and factors: one pixel, extents that the factor divides
// and does not, factors that are 1 or larger than the image, batches, and more rows than
// any block a device works in.
var shuffleShapes = []struct {
	fine   backend.Shape
	factor int
}{
	{backend.Image(1, 1, 1), 1},
	{backend.Image(1, 1, 1), 3},
	{backend.Image(2, 1, 7), 2},
	{backend.Image(2, 7, 1), 2},
	{backend.Image(1, 4, 6), 2},
	{backend.Image(3, 5, 7), 1},
	{backend.Image(3, 5, 7), 2},
	{backend.Image(3, 6, 5), 3},
	{backend.Image(2, 9, 8), 4},
	{backend.Image(2, 3, 5), 7},
	{backend.Image(16, 8, 16), 2},
	{backend.Image(3, 67, 129), 2},
	{backend.Image(1, 130, 515), 2},
	{backend.Image(1, 67, 129), 5},
	{backend.Shape{N: 2, C: 3, H: 5, W: 9}, 2},
	{backend.Shape{N: 3, C: 1, H: 4, W: 4}, 3},
}

func shuffleCases() []*testCase {
	var cases []*testCase
	for _, s := range shuffleShapes {
		cases = append(cases, unshuffleCase(s.fine, s.factor))
	}
	for _, s := range shuffleShapes {
		cases = append(cases, shuffleCase(s.fine, s.factor))
	}
	return cases
}

func timedShuffleCases(p Photograph) []*testCase {
	return []*testCase{unshuffleCase(p.image(3), 2), shuffleCase(p.image(3), 2)}
}

func unshuffleCase(fine backend.Shape, factor int) *testCase {
	coarse := fine.Unshuffled(factor)
	return (&testCase{
		operation: "Unshuffle",
		name:      fmt.Sprintf("%s by %d", size(fine), factor),
		operands:  []operand{{name: "dst", role: destination, shape: coarse}, {name: "src", shape: fine}},
		prepare: simple(func(dev backend.Device, b []backend.Buffer) error {
			return dev.Unshuffle(b[0], b[1], factor)
		}),
		reference: silent(func(x []tensor) { referenceUnshuffle(x[0], x[1], factor) }),
		limit:     exact,
		fits:      func(s []backend.Shape) bool { return s[1].Unshuffled(factor) == s[0] },
		local:     true,
		bytes:     4 * float64(fine.Len()+coarse.Len()),
	}).complete()
}

func shuffleCase(fine backend.Shape, factor int) *testCase {
	coarse := fine.Unshuffled(factor)
	return (&testCase{
		operation: "Shuffle",
		name:      fmt.Sprintf("%s by %d", size(fine), factor),
		operands:  []operand{{name: "dst", role: destination, shape: fine}, {name: "src", shape: coarse}},
		prepare: simple(func(dev backend.Device, b []backend.Buffer) error {
			return dev.Shuffle(b[0], b[1], factor)
		}),
		reference: silent(func(x []tensor) { referenceShuffle(x[0], x[1], factor) }),
		limit:     exact,
		fits:      func(s []backend.Shape) bool { return s[0].Unshuffled(factor) == s[1] },
		local:     true,
		bytes:     4 * float64(fine.Len()+coarse.Len()),
	}).complete()
}

func shuffleChecks() []check {
	return []check{
		{operation: "Unshuffle", name: "arguments", run: checkShuffleArguments},
		{operation: "Unshuffle", name: "every kind of number", run: checkShuffleNumbers},
		{operation: "Shuffle", name: "arguments", run: checkShuffleArguments},
		{operation: "Shuffle", name: "every kind of number", run: checkShuffleNumbers},
		{operation: "Shuffle", name: "adjointness", run: checkShuffleAdjointness},
	}
}

// checkShuffleArguments calls with factors that are none.
func checkShuffleArguments(e *environment) error {
	fine := backend.Image(2, 4, 6)
	x, err := e.dev.Alloc(fine)
	if err != nil {
		return err
	}
	y, err := e.dev.Alloc(fine.Unshuffled(2))
	if err != nil {
		return err
	}
	for _, factor := range []int{0, -1, -2, math.MinInt, 3, math.MaxInt, 1 << (bits.UintSize / 2)} {
		wanted := backend.ErrShape
		if factor < 1 {
			wanted = backend.ErrArgument
		}
		err = errors.Join(err,
			wantError(fmt.Sprintf("Unshuffle by %d", factor), guarded(func() error { return e.dev.Unshuffle(y, x, factor) }), wanted),
			wantError(fmt.Sprintf("Shuffle by %d", factor), guarded(func() error { return e.dev.Shuffle(x, y, factor) }), wanted))
	}
	return err
}

// checkShuffleNumbers moves there and back what arithmetic would change.
func checkShuffleNumbers(e *environment) error {
	want := []float32{
		float32(math.Copysign(0, -1)), math.SmallestNonzeroFloat32, -0x1p-127, math.MaxFloat32,
		float32(math.Inf(1)), float32(math.Inf(-1)), nan, 1 + 0x1p-23, float32(math.Copysign(0, -1)),
	}
	s := backend.Image(1, 3, 3)
	x, err := upload(e.dev, s, want)
	if err != nil {
		return err
	}
	y, err := e.dev.Alloc(s.Unshuffled(2))
	if err != nil {
		return err
	}
	back, err := e.dev.Alloc(s)
	if err != nil {
		return err
	}
	if err := errors.Join(e.dev.Unshuffle(y, x, 2), e.dev.Shuffle(back, y, 2)); err != nil {
		return err
	}
	coarse, err := download(e.dev, y)
	if err != nil {
		return err
	}
	// The channels of even and odd rows and columns, by hand.
	zero := float32(0)
	placed := []float32{
		want[0], want[2], want[6], want[8],
		want[1], zero, want[7], zero,
		want[3], want[5], zero, zero,
		want[4], zero, zero, zero,
	}
	if err := checkBits("the channels", y.Shape(), coarse, placed); err != nil {
		return err
	}
	got, err := download(e.dev, back)
	if err != nil {
		return err
	}
	return checkBits("there and back", s, got, want)
}

// checkShuffleAdjointness compares ⟨Ux, y⟩ with ⟨x, Uᵀy⟩.
func checkShuffleAdjointness(e *environment) error {
	for _, c := range shuffleShapes {
		coarse := c.fine.Unshuffled(c.factor)
		x := noise(c.fine, "x")
		y := noise(coarse, "y")
		ux, err := applied(e.dev, c.fine, coarse, "x", func(dst, src backend.Buffer) error { return e.dev.Unshuffle(dst, src, c.factor) })
		if err != nil {
			return err
		}
		uty, err := applied(e.dev, coarse, c.fine, "y", func(dst, src backend.Buffer) error { return e.dev.Shuffle(dst, src, c.factor) })
		if err != nil {
			return err
		}
		left, right := inner(ux, y), inner(x, uty)
		if math.Abs(left.value-right.value) > float64Sum*left.scale {
			return fmt.Errorf("%v by %d: ⟨Ux, y⟩ is %v, ⟨x, Uᵀy⟩ is %v", c.fine, c.factor, left.value, right.value)
		}
	}
	return nil
}

// noise returns random numbers that depend on the name only.
func noise(s backend.Shape, name string) tensor { return widen(s, random(s.Len(), name)) }

// applied returns what an operation makes of noise of that name.
func applied(dev backend.Device, from, to backend.Shape, name string, call func(dst, src backend.Buffer) error) (tensor, error) {
	src, err := upload(dev, from, random(from.Len(), name))
	if err != nil {
		return tensor{}, err
	}
	defer src.Free()
	dst, err := dev.Alloc(to)
	if err != nil {
		return tensor{}, err
	}
	defer dst.Free()
	if err := call(dst, src); err != nil {
		return tensor{}, err
	}
	v, err := download(dev, dst)
	return widen(to, v), err
}
