package denoise

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"slices"
	"sync"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/nn/guide"
)

// LevelMap holds a noise level for each square of an image. Between the centres of squares it is bilinear.
type LevelMap struct {
	Side          int       // of a square, in pixels, at least 1
	Rows, Columns int       // of squares, which cover the image
	Sigma         []float32 // Rows×Columns standard deviations of noise, 0 or more, in units of the intensity range
}

// MapSide is the side in pixels of the squares of a LevelMap made by ConstantLevels.
const MapSide = 16

// ConstantLevels returns a map with the noise level sigma in all squares, for an image of height×width pixels. For an
// image without pixels, or one that no memory holds, it has no squares, and Check refuses it.
func ConstantLevels(height, width int, sigma float64) *LevelMap {
	if height < 1 || width < 1 || width > math.MaxInt/12/height {
		return &LevelMap{Side: MapSide}
	}
	m := &LevelMap{Side: MapSide, Rows: (height + MapSide - 1) / MapSide, Columns: (width + MapSide - 1) / MapSide}
	m.Sigma = slices.Repeat([]float32{float32(sigma)}, m.Rows*m.Columns)
	return m
}

// Check returns an error unless m is a valid map for an image of height×width pixels.
func (m *LevelMap) Check(height, width int) error {
	switch {
	case m == nil:
		return errors.New("the map of noise levels is nil")
	case m.Side < 1 || m.Rows < 1 || m.Columns < 1 || len(m.Sigma) != m.Rows*m.Columns:
		return fmt.Errorf("%d noise levels for %d×%d squares of %d pixels", len(m.Sigma), m.Columns, m.Rows, m.Side)
	case (height+m.Side-1)/m.Side != m.Rows || (width+m.Side-1)/m.Side != m.Columns:
		return fmt.Errorf("%w: a map of %d×%d squares of %d pixels for an image of %d×%d", backend.ErrShape, m.Columns, m.Rows, m.Side, width, height)
	}
	for i, v := range m.Sigma {
		if !(v >= 0) || math.IsInf(float64(v), 1) {
			return fmt.Errorf("noise level %d of the map is %v, must be 0 or more and finite", i, v)
		}
	}
	return nil
}

// Max returns the highest level, 0 of a map without squares.
func (m *LevelMap) Max() float64 { return m.Quantile(1) }

// Quantile returns the level that the given share of the squares, 0 to 1, does not exceed; 0 of a map without squares.
func (m *LevelMap) Quantile(share float64) float64 {
	if len(m.Sigma) == 0 {
		return 0
	}
	sorted, last := slices.Sorted(slices.Values(m.Sigma)), len(m.Sigma)-1
	if !(share < 1) {
		return float64(sorted[last])
	}
	return float64(sorted[min(last, int(max(0, share)*float64(len(sorted))))])
}

// levels sets dst to the levels of a region of pixels that are shuffle×shuffle pixels of the image each.
func (m *LevelMap) levels(dst []float32, r backend.Region, shuffle int) {
	h, w := r.Size()
	type place struct {
		low, high int
		share     float32
	}
	at := func(i, n int) place {
		t := (float64(i)+0.5)*float64(shuffle)/float64(m.Side) - 0.5
		t = min(max(t, 0), float64(n-1))
		low := int(t)
		return place{low, min(low+1, n-1), float32(t - float64(low))}
	}
	columns := make([]place, w)
	for x := range columns {
		columns[x] = at(r.X0+x, m.Columns)
	}
	for y := range h {
		p := at(r.Y0+y, m.Rows)
		above, below := m.Sigma[p.low*m.Columns:][:m.Columns], m.Sigma[p.high*m.Columns:][:m.Columns]
		for x, c := range columns {
			a := above[c.low] + c.share*(above[c.high]-above[c.low])
			b := below[c.low] + c.share*(below[c.high]-below[c.low])
			dst[y*w+x] = a + p.share*(b-a)
		}
	}
}

// GuideLevels is Guide with a noise level for each square of the photograph. A level of 0 makes radii of 0: there the
// network changes nothing. Beyond Levels, the guide is given the nearest level and the radii are in proportion to the
// map. Nothing in the proof depends on the map, since radii may come from anywhere. The biases are those of the
// network's own level (For); without them measured results change by only 0.02 dB.
//
// The error wraps ErrNoGuide if the network has no guide, and ErrNoLevels if it is for one noise level.
func (n *Network) GuideLevels(ctx context.Context, photograph backend.Buffer, m *LevelMap, strength float64) (*Radii, error) {
	return n.guideLevels(ctx, photograph, m, strength, maxRadii)
}

func (n *Network) guideLevels(ctx context.Context, photograph backend.Buffer, m *LevelMap, strength float64, most int) (*Radii, error) {
	if n.levels == nil {
		return nil, ErrNoLevels
	}
	seen, err := n.guidePhotograph(photograph)
	if err != nil {
		return nil, err
	}
	shape := n.shapeOf(seen)
	if err := m.Check(shape.H, shape.W); err != nil {
		return nil, err
	}
	if !(strength >= 0) || math.IsInf(strength, 1) {
		return nil, fmt.Errorf("strength %v, must be 0 or more and finite", strength)
	}
	table, err := n.levels.model.radiusTable(strength)
	if err != nil {
		return nil, err
	}
	radii, err := n.someRadii(shape, most)
	if err != nil {
		return nil, err
	}
	made := false
	defer func() {
		if !made { // also after a panic of who is told about the progress
			radii.Free()
		}
	}()
	if radii.coded != nil {
		radii.coded.setLevels(table.at(m.Max()))
	}
	known := n.Levels()
	low, high := float32(known[0]), float32(known[len(known)-1])
	told := func(dst []float32, r backend.Region) {
		m.levels(dst, r, seen.Shuffle)
		for i, v := range dst {
			dst[i] = min(max(v, low), high)
		}
	}
	said := n.newSaid()
	err = n.guide.ApplyLevels(ctx, seen, told, func(r backend.Region, x backend.Buffer) error {
		h, w := r.Size()
		sigma := make([]float32, h*w)
		m.levels(sigma, r, seen.Shuffle)
		places := table.places(sigma)
		return said.each(x, func(block int, factors []float32) error {
			if err := table.multiply(factors, places, block); err != nil {
				return err
			}
			if radii.coded != nil {
				radii.coded.setRadii(r, block, factors)
				return nil
			}
			return radii.put(n.dev, r, block, factors)
		})
	})
	if err != nil {
		return nil, err
	}
	made = true
	return radii, nil
}

// radiusTable has the radius of every group at levels in equal ratios, and 0 at level 0.
type radiusTable struct {
	groups []int // of each block
	radius [tableLevels][]float32
}

// The table goes from tableLow in steps of 1/tableRate octaves. Below it a radius is 0: that is a 60th of a
// step of 8 bits.
const tableLow, tableRate, tableLevels = 0x1p-14, 8, 17 * 8

func (m Model) radiusTable(strength float64) (*radiusTable, error) {
	t := &radiusTable{}
	for _, b := range m.Blocks {
		t.groups = append(t.groups, m.groups(b))
	}
	for k := range t.radius {
		sigma := tableLow * math.Exp2(float64(k)/tableRate)
		between := m.between(sigma)
		for i, b := range m.Blocks {
			r, err := between.radii(b.Radius, t.groups[i], strength*sigma)
			if err != nil {
				return nil, err
			}
			t.radius[k] = append(t.radius[k], r...)
		}
	}
	return t, nil
}

// place returns where a level lies in the table: at number k and share of the way to the next.
func (t *radiusTable) place(sigma float32) (k int, share float32, ok bool) {
	x := tableRate * math.Log2(float64(sigma)/tableLow)
	if !(x >= 0) {
		return 0, 0, false
	}
	k = min(int(x), tableLevels-2)
	return k, float32(min(x-float64(k), 1)), true
}

// at returns the radii at a level, of each block.
func (t *radiusTable) at(sigma float64) [][]float32 {
	k, share, ok := t.place(float32(sigma))
	var list [][]float32
	first := 0
	for _, groups := range t.groups {
		r := make([]float32, groups)
		for g := range r {
			if a := t.radius[k][first+g]; ok {
				r[g] = a + share*(t.radius[k+1][first+g]-a)
			}
		}
		list = append(list, r)
		first += groups
	}
	return list
}

// tablePlace is where a level lies in the table, with k below 0 if it is too low.
type tablePlace struct {
	k     int32
	share float32
}

func (t *radiusTable) places(sigma []float32) []tablePlace {
	places := make([]tablePlace, len(sigma))
	for i, v := range sigma {
		k, share, ok := t.place(v)
		if !ok {
			k = -1
		}
		places[i] = tablePlace{int32(k), share}
	}
	return places
}

// multiply turns what the guide said of a block, images×groups×pixels, into radii, given the places of the pixels' levels.
func (t *radiusTable) multiply(factors []float32, places []tablePlace, block int) error {
	first, groups := 0, t.groups[block]
	for _, g := range t.groups[:block] {
		first += g
	}
	errs := make([]error, len(factors)/len(places))
	var wait sync.WaitGroup
	for n := range errs {
		wait.Go(func() {
			var column [tableLevels]float32
			for k := range column {
				column[k] = t.radius[k][first+n%groups]
			}
			to := factors[n*len(places):][:len(places)]
			for i, p := range places {
				if p.k < 0 {
					to[i] = 0
					continue
				}
				to[i] = min((column[p.k]+p.share*(column[p.k+1]-column[p.k]))*guide.Factor(to[i]), math.MaxFloat32)
				if to[i] != to[i] {
					errs[n] = notARadius(math.NaN())
					return
				}
			}
		})
	}
	wait.Wait()
	return cmp.Or(errs...)
}

// Part returns the map for the rectangle r of the image, which may reach beyond it. Its squares have the same side, and
// the levels of the nearest squares of m. It has none, and Check refuses it, if r has no pixels or more than 2²⁸ squares, or m is
// no valid map.
func (m *LevelMap) Part(r image.Rectangle) *LevelMap {
	const most = 1 << 28
	if m.Side < 1 || m.Rows < 1 || m.Columns < 1 || len(m.Sigma) != m.Rows*m.Columns || r.Dx() < 1 || r.Dy() < 1 {
		return &LevelMap{Side: m.Side}
	}
	part := &LevelMap{Side: m.Side, Rows: (r.Dy()-1)/m.Side + 1, Columns: (r.Dx()-1)/m.Side + 1}
	if part.Rows > most/part.Columns {
		return &LevelMap{Side: m.Side}
	}
	part.Sigma = make([]float32, 0, part.Rows*part.Columns)
	for y := range part.Rows {
		for x := range part.Columns {
			row := min(max((r.Min.Y+y*m.Side+m.Side/2)/m.Side, 0), m.Rows-1)
			column := min(max((r.Min.X+x*m.Side+m.Side/2)/m.Side, 0), m.Columns-1)
			part.Sigma = append(part.Sigma, m.Sigma[row*m.Columns+column])
		}
	}
	return part
}
