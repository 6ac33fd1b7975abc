package backend

import "context"

// progressKey is the key of a context's progress function.
type progressKey struct{}

// WithProgress returns a context through which a long operation, such as GradientFlow,
// tells now and then how much of it is done: f gets numbers from 0 to 1 that do not
// fall, from the goroutine that called the operation. An operation may say nothing.
func WithProgress(ctx context.Context, f func(fraction float64)) context.Context {
	return context.WithValue(ctx, progressKey{}, f)
}

// ReportProgress calls the function that WithProgress has put into the context, if
// there is one.
func ReportProgress(ctx context.Context, fraction float64) {
	if f, ok := ctx.Value(progressKey{}).(func(float64)); ok {
		f(fraction)
	}
}

// PartOfProgress returns a context for part i of n equal ones of an operation.
func PartOfProgress(ctx context.Context, i, n int) context.Context {
	f, ok := ctx.Value(progressKey{}).(func(float64))
	if !ok || n <= 1 {
		return ctx
	}
	return WithProgress(ctx, func(fraction float64) { f((float64(i) + fraction) / float64(n)) })
}
