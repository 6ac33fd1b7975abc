package fft

// The butterflies of one radix each. Forward: transform the elements, then multiply
// with the twiddles w₁, w₂, …; inverse: multiply with their conjugates, then
// transform back. Where one is told that the twiddles are 1, it leaves them out. Products are
// rounded before they are added, so that all instruction sets give the same bits.

func forward2(a, b *record, w *[2]float32, one bool) {
	wr, wi := w[0], w[1]
	if one {
		for i := range lanes {
			ar, ai, br, bi := a[i], a[i+lanes], b[i], b[i+lanes]
			a[i], a[i+lanes] = ar+br, ai+bi
			b[i], b[i+lanes] = ar-br, ai-bi
		}
		return
	}
	for i := range lanes {
		ar, ai, br, bi := a[i], a[i+lanes], b[i], b[i+lanes]
		a[i], a[i+lanes] = ar+br, ai+bi
		dr, di := ar-br, ai-bi
		b[i], b[i+lanes] = float32(dr*wr)-float32(di*wi), float32(dr*wi)+float32(di*wr)
	}
}

func inverse2(a, b *record, w *[2]float32, one bool) {
	wr, wi := w[0], w[1]
	if one {
		for i := range lanes {
			ar, ai, br, bi := a[i], a[i+lanes], b[i], b[i+lanes]
			a[i], a[i+lanes] = ar+br, ai+bi
			b[i], b[i+lanes] = ar-br, ai-bi
		}
		return
	}
	for i := range lanes {
		br, bi := float32(b[i]*wr)+float32(b[i+lanes]*wi), float32(b[i+lanes]*wr)-float32(b[i]*wi)
		ar, ai := a[i], a[i+lanes]
		a[i], a[i+lanes] = ar+br, ai+bi
		b[i], b[i+lanes] = ar-br, ai-bi
	}
}

func forward4(a, b, c, d *record, w *[6]float32, one bool) {
	if one {
		for i := range lanes {
			sr, si, tr, ti := a[i]+c[i], a[i+lanes]+c[i+lanes], a[i]-c[i], a[i+lanes]-c[i+lanes]
			ur, ui, vr, vi := b[i]+d[i], b[i+lanes]+d[i+lanes], b[i]-d[i], b[i+lanes]-d[i+lanes]
			a[i], a[i+lanes] = sr+ur, si+ui
			b[i], b[i+lanes] = tr+vi, ti-vr
			c[i], c[i+lanes] = sr-ur, si-ui
			d[i], d[i+lanes] = tr-vi, ti+vr
		}
		return
	}
	w1r, w1i, w2r, w2i, w3r, w3i := w[0], w[1], w[2], w[3], w[4], w[5]
	for i := range lanes {
		sr, si, tr, ti := a[i]+c[i], a[i+lanes]+c[i+lanes], a[i]-c[i], a[i+lanes]-c[i+lanes]
		ur, ui, vr, vi := b[i]+d[i], b[i+lanes]+d[i+lanes], b[i]-d[i], b[i+lanes]-d[i+lanes]
		a[i], a[i+lanes] = sr+ur, si+ui
		sr, si = sr-ur, si-ui
		c[i], c[i+lanes] = float32(sr*w2r)-float32(si*w2i), float32(sr*w2i)+float32(si*w2r)
		pr, pi := tr+vi, ti-vr
		b[i], b[i+lanes] = float32(pr*w1r)-float32(pi*w1i), float32(pr*w1i)+float32(pi*w1r)
		tr, ti = tr-vi, ti+vr
		d[i], d[i+lanes] = float32(tr*w3r)-float32(ti*w3i), float32(tr*w3i)+float32(ti*w3r)
	}
}

func inverse4(a, b, c, d *record, w *[6]float32, one bool) {
	if one {
		for i := range lanes {
			sr, si, tr, ti := a[i]+c[i], a[i+lanes]+c[i+lanes], a[i]-c[i], a[i+lanes]-c[i+lanes]
			ur, ui, vr, vi := b[i]+d[i], b[i+lanes]+d[i+lanes], b[i]-d[i], b[i+lanes]-d[i+lanes]
			a[i], a[i+lanes] = sr+ur, si+ui
			b[i], b[i+lanes] = tr-vi, ti+vr
			c[i], c[i+lanes] = sr-ur, si-ui
			d[i], d[i+lanes] = tr+vi, ti-vr
		}
		return
	}
	w1r, w1i, w2r, w2i, w3r, w3i := w[0], w[1], w[2], w[3], w[4], w[5]
	for i := range lanes {
		cr, ci := float32(c[i]*w2r)+float32(c[i+lanes]*w2i), float32(c[i+lanes]*w2r)-float32(c[i]*w2i)
		sr, si, tr, ti := a[i]+cr, a[i+lanes]+ci, a[i]-cr, a[i+lanes]-ci
		br, bi := float32(b[i]*w1r)+float32(b[i+lanes]*w1i), float32(b[i+lanes]*w1r)-float32(b[i]*w1i)
		dr, di := float32(d[i]*w3r)+float32(d[i+lanes]*w3i), float32(d[i+lanes]*w3r)-float32(d[i]*w3i)
		ur, ui, vr, vi := br+dr, bi+di, br-dr, bi-di
		a[i], a[i+lanes] = sr+ur, si+ui
		b[i], b[i+lanes] = tr-vi, ti+vr
		c[i], c[i+lanes] = sr-ur, si-ui
		d[i], d[i+lanes] = tr+vi, ti-vr
	}
}

// sin3 = sin(2π/3).
const sin3 = 0.866025403784438646763723170752936183

func forward3(a, b, c *record, w *[4]float32) {
	w1r, w1i, w2r, w2i := w[0], w[1], w[2], w[3]
	for i := range lanes {
		sr, si := b[i]+c[i], b[i+lanes]+c[i+lanes]
		dr, di := float32(sin3*(b[i]-c[i])), float32(sin3*(b[i+lanes]-c[i+lanes]))
		tr, ti := a[i]-float32(.5*sr), a[i+lanes]-float32(.5*si)
		a[i], a[i+lanes] = a[i]+sr, a[i+lanes]+si
		pr, pi, qr, qi := tr+di, ti-dr, tr-di, ti+dr
		b[i], b[i+lanes] = float32(pr*w1r)-float32(pi*w1i), float32(pr*w1i)+float32(pi*w1r)
		c[i], c[i+lanes] = float32(qr*w2r)-float32(qi*w2i), float32(qr*w2i)+float32(qi*w2r)
	}
}

func inverse3(a, b, c *record, w *[4]float32) {
	w1r, w1i, w2r, w2i := w[0], w[1], w[2], w[3]
	for i := range lanes {
		br, bi := float32(b[i]*w1r)+float32(b[i+lanes]*w1i), float32(b[i+lanes]*w1r)-float32(b[i]*w1i)
		cr, ci := float32(c[i]*w2r)+float32(c[i+lanes]*w2i), float32(c[i+lanes]*w2r)-float32(c[i]*w2i)
		sr, si := br+cr, bi+ci
		dr, di := float32(sin3*(br-cr)), float32(sin3*(bi-ci))
		tr, ti := a[i]-float32(.5*sr), a[i+lanes]-float32(.5*si)
		a[i], a[i+lanes] = a[i]+sr, a[i+lanes]+si
		b[i], b[i+lanes] = tr-di, ti+dr
		c[i], c[i+lanes] = tr+di, ti-dr
	}
}

// Cosines and sines of 2π/5 and 4π/5.
const (
	cos51 = 0.309016994374947424102293417182819059
	cos52 = -0.809016994374947424102293417182819059
	sin51 = 0.951056516295153572116439333379382143
	sin52 = 0.587785252292473129168705954639072769
)

func forward5(a, b, c, d, e *record, w *[8]float32) {
	for i := range lanes {
		sr, si, ur, ui := b[i]+e[i], b[i+lanes]+e[i+lanes], b[i]-e[i], b[i+lanes]-e[i+lanes]
		tr, ti, vr, vi := c[i]+d[i], c[i+lanes]+d[i+lanes], c[i]-d[i], c[i+lanes]-d[i+lanes]
		ar, ai := a[i], a[i+lanes]
		a[i], a[i+lanes] = ar+sr+tr, ai+si+ti
		pr, pi := ar+float32(cos51*sr)+float32(cos52*tr), ai+float32(cos51*si)+float32(cos52*ti)
		qr, qi := ar+float32(cos52*sr)+float32(cos51*tr), ai+float32(cos52*si)+float32(cos51*ti)
		// Minus i times these is added for one of a pair and subtracted for the other.
		gr, gi := float32(sin51*ur)+float32(sin52*vr), float32(sin51*ui)+float32(sin52*vi)
		hr, hi := float32(sin52*ur)-float32(sin51*vr), float32(sin52*ui)-float32(sin51*vi)
		yr, yi := pr+gi, pi-gr
		b[i], b[i+lanes] = float32(yr*w[0])-float32(yi*w[1]), float32(yr*w[1])+float32(yi*w[0])
		yr, yi = qr+hi, qi-hr
		c[i], c[i+lanes] = float32(yr*w[2])-float32(yi*w[3]), float32(yr*w[3])+float32(yi*w[2])
		yr, yi = qr-hi, qi+hr
		d[i], d[i+lanes] = float32(yr*w[4])-float32(yi*w[5]), float32(yr*w[5])+float32(yi*w[4])
		yr, yi = pr-gi, pi+gr
		e[i], e[i+lanes] = float32(yr*w[6])-float32(yi*w[7]), float32(yr*w[7])+float32(yi*w[6])
	}
}

func inverse5(a, b, c, d, e *record, w *[8]float32) {
	for i := range lanes {
		br, bi := float32(b[i]*w[0])+float32(b[i+lanes]*w[1]), float32(b[i+lanes]*w[0])-float32(b[i]*w[1])
		er, ei := float32(e[i]*w[6])+float32(e[i+lanes]*w[7]), float32(e[i+lanes]*w[6])-float32(e[i]*w[7])
		sr, si, ur, ui := br+er, bi+ei, br-er, bi-ei
		cr, ci := float32(c[i]*w[2])+float32(c[i+lanes]*w[3]), float32(c[i+lanes]*w[2])-float32(c[i]*w[3])
		dr, di := float32(d[i]*w[4])+float32(d[i+lanes]*w[5]), float32(d[i+lanes]*w[4])-float32(d[i]*w[5])
		tr, ti, vr, vi := cr+dr, ci+di, cr-dr, ci-di
		ar, ai := a[i], a[i+lanes]
		a[i], a[i+lanes] = ar+sr+tr, ai+si+ti
		pr, pi := ar+float32(cos51*sr)+float32(cos52*tr), ai+float32(cos51*si)+float32(cos52*ti)
		qr, qi := ar+float32(cos52*sr)+float32(cos51*tr), ai+float32(cos52*si)+float32(cos51*ti)
		gr, gi := float32(sin51*ur)+float32(sin52*vr), float32(sin51*ui)+float32(sin52*vi)
		hr, hi := float32(sin52*ur)-float32(sin51*vr), float32(sin52*ui)-float32(sin51*vi)
		b[i], b[i+lanes] = pr-gi, pi+gr
		c[i], c[i+lanes] = qr-hi, qi+hr
		d[i], d[i+lanes] = qr+hi, qi-hr
		e[i], e[i+lanes] = pr+gi, pi-gr
	}
}

// forward is the butterfly of any odd radix r. With sⱼ = xⱼ+x₍ᵣ₋ⱼ₎ and dⱼ = xⱼ−x₍ᵣ₋ⱼ₎
// elements k and r−k are x₀ + Σ cos(2πjk/r)·sⱼ ∓ i·Σ sin(2πjk/r)·dⱼ, j = 1…(r−1)/2.
func (s *stage) forward(block []record, p int, w []float32, room []record) {
	s.pairs(block, p, room)
	for k := 1; k <= s.radix/2; k++ {
		even, odd := s.sums(room, k)
		a, b := &block[p+k*s.m], &block[p+(s.radix-k)*s.m]
		wr, wi, vr, vi := w[2*k-2], w[2*k-1], w[2*(s.radix-k)-2], w[2*(s.radix-k)-1]
		for i := range lanes {
			yr, yi := even[i]+odd[i+lanes], even[i+lanes]-odd[i]
			a[i], a[i+lanes] = float32(yr*wr)-float32(yi*wi), float32(yr*wi)+float32(yi*wr)
			yr, yi = even[i]-odd[i+lanes], even[i+lanes]+odd[i]
			b[i], b[i+lanes] = float32(yr*vr)-float32(yi*vi), float32(yr*vi)+float32(yi*vr)
		}
	}
}

func (s *stage) inverse(block []record, p int, w []float32, room []record) {
	for k := 1; k < s.radix; k++ {
		wr, wi := w[2*k-2], w[2*k-1]
		a := &block[p+k*s.m]
		for i := range lanes {
			a[i], a[i+lanes] = float32(a[i]*wr)+float32(a[i+lanes]*wi), float32(a[i+lanes]*wr)-float32(a[i]*wi)
		}
	}
	s.pairs(block, p, room)
	for k := 1; k <= s.radix/2; k++ {
		even, odd := s.sums(room, k)
		a, b := &block[p+k*s.m], &block[p+(s.radix-k)*s.m]
		for i := range lanes {
			a[i], a[i+lanes] = even[i]-odd[i+lanes], even[i+lanes]+odd[i]
			b[i], b[i+lanes] = even[i]+odd[i+lanes], even[i+lanes]-odd[i]
		}
	}
}

// pairs puts x₀ and all sⱼ and dⱼ into room[0], room[2j−1] and room[2j], and the
// sum of all into x₀.
func (s *stage) pairs(block []record, p int, room []record) {
	first := &block[p]
	room[0] = *first
	for j := 1; j <= s.radix/2; j++ {
		a, b := &block[p+j*s.m], &block[p+(s.radix-j)*s.m]
		sum, diff := &room[2*j-1], &room[2*j]
		for i := range sum {
			sum[i], diff[i] = a[i]+b[i], a[i]-b[i]
			first[i] += sum[i]
		}
	}
}

// sums returns x₀ + Σ cos(2πjk/r)·sⱼ and Σ sin(2πjk/r)·dⱼ.
func (s *stage) sums(room []record, k int) (even, odd record) {
	even = room[0]
	for j, turn := 1, 0; j <= s.radix/2; j++ {
		if turn += k; turn >= s.radix {
			turn -= s.radix
		}
		cos, sin := s.cos[turn], s.sin[turn]
		sum, diff := &room[2*j-1], &room[2*j]
		for i := range even {
			even[i] += float32(cos * sum[i])
			odd[i] += float32(sin * diff[i])
		}
	}
	return even, odd
}
