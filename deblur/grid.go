package deblur

import (
	"fmt"
	"image"
	"math"
	"slices"
)

// MaxCells is the largest number of rows, and of columns, of a Grid.
const MaxCells = 32

// Grid has the kernels of the parts of a photograph, Rows×Columns of them, row by row. All parts have one
// size, and each kernel is that at the middle of its part.
type Grid struct {
	Rows, Columns int
	Kernels       []Kernel
}

// OneKernel returns the grid of a blur that is the same all over the frame.
func OneKernel(k Kernel) Grid { return Grid{Rows: 1, Columns: 1, Kernels: []Kernel{k}} }

// Check returns an error unless there is one kernel for each part, and each passes its own Check.
func (g Grid) Check() error {
	if g.Rows < 1 || g.Columns < 1 || g.Rows > MaxCells || g.Columns > MaxCells || len(g.Kernels) != g.Rows*g.Columns {
		return fmt.Errorf("deblur: %d kernels for a grid of %d rows and %d columns, want 1 to %d rows and columns, and a kernel for each part",
			len(g.Kernels), g.Rows, g.Columns, MaxCells)
	}
	for i, k := range g.Kernels {
		if err := k.Check(); err != nil {
			return fmt.Errorf("%w, in row %d, column %d of the grid", err, i/g.Columns, i%g.Columns)
		}
	}
	return nil
}

// GridFromPlanes cuts a contact sheet of kernels into rows×columns cells of one size, and makes a kernel of
// each. The sheet is planar samples, as in KernelFromPlanes.
func GridFromPlanes(pix []float32, channels, h, w, rows, columns int) (Grid, error) {
	if rows < 1 || columns < 1 || rows > MaxCells || columns > MaxCells {
		return Grid{}, fmt.Errorf("deblur: a grid of %d rows and %d columns, want 1 to %d of each", rows, columns, MaxCells)
	}
	if h < 1 || w < 1 || channels < 1 || len(pix) != channels*h*w {
		return Grid{}, fmt.Errorf("deblur: %d samples for a sheet of %d channels of %d×%d", len(pix), channels, h, w)
	}
	if h%rows != 0 || w%columns != 0 {
		return Grid{}, fmt.Errorf("deblur: a sheet of %d rows and %d columns of samples cannot be cut into %d×%d kernels of one size", h, w, rows, columns)
	}
	g := Grid{Rows: rows, Columns: columns}
	ch, cw := h/rows, w/columns
	for i := range rows * columns {
		cell := make([]float32, 0, channels*ch*cw)
		for y := range channels * ch {
			row := (y/ch)*h + i/columns*ch + y%ch
			cell = append(cell, pix[row*w+i%columns*cw:][:cw]...)
		}
		k, err := KernelFromPlanes(cell, channels, ch, cw)
		if err != nil {
			return Grid{}, fmt.Errorf("%w, in row %d, column %d of the grid", err, i/columns, i%columns)
		}
		g.Kernels = append(g.Kernels, k)
	}
	return g, nil
}

// Sheet returns the contact sheet that GridFromPlanes cuts into these kernels: one channel of h×w samples,
// row by row. The largest weight of each kernel becomes 1.
func (g Grid) Sheet() (pix []float32, h, w int, err error) {
	if err := g.Check(); err != nil {
		return nil, 0, 0, err
	}
	r := 0
	for _, k := range g.Kernels {
		r = max(r, k.CY, k.H-1-k.CY, k.CX, k.W-1-k.CX)
	}
	side := 2*r + 1
	h, w = g.Rows*side, g.Columns*side
	pix = make([]float32, h*w)
	for i, k := range g.Kernels {
		top := slices.Max(k.Weights)
		y, x := i/g.Columns*side+r-k.CY, i%g.Columns*side+r-k.CX
		for j, v := range k.Weights {
			if v < 0 || top == 0 {
				return nil, 0, 0, fmt.Errorf("deblur: kernel in row %d, column %d of the grid has a weight below 0, and a picture cannot show one", i/g.Columns, i%g.Columns)
			}
			pix[(y+j/k.W)*w+x+j%k.W] = v / top
		}
	}
	return pix, h, w, nil
}

// Typical returns a kernel with the mean energy of all, or the one nearest to it. The rules of strength use
// it.
func (g Grid) Typical() Kernel {
	mean := 0.0
	for _, k := range g.Kernels {
		mean += k.Energy() / float64(len(g.Kernels))
	}
	typical := g.Kernels[0]
	for _, k := range g.Kernels {
		a, b := k.Energy()-mean, typical.Energy()-mean
		if a*a < b*b {
			typical = k
		}
	}
	return typical
}

// Thinned returns a grid of at most that many rows and columns, at least one of each, with the kernels nearest to the
// middles of its parts.
func (g Grid) Thinned(rows, columns int) Grid {
	t := Grid{Rows: min(g.Rows, max(rows, 1)), Columns: min(g.Columns, max(columns, 1))}
	for i := range t.Rows * t.Columns {
		y, x := (2*(i/t.Columns)+1)*g.Rows/(2*t.Rows), (2*(i%t.Columns)+1)*g.Columns/(2*t.Columns)
		t.Kernels = append(t.Kernels, g.Kernels[y*g.Columns+x])
	}
	return t
}

// Part returns the grid for a part, with pixels in it, of a photograph with h rows and w columns. Its kernels are those that
// Varying has at the middles of its cells, which are at most half as large as those of g, so that the blur hardly changes.
func (g Grid) Part(h, w int, part image.Rectangle) Grid {
	rows, columns := windowsInPart(g.Rows, h, part.Min.Y, part.Max.Y), windowsInPart(g.Columns, w, part.Min.X, part.Max.X)
	kernels := g.framed()
	p := Grid{Rows: len(rows), Columns: len(columns)}
	for _, row := range rows {
		for _, column := range columns {
			k := g.frame()
			k.Weights = make([]float32, k.H*k.W)
			for i, of := range kernels {
				share := float32(row[i/g.Columns] * column[i%g.Columns])
				if share == 0 {
					continue
				}
				for j, v := range of.Weights {
					k.Weights[j] += share * v
				}
			}
			p.Kernels = append(p.Kernels, k)
		}
	}
	return p
}

// windowsInPart are the values of the windows of n parts of an axis of size samples, at the middles of the cells into which Grid.Part cuts
// the samples from first to before end.
func windowsInPart(n, size, first, end int) (at [][]float64) {
	all := windows(n, size, 0, size, math.MaxInt)
	cells := 1
	if n > 1 {
		cells = min((2*n*(end-first)+size-1)/size, end-first, MaxCells)
	}
	for i := range cells {
		middle := first + (2*i+1)*(end-first)/(2*cells)
		var values []float64
		for _, w := range all {
			values = append(values, w[middle])
		}
		at = append(at, values)
	}
	return at
}

// Frame returns the rows and columns of the smallest frame that holds all kernels with their centres on one sample.
func (g Grid) Frame() (h, w int) {
	f := g.frame()
	return f.H, f.W
}

// frame is a kernel of that size without weights.
func (g Grid) frame() Kernel {
	var top, bottom, left, right int
	for _, k := range g.Kernels {
		top, bottom = max(top, k.CY), max(bottom, k.H-1-k.CY)
		left, right = max(left, k.CX), max(right, k.W-1-k.CX)
	}
	return Kernel{H: top + bottom + 1, W: left + right + 1, CY: top, CX: left}
}

// framed returns the kernels with zeros around them, so that all have one size and one centre.
func (g Grid) framed() []Kernel {
	var all []Kernel
	for _, k := range g.Kernels {
		f := g.frame()
		f.Weights = make([]float32, f.H*f.W)
		for i := range k.H {
			copy(f.Weights[(i+f.CY-k.CY)*f.W+f.CX-k.CX:], k.Weights[i*k.W:(i+1)*k.W])
		}
		all = append(all, f)
	}
	return all
}
