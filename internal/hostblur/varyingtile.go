package hostblur

import (
	"errors"

	"github.com/averaged/imaging/internal/fft"
	"github.com/averaged/imaging/internal/parallel"
)

// tile is a tile of an image that transforms blur. Kernels of a camera that turned are long, but not in the same direction, so
// that the rows and columns that those of a tile have weights in are fewer than the rows and columns of all kernels.
type tile struct {
	part
	top, left, height, width int // of these rows and columns
	py, px                   int // periods
	filters                  []*fft.Filter
}

// tilesApart are the tiles in groups of which no two reach the same sample of the blurred image. One that has no weights is left
// out.
func (v *varying) tilesApart() (groups [][]*tile) {
	down, across := distance(v.ys, v.spec.KH), distance(v.xs, v.spec.KW)
	groups = make([][]*tile, down*across)
	for i, y := range v.ys {
		for j, x := range v.xs {
			if t := v.newTile(part{y, x}); t != nil {
				group := &groups[i%down*across+j%across]
				*group = append(*group, t)
			}
		}
	}
	return groups
}

// distance is how many pieces later, at least, one is that reaches no sample that the one before reaches under a kernel.
func distance(pieces []piece, size int) int {
	for n := 1; n < len(pieces); n++ {
		apart := true
		for i := n; i < len(pieces); i++ {
			apart = apart && pieces[i].first-size+1 >= pieces[i-n].end
		}
		if apart {
			return n
		}
	}
	return len(pieces)
}

// newTile is nil if the kernels have no weights.
func (v *varying) newTile(p part) *tile {
	kh, kw := v.spec.KH, v.spec.KW
	top, bottom, left, right := kh, -1, kw, -1
	for j := range p.windows() {
		for i, weight := range v.single(v.kernelOf(p, j)).Kernel {
			if weight != 0 {
				top, bottom = min(top, i/kw), max(bottom, i/kw)
				left, right = min(left, i%kw), max(right, i%kw)
			}
		}
	}
	if bottom < 0 {
		return nil
	}
	t := &tile{part: p, top: top, left: left, height: bottom - top + 1, width: right - left + 1}
	t.py, t.px = fft.GoodSize(p.y.len()+t.height-1), fft.GoodSize(p.x.len()+t.width-1)
	return t
}

// reached hands over what a tile reaches of a blurred image: f gets the samples of a row that there are, in one piece or two,
// because weight (i, j) of a kernel is at (i, j) modulo the periods.
func (v *varying) reached(t *tile, f func(y, x int, row []float32)) fft.Rows {
	h, w := v.spec.Range()
	rows, columns := t.y.len()+t.height-1, t.x.len()+t.width-1
	first, before := t.y.first-v.spec.KH+1+t.top, t.x.first-v.spec.KW+1+t.left
	return fft.Rows{H: t.py, W: t.px, Row: func(_, y int, row []float32) {
		i := wrap(y-t.top, t.py)
		if y = first + i; i >= rows || y < 0 || y >= h {
			return
		}
		// Sample j of what is reached is at left+j of the row.
		for j, end := max(0, -before), min(columns, w-before); j < end; {
			at := wrap(t.left+j, t.px)
			n := min(end-j, t.px-at)
			f(y, before+j, row[at:at+n])
			j += n
		}
	}}
}

// eachTile calls f for each tile and plane: with a pool of one thread for many small tiles at a time, or with all threads for one
// after the other.
func (v *varying) eachTile(pool *parallel.Pool, planes int, f func(pool *parallel.Pool, t *tile, plane int) error) error {
	const small = 1 << 14 // samples
	alone := parallel.New(1)
	defer alone.Close()
	for _, group := range v.apart {
		errs := make([]error, planes*len(group))
		each := func(is func(t *tile) bool, pool *parallel.Pool) func(i int) {
			return func(i int) {
				if t := group[i/planes]; is(t) {
					errs[i] = f(pool, t, i%planes)
				}
			}
		}
		pool.For(len(errs), each(func(t *tile) bool { return t.py*t.px <= small }, alone))
		alone.For(len(errs), each(func(t *tile) bool { return t.py*t.px > small }, pool))
		if err := errors.Join(errs...); err != nil {
			return err
		}
	}
	return nil
}
