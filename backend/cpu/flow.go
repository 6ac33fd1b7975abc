package cpu

import (
	"context"
	"fmt"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu/internal/winograd"
)

// interval is a range [from, to) of tile rows or tile columns.
type interval struct{ from, to int }

func (i interval) grow(n, end int) interval { return interval{max(0, i.from-n), min(end, i.to+n)} }
func (i interval) len() int                 { return i.to - i.from }

// with returns the smallest interval that has both.
func (i interval) with(o interval) interval { return interval{min(i.from, o.from), max(i.to, o.to)} }

// pixels returns the pixels, of n, that tiles have.
func (i interval) pixels(n int) interval {
	return interval{i.from * winograd.Tile, min(i.to*winograd.Tile, n)}
}

// tilesOf returns the tiles that the pixels [from, to) are in.
func tilesOf(from, to int) interval {
	return interval{from / winograd.Tile, (to + winograd.Tile - 1) / winograd.Tile}
}

// The fused path goes down the image in chunks of chunkRows tile rows, and takes all
// stages on a chunk before it goes to the next, so that a chunk's arrays stay in the
// cache. A stage's tile row needs the tile row above and the two below it from the
// stage before: each stage is two tile rows behind the one before it, and what a chunk
// leaves for the next are the last rows of the stages' hidden layers. No stage is ever
// made twice, and the memory depends on the image's width only.
const chunkRows = 12

// smallBytes is the size of arrays that stay in the cache as a whole: one chunk.
const smallBytes = 8 << 20

// stripBytes bounds the memory of one strip of columns. Strips of a wide image overlap
// by the reach of the stages that are still to come, which costs two strips of "guided" at 24 megapixels 2 % of
// the flow.
const stripBytes = 128 << 20

// flowShape sets the sizes of chunks and passes (in tile rows) and strips (in tile
// columns), for tests; what is 0 is chosen.
type flowShape struct{ chunk, strip, band int }

// flow takes the steps of a plan on one batch entry.
func (d *host) flow(ctx context.Context, dst, src flowImage, n int, region backend.Region, p *flowPlan) error {
	columns := tilesOf(region.X0, region.X1)
	width := d.stripWidth(p, src.shape)
	strips := (columns.len() + width - 1) / width
	for count := strips; count > 0; count-- {
		strip := interval{columns.from, columns.from + (columns.len()+count-1)/count}
		f, err := d.newFlow(dst, src, n, region, strip, p)
		if err != nil {
			return err
		}
		err = func() error {
			defer f.memory.giveBack() // also after a panic of who is told about the progress
			return f.run(backend.PartOfProgress(ctx, strips-count, strips))
		}()
		if err != nil {
			return err
		}
		columns.from = strip.to
	}
	return nil
}

// stripWidth returns how many tile columns of the result a strip has: what fits into
// stripBytes, but at least as much as it overlaps its neighbours.
func (d *host) stripWidth(p *flowPlan, s backend.Shape) int {
	if d.flowShape.strip > 0 {
		return d.flowShape.strip
	}
	rows := min(chunkRows+2*len(p.stages)+2, tilesOf(0, s.H).to)
	pixel := 4 * (winograd.Tile*(rows*p.arrays*p.channels+hiddenRows(1)*p.hidden) + carriedRows*len(p.stages)*p.hidden)
	overlap := 4 * len(p.stages)
	return max(overlap, stripBytes/(winograd.Tile*pixel)-overlap, 1)
}

// hiddenRows is how many tile rows of a hidden layer are in use at once when band
// tile rows are made at a time: those, as many that are being read, and one more on
// either side.
func hiddenRows(band int) int { return 2*band + 2 }

// bandOf returns how many tile rows one pass makes: one, unless that leaves threads without
// work.
func bandOf(rows, columns, threads int) int {
	return max(1, min(rows, threads*group/(2*columns)))
}

// carriedRows is how many rows of pixels of a hidden layer a chunk leaves for the next:
// a tile row, and the last row of the one above it.
const carriedRows = winograd.Tile + 1

// flow is one strip under way.
type flow struct {
	device        *host
	kernels       *winograd.Kernels
	dst, src      flowImage // without a buffer where the array is at hand, and stays
	n             int
	height, width int // of the image
	region        backend.Region
	plan          *flowPlan

	grid    [2]int   // tile rows and columns of the image
	rows    interval // tile rows of the result
	strip   interval // tile columns of the result
	columns interval // tile columns of the arrays
	band    int      // tile rows of one pass
	chunk   int      // tile rows of one chunk

	arrays   []ring
	hidden   []ring      // of each stage, one after the other in the same memory
	carried  [][]float32 // of each stage, carriedRows rows; nil if there is one chunk
	progress []stageRows // of each stage
	loaded   int         // tile rows of the source that are in array 0
	zeros    []float32   // a row of pixels
	memory   borrowed
}

// stageRows says how far down a stage has got: the first tile rows that its hidden
// layer and its sums have not reached.
type stageRows struct{ hidden, summed int }

func (d *host) newFlow(dst, src flowImage, n int, region backend.Region, strip interval, p *flowPlan) (*flow, error) {
	s, stages := src.shape, len(p.stages)
	f := &flow{
		device: d, kernels: d.kernels.winograd, dst: dst, src: src, n: n, height: s.H, width: s.W, region: region, plan: p,
		grid: [2]int{tilesOf(0, s.H).to, tilesOf(0, s.W).to},
		rows: tilesOf(region.Y0, region.Y1), strip: strip,
	}
	f.columns = strip.grow(2*stages, f.grid[1])
	pixels := f.columns.len()*winograd.Tile + 2
	all := f.needed(0).grow(2, f.grid[0])
	f.band = bandOf(f.rows.len(), f.columns.len(), d.pool.Threads())
	f.chunk = chunkRows
	if all.len()*winograd.Tile*pixels*p.channels*p.arrays*4 < smallBytes {
		f.chunk = all.len() + 2*stages
	}
	if d.flowShape.band > 0 {
		f.band = d.flowShape.band
	}
	if d.flowShape.chunk > 0 {
		f.chunk = d.flowShape.chunk
	}
	slots := min(all.len(), f.chunk+2*stages+2)
	array := ring{slots: slots, row: pixels * p.channels, channels: p.channels}
	hiddenSize := winograd.Tile * pixels * p.hidden * hiddenRows(f.band)
	carriedSize := carriedRows * pixels * p.hidden
	if f.last(f.needed(0).from + f.chunk) {
		carriedSize = 0 // every stage ends before the next begins
	}
	// The strips of an image use the same memory, be they at its side or between others.
	widest := min(f.grid[1], strip.len()+1+4*stages)*winograd.Tile + 2
	var err error
	if f.memory, err = d.borrow((p.arrays*array.size() + hiddenSize + stages*carriedSize) / pixels * widest); err != nil {
		return nil, fmt.Errorf("%d stages on %d columns of tiles: %w", stages, f.columns.len(), err)
	}
	memory := f.memory.floats
	for range p.arrays {
		array.data, memory = memory[:array.size()], memory[array.size():]
		array.frame()
		f.arrays = append(f.arrays, array)
	}
	hidden, memory := memory[:hiddenSize], memory[hiddenSize:]
	for q := range p.stages {
		channels := p.stages[q].step.forward.padded()
		f.hidden = append(f.hidden, ring{data: hidden, slots: hiddenRows(f.band), channels: channels, row: pixels * channels})
		if carriedSize > 0 {
			f.carried = append(f.carried, memory[:carriedSize])
			memory = memory[carriedSize:]
		}
		need := f.needed(q)
		f.progress = append(f.progress, stageRows{hidden: max(0, need.from-1), summed: need.from})
	}
	f.loaded = all.from
	f.zeros = make([]float32, pixels*max(p.channels, p.hidden))
	return f, nil
}

// needed returns the tile rows that stage q has to sum up.
func (f *flow) needed(q int) interval {
	return f.rows.grow(2*(len(f.plan.stages)-1-q), f.grid[0])
}

// neededColumns returns the tile columns that stage q has to sum up.
func (f *flow) neededColumns(q int) interval {
	return f.strip.grow(2*(len(f.plan.stages)-1-q), f.grid[1])
}

// last tells whether a chunk in which the first stage gets down to the tile row bottom
// is the last one.
func (f *flow) last(bottom int) bool { return bottom-2*(len(f.plan.stages)-1) >= f.rows.to }

// run goes down the strip.
func (f *flow) run(ctx context.Context) error {
	stages := len(f.plan.stages)
	total, done := 0, 0 // tile rows of stages
	for q := range stages {
		total += f.needed(q).len()
	}
	for bottom := f.needed(0).from; ; {
		bottom += f.chunk
		last := f.last(bottom)
		if last {
			bottom = f.needed(0).to + 2*stages
		}
		for q := range stages {
			need := f.needed(q)
			if to := min(bottom-2*q, need.to); to > need.from {
				done += to - f.progress[q].summed
				if err := f.stage(ctx, q, to); err != nil {
					return err
				}
				backend.ReportProgress(ctx, float64(done)/float64(total))
			}
		}
		if last {
			return nil
		}
	}
}

// stage brings stage q to the tile row to.
func (f *flow) stage(ctx context.Context, q, to int) error {
	p := &f.progress[q]
	f.hidden[q].frame() // here, since the stages share the memory
	if need := f.needed(q); p.summed > need.from && to > p.summed {
		f.carry(q, false)
	}
	hiddenTo := min(to+1, f.grid[0])
	if q == 0 {
		f.load(min(hiddenTo+1, f.grid[0]))
	}
	for p.summed < to {
		if err := ctx.Err(); err != nil {
			return err
		}
		// The sums may go as far as their patches are complete, and must not touch what
		// the hidden layer reads in this pass.
		hidden := interval{p.hidden, min(p.hidden+f.band, hiddenTo)}
		end := min(p.summed+f.band, to)
		if p.hidden < hiddenTo {
			end = min(end, p.hidden-1)
		}
		summed := interval{p.summed, max(p.summed, end)}
		f.pass(q, hidden, summed)
		p.hidden, p.summed = hidden.to, summed.to
	}
	if to < f.needed(q).to {
		f.carry(q, true)
	}
	return nil
}

// carry takes what the sums below those of stage q will read of its hidden layer away
// from the memory that the stages share, or puts it back.
func (f *flow) carry(q int, away bool) {
	r, p := &f.hidden[q], f.progress[q]
	first := max(0, p.summed*winograd.Tile-1)
	end := min(p.hidden*winograd.Tile, f.height)
	f.device.pool.For(end-first, func(i int) {
		row, kept := r.pixels(first+i), f.carried[q][i*r.row:(i+1)*r.row]
		if away {
			copy(kept, row)
		} else {
			copy(row, kept)
		}
	})
}

// pass computes tile rows of the hidden layer of stage q and, beside it, the sums in
// others.
func (f *flow) pass(q int, hidden, summed interval) {
	inner := f.neededColumns(q)
	first, second := area{hidden, inner.grow(1, f.grid[1])}, area{summed, inner}
	threads := f.device.pool.Threads()
	firsts, seconds := first.pieces(threads), second.pieces(threads)
	f.device.pool.For(firsts+seconds, func(i int) {
		g := tileGroups.Get().(*tileGroup)
		if i < firsts {
			first.piece(i, firsts).groups(func(r, next tileRun) { f.hide(g, q, r, next) })
		} else {
			second.piece(i-firsts, seconds).groups(func(r, next tileRun) { f.sum(g, q, r, next) })
		}
		tileGroups.Put(g)
	})
}

// area is a rectangle of tiles, in the order of rows.
type area struct{ rows, columns interval }

// pixels returns the pixels of an image that the tiles have.
func (a area) pixels(s backend.Shape) backend.Region {
	y, x := a.rows.pixels(s.H), a.columns.pixels(s.W)
	return backend.Region{Y0: y.from, Y1: y.to, X0: x.from, X1: x.to}
}

// pieceGroups is how many groups a piece of work has where there are many: from the
// second one on, what a group reads has been asked for.
const pieceGroups = 4

// pieces returns in how many pieces the area is computed: all of a size, so that there
// are as many for each thread.
func (a area) pieces(threads int) int {
	groups := (a.rows.len()*a.columns.len() + group - 1) / group
	size := threads
	if groups >= 4*pieceGroups {
		size *= pieceGroups
	}
	if groups < 2*threads {
		return groups
	}
	return (groups + size - 1) / size * threads
}

// piece returns piece i of count equal ones.
func (a area) piece(i, count int) tileRun {
	n := a.rows.len() * a.columns.len()
	return tileRun{a, i * n / count, (i + 1) * n / count}
}

// tileRun is some tiles of an area.
type tileRun struct {
	area
	from, to int
}

// tile returns the tile row and column of tile t of the run.
func (r tileRun) tile(t int) (row, column int) {
	i := r.from + t
	return r.rows.from + i/r.columns.len(), r.columns.from + i%r.columns.len()
}

// groups calls body for the run group by group, each with the one that follows.
func (r tileRun) groups(body func(r, next tileRun)) {
	n := r.to - r.from
	count := (n + group - 1) / group
	part := func(i int) tileRun {
		return tileRun{r.area, r.from + min(i, count)*n/count, r.from + min(i+1, count)*n/count}
	}
	for i := range count {
		body(part(i), part(i+1))
	}
}
