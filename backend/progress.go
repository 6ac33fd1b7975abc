package backend

import (
	"context"
	"math"
)

// Progress is the progress of an iteration, a training, a restoration, or an operation of a device.
type Progress struct {
	Fraction  float64 // an estimate of the work done, 0 to 1, never falling
	Iteration int     // iterations made; 0 without an iteration
	Residual  float64 // the residual that an iteration compares with Tolerance
	Tolerance float64
}

// ProgressFunc is called during a computation, from the goroutine that started it. An error stops the
// computation, which returns it. A nil function is not called.
type ProgressFunc func(Progress) error

// Towards returns the progress of the residual from its first value to the tolerance, 0 to 1, on a
// logarithmic scale. Iterations converge about linearly on this scale.
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

// WithProgress returns a context through which an operation of a device, such as GradientFlow, reports its
// progress now and then, in Fraction alone. An operation may report nothing. If f returns an error, the
// context and the operation end, and the error is the context's cause (context.Cause). Call the returned
// function once the operation has ended; it frees what the context holds.
func WithProgress(ctx context.Context, f ProgressFunc) (context.Context, context.CancelFunc) {
	ctx, end := context.WithCancelCause(ctx)
	tell := func(fraction float64) {
		if err := f(Progress{Fraction: fraction}); err != nil {
			end(err)
		}
	}
	return context.WithValue(ctx, progressKey{}, tell), func() { end(nil) }
}

// WithoutProgress returns a context through which nothing is reported.
func WithoutProgress(ctx context.Context) context.Context {
	return context.WithValue(ctx, progressKey{}, func(float64) {})
}

// ReportProgress passes the fraction to the function of WithProgress in the context, if there is one.
func ReportProgress(ctx context.Context, fraction float64) {
	if tell, ok := ctx.Value(progressKey{}).(func(float64)); ok {
		tell(fraction)
	}
}

// PartOfProgress returns a context for part i of n equal parts of an operation.
func PartOfProgress(ctx context.Context, i, n int) context.Context {
	tell, ok := ctx.Value(progressKey{}).(func(float64))
	if !ok || n <= 1 {
		return ctx
	}
	return context.WithValue(ctx, progressKey{}, func(fraction float64) { tell((float64(i) + fraction) / float64(n)) })
}
