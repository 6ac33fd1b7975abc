package estimate

// edgePrior is the prior of the image step: that few samples have a difference to their
// neighbours, however large.
type edgePrior struct {
	lambda float64 // of λ‖∇u‖₀ beside ‖k∗u − v‖²
	// The splitting begins where differences below start are dropped, and ends where the
	// coupling β is last; β grows by factor.
	start, last, factor float64
}

// sharpen sets u to a minimum of ‖k∗u − v‖² + λ‖∇u‖₀ by half-quadratic splitting (Xu, Lu, Xu and
// Jia 2011, algorithm 1; Xu, Zheng and Jia 2013): differences g of which those below √(λ/β) are
// dropped, and then the u that minimises ‖k∗u − v‖² + β‖∇u − g‖², in Fourier space, for β from
// small to large.
func (l *level) sharpen(s support, p edgePrior) error {
	k, power, err := l.blurring(s)
	if err != nil {
		return err
	}
	if err := l.apply(k, l.base, l.v, true); err != nil {
		return err
	}
	copy(l.u, l.v)
	half := l.pw/2 + 1
	for _, beta := range p.couplings() {
		l.difference(float32(p.lambda / beta))
		weight := float32(beta)
		l.each(func(above, at, _ int) {
			left := at + l.pw - 1
			for i := at; i < at+l.pw; i++ {
				l.room[i] = l.base[i] + float32(weight*(l.x[0][left]-l.x[0][i]+l.x[1][above+i-at]-l.x[1][i]))
				left = i
			}
		})
		l.response.Each(func(fy, fx int, _ complex64) complex64 {
			// All zero only where neither the photograph nor a difference says anything.
			return complex(float32(1/(power[fy*half+fx]+float64(beta*(l.rough[0][fy]+l.rough[1][fx]))+1e-9)), 0)
		})
		if err := l.apply(l.response.Filter(), l.u, l.room, false); err != nil {
			return err
		}
	}
	if err := l.apply(k, l.room, l.u, false); err != nil {
		return err
	}
	for i, known := range l.known {
		if !known {
			l.v[i] = l.room[i]
		}
	}
	for i, at := range l.white {
		l.v[at] = max(l.v[at], l.least[i])
	}
	l.difference(0)
	return nil
}

// couplings are the β of the splitting.
func (p edgePrior) couplings() (all []float64) {
	for beta := p.lambda / (p.start * p.start); beta <= p.last; beta *= p.factor {
		all = append(all, beta)
	}
	return all
}

// difference sets x to the differences of u, those to 0 whose squares sum to less than least.
func (l *level) difference(least float32) {
	l.each(func(_, at, below int) {
		for i := at; i < at+l.pw; i++ {
			right := i + 1
			if right == at+l.pw {
				right = at
			}
			a, b := l.u[right]-l.u[i], l.u[below+i-at]-l.u[i]
			if float32(a*a)+float32(b*b) < least {
				a, b = 0, 0
			}
			l.x[0][i], l.x[1][i] = a, b
		}
	})
}

// soften blurs the sharp image as support.softened blurs a kernel.
func (l *level) soften(variance float64) {
	side, middle := float32(variance/2), float32(1-variance)
	l.each(func(above, at, below int) {
		for i := range l.pw {
			l.room[at+i] = float32(middle*l.u[at+i]) + float32(side*(l.u[above+i]+l.u[below+i]))
		}
	})
	l.each(func(_, at, _ int) {
		row := l.room[at : at+l.pw]
		for i, v := range row {
			l.u[at+i] = float32(middle*v) + float32(side*(row[wrap(i-1, l.pw)]+row[wrap(i+1, l.pw)]))
		}
	})
	l.difference(0)
}
