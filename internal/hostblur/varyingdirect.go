package hostblur

import (
	"image"

	"github.com/averaged/imaging/internal/parallel"
)

// reach holds (dx, dy) of all taps.
func (k *directKernel) reach() (r image.Rectangle) {
	for i := range k.taps {
		r = r.Union(k.taps[i].reach)
	}
	return r
}

// reachedFrom holds the samples of a blurred image that taps give a tile of the image to.
func reachedFrom(tile, taps image.Rectangle) image.Rectangle {
	return image.Rect(tile.Min.X-taps.Max.X+1, tile.Min.Y-taps.Max.Y+1, tile.Max.X-taps.Min.X, tile.Max.Y-taps.Min.Y)
}

// cost is directCost of what the kernel makes of a tile.
func (k *directKernel) cost(t part) float64 {
	tile, products := t.bounds(), 0
	for _, g := range k.taps {
		to := reachedFrom(tile, g.reach)
		products += len(g.taps) * (to.Dx()*to.Dy() + tile.Dx()*tile.Dy())
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
	kh, kw, tile := v.spec.KH, v.spec.KW, t.bounds()
	// The rows that these rows need.
	tile.Min.Y, tile.Max.Y = max(tile.Min.Y, first), min(tile.Max.Y, end+kh-1)
	if tile.Empty() {
		return
	}
	// Around the tile the room is zero.
	stride := tile.Dx() + 2*(kw-1)
	size := (tile.Dy() + 2*(kh-1)) * stride
	scratch := borrowFloats(size + w)
	defer bandScratch.Put(scratch)
	room, row := (*scratch)[:size], (*scratch)[size:]
	clear(room)
	at := func(y, x int) []float32 { return room[(y-tile.Min.Y+kh-1)*stride+x-tile.Min.X+kw-1:] }
	for j := range t.windows() {
		k := &v.direct[v.kernelOf(t, j)]
		down, across := v.window(t, j)
		for y := tile.Min.Y; y < tile.Max.Y; y++ {
			to, line, window := at(y, tile.Min.X), v.line(src, t, plane, y-t.y.first), down[y-t.y.first]
			for x, by := range across {
				to[x] = line[x] * (window * by)
			}
		}
		to := reachedFrom(tile, k.reach()).Intersect(image.Rect(0, first, w, end))
		for y := to.Min.Y; y < to.Max.Y; y++ {
			clear(row[to.Min.X:to.Max.X])
			for i := range k.taps {
				g := &k.taps[i]
				if r := reachedFrom(tile, g.reach).Intersect(to); r.Min.Y <= y && y < r.Max.Y {
					g.addTo(row[r.Min.X:r.Max.X], at(y, r.Min.X), stride)
				}
			}
			addTo(dst[y*w+to.Min.X:], row[to.Min.X:to.Max.X])
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
		h, w := v.spec.Range()
		reached := reachedFrom(t.bounds(), image.Rect(0, 0, v.spec.KW, v.spec.KH))
		stride := reached.Dx()
		scratch := borrowFloats(reached.Dy()*stride + t.x.len())
		defer bandScratch.Put(scratch)
		room, row := (*scratch)[:reached.Dy()*stride], (*scratch)[reached.Dy()*stride:]
		clear(room)
		there := reached.Intersect(image.Rect(0, 0, w, h))
		for y := there.Min.Y; y < there.Max.Y; y++ {
			to := room[(y-reached.Min.Y)*stride+there.Min.X-reached.Min.X:]
			copy(to[:there.Dx()], src[(plane*h+y)*w+there.Min.X:])
		}
		for y := range t.y.len() {
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
