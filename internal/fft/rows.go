package fft

// Rows hands over the rows of images, one at a time and several at the same time.
type Rows struct {
	H, W int // of each image; at most the plan's
	// Row reads row y of an image into row, or writes it from there; row has W
	// samples and is valid during the call only.
	Row func(image, y int, row []float32)
}

// forwardRows transforms block number b, of 32 rows, into the half spectrum dst.
// Rows of the block beyond src.H become zero.
//
// The spectrum is twice what it should be: telling the two rows of a line apart
// is a sum and a difference of which half is due, and whoever uses the spectrum
// multiplies anyway.
func (p *Plan) forwardRows(dst []record, src Rows, image, b int) {
	s := p.scratches.Get().(*scratch)
	defer p.scratches.Put(s)
	first := b * 2 * lanes
	for from := 0; from < 2*lanes; from += lanes {
		for j := range lanes {
			row := s.flat[j*p.w : (j+1)*p.w]
			if y := first + from + j; y < src.H {
				src.Row(image, y, row[:src.W])
				clear(row[src.W:])
			} else {
				clear(row)
			}
		}
		p.interleave(s, from)
	}
	p.rows.forward(p.kernels, s.line, s.room)

	height := min(2*lanes, p.h-first)
	for g := range p.groups {
		to := dst[g*p.h+first:][:height]
		block := &s.block
		if height == len(block) { // all but the last
			block = (*[2 * lanes]record)(to)
		}
		if at := g * 2 * lanes; at < len(p.places) {
			p.kernels.separate(&block[0], &s.line[0], &p.places[at])
		} else {
			for kk := range lanes {
				if k := g*lanes + kk; k <= p.w/2 {
					z, c := p.records(k)
					separateColumn(block, kk, &s.line[z], &s.line[c])
					continue
				}
				for i := range block {
					block[i][kk], block[i][kk+lanes] = 0, 0
				}
			}
		}
		if height < len(block) {
			copy(to, block[:])
		}
	}
}

// inverseRows transforms block number b, of 32 rows, of the half spectrum src, into
// samples w times what they should be.
func (p *Plan) inverseRows(dst Rows, src []record, image, b int) {
	s := p.scratches.Get().(*scratch)
	defer p.scratches.Put(s)
	first := b * 2 * lanes
	height := min(2*lanes, p.h-first)
	for g := range p.groups {
		from := src[g*p.h+first:][:height]
		block := &s.block
		if height == len(block) {
			block = (*[2 * lanes]record)(from)
		} else {
			clear(block[copy(block[:], from):])
		}
		if at := g * 2 * lanes; at < len(p.places) {
			p.kernels.combine(&s.line[0], &block[0], &p.places[at])
		} else {
			for k := g * lanes; k <= p.w/2; k++ {
				z, c := p.records(k)
				combineColumn(block, k-g*lanes, &s.line[z], &s.line[c])
			}
		}
		for _, k := range [...]int{0, p.w / 2} {
			if k/lanes != g || 2*k%p.w != 0 {
				continue
			}
			z, kk := &s.line[p.rows.position[k]], k%lanes
			for i := range lanes {
				// The spectrum of real rows is real here.
				z[i], z[i+lanes] = block[i][kk], block[i+lanes][kk]
			}
		}
	}
	p.rows.inverse(p.kernels, s.line, s.room)
	for from := 0; from < 2*lanes && first+from < dst.H; from += lanes {
		p.deinterleave(s, from, dst.W)
		for j := range min(lanes, dst.H-first-from) {
			dst.Row(image, first+from+j, s.flat[j*p.w:][:dst.W])
		}
	}
}

// interleave puts 16 rows, one after the other in flat, into numbers from, from+1, … of the records.
func (p *Plan) interleave(s *scratch, from int) {
	blocks, rest := p.w/lanes, p.w%lanes
	if blocks > 0 {
		p.kernels.interleave(&s.line[0][from], &s.flat[0], p.w, blocks)
	}
	if rest > 0 {
		interleaveSamples(&s.line[p.w-rest][from], &s.flat[p.w-rest], p.w, rest)
	}
}

// deinterleave undoes interleave, of the first w samples of the rows.
func (p *Plan) deinterleave(s *scratch, from, w int) {
	blocks, rest := w/lanes, w%lanes
	if blocks > 0 {
		p.kernels.deinterleave(&s.flat[0], &s.line[0][from], p.w, blocks)
	}
	if rest > 0 {
		deinterleaveSamples(&s.flat[w-rest], &s.line[w-rest][from], p.w, rest)
	}
}
