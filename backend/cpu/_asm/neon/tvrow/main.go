// Command tvrow writes the assembly of package internal/tvrow for arm64, the row
// kernels of total variation, and its Go declarations.
//
// Every kernel makes the operations of its portable loop, in the same order and
// with the same roundings: products are rounded before they are added, and square
// roots and quotients are the processor's correctly rounded ones. So all levels
// give the same bits.
package main

import "github.com/averaged/imaging/backend/cpu/_asm/neon"

// maxChannels is how many coupled channels the kernels are made for.
const maxChannels = 3

func main() {
	var p neon.Program
	primal(&p)
	for channels := 1; channels <= maxChannels; channels++ {
		dual(&p, channels)
		sweep(&p, channels)
	}
	for channels := 1; channels <= maxChannels; channels++ {
		evaluate(&p, channels)
	}
	p.Write()
}

// columns walks along the columns of rows of float32, a block of some columns at
// a time: blocks of a whole vector, then single columns, whose vectors have zeros
// in the other lanes. The row's last column stands alone, because it has no
// neighbour to the right. No instruction loads or stores lanes under a mask, and no
// two blocks may overlap where the rows are changed in place.
type columns struct {
	f *neon.Function
	// at is where the block begins, in bytes from the end of the row, and ahead is
	// one column further. Every row has its end in a register of its own, so that
	// these two are all that moves.
	at, ahead neon.R
	width     neon.R // of the row, in bytes

	lanes int  // columns of the block
	last  bool // the block is the last column
}

func newColumns(f *neon.Function) *columns {
	c := &columns{f: f, at: f.General(), ahead: f.General(), width: f.Parameter("width")}
	f.ShiftLeft(c.width, c.width, 2)
	f.Negate(c.at, c.width)
	f.AddConstant(c.ahead, c.at, 4)
	return c
}

// end returns the end of the row that a parameter points to.
func (c *columns) end(parameter string) neon.R {
	r := c.f.Parameter(parameter)
	c.f.Add(r, r, c.width)
	return r
}

// ends returns the ends of the rows of n planes, the first of which a parameter
// points to; another one is their distance in floats.
func (c *columns) ends(parameter, distance string, n int) []neon.R {
	rows := []neon.R{c.end(parameter)}
	if n == 1 {
		return rows
	}
	d := c.f.Parameter(distance)
	c.f.ShiftLeft(d, d, 2)
	for len(rows) < n {
		r := c.f.General()
		c.f.Add(r, rows[len(rows)-1], d)
		rows = append(rows, r)
	}
	c.f.FreeGeneral(d)
	return rows
}

// along emits the function's loops and its end. A vector has the given number of
// lanes.
func (c *columns) along(lanes int, block func()) {
	f := c.f
	f.FreeGeneral(c.width)
	emit := func(lanes int) {
		c.lanes = lanes
		f.Scope(block)
	}
	step := func(lanes int, label string) {
		emit(lanes)
		f.AddConstant(c.at, c.at, 4*lanes)
		f.AddConstant(c.ahead, c.ahead, 4*lanes)
		f.BranchLess(c.at, -4*lanes, label)
	}
	f.BranchNotLess(c.at, -4*lanes, "columns")
	f.Label("vectors")
	step(lanes, "vectors")
	f.Label("columns")
	f.BranchNotLess(c.at, -4, "last")
	f.Label("column")
	step(1, "column")
	f.Label("last")
	c.last = true
	emit(1)
	f.Return()
}

// load returns the block's columns of a row.
func (c *columns) load(row neon.R) neon.V {
	v := c.f.Vector()
	c.f.Load(4*c.lanes, v, neon.Indexed(row, c.at))
	return v
}

// loadRight returns what stands one to the right of them.
func (c *columns) loadRight(row neon.R) neon.V {
	v := c.f.Vector()
	c.f.Load(4*c.lanes, v, neon.Indexed(row, c.ahead))
	return v
}

func (c *columns) store(v neon.V, row neon.R) { c.f.Store(4*c.lanes, v, neon.Indexed(row, c.at)) }

// shiftIn returns what stands one to the left of v, the block's columns of a row.
// carry has in its last lane what stood there last, and is moved on to v.
func (c *columns) shiftIn(s neon.Shape, carry, v neon.V) neon.V {
	left := c.f.Vector()
	size := 16 / s.Lanes()
	c.f.EXT(left, carry, v, 16-size)
	if c.lanes > 1 {
		c.f.MOV(carry, v)
	} else if !c.last {
		c.f.DUP(s, carry, v, 0)
	}
	return left
}

// carries returns registers for shiftIn at the beginning of n rows.
func carries(f *neon.Function, n int) []neon.V {
	v := f.Vectors(n)
	for _, v := range v {
		f.Zero(v)
	}
	return v
}
