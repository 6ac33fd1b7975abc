package fft

// Rows hands over the rows of images, one at a time and several at the same time.
type Rows struct {
	H, W int // of each image; at most the plan's
	// Row reads row y of an image into row, or writes it from there; row has W
	// samples and is valid during the call only.
	Row func(image, y int, row []float32)
}

// forwardRows transforms block number b, of 32 rows, into the half spectrum dst.
// Of the rows beyond src.H those in the block become zero.
//
// The spectrum is twice what it should be: telling the two rows of a line apart
// is a sum and a difference of which half is due, and whoever uses the spectrum
// multiplies anyway.
func (p *Plan) forwardRows(dst []record, src Rows, image, b int) {
	s := p.scratches.Get().(*scratch)
	defer p.scratches.Put(s)
	first := b * 2 * lanes
	for from := 0; from < 2*lanes; from += batch {
		for j := range batch {
			row := s.flat[j*p.w : (j+1)*p.w]
			if y := first + from + j; y < src.H {
				src.Row(image, y, row[:src.W])
				clear(row[src.W:])
			} else {
				clear(row)
			}
		}
		interleave(s.line, s.flat, from)
	}
	p.rows.forward(p.kernels, s.line, s.room)

	height := min(2*lanes, p.h-first)
	for g := range p.groups {
		to := dst[g*p.h+first:][:height]
		block := &s.block
		if height == len(block) { // all but the last
			block = (*[2 * lanes]record)(to)
		}
		for kk := range lanes {
			k := g*lanes + kk
			if k > p.w/2 {
				for i := range block {
					block[i][kk], block[i][kk+lanes] = 0, 0
				}
				continue
			}
			// Line i is Z = A + iB with A the spectrum of row i and B that of row
			// i+16, and conj Z[w−k] = A[k] − iB[k].
			z := &s.line[p.rows.position[k]]
			c := &s.line[p.rows.position[(p.w-k)%p.w]]
			for i := range lanes {
				zr, zi, cr, ci := z[i], z[i+lanes], c[i], c[i+lanes]
				block[i][kk], block[i][kk+lanes] = zr+cr, zi-ci
				block[i+lanes][kk], block[i+lanes][kk+lanes] = zi+ci, cr-zr
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
		for kk := range lanes {
			k := g*lanes + kk
			if k > p.w/2 {
				break
			}
			z := &s.line[p.rows.position[k]]
			c := &s.line[p.rows.position[(p.w-k)%p.w]]
			if k == 0 || 2*k == p.w {
				for i := range lanes {
					// The spectrum of real rows is real here.
					z[i], z[i+lanes] = block[i][kk], block[i+lanes][kk]
				}
				continue
			}
			for i := range lanes {
				ar, ai := block[i][kk], block[i][kk+lanes]
				br, bi := block[i+lanes][kk], block[i+lanes][kk+lanes]
				z[i], z[i+lanes] = ar-bi, ai+br
				c[i], c[i+lanes] = ar+bi, br-ai
			}
		}
	}
	p.rows.inverse(p.kernels, s.line, s.room)
	for from := 0; from < 2*lanes && first+from < dst.H; from += batch {
		deinterleave(s.flat, s.line[:dst.W], from, p.w)
		for j := range min(batch, dst.H-first-from) {
			dst.Row(image, first+from+j, s.flat[j*p.w:][:dst.W])
		}
	}
}

// interleave puts batch rows, one after the other in flat, into elements from,
// from+1, … of the records.
func interleave(line []record, flat []float32, from int) {
	w := len(line)
	r0, r1, r2, r3 := flat[:w], flat[w:][:w], flat[2*w:][:w], flat[3*w:][:w]
	r4, r5, r6, r7 := flat[4*w:][:w], flat[5*w:][:w], flat[6*w:][:w], flat[7*w:][:w]
	for x := range line {
		to := (*[batch]float32)(line[x][from:])
		to[0], to[1], to[2], to[3] = r0[x], r1[x], r2[x], r3[x]
		to[4], to[5], to[6], to[7] = r4[x], r5[x], r6[x], r7[x]
	}
}

// deinterleave undoes interleave; in flat a row begins every stride samples.
func deinterleave(flat []float32, line []record, from, stride int) {
	w := len(line)
	r0, r1, r2, r3 := flat[:w], flat[stride:][:w], flat[2*stride:][:w], flat[3*stride:][:w]
	r4, r5, r6, r7 := flat[4*stride:][:w], flat[5*stride:][:w], flat[6*stride:][:w], flat[7*stride:][:w]
	for x := range line {
		of := (*[batch]float32)(line[x][from:])
		r0[x], r1[x], r2[x], r3[x] = of[0], of[1], of[2], of[3]
		r4[x], r5[x], r6[x], r7[x] = of[4], of[5], of[6], of[7]
	}
}
