package train

import "github.com/averaged/imaging/backend"

// queue puts operations on a device's stream. After the first that fails the others do
// nothing, so that a network reads as its formulas do; err says which it was.
type queue struct {
	dev backend.Device
	err error
}

func (q *queue) do(operation func() error) {
	if q.err == nil {
		q.err = operation()
	}
}

func (q *queue) fill(dst backend.Buffer, v float32) {
	q.do(func() error { return q.dev.Fill(dst, v) })
}

// channels copies the first channels of src over those of dst, as many as both have.
func (q *queue) channels(dst, src backend.Buffer) {
	q.do(func() error { return q.dev.CopyRegion(dst, 0, 0, src, src.Shape().Whole()) })
}

// combine sets dst to the sum of any number of terms, the first MaxTerms of which may be
// dst itself.
func (q *queue) combine(dst backend.Buffer, terms ...backend.Term) {
	for len(terms) > 0 {
		now := terms[:min(len(terms), backend.MaxTerms)]
		q.do(func() error { return q.dev.LinearCombination(dst, now...) })
		if terms = terms[len(now):]; len(terms) > 0 {
			terms = append([]backend.Term{{A: 1, X: dst}}, terms...)
		}
	}
}

func (q *queue) convolve(dst, src backend.Buffer, f backend.Filter, end backend.ConvEnd) {
	q.do(func() error { return q.dev.Convolve(dst, src, f, end) })
}

func (q *queue) adjoint(dst, src backend.Buffer, f backend.Filter, beta, scale float32) {
	q.do(func() error { return q.dev.ConvolveAdjoint(dst, src, f, beta, scale) })
}

func (q *queue) filterGradient(dw, x, dy backend.Buffer, beta, scale float32) {
	q.do(func() error { return q.dev.FilterGradient(dw, x, dy, beta, scale) })
}

func (q *queue) biasGradient(db, dy backend.Buffer, beta float32) {
	q.do(func() error { return q.dev.BiasGradient(db, dy, beta) })
}

func (q *queue) activationGradient(dst, out, dy backend.Buffer, a backend.Activation) {
	q.do(func() error { return q.dev.ActivationGradient(dst, out, dy, a) })
}

func (q *queue) projectBalls(dst, src, radius backend.Buffer) {
	q.do(func() error { return q.dev.ProjectBalls(dst, src, radius) })
}

func (q *queue) projectBallsGradient(dst, dradius, src, dy, radius backend.Buffer, beta float32) {
	q.do(func() error { return q.dev.ProjectBallsGradient(dst, dradius, src, dy, radius, beta) })
}

func (q *queue) upload(dst backend.Buffer, src []float32) {
	q.do(func() error { return q.dev.Upload(dst, src) })
}

func (q *queue) download(dst []float32, src backend.Buffer) {
	q.do(func() error { return q.dev.Download(dst, src) })
}

func (q *queue) reduce(out []float64, rs ...backend.Reduction) {
	q.do(func() error { return q.dev.Reduce(out, rs...) })
}

func (q *queue) updateFilter(f backend.Filter, w backend.Buffer) {
	q.do(func() error { return q.dev.UpdateFilter(f, w) })
}
