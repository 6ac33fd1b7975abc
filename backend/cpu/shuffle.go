package cpu

import (
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/devicekit"
)

// Unshuffle implements backend.Shuffles.
func (d *Device) Unshuffle(dst, src backend.Buffer, factor int) error {
	return d.operate(func(b []*buffer) error {
		coarse, fine := b[0], b[1]
		return d.shuffle(fine, coarse, factor, coarse, fine, func(coarse, fine []float32) {
			// fine holds every factor-th number from its first on, and may end early.
			x := 0
			for i := 0; i < len(fine); i += factor {
				coarse[x] = fine[i]
				x++
			}
			clear(coarse[x:])
		})
	}, dst, src)
}

// Shuffle implements backend.Shuffles.
func (d *Device) Shuffle(dst, src backend.Buffer, factor int) error {
	return d.operate(func(b []*buffer) error {
		fine, coarse := b[0], b[1]
		return d.shuffle(fine, coarse, factor, fine, coarse, func(coarse, fine []float32) {
			x := 0
			for i := 0; i < len(fine); i += factor {
				fine[i] = coarse[x]
				x++
			}
		})
	}, dst, src)
}

// shuffle calls move for every row of the coarse array with the row and the part of the
// fine row that begins at its first pixel, empty where the row lies beyond the image.
// A worker has whole rows of the coarse grid, of all channels that one fine channel is
// cut into, so that it reads and writes every fine row once.
func (d *Device) shuffle(fine, coarse *buffer, factor int, dst, src *buffer, move func(coarse, fine []float32)) error {
	if err := devicekit.CheckShuffle(fine.shape, coarse.shape, factor); err != nil {
		return err
	}
	if err := apart(dst, src); err != nil {
		return err
	}
	f, c := fine.shape, coarse.shape
	rows := max(1, vectorBlock/(factor*factor*c.W))
	d.pool.Range(f.N*f.C*c.H, rows, func(lo, hi int) {
		for k := lo; k < hi; k++ {
			plane, y := k/c.H, k%c.H
			for dy := range factor {
				line := []float32(nil)
				if row := factor*y + dy; row < f.H {
					line = fine.data[(plane*f.H+row)*f.W:][:f.W]
				}
				for dx := range factor {
					at := ((plane*factor+dy)*factor+dx)*c.H + y
					move(coarse.data[at*c.W:][:c.W], line[min(dx, len(line)):])
				}
			}
		}
	})
	return nil
}
