package cpu

import (
	"sync"

	"github.com/averaged/imaging/backend/cpu/internal/winograd"
)

// bank is one direction of a 3×3 filter for Winograd's algorithm: from in channels
// to out. It is made and filled when it is asked for: guides need no adjoint, and a network for all noise levels is put
// on a device for one level before another is chosen.
type bank struct {
	in, out int
	u       []float32 // or nil
	filling sync.Mutex
	full    bool
}

// filled returns the bank, filled by a transform of each input channel; nil of nil, where the algorithm does not apply.
func (b *bank) filled(d *host, transform func(k *winograd.Kernels, i int, memory *winograd.FilterScratch)) *bank {
	if b == nil {
		return nil
	}
	b.filling.Lock()
	defer b.filling.Unlock()
	if !b.full {
		if b.u == nil {
			b.u = make([]float32, winograd.FilterSize(b.in, b.out))
		}
		d.eachInput(b.in, transform)
		b.full = true
	}
	return b
}

// empty has the bank filled again, with other weights.
func (b *bank) empty() {
	if b != nil {
		b.filling.Lock()
		b.full = false
		b.filling.Unlock()
	}
}

// padded is the number of output channels as the kernels see them.
func (b *bank) padded() int { return winograd.Padded(b.out) }

// inputsAtOnce is how many input channels of a filter one piece of work transforms: of
// one output channel these are 9 cache lines of weights. With one at a time two threads
// would write to the same lines all the time.
const inputsAtOnce = 16

var filterScratches = sync.Pool{New: func() any { return new(winograd.FilterScratch) }}

// eachInput calls do for every input channel of a transformed filter.
func (d *host) eachInput(in int, do func(k *winograd.Kernels, i int, memory *winograd.FilterScratch)) {
	k := d.kernels.winograd
	d.pool.Range(in, inputsAtOnce, func(lo, hi int) {
		memory := filterScratches.Get().(*winograd.FilterScratch)
		for i := lo; i < hi; i++ {
			do(k, i, memory)
		}
		filterScratches.Put(memory)
	})
}

// group is the largest number of tiles that are transformed and multiplied
// together. Their transforms (64 points × 24 tiles × 64 channels: 400 KB) stay in a
// core's second-level cache, and the transformed filter, which passes by once for
// each group (1 MB), is used often enough to come from the third level unnoticed:
// 1 MB for every 24·64·64·64 multiplications is 5 bytes per clock cycle.
const group = 24

// tileGroup is the memory of one group: the transformed patches V and, in their
// place, the transformed outputs M. Those of point k overwrite the patches of point
// k−1, which are done with: M begins one point before V.
type tileGroup struct {
	memory  []float32
	radii   []float32 // of a tile's pixels
	scratch winograd.Scratch
}

var tileGroups = sync.Pool{New: func() any { return new(tileGroup) }}

// slack keeps the distance of points from being a multiple of a large power of
// two, which would put all points of a tile into a few sets of the first-level
// cache.
const slack = 16

// pointDistance returns the distance of points for this many channels.
func pointDistance(in, out int) int { return group*max(in, out) + slack }

// multiplied transforms a group of up to group tiles and multiplies it with a bank,
// restricted to the first in input and the first out output channels: patch is
// called for every tile and transforms it to the slice that it is given, and ahead,
// unless it is nil, for every point before its product. The result
// is laid out as winograd.Kernels.Activate wants it, tile t beginning at t·out.
func (g *tileGroup) multiplied(k *winograd.Kernels, b *bank, in, out, tiles int, patch func(t int, v []float32, point int), ahead func(point int)) (m []float32, point int) {
	vTile, mTile := winograd.Padded(in), winograd.Padded(out)
	point = pointDistance(vTile, mTile)
	if need := (winograd.Points + 1) * point; len(g.memory) < need {
		g.memory = make([]float32, need)
	}
	v := g.memory[point:]
	for t := range tiles {
		patch(t, v[t*vTile:], point)
	}
	padded, next := b.padded(), winograd.FilterPoint(b.in, b.out)
	for p := range winograd.Points {
		if ahead != nil {
			ahead(p)
		}
		k.Multiply(g.memory[p*point:], mTile, v[p*point:], vTile, b.u[p*next:], padded, tiles, in, mTile)
	}
	return g.memory, point
}
