package backend

import (
	"context"
	"math"
)

// Progress is how far a computation has come: of an iteration, a training, a restoration, or an operation of a device.
type Progress struct {
	Fraction  float64 // an estimate of the work done, 0 to 1, never falling
	Iteration int     // iterations made, 0 where there are none
	Residual  float64 // what an iteration compares with Tolerance
	Tolerance float64
}

// ProgressFunc is called as a computation goes on, from the goroutine that called the computation. An error ends it
// and comes back from it. Nil asks for nothing.
type ProgressFunc func(Progress) error

// Towards returns how far the residual has come from its first value to the tolerance, 0 to 1, on a logarithmic
// scale: iterations converge about linearly on it.
func (p Progress) Towards(first float64) float64 {
	switch {
	case !(p.Residual > p.Tolerance):
		return 1
	case !(first > p.Tolerance):
		return 0
	}
	return min(1, max(0, math.Log(first/p.Residual)/math.Log(first/p.Tolerance)))
}

// progressKey is the key of a context's progress function.
type progressKey struct{}

// WithProgress returns a context through which an operation of a device, such as GradientFlow, tells now and then how
// much of it is done, in Fraction alone. An operation may say nothing. Where f returns an error the context ends, with
// the error as its cause (context.Cause), and with it the operation. The returned function frees what the context
// holds, once the operation has ended.
func WithProgress(ctx context.Context, f ProgressFunc) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	tell := func(fraction float64) {
		if err := f(Progress{Fraction: fraction}); err != nil {
			end(err)
		}
	}
	return context.WithValue(ctx, progressKey{}, tell), func() { end(nil) }
}

// WithoutProgress returns a context through which nothing is told.
func WithoutProgress(ctx context.Context) context.Context {
	return context.WithValue(ctx, progressKey{}, func(float64) {})
}

// ReportProgress tells the fraction to the function that WithProgress has put into the context, if there is one.
func ReportProgress(ctx context.Context, fraction float64) {
	if tell, ok := ctx.Value(progressKey{}).(func(float64)); ok {
		tell(fraction)
	}
}

// PartOfProgress returns a context for part i of n equal ones of an operation.
func PartOfProgress(ctx context.Context, i, n int) context.Context {
	tell, ok := ctx.Value(progressKey{}).(func(float64))
	if !ok || n <= 1 {
		return ctx
	}
	return context.WithValue(ctx, progressKey{}, func(fraction float64) { tell((float64(i) + fraction) / float64(n)) })
}
