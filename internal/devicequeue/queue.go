package devicequeue

import "github.com/averaged/imaging/backend"

// Queue puts operations on a device's stream. After the first that fails the others do
// nothing, so that a network reads as its formulas do; Err says which it was.
type Queue struct {
	Dev backend.Device
	Err error
}

// Do runs an operation unless one has failed.
func (q *Queue) Do(operation func() error) {
	if q.Err == nil {
		q.Err = operation()
	}
}

// Fill is the device's Fill.
func (q *Queue) Fill(dst backend.Buffer, v float32) {
	q.Do(func() error { return q.Dev.Fill(dst, v) })
}

// Channels copies the first channels of src over those of dst, as many as both have.
func (q *Queue) Channels(dst, src backend.Buffer) {
	q.Do(func() error { return q.Dev.CopyRegion(dst, 0, 0, src, src.Shape().Whole()) })
}

// Combine sets dst to the sum of any number of terms, the first MaxTerms of which may be
// dst itself.
func (q *Queue) Combine(dst backend.Buffer, terms ...backend.Term) {
	for len(terms) > 0 {
		now := terms[:min(len(terms), backend.MaxTerms)]
		q.Do(func() error { return q.Dev.LinearCombination(dst, now...) })
		if terms = terms[len(now):]; len(terms) > 0 {
			terms = append([]backend.Term{{A: 1, X: dst}}, terms...)
		}
	}
}

// Convolve is the device's Convolve.
func (q *Queue) Convolve(dst, src backend.Buffer, f backend.Filter, end backend.ConvEnd) {
	q.Do(func() error { return q.Dev.Convolve(dst, src, f, end) })
}

// Adjoint is the device's ConvolveAdjoint.
func (q *Queue) Adjoint(dst, src backend.Buffer, f backend.Filter, beta, scale float32) {
	q.Do(func() error { return q.Dev.ConvolveAdjoint(dst, src, f, beta, scale) })
}

// AddAdjoint is the device's AddAdjoint.
func (q *Queue) AddAdjoint(dst, start, src backend.Buffer, f backend.Filter, scale float32) {
	q.Do(func() error { return q.Dev.AddAdjoint(dst, start, src, f, scale) })
}

// FilterGradient is the device's FilterGradient.
func (q *Queue) FilterGradient(dw, x, dy backend.Buffer, beta, scale float32) {
	q.Do(func() error { return q.Dev.FilterGradient(dw, x, dy, beta, scale) })
}

// BiasGradient is the device's BiasGradient.
func (q *Queue) BiasGradient(db, dy backend.Buffer, beta float32) {
	q.Do(func() error { return q.Dev.BiasGradient(db, dy, beta) })
}

// ActivationGradient is the device's ActivationGradient.
func (q *Queue) ActivationGradient(dst, out, dy backend.Buffer, a backend.Activation) {
	q.Do(func() error { return q.Dev.ActivationGradient(dst, out, dy, a) })
}

// ProjectBalls is the device's ProjectBalls.
func (q *Queue) ProjectBalls(dst, src, radius backend.Buffer) {
	q.Do(func() error { return q.Dev.ProjectBalls(dst, src, radius) })
}

// ProjectBallsGradient is the device's ProjectBallsGradient.
func (q *Queue) ProjectBallsGradient(dst, dradius, src, dy, radius backend.Buffer, beta float32) {
	q.Do(func() error { return q.Dev.ProjectBallsGradient(dst, dradius, src, dy, radius, beta) })
}

// Upload is the device's Upload.
func (q *Queue) Upload(dst backend.Buffer, src []float32) {
	q.Do(func() error { return q.Dev.Upload(dst, src) })
}

// Download is the device's Download.
func (q *Queue) Download(dst []float32, src backend.Buffer) {
	q.Do(func() error { return q.Dev.Download(dst, src) })
}

// Reduce is the device's Reduce.
func (q *Queue) Reduce(out []float64, rs ...backend.Reduction) {
	q.Do(func() error { return q.Dev.Reduce(out, rs...) })
}

// UpdateFilter is the device's UpdateFilter.
func (q *Queue) UpdateFilter(f backend.Filter, w backend.Buffer) {
	q.Do(func() error { return q.Dev.UpdateFilter(f, w) })
}
