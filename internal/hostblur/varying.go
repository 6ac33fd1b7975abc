package hostblur

import (
	"image"
	"math"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/fft"
	"github.com/averaged/imaging/internal/parallel"
)

// varying computes Kx = Σᵢ kᵢ∗(wᵢx), tile by tile of the image. Within a tile few windows are not 0. By transforms their
// products are transformed one by one, but only the sum is transformed back.
type varying struct {
	spec   backend.BlurSpec
	direct []directKernel // of direct sums; nil: transforms
	ys, xs []piece        // tiles are pairs of these
	// The tiles of transforms, in groups. No two tiles of a group reach the same sample of the blurred image.
	apart [][]*tile
}

// piece is a part of an axis, from first to before end, in which windows lo to hi−1 are not 0.
type piece struct{ first, end, lo, hi int }

func (p piece) len() int { return p.end - p.first }

// newVarying plans the blur. Tiles are so large that transforms of one size have the least work, at most about longest or four
// kernels; each then has the smallest transform that holds what its own kernels make of it.
func newVarying(spec backend.BlurSpec, longest int) *varying {
	v := &varying{spec: spec}
	ys, xs := pieces(spec.Rows, spec.KH), pieces(spec.Columns, spec.KW)
	v.ys = cut(ys, period(ys, spec.KH, longest)-spec.KH+1)
	v.xs = cut(xs, period(xs, spec.KW, longest)-spec.KW+1)
	v.apart = v.tilesApart()
	if spec.Method == backend.FourierBlur {
		return v
	}
	fourier := 0.0
	for _, group := range v.apart {
		for _, t := range group {
			fourier += vectorised * float64(t.windows()+1) / 2 * fourierCost(t.py, t.px)
		}
	}
	sums := *v
	sums.ys, sums.xs, sums.apart = ys, xs, nil
	for i := range v.kernels() {
		sums.direct = append(sums.direct, newDirectKernel(v.single(i)))
	}
	direct := 0.0
	for t := range sums.tiles() {
		for j := range t.windows() {
			direct += sums.direct[v.kernelOf(t, j)].cost(t)
		}
	}
	if spec.Method == backend.DirectBlur || direct < fourier {
		return &sums
	}
	return v
}

// vectorised is the time of transforms by AVX2 and AVX-512, of that by portable code. Sums are portable.
const vectorised = 0.5

// pieces cuts an axis where other windows become those that are not 0. A piece that is shorter than a kernel joins the one
// before if that has all of its windows.
func pieces(windows [][]float32, size int) (all []piece) {
	for s := range len(windows[0]) {
		p := piece{first: s, end: s + 1, lo: len(windows)}
		for i, w := range windows {
			if w[s] != 0 {
				p.lo, p.hi = min(p.lo, i), i+1
			}
		}
		if p.hi == 0 {
			p.lo = 0
		}
		if n := len(all); n > 0 && all[n-1].lo == p.lo && all[n-1].hi == p.hi {
			all[n-1].end++
		} else {
			all = append(all, p)
		}
	}
	joined := all[:1]
	for _, p := range all[1:] {
		if last := &joined[len(joined)-1]; p.len() < size && last.lo <= p.lo && p.hi <= last.hi {
			last.end = p.end
		} else {
			joined = append(joined, p)
		}
	}
	return joined
}

// longestPeriod keeps what a tile needs small, unless kernels are large.
const longestPeriod = 1024

// period chooses the transform with the least work for all pieces.
func period(pieces []piece, size, longest int) (best int) {
	largest := 0
	for _, p := range pieces {
		largest = max(largest, p.len())
	}
	least := math.Inf(1)
	end := fft.GoodSize(min(largest+size-1, max(4*size, longest)))
	for n := fft.GoodSize(min(2*size, end)); n <= end; n = fft.GoodSize(n + 1) {
		cost := 0.0
		for _, p := range pieces {
			tiles := (p.len() + n - size) / (n - size + 1)
			cost += float64(tiles*(p.hi-p.lo+1)*n) * math.Log2(float64(n+1))
		}
		if cost < least {
			least, best = cost, n
		}
	}
	return best
}

// cut cuts pieces into equal ones of at most length samples.
func cut(pieces []piece, length int) (all []piece) {
	for _, p := range pieces {
		n := (p.len() + length - 1) / length
		for i := range n {
			all = append(all, piece{p.first + p.len()*i/n, p.first + p.len()*(i+1)/n, p.lo, p.hi})
		}
	}
	return all
}

type part struct{ y, x piece }

func (v *varying) tiles() func(yield func(part) bool) {
	return func(yield func(part) bool) {
		for _, y := range v.ys {
			for _, x := range v.xs {
				if !yield(part{y, x}) {
					return
				}
			}
		}
	}
}

func (t part) bounds() image.Rectangle { return image.Rect(t.x.first, t.y.first, t.x.end, t.y.end) }

// windows is how many windows are not 0 in a tile.
func (t part) windows() int { return (t.y.hi - t.y.lo) * (t.x.hi - t.x.lo) }

// kernelOf returns the number of the kernel of window j of a tile.
func (v *varying) kernelOf(t part, j int) int {
	n := t.x.hi - t.x.lo
	return (t.y.lo+j/n)*len(v.spec.Columns) + t.x.lo + j%n
}

// window returns that window along the tile's rows and columns.
func (v *varying) window(t part, j int) (down, across []float32) {
	n := t.x.hi - t.x.lo
	return v.spec.Rows[t.y.lo+j/n][t.y.first:t.y.end], v.spec.Columns[t.x.lo+j%n][t.x.first:t.x.end]
}

// single is the blur by kernel i alone.
func (v *varying) single(i int) *backend.BlurSpec {
	n := v.spec.KH * v.spec.KW
	return &backend.BlurSpec{Kernel: v.spec.Kernel[i*n : (i+1)*n], KH: v.spec.KH, KW: v.spec.KW}
}

func (v *varying) kernels() int { return len(v.spec.Rows) * len(v.spec.Columns) }

func (v *varying) bytes() (n int64) {
	if v.direct != nil {
		return 0
	}
	for f := range v.filters() {
		n += fft.Bytes(f.py, f.px)
	}
	return n
}

// filter is the number of a kernel, and the periods of the transforms that it is for.
type filter struct{ kernel, py, px int }

// filters are all that tiles have.
func (v *varying) filters() map[filter]*fft.Filter {
	all := map[filter]*fft.Filter{}
	for _, group := range v.apart {
		for _, t := range group {
			for j := range t.windows() {
				all[filter{v.kernelOf(t.part, j), t.py, t.px}] = nil
			}
		}
	}
	return all
}

func (v *varying) prepare(kernels *fft.Kernels, pool *parallel.Pool) error {
	if v.direct != nil {
		return nil
	}
	plans, filters := map[[2]int]*fft.Plan{}, v.filters()
	for f := range filters {
		plan := plans[[2]int{f.py, f.px}]
		var err error
		if plan == nil {
			if plan, err = fft.NewWith(kernels, f.py, f.px); err != nil {
				return err
			}
			plans[[2]int{f.py, f.px}] = plan
		}
		if filters[f], err = fourierFilter(plan, pool, v.single(f.kernel), 0, 0); err != nil {
			return err
		}
	}
	for _, group := range v.apart {
		for _, t := range group {
			for j := range t.windows() {
				t.filters = append(t.filters, filters[filter{v.kernelOf(t.part, j), t.py, t.px}])
			}
		}
	}
	return nil
}

func (v *varying) apply(pool *parallel.Pool, planes int, dst, src []float32) error {
	if v.direct != nil {
		v.applyDirectly(pool, planes, dst, src)
		return nil
	}
	h, w := v.spec.Range()
	pool.For(planes*h, func(i int) { clear(dst[i*w : (i+1)*w]) })
	return v.eachTile(pool, planes, func(pool *parallel.Pool, t *tile, plane int) error {
		to := v.reached(t, func(y, x int, row []float32) { addTo(dst[(plane*h+y)*w+x:], row) })
		from := fft.Rows{H: t.y.len(), W: t.x.len(), Row: func(window, y int, row []float32) {
			down, across := v.window(t.part, window)
			line := v.line(src, t.part, plane, y)
			for x, by := range across {
				row[x] = line[x] * (down[y] * by)
			}
		}}
		return fft.Sum(pool, t.filters, 1, to, from)
	})
}

func (v *varying) applyAdjoint(pool *parallel.Pool, planes int, dst, src []float32) error {
	if v.direct != nil {
		v.applyAdjointDirectly(pool, planes, dst, src)
		return nil
	}
	h, w := v.spec.Range()
	pool.For(planes*v.spec.H, func(i int) { clear(dst[i*v.spec.W : (i+1)*v.spec.W]) })
	return v.eachTile(pool, planes, func(pool *parallel.Pool, t *tile, plane int) error {
		reached := v.reached(t, func(y, x int, row []float32) { copy(row, src[(plane*h+y)*w+x:]) })
		from := fft.Rows{H: reached.H, W: reached.W, Row: func(_, y int, row []float32) {
			clear(row)
			reached.Row(0, y, row)
		}}
		to := fft.Rows{H: t.y.len(), W: t.x.len(), Row: func(window, y int, row []float32) {
			down, across := v.window(t.part, window)
			line := v.line(dst, t.part, plane, y)
			for x, by := range across {
				line[x] += row[x] * (down[y] * by)
			}
		}}
		return fft.Spread(pool, t.filters, 1, to, from)
	})
}

// line is row y of a tile of an image.
func (v *varying) line(image []float32, t part, plane, y int) []float32 {
	return image[(plane*v.spec.H+t.y.first+y)*v.spec.W+t.x.first:][:t.x.len()]
}

func addTo(line, row []float32) {
	line = line[:len(row)]
	for i, v := range row {
		line[i] += v
	}
}

// rounding is Blur.Rounding. Beside a blur by one kernel there are two roundings of a window, its product, and the sums over
// the kernels of a tile and over the tiles that reach a sample. Those are at most reach, so that the squares of
// the norms of what all tiles take or make add up to at most reach times that of the whole.
func (v *varying) rounding() float64 {
	const unit = 0x1p-24
	reach := float64(overlap(v.ys, v.spec.KH) * overlap(v.xs, v.spec.KW))
	bound := func(t part, one func(j int, sum float64) float64) (of float64) {
		n := float64(t.windows())
		for j := range t.windows() {
			sum := 0.0
			for _, k := range v.single(v.kernelOf(t, j)).Kernel {
				sum += math.Abs(float64(k))
			}
			down, across := v.window(t, j)
			of += (one(j, sum) + (2*n+reach*n+4)*unit*sum) * float64(largest(down)) * float64(largest(across))
		}
		return of
	}
	worst := 0.0
	if v.direct != nil {
		for t := range v.tiles() {
			worst = max(worst, bound(t, func(j int, sum float64) float64 {
				return sum * v.direct[v.kernelOf(t, j)].units() * unit
			}))
		}
	}
	for _, group := range v.apart {
		for _, t := range group {
			worst = max(worst, bound(t.part, func(j int, sum float64) float64 { return t.filters[j].Rounding(sum) }))
		}
	}
	return math.Sqrt(reach) * worst * (1 + 1e-5)
}

// overlap is how many pieces reach the same sample under a kernel, at most.
func overlap(pieces []piece, size int) (most int) {
	for i, p := range pieces {
		n := 0
		for _, q := range pieces[:i+1] {
			if q.end+size-1 > p.first {
				n++
			}
		}
		most = max(most, n)
	}
	return most
}

func largest(of []float32) (most float32) {
	for _, v := range of {
		most = max(most, v, -v)
	}
	return most
}
