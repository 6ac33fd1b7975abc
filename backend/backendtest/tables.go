package backendtest

import (
	"fmt"
	"sync"

	"github.com/averaged/imaging/backend"
)

// plainShapes are the shapes at which operations on whole arrays are tried: one
// element, one row, one column, odd, even and prime extents, more rows and columns
// than any block a device works in, several channels and images.
var plainShapes = []backend.Shape{
	backend.Image(1, 1, 1),
	backend.Image(1, 1, 7),
	backend.Image(2, 7, 1),
	backend.Image(3, 2, 2),
	backend.Image(5, 3, 5),
	backend.Image(16, 8, 16),
	backend.Image(3, 17, 31),
	backend.Image(3, 67, 129),
	backend.Vector(11),
	{N: 2, C: 3, H: 5, W: 9},
	{N: 3, C: 1, H: 4, W: 4},
}

// Photograph is the size of a benchmark's image, in pixels.
type Photograph struct{ Height, Width int }

func (p Photograph) image(channels int) backend.Shape {
	return backend.Image(channels, p.Height, p.Width)
}

// allCases returns the cases that are small enough for a test, operation by
// operation.
var allCases = sync.OnceValue(func() []*testCase {
	var cases []*testCase
	for _, family := range []func() []*testCase{
		regionCases, shuffleCases, vectorCases, totalVariationCases, blurCases, convolutionCases, eulerCases, gradientCases,
		ballCases,
	} {
		cases = append(cases, family()...)
	}
	return cases
})

// timedCases returns the cases of the benchmarks: made by the same functions,
// larger.
func timedCases(p Photograph) []*testCase {
	var cases []*testCase
	for _, family := range []func(Photograph) []*testCase{
		timedVectorCases, timedShuffleCases, timedTotalVariationCases, timedBlurCases, timedConvolutionCases,
		timedEulerCases, timedGradientCases, timedBallCases,
	} {
		cases = append(cases, family(p)...)
	}
	return cases
}

// allChecks returns every check. The small cases of each operation come first, so
// that what is wrong shows at its simplest, and the large ones last.
var allChecks = sync.OnceValue(func() []check {
	checks := memoryChecks()
	var large []check
	closed := map[string]bool{}
	for _, c := range allCases() {
		k := check{operation: c.operation, name: c.name, memory: c.memory, run: c.check}
		if !c.small() {
			large = append(large, k)
			continue
		}
		checks = append(checks, k)
		if !closed[c.operation] {
			closed[c.operation] = true
			checks = append(checks, check{operation: c.operation, name: "closed", memory: c.memory, run: c.checkClosed})
		}
	}
	for _, family := range []func() []check{
		regionChecks, shuffleChecks, vectorChecks, totalVariationChecks, blurChecks, convolutionChecks, gridChecks, eulerChecks,
		gradientChecks, ballChecks, concurrencyChecks,
	} {
		checks = append(checks, family()...)
	}
	return append(checks, large...)
})

func checksOf(operation string) []check {
	var checks []check
	for _, c := range allChecks() {
		if c.operation == operation {
			checks = append(checks, c)
		}
	}
	return checks
}

// size writes a shape without a batch of one.
func size(s backend.Shape) string {
	if s.N == 1 {
		return fmt.Sprintf("%d×%d×%d", s.C, s.H, s.W)
	}
	return s.String()
}

// same reports whether all shapes are equal.
func same(s []backend.Shape) bool {
	for _, other := range s {
		if other != s[0] {
			return false
		}
	}
	return true
}
