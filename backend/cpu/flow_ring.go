package cpu

import "github.com/averaged/imaging/backend/cpu/internal/winograd"

// ring is rows of pixels, of which only some tile rows are in memory at once. There
// is one pixel more on either side of the columns, zero beyond the frame.
type ring struct {
	data     []float32
	slots    int // tile rows
	row      int // floats of a row of pixels
	channels int
}

// size returns the length of data.
func (r *ring) size() int { return winograd.Tile * r.row * r.slots }

// tile returns where the tile at a tile row begins, at column x of the memory.
func (r *ring) tile(row, x int) []float32 {
	return r.data[row%r.slots*winograd.Tile*r.row+x*r.channels:]
}

// pixels returns the row of pixels y of the image.
func (r *ring) pixels(y int) []float32 {
	at := y/winograd.Tile%r.slots*winograd.Tile + y%winograd.Tile
	return r.data[at*r.row : (at+1)*r.row]
}

// patchRows sets rows to those of pixels that the tiles of a tile row are made of, in an
// image of so many rows, beyond which there are zeros.
func (r *ring) patchRows(rows *[winograd.Patch][]float32, tileRow, height int, zeros []float32) {
	for y := range rows {
		rows[y] = zeros
		if p := tileRow*winograd.Tile + y - 1; p >= 0 && p < height {
			rows[y] = r.pixels(p)
		}
	}
}

// clear puts zeros into columns [from, to) of the memory, of rows of pixels from y on.
func (r *ring) clear(y, rows, from, to int) {
	for i := range rows {
		clear(r.pixels(y + i)[from*r.channels : to*r.channels])
	}
}

// frame puts zeros on either side of all rows; nothing else is ever written there.
func (r *ring) frame() {
	for row := range r.slots * winograd.Tile {
		pixels := r.data[row*r.row:][:r.row]
		clear(pixels[:r.channels])
		clear(pixels[r.row-r.channels:])
	}
}
