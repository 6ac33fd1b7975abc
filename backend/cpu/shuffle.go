package cpu

// Unshuffle implements devicekit.Kernels.
func (d *host) Unshuffle(coarse, fine buffer, factor int) error {
	d.shuffle(fine, coarse, factor, func(coarse, fine []float32) {
		// fine holds every factor-th number from its first on, and may end early.
		x := 0
		for i := 0; i < len(fine); i += factor {
			coarse[x] = fine[i]
			x++
		}
		clear(coarse[x:])
	})
	return nil
}

// Shuffle implements devicekit.Kernels.
func (d *host) Shuffle(fine, coarse buffer, factor int) error {
	d.shuffle(fine, coarse, factor, func(coarse, fine []float32) {
		x := 0
		for i := 0; i < len(fine); i += factor {
			fine[i] = coarse[x]
			x++
		}
	})
	return nil
}

// shuffle calls move for every row of the coarse array with the row and the part of the
// fine row that begins at its first pixel, empty where the row lies beyond the image.
// A worker has whole rows of the coarse grid, of all channels that one fine channel is
// cut into, so that it reads and writes every fine row once.
func (d *host) shuffle(fine, coarse buffer, factor int, move func(coarse, fine []float32)) {
	f, c := fine.Shape, coarse.Shape
	rows := max(1, vectorBlock/(factor*factor*c.W))
	d.pool.Range(f.N*f.C*c.H, rows, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			plane, y := k/c.H, k%c.H
			for dy := range factor {
				line := []float32(nil)
				if row := factor*y + dy; row < f.H {
					line = fine.Data[(plane*f.H+row)*f.W:][:f.W]
				}
				for dx := range factor {
					at := ((plane*factor+dy)*factor+dx)*c.H + y
					move(coarse.Data[at*c.W:][:c.W], line[min(dx, len(line)):])
				}
			}
		}
	})
}
