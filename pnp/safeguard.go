package pnp

import (
	"math"

	"github.com/averaged/imaging/backend"
)

// safeguard tries points that an acceleration proposes, and keeps convergence whatever they
// are (after Zhang, O'Donoghue and Boyd 2020, Algorithm 3.1, and the safeguarded steps of
// Themelis and Patrinos 2019).
//
// With T(x_k) at hand and r_k = ‖T(x_k) − x_k‖, n proposals accepted before, let
//
//	cap_n = 10·r₀/(n+1)^1.1.
//
// The next point is T(x_k), or a proposal c in C that meets two conditions:
//
//	‖c − T(x_k)‖ ≤ 100·min(r_k, cap_n)  (a longer move is shortened),
//	‖T(c) − c‖ ≤ cap_n                  (otherwise T(x_k) is the next point after all).
//
// Theorem. Let T be α-averaged with α < 1, and have a fixed point. Then the points converge
// to a fixed point, and the smallest residual of k+1 of them is at most
// √(α/((1−α)(k+1)))·(‖x₀ − x*‖ + S), where S ≤ 1000·r₀·Σ 1/n^1.1 is the sum of the accepted
// moves. Proof: x_{k+1} = T(x_k) + e_k, where e_k is 0 after a plain step and the move otherwise,
// is the inexact Krasnoselskii–Mann iteration with summable errors (Combettes 2004, Theorem
// 5.5). It does not matter how c was found.
//
// The theorem does not need the second condition. That limits the cost of a bad proposal to one
// application of T: after j rejections in a row 2^j plain steps pass before the next trial. So at
// most (N+1)/3 of N applications are lost, and at most log₂(N) + 1 if all proposals are bad; apart
// from these the run is then the plain one. Without room for earlier points (spectral) no proposal is given up, for T(x_k) is
// not kept, but as many plain steps follow a bad one.
type safeguard struct {
	anderson anderson
	spectral *spectral // in the place of anderson, where there is no room for points; or nil
	// direct replaces the proposal of anderson where it is set: it may write anything
	// into dst, given T(x).
	direct func(dst, image backend.Buffer) error

	first    float64 // r₀
	accepted int     // n
	kept     float64 // r_k of the last point that was kept
	way      float64 // of the trial under way, 0 if none is
	rejected int     // in a row
	wait     int     // plain steps until the next trial
	spare    []backend.Buffer
}

// The constants of the conditions. Anderson's ways were up to 20 times the residual when
// photographs were deblurred with a network, and of its proposals none was given up; with
// cap_n = r₀/(n+1)^1.1 some were.
const (
	maxWay   = 100
	capStart = 10
	capDecay = 1.1
)

// take returns an image that is not in use.
func (s *safeguard) take(it *iteration) (b backend.Buffer, err error) {
	if n := len(s.spare); n > 0 {
		b, s.spare = s.spare[n-1], s.spare[:n-1]
		return b, nil
	}
	return it.dev.Alloc(it.moved.Shape())
}

// ceiling is cap_n.
func (s *safeguard) ceiling() float64 {
	return capStart * s.first / math.Pow(float64(s.accepted+1), capDecay)
}

// trying tells whether the point it.x is a proposal that can be given up.
func (s *safeguard) trying() bool { return s.way > 0 && s.spectral == nil }

// keep judges the point it.x by its residual. At the end of the run none is given up.
func (s *safeguard) keep(it *iteration, end bool) bool {
	if it.n == 1 {
		s.first = it.residual
	}
	if s.way > 0 {
		if end || it.residual <= s.ceiling() {
			s.rejected = 0
		} else {
			s.rejected++
			s.wait = 1<<min(s.rejected, 30) - 1
			if s.spectral == nil {
				return false
			}
		}
		it.errors += s.way
		s.accepted++
	}
	s.way, s.kept = 0, it.residual
	return true
}

// retreat makes T of the last point that was kept the next one.
func (s *safeguard) retreat(it *iteration) {
	s.way = 0
	// The other points have led astray and are forgotten.
	s.spare = append(s.spare, s.anderson.drop(1)...)
	last := s.anderson.points[0]
	s.anderson.points, s.anderson.products = nil, nil
	s.spare = append(s.spare, last.residual, it.x)
	it.x, it.residual = last.image, s.kept
}

// advance sets it.x to the next point, after it.x was kept. If there is one point too many by then, the next
// one is made where the image of the oldest is, which is its first term.
func (s *safeguard) advance(it *iteration) (err error) {
	if s.spectral != nil {
		if err := s.spectral.residual(it); err != nil {
			return err
		}
		return s.choose(it, it.next)
	}
	if err := it.dev.LinearCombination(it.x, backend.Term{A: 1, X: it.next}, backend.Term{A: -1, X: it.x}); err != nil {
		return err
	}
	present := evaluated{residual: it.x, image: it.next}
	it.x, it.next = nil, nil
	if err := s.anderson.add(it.dev, present); err != nil {
		return err
	}
	if len(s.anderson.points) <= s.anderson.memory {
		if it.x, err = s.take(it); err == nil {
			err = s.choose(it, present.image)
		}
	} else {
		oldest := s.anderson.points[0]
		it.x = oldest.image
		err = s.choose(it, present.image)
		s.anderson.drop(s.anderson.memory)
		s.spare = append(s.spare, oldest.residual)
	}
	if err == nil {
		it.next, err = s.take(it)
	}
	return err
}

// choose sets it.x to a proposal, or to the plain step.
func (s *safeguard) choose(it *iteration, image backend.Buffer) error {
	tried, err := s.try(it, image)
	if err != nil || tried {
		return err
	}
	if s.way = 0; s.spectral != nil {
		s.spectral.step = 1
	}
	return it.dev.LinearCombination(it.x, backend.Term{A: 1, X: image})
}

// try sets it.x to a proposal whose way is within its limit, and s.way, or returns false.
func (s *safeguard) try(it *iteration, image backend.Buffer) (bool, error) {
	if s.wait > 0 {
		s.wait--
		return false, nil
	}
	if s.direct != nil {
		if err := s.direct(it.x, image); err != nil {
			return false, err
		}
	} else if s.spectral != nil {
		if err := it.dev.LinearCombination(it.x, backend.Term{A: 1, X: image}, backend.Term{A: float32(s.spectral.step - 1), X: it.x}); err != nil {
			return false, err
		}
	} else if ok, err := s.anderson.propose(it.dev, it.x); !ok {
		return false, err
	}
	if it.set == UnitBox {
		if err := it.dev.Clip(it.x, it.x, 0, float32(it.peak)); err != nil {
			return false, err
		}
	}
	var square [1]float64
	if err := it.dev.Reduce(square[:], backend.Reduction{Kind: backend.DiffSquares, X: it.x, Y: image}); err != nil {
		return false, err
	}
	s.way = math.Sqrt(square[0])
	if !(s.way > 0) || math.IsInf(s.way, 1) {
		return false, nil // nothing new, or not a number
	}
	if limit := maxWay * math.Min(s.kept, s.ceiling()); s.way > limit {
		// C is convex: what is between two of its points is in it.
		part := limit / s.way
		if s.way = limit; s.spectral != nil {
			s.spectral.step = 1 + part*(s.spectral.step-1)
		}
		return true, it.dev.LinearCombination(it.x, backend.Term{A: float32(part), X: it.x}, backend.Term{A: float32(1 - part), X: image})
	}
	return true, nil
}

func (s *safeguard) free() {
	for _, b := range append(s.spare, s.anderson.drop(0)...) {
		b.Free()
	}
	if s.spectral != nil {
		s.spectral.free()
	}
}
