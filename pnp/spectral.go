package pnp

import "github.com/averaged/imaging/backend"

// spectral proposes a longer step where there is no room for Anderson's points: x_{k+1} = x_k + s·r_k, where
// r_k = T(x_k) − x_k, by the spectral residual method (La Cruz, Martínez and Raydan 2006). After a step
// x_k = x_{k−1} + s'·r_{k−1} it takes
//
//	s = s'·⟨r_{k−1}, r_{k−1} − r_k⟩/‖r_{k−1} − r_k‖²,
//
// the number for which s·(r_{k−1} − r_k) is nearest to the step before (Barzilai and Borwein 1988). All that it keeps is
// the mean of the channels of r_{k−1}. Like Anderson's method it guarantees nothing by itself; safeguard does.
type spectral struct {
	before backend.Buffer // the mean of r_{k−1}, or nil
	step   float64        // s'
}

// residual puts r_k in the place of x_k and sets s, which is at least 1: a step of T is never too long.
func (s *spectral) residual(it *iteration) error {
	d := it.dev
	if err := d.LinearCombination(it.x, backend.Term{A: 1, X: it.next}, backend.Term{A: -1, X: it.x}); err != nil {
		return err
	}
	mean, err := meanOfChannels(d, it.x)
	if err != nil {
		return err
	}
	step := 1.0
	if s.before != nil {
		var sums [3]float64
		err = d.Reduce(sums[:],
			backend.Reduction{Kind: backend.SumSquares, X: s.before},
			backend.Reduction{Kind: backend.Dot, X: s.before, Y: mean},
			backend.Reduction{Kind: backend.DiffSquares, X: s.before, Y: mean})
		step = s.step * (sums[0] - sums[1]) / sums[2]
		s.before.Free()
	}
	if s.before, s.step = mean, 1; step > 1 {
		s.step = min(step, 1+maxWay)
	}
	return err
}

// meanOfChannels returns the mean of the channels of an image.
func meanOfChannels(d backend.Device, x backend.Buffer) (mean backend.Buffer, err error) {
	s := x.Shape()
	if mean, err = d.Alloc(backend.Image(1, s.H, s.W)); err != nil {
		return nil, err
	}
	for c := 0; c < s.C && err == nil; c++ {
		var view backend.Buffer
		if view, err = d.Channels(x, c, 1); err == nil {
			err = d.LinearCombination(mean, backend.Term{A: 1, X: mean}, backend.Term{A: 1 / float32(s.C), X: view})
			view.Free()
		}
	}
	if err != nil {
		mean.Free()
		return nil, err
	}
	return mean, nil
}

func (s *spectral) free() {
	if s.before != nil {
		s.before.Free()
	}
}
