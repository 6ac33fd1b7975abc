package winograd

// pack is the definition of Kernels.Pack.
func pack(dst []float32, pixel int, src []float32, plane, pixels, channels int) {
	for c := range channels {
		for x, v := range src[c*plane:][:pixels] {
			dst[x*pixel+c] = v
		}
	}
}

// unpack is the definition of Kernels.Unpack.
func unpack(dst []float32, plane int, src []float32, pixel, pixels, channels int, beta float32) {
	for c := range channels {
		row := dst[c*plane:][:pixels]
		if beta == 0 {
			for x := range row {
				row[x] = src[x*pixel+c]
			}
			continue
		}
		for x, v := range row {
			row[x] = src[x*pixel+c] + float32(beta*v)
		}
	}
}

// squares are kernels that transpose squares of lanes pixels by lanes channels; the
// loops above do what is left at the sides.
type squares struct {
	narrow    *squares // for fewer channels than lanes, or nil
	lanes     int
	pack      func(dst *float32, pixel int, src *float32, plane, blocks int)
	unpack    func(dst *float32, plane int, src *float32, pixel, blocks int)
	unpackAdd func(dst *float32, plane int, src *float32, pixel, blocks int, beta float32)
}

func (s squares) packAll(dst []float32, pixel int, src []float32, plane, pixels, channels int) {
	if pixels < s.lanes || channels < s.lanes {
		if s.narrow != nil {
			s.narrow.packAll(dst, pixel, src, plane, pixels, channels)
		} else {
			pack(dst, pixel, src, plane, pixels, channels)
		}
		return
	}
	blocks := pixels / s.lanes
	s.channels(channels, func(c int) {
		s.pack(&dst[c], pixel, &src[c*plane], plane, blocks)
		if x := pixels - s.lanes; x > (blocks-1)*s.lanes {
			s.pack(&dst[x*pixel+c], pixel, &src[c*plane+x], plane, 1) // some pixels again
		}
	})
}

func (s squares) unpackAll(dst []float32, plane int, src []float32, pixel, pixels, channels int, beta float32) {
	if pixels < s.lanes || channels < s.lanes {
		if s.narrow != nil {
			s.narrow.unpackAll(dst, plane, src, pixel, pixels, channels, beta)
		} else {
			unpack(dst, plane, src, pixel, pixels, channels, beta)
		}
		return
	}
	blocks := pixels / s.lanes
	if beta == 0 {
		s.channels(channels, func(c int) {
			s.unpack(&dst[c*plane], plane, &src[c], pixel, blocks)
			if x := pixels - s.lanes; x > (blocks-1)*s.lanes {
				s.unpack(&dst[c*plane+x], plane, &src[x*pixel+c], pixel, 1) // some pixels again
			}
		})
		return
	}
	c := 0
	for ; c+s.lanes <= channels; c += s.lanes { // a second time would add twice
		s.unpackAdd(&dst[c*plane], plane, &src[c], pixel, blocks, beta)
		if x := blocks * s.lanes; x < pixels {
			unpack(dst[c*plane+x:], plane, src[x*pixel+c:], pixel, pixels-x, s.lanes, beta)
		}
	}
	if c < channels {
		unpack(dst[c*plane:], plane, src[c:], pixel, pixels, channels-c, beta)
	}
}

// channels calls f with the first channel of every square, of which the last may have some channels
// again; there are at least as many as a square has.
func (s squares) channels(n int, f func(c int)) {
	for c := 0; c < n; c += s.lanes {
		f(min(c, n-s.lanes))
	}
}
