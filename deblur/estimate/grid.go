package estimate

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/parallel"
)

// Grid estimates rows×columns kernels for the parts of a photograph whose blur varies over the frame. common
// is their common kernel (Kernel). If rows and columns are 0, GridSize chooses them. pix is as in Kernel.
// Each kernel has its centre of mass within half a sample of its centre.
//
// The parts take their steps together from coarse to fine, each beginning with the common kernel. A part is
// as large as the window of its kernel in deblur.Varying, so neighbours share half of their samples. The
// kernel step of a part has the additional term ‖k − k̄‖², where k̄ is the mean kernel of its neighbours. The
// term has the same weight for every part, so a part with few edges takes its neighbours' kernel.
func Grid(ctx context.Context, pix []float32, channels, h, w int, common deblur.Kernel, rows, columns int, opt Options) (deblur.Grid, error) {
	g := deblur.Grid{Rows: rows, Columns: columns}
	p, err := newPhoto(ctx, pix, channels, h, w, opt)
	if err != nil {
		return g, err
	}
	if err := common.Check(); err != nil {
		return g, err
	}
	if rows == 0 && columns == 0 {
		g.Rows, g.Columns = GridSize(h, w, common)
	}
	if g.Rows < 1 || g.Columns < 1 || g.Rows > deblur.MaxCells || g.Columns > deblur.MaxCells {
		return g, fmt.Errorf("estimate: a grid of %d rows and %d columns, want 1 to %d of each", rows, columns, deblur.MaxCells)
	}
	reach := max(common.CY, common.H-1-common.CY, common.CX, common.W-1-common.CX)
	reach = min(max(reach+reach/4+2, minReach), min(h/g.Rows, w/g.Columns)/2)
	if reach < 1 || min(h, w) < minImage {
		return g, fmt.Errorf("estimate: a photograph of %d×%d samples is too small for a grid of %d×%d kernels", w, h, g.Rows, g.Columns)
	}
	pool := parallel.New(opt.Threads)
	defer pool.Close()
	c := newCells(p.whole, g.Rows, g.Columns, reach)
	s := newSupport(reach)
	for i, v := range common.Weights {
		y, x := i/common.W-common.CY+reach, i%common.W-common.CX+reach
		if v > 0 && min(y, x) >= 0 && max(y, x) < s.side() {
			s.k[y*s.side()+x] = float64(v)
		}
	}
	if s.normalise() == 0 {
		return g, fmt.Errorf("estimate: the common kernel is too wide for a grid of %d×%d kernels in a photograph of %d×%d samples", g.Rows, g.Columns, w, h)
	}
	if p.sigma, err = p.noiseUnder(ctx, pool, s); err != nil {
		return g, err
	}
	e := p.estimation(ctx, pool)
	e.tell = meter(opt.Progress, len(c.parts)*c.parts[0].v.h, c.parts[0].v.w)
	if err := e.cells(c, s); err != nil {
		return g, err
	}
	for _, s := range c.kernels {
		k, err := s.kernel()
		if err != nil {
			return g, err
		}
		g.Kernels = append(g.Kernels, k)
	}
	return g, p.end(nil)
}

// minReach is how far the supports of a grid reach at least: where a camera turned, the common kernel may be that of the middle.
const minReach = 8

// GridSize returns the rows and columns of kernels for a photograph of h×w samples. The parts have minCell
// samples, or cellReach times the reach of the kernel. There are at least 2, and at most maxCells along the
// longer side.
func GridSize(h, w int, common deblur.Kernel) (rows, columns int) {
	const minCell, cellReach, maxCells = 80, 6, 6
	reach := max(common.H, common.W) / 2
	side := float64(max(minCell, cellReach*reach))
	side = max(side, float64(max(h, w))/maxCells)
	of := func(n int) int { return max(2, int(math.Round(float64(n)/side))) }
	return of(h), of(w)
}

// cells are the parts of a grid, row by row.
type cells struct {
	columns  int
	parts    []part
	kernels  []support
	strength []float64 // energy of the sharp edges of each part
}

// newCells cuts a photograph into parts that reach to the middles of their neighbours, at most as many samples on a side
// as pieces takes of a large photograph.
func newCells(whole part, rows, columns, reach int) *cells {
	side := partSide(reach)
	c := &cells{columns: columns}
	for i := range rows {
		y0, y1 := cut(i, rows, whole.v.h, side)
		for j := range columns {
			x0, x1 := cut(j, columns, whole.v.w, side)
			c.parts = append(c.parts, whole.crop(y0, x0, y1-y0, x1-x0))
		}
	}
	c.strength = make([]float64, len(c.parts))
	return c
}

// cut returns the samples [from, to) of n that part i of all reaches, at most side.
func cut(i, all, n, side int) (from, to int) {
	middle, half := (2*i+1)*n/(2*all), min(n/all, side/2)
	return max(0, middle-half), min(n, middle+half)
}

// neighbours returns the mean kernel of those beside a part, weighted by their edges, or its own where it has none.
func (c *cells) neighbours(i int) support {
	mean := newSupport(c.kernels[i].r)
	for j, k := range c.kernels {
		dy, dx := i/c.columns-j/c.columns, i%c.columns-j%c.columns
		if dy*dy+dx*dx == 1 {
			for l, v := range k.k {
				mean.k[l] += (c.strength[j] + 1e-12) * v
			}
		}
	}
	if mean.normalise() == 0 {
		return c.kernels[i]
	}
	return mean
}

// agreeing is the weight of ‖k − k̄‖² in units of the median energy of the parts' sharp edges.
const agreeing = 0.3

// gridScale is the scale that a grid begins at: a quarter of the size.
const gridScale = 4

// cells estimates the kernels of the parts from the common one on.
func (e *estimation) cells(c *cells, common support) error {
	i := min(gridScale, max(0, scales(common.r)))
	for range c.parts {
		c.kernels = append(c.kernels, common.scaled(math.Pow(scaleStep, -float64(i)), radius(common.r, i)))
	}
	for ; ; i-- {
		levels, err := e.levels(c.parts, i, c.kernels[0].r)
		if err != nil {
			return err
		}
		for range tuned.steps {
			if err := e.together(c, levels, e.edges, tuned.kernel, nil); err != nil {
				return err
			}
		}
		for j, k := range c.kernels {
			c.kernels[j] = k.cleaned(tuned.threshold, islandFor(e.sigma)).centred()
		}
		if i == 0 {
			return e.finishTogether(c, levels)
		}
		for j, k := range c.kernels {
			c.kernels[j] = k.scaled(scaleStep, radius(common.r, i-1))
		}
	}
}

// finishTogether is finish for the parts of a grid.
func (e *estimation) finishTogether(c *cells, levels []*level) error {
	textures := make([]texture, len(levels))
	edges, kernel := lastEdgesFor(e.sigma), tuned.kernel
	for range finishing.free + finishing.bound {
		if err := e.together(c, levels, edges, kernel, textures); err != nil {
			return err
		}
	}
	for i, k := range c.kernels {
		c.kernels[i] = k.cleaned(finishing.threshold, islandFor(e.sigma)).centred()
	}
	return nil
}

// together makes a step of every part. textures, unless nil, are those to weight by, and are set to what this
// step leaves.
func (e *estimation) together(c *cells, levels []*level, edges edgePrior, kernel kernelPrior, textures []texture) error {
	all := make([]moments, len(levels))
	for i, l := range levels {
		if err := e.ctx.Err(); err != nil {
			return err
		}
		all[i] = newMoments(l.r)
		if textures != nil {
			all[i].texture = textures[i]
		}
		if err := l.sharpen(c.kernels[i], edges); err != nil {
			return err
		}
		if err := all[i].measure(l, c.kernels[i]); err != nil {
			return err
		}
		c.strength[i] = all[i].a[len(all[i].a)/2]
		if err := e.tell(float64(l.ph * l.pw)); err != nil {
			return err
		}
	}
	typical := slices.Sorted(slices.Values(c.strength))[len(levels)/2]
	next := make([]support, len(levels))
	for i := range levels {
		own := kernel
		own.towards = c.neighbours(i).k
		own.pull = agreeing * typical / max(c.strength[i], 1e-6*typical)
		if !(typical > 0) {
			own.pull = 0
		}
		var err error
		if next[i], err = all[i].fit(e.pool, c.kernels[i], own); err != nil {
			return err
		}
		if textures != nil && all[i].data > 0 {
			textures[i] = textureOf(&all[i], c.kernels[i], e.sigma)
		}
	}
	c.kernels = next
	return nil
}
