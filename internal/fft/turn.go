package fft

import "unsafe"

// batch is how many rows at a time are turned between their own order and that of records in plain
// Go: as many as have registers to point to them.
const batch = 8

// interleaveSamples turns n samples of 16 rows, which are stride apart, into numbers of n records;
// line is the first of these numbers. deinterleaveSamples turns them back.
func interleaveSamples(line, rows *float32, stride, n int) {
	numbers, flat := turning(line, rows, stride, n)
	for from := 0; from < lanes; from += batch {
		row := func(i int) []float32 { return flat[(from+i)*stride:][:n] }
		r0, r1, r2, r3, r4, r5, r6, r7 := row(0), row(1), row(2), row(3), row(4), row(5), row(6), row(7)
		for x := range r0 {
			to := (*[batch]float32)(numbers[2*lanes*x+from:])
			to[0], to[1], to[2], to[3] = r0[x], r1[x], r2[x], r3[x]
			to[4], to[5], to[6], to[7] = r4[x], r5[x], r6[x], r7[x]
		}
	}
}

func deinterleaveSamples(rows, line *float32, stride, n int) {
	numbers, flat := turning(line, rows, stride, n)
	for from := 0; from < lanes; from += batch {
		row := func(i int) []float32 { return flat[(from+i)*stride:][:n] }
		r0, r1, r2, r3, r4, r5, r6, r7 := row(0), row(1), row(2), row(3), row(4), row(5), row(6), row(7)
		for x := range r0 {
			of := (*[batch]float32)(numbers[2*lanes*x+from:])
			r0[x], r1[x], r2[x], r3[x] = of[0], of[1], of[2], of[3]
			r4[x], r5[x], r6[x], r7[x] = of[4], of[5], of[6], of[7]
		}
	}
}

// turning returns the numbers and the rows as slices.
func turning(line, rows *float32, stride, n int) (numbers, flat []float32) {
	return unsafe.Slice(line, 2*lanes*(n-1)+lanes), unsafe.Slice(rows, (lanes-1)*stride+n)
}

func interleavePortable(line, rows *float32, stride, blocks int) {
	interleaveSamples(line, rows, stride, lanes*blocks)
}

func deinterleavePortable(rows, line *float32, stride, blocks int) {
	deinterleaveSamples(rows, line, stride, lanes*blocks)
}

// separateColumn makes column kk of a block of the spectra of 32 rows. Line i is Z = A + iB with A the
// spectrum of row i and B that of row i+16, and conj Z[w−k] = A[k] − iB[k]; z is Z[k] and c is Z[w−k].
func separateColumn(block *[2 * lanes]record, kk int, z, c *record) {
	for i := range lanes {
		zr, zi, cr, ci := z[i], z[i+lanes], c[i], c[i+lanes]
		block[i][kk], block[i][kk+lanes] = zr+cr, zi-ci
		block[i+lanes][kk], block[i+lanes][kk+lanes] = zi+ci, cr-zr
	}
}

// combineColumn undoes separateColumn, except for a factor of 2.
func combineColumn(block *[2 * lanes]record, kk int, z, c *record) {
	for i := range lanes {
		ar, ai := block[i][kk], block[i][kk+lanes]
		br, bi := block[i+lanes][kk], block[i+lanes][kk+lanes]
		z[i], z[i+lanes] = ar-bi, ai+br
		c[i], c[i+lanes] = ar+bi, br-ai
	}
}

// recordAt is the record so many bytes behind line.
func recordAt(line *record, place int) *record {
	return (*record)(unsafe.Add(unsafe.Pointer(line), place))
}

func separatePortable(block, line *record, places *int) {
	to, at := (*[2 * lanes]record)(unsafe.Pointer(block)), (*[2 * lanes]int)(unsafe.Pointer(places))
	for kk := range lanes {
		separateColumn(to, kk, recordAt(line, at[kk]), recordAt(line, at[kk+lanes]))
	}
}

func combinePortable(line, block *record, places *int) {
	from, at := (*[2 * lanes]record)(unsafe.Pointer(block)), (*[2 * lanes]int)(unsafe.Pointer(places))
	for kk := range lanes {
		combineColumn(from, kk, recordAt(line, at[kk]), recordAt(line, at[kk+lanes]))
	}
}
