package dng

import (
	"math"
	"slices"
	"sort"
)

// Levels say what light a stored sample means: DNG specification, chapter 5, "Mapping Raw Values to
// Linear Reference Values". A stored sample v becomes Table[v]; of that, black is Black(x, y, s) and
// white is White[s].
type Levels struct {
	// Table is the linearisation table, or nil if samples are linear. Samples beyond its end mean its
	// last number. It never decreases.
	Table []uint16
	// White is the level of white of each sample of a pixel.
	White []float64
	// Span is what white is above the highest level of black, for each sample of a pixel: light of 1. So
	// whatever is saturated has light of 1 or more.
	Span []float64

	black      []float64 // [(row·columns + column)·samples + sample], of a part that repeats
	rows, cols int
	deltaH     []float64 // added in each column of the active area, or none
	deltaV     []float64 // and in each row
}

func (m *Raw) readLevels() error {
	l := &m.Levels
	table, err := m.integers(m.image, tagLinearizationTable)
	if err != nil {
		return err
	}
	for _, v := range table {
		if v > math.MaxUint16 || len(l.Table) > 0 && uint16(v) < l.Table[len(l.Table)-1] {
			return unsupported("a linearisation table that is not one of increasing 16-bit numbers")
		}
		l.Table = append(l.Table, uint16(v))
	}
	if l.White, err = m.numbers(m.image, tagWhiteLevel); err != nil {
		return err
	}
	switch len(l.White) {
	case 0:
		l.White = slices.Repeat([]float64{float64(uint32(1)<<m.Bits - 1)}, m.Samples)
	case 1: // Some writers give one number for all samples.
		l.White = slices.Repeat(l.White, m.Samples)
	case m.Samples:
	default:
		return malformed("%d white levels for %d samples per pixel", len(l.White), m.Samples)
	}
	if err := m.readBlack(); err != nil {
		return err
	}
	for s, white := range l.White {
		black := l.highestBlack(s)
		if !(white > black) {
			return malformed("white level %g and black level %g", white, black)
		}
		l.Span = append(l.Span, white-black)
	}
	return nil
}

// highestBlack is the largest level of black of a sample.
func (l *Levels) highestBlack(sample int) float64 {
	black := math.Inf(-1)
	for i := sample; i < len(l.black); i += len(l.White) {
		black = max(black, l.black[i])
	}
	for _, d := range [][]float64{l.deltaH, l.deltaV} {
		if len(d) > 0 {
			black += slices.Max(d)
		}
	}
	return black
}

func (m *Raw) readBlack() error {
	l := &m.Levels
	l.rows, l.cols = 1, 1
	size, err := m.integers(m.image, tagBlackLevelRepeatDim)
	if err != nil {
		return err
	}
	if len(size) >= 2 {
		if size[0] < 1 || size[1] < 1 || size[0] > uint32(m.Height) || size[1] > uint32(m.Width) {
			return malformed("black levels that repeat every %d×%d pixels", size[0], size[1])
		}
		l.rows, l.cols = int(size[0]), int(size[1])
	}
	if l.black, err = m.numbers(m.image, tagBlackLevel); err != nil {
		return err
	}
	n := int64(l.rows) * int64(l.cols) * int64(m.Samples)
	switch int64(len(l.black)) {
	case n:
	case 0:
		l.rows, l.cols, l.black = 1, 1, make([]float64, m.Samples)
	case 1:
		l.rows, l.cols, l.black = 1, 1, slices.Repeat(l.black, m.Samples)
	default:
		return malformed("%d black levels for %d×%d pixels of %d", len(l.black), l.cols, l.rows, m.Samples)
	}
	for _, v := range []struct {
		tag uint16
		n   int
		to  *[]float64
	}{{tagBlackLevelDeltaH, m.Active.Dx(), &l.deltaH}, {tagBlackLevelDeltaV, m.Active.Dy(), &l.deltaV}} {
		if *v.to, err = m.numbers(m.image, v.tag); err != nil {
			return err
		}
		if len(*v.to) != 0 && len(*v.to) != v.n {
			return malformed("%d differences of the black level (tag %d) for %d", len(*v.to), v.tag, v.n)
		}
	}
	return nil
}

// Linear returns what a stored sample means, in the units of Black and White.
func (l *Levels) Linear(v uint16) float64 {
	if l.Table == nil {
		return float64(v)
	}
	return float64(l.Table[min(int(v), len(l.Table)-1)])
}

// Stored returns the sample, from 0 to top, whose Linear is next to a value.
func (l *Levels) Stored(value float64, top uint16) uint16 {
	if l.Table == nil {
		return uint16(math.Round(min(max(value, 0), float64(top))))
	}
	last := min(int(top), len(l.Table)-1)
	i := sort.Search(last, func(i int) bool { return float64(l.Table[i]) >= value })
	if i > 0 && value-float64(l.Table[i-1]) < float64(l.Table[i])-value {
		i--
	}
	return uint16(i)
}

// Black returns the level of black of a sample, in the units of Linear. In the margins the pattern of
// the active area goes on, and the differences are those of its edge.
func (m *Raw) Black(x, y, sample int) float64 {
	l := &m.Levels
	x, y = x-m.Active.Min.X, y-m.Active.Min.Y
	row, col := mod(y, l.rows), mod(x, l.cols)
	b := l.black[(row*l.cols+col)*m.Samples+sample]
	if len(l.deltaH) > 0 {
		b += l.deltaH[min(max(x, 0), len(l.deltaH)-1)]
	}
	if len(l.deltaV) > 0 {
		b += l.deltaV[min(max(y, 0), len(l.deltaV)-1)]
	}
	return b
}

// mod is x modulo n, from 0.
func mod(x, n int) int { return ((x % n) + n) % n }
