package hostblur

import (
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/parallel"
)

// directKernel is a kernel of a varying blur for direct sums, of the blur and of its adjoint.
type directKernel struct {
	groups   []tapGroup
	mirrored []tap
	// The first and last row and column that the taps reach.
	top, bottom, left, right int
}

// tapGroup is the taps that addTaps adds up at a time, with the first and last row and column that they reach.
type tapGroup struct {
	taps                     []tap
	top, bottom, left, right int
}

func newDirectKernel(s *backend.BlurSpec) directKernel {
	taps := tapsOf(s)
	k := directKernel{mirrored: mirrored(taps, s.KH, s.KW), top: s.KH, left: s.KW, bottom: -1, right: -1}
	for len(taps) > 0 {
		n := 1
		if len(taps) >= tapsAtOnce {
			n = tapsAtOnce
		}
		g := tapGroup{taps: taps[:n], top: s.KH, left: s.KW}
		for _, t := range g.taps {
			g.top, g.bottom = min(g.top, t.dy), max(g.bottom, t.dy)
			g.left, g.right = min(g.left, t.dx), max(g.right, t.dx)
		}
		k.groups = append(k.groups, g)
		k.top, k.bottom = min(k.top, g.top), max(k.bottom, g.bottom)
		k.left, k.right = min(k.left, g.left), max(k.right, g.right)
		taps = taps[n:]
	}
	return k
}

// cost is directCost of what the kernel makes of a tile.
func (k *directKernel) cost(t part) float64 {
	n, m := t.y.len(), t.x.len()
	products := len(k.mirrored) * n * m
	for _, g := range k.groups {
		products += len(g.taps) * (n + g.bottom - g.top) * (m + g.right - g.left)
	}
	return float64(products) / 2
}

// applyDirectly is apply by direct sums. Each job makes some rows of the result, tile by tile, so that no two write to the same
// sample, and sums have one order.
func (v *varying) applyDirectly(pool *parallel.Pool, planes int, dst, src []float32) {
	h, w := v.spec.Range()
	bands := (h + bandRows - 1) / bandRows
	pool.For(planes*bands, func(i int) {
		plane, first := i/bands, i%bands*bandRows
		end := min(first+bandRows, h)
		clear(dst[(plane*h+first)*w : (plane*h+end)*w])
		for t := range v.tiles() {
			v.addTile(t, plane, first, end, dst[plane*h*w:(plane+1)*h*w], src)
		}
	})
}

// addTile adds what a tile of src gives to rows first to end−1 of a plane of the result.
func (v *varying) addTile(t part, plane, first, end int, dst, src []float32) {
	_, w := v.spec.Range()
	kh, kw, n, m := v.spec.KH, v.spec.KW, t.y.len(), t.x.len()
	// Sample (y, x) of the tile is at (y+kh−1, x+kw−1) of the room, which is zero elsewhere. Sample (y, x) of the result is
	// sample (y−above, x−before) of what the room becomes.
	above, before := t.y.first-kh+1, t.x.first-kw+1
	if above >= end || t.y.end <= first {
		return
	}
	stride := m + 2*(kw-1)
	scratch := borrowFloats((n+2*(kh-1))*stride + m + kw - 1)
	defer bandScratch.Put(scratch)
	clear(*scratch)
	room, row := (*scratch)[:(n+2*(kh-1))*stride], (*scratch)[(n+2*(kh-1))*stride:]
	for j := range t.windows() {
		k := &v.direct[v.kernelOf(t, j)]
		down, across := v.window(t, j)
		for y := range n {
			to, line := room[(y+kh-1)*stride+kw-1:][:m], v.line(src, t, plane, y)
			for x, by := range across {
				to[x] = line[x] * (down[y] * by)
			}
		}
		// The columns, and rows, of the room that a tap at dx reaches from a sample that is not zero are kw−1−dx and m more.
		left, right := max(kw-1-k.right, -before), min(kw-1-k.left+m, w-before)
		if left >= right {
			continue
		}
		for y := max(first-above, kh-1-k.bottom); y < min(end-above, kh-1-k.top+n); y++ {
			clear(row[left:right])
			for _, g := range k.groups {
				if y+g.bottom < kh-1 || y+g.top >= kh-1+n {
					continue
				}
				from, to := max(kw-1-g.right, left), min(kw-1-g.left+m, right)
				if from < to {
					addTaps(row[from:to], room[y*stride+from:], stride, g.taps)
				}
			}
			addTo(dst[(y+above)*w+before+left:], row[left:right])
		}
	}
}

// applyAdjointDirectly is applyAdjoint by direct sums. Each job makes one tile.
func (v *varying) applyAdjointDirectly(pool *parallel.Pool, planes int, dst, src []float32) {
	var tiles []part
	for t := range v.tiles() {
		tiles = append(tiles, t)
	}
	pool.For(planes*len(tiles), func(i int) {
		plane, t := i/len(tiles), tiles[i%len(tiles)]
		kh, kw, n, m := v.spec.KH, v.spec.KW, t.y.len(), t.x.len()
		stride := m + kw - 1
		scratch := borrowFloats((n+kh-1)*stride + m)
		defer bandScratch.Put(scratch)
		room, row := (*scratch)[:(n+kh-1)*stride], (*scratch)[(n+kh-1)*stride:]
		h, w := v.spec.Range()
		clear(room)
		whole := &tile{part: t, height: kh, width: kw, py: n + kh - 1, px: stride}
		from := v.reached(whole, func(y, x int, row []float32) { copy(row, src[(plane*h+y)*w+x:]) })
		for y := range n + kh - 1 {
			from.Row(0, y, room[y*stride:(y+1)*stride])
		}
		for y := range n {
			line := v.line(dst, t, plane, y)
			clear(line)
			for j := range t.windows() {
				down, across := v.window(t, j)
				sumTaps(row, room[y*stride:], stride, v.direct[v.kernelOf(t, j)].mirrored)
				for x, by := range across {
					line[x] += row[x] * (down[y] * by)
				}
			}
		}
	})
}
