// Package fax unpacks the codings of fax machines that TIFF has.
package fax

import (
	"fmt"
	"io"

	"github.com/averaged/imaging/internal/imagefile/format"
)

// Form is one of the codings of fax machines that TIFF has.
type Form uint8

const (
	Bytes  Form = iota // runs; each row begins with a byte
	Words              // runs; each row begins with two bytes
	Group3             // ITU-T T.4: runs, with a code at the end of each line
	Mixed              // T.4 with rows coded by how they differ from the row above
	Group4             // ITU-T T.6: all rows are
)

// reader unpacks rows of pixels, a bit each: 0 is white, 1 is black. x/image/ccitt
// reads no rows that begin with a byte, no fill bits, and no T.4 of two dimensions.
//
// A row is the list of the columns at which its colour changes, beginning with
// white. They ascend, so the parity of a place in the list is a colour.
type reader struct {
	r          io.ByteReader
	form       Form
	width      int
	above, row []int
	packed     []byte // the row, a bit per pixel
	rest       []byte // of it that has not been read

	bits   uint64 // what has been read of r, the last bit being the lowest
	n      int    // how many of them have not been used
	beyond int    // how many bits were asked for that are not in r
	bytes  int    // how many were asked for
	err    error
}

// NewReader returns the rows of a width that r has in a form, a bit for a pixel: 0 is white, 1 is black. Each begins with a byte.
func NewReader(r io.ByteReader, form Form, width int) io.Reader {
	return &reader{r: r, form: form, width: width, packed: make([]byte, (width+7)/8)}
}

func (f *reader) Read(p []byte) (int, error) {
	if len(f.rest) == 0 && len(p) > 0 {
		if err := f.readRow(); err != nil {
			return 0, err
		}
		f.rest = f.packed
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

func (f *reader) readRow() error {
	f.above, f.row = f.row, f.above[:0]
	differs := f.form == Group4
	switch f.form {
	case Bytes, Words:
		f.skip(f.n % 8)
		if f.form == Words && (f.bytes-f.n/8)%2 == 1 {
			f.skip(8)
		}
	case Group3, Mixed:
		if f.endOfLine() {
			differs = f.form == Mixed && f.take(1) == 0
		}
	}
	for at := 0; at < f.width && f.err == nil; {
		if f.form != Bytes && f.form != Words && f.peek(11) == 0 {
			if f.form == Group4 || f.n-11 < f.beyond {
				f.err = io.ErrUnexpectedEOF // this is the end of all rows
			}
			break // A line that ends early is white from there on.
		}
		if differs {
			at = f.difference(at)
		} else {
			at = f.run(at)
		}
	}
	if f.err == nil {
		f.pack()
	}
	return f.err
}

// pack writes the bits of the row.
func (f *reader) pack() {
	clear(f.packed)
	for i := 0; i < len(f.row); i += 2 {
		end := f.width
		if i+1 < len(f.row) {
			end = f.row[i+1]
		}
		for x := f.row[i]; x < end; {
			if x%8 == 0 && end-x >= 8 {
				f.packed[x/8] = 0xff
				x += 8
				continue
			}
			f.packed[x/8] |= 0x80 >> (x % 8)
			x++
		}
	}
}

// turn changes the colour at a column. Where it changes twice it does not change.
func (f *reader) turn(at int) {
	if n := len(f.row); n > 0 && f.row[n-1] == at {
		f.row = f.row[:n-1]
		return
	}
	f.row = append(f.row, at)
}

// run reads a run that begins at a column, and returns the column behind it.
func (f *reader) run(at int) int {
	codes := &runs()[len(f.row)%2]
	for {
		c := codes[f.peek(longest)]
		if c.bits == 0 {
			f.fail("no run has the code %013b", f.peek(longest))
			return at
		}
		f.skip(int(c.bits))
		at += int(c.pixels)
		if at > f.width {
			f.fail("a run goes beyond the end of its row")
			return at
		}
		if c.pixels < 64 {
			f.turn(at)
			return at
		}
	}
}

// difference reads how the row goes on from a column, by what differs from the row
// above, and returns the column up to which it is then known (T.4, table 4).
func (f *reader) difference(at int) int {
	b1, b2 := f.changesAbove(at)
	vertical := 0
	switch code := f.peek(7); {
	case code>>6 == 1:
		f.skip(1)
	case code>>4 == 0b011:
		f.skip(3)
		vertical = 1
	case code>>4 == 0b010:
		f.skip(3)
		vertical = -1
	case code>>4 == 0b001:
		f.skip(3)
		return f.run(f.run(at))
	case code>>3 == 0b0001:
		f.skip(4)
		return b2
	case code>>1 == 0b000011:
		f.skip(6)
		vertical = 2
	case code>>1 == 0b000010:
		f.skip(6)
		vertical = -2
	case code == 0b0000011:
		f.skip(7)
		vertical = 3
	case code == 0b0000010:
		f.skip(7)
		vertical = -3
	case code == 0b0000001:
		f.err = fmt.Errorf("%w: TIFF with uncompressed rows in fax compression (save it with LZW, deflate or none)", format.ErrUnsupported)
		return at
	default:
		f.fail("no difference has the code %07b", code)
		return at
	}
	to := b1 + vertical
	if to < at || to > f.width {
		f.fail("a row changes colour in column %d, and it is known up to column %d of %d", to, at, f.width)
		return at
	}
	f.turn(to)
	return to
}

// changesAbove returns the first column behind another, or at it where a row begins,
// at which the row above changes to the colour that this row does not have, and the
// column of its next change (b₁ and b₂ of T.4).
func (f *reader) changesAbove(at int) (b1, b2 int) {
	colour := len(f.row) % 2
	begins := at == 0 && len(f.row) == 0
	lo, hi := 0, len(f.above)
	for lo < hi {
		mid := (lo + hi) / 2
		if f.above[mid] > at || begins && f.above[mid] == at {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	if lo%2 != colour {
		lo++
	}
	b1, b2 = f.width, f.width
	if lo < len(f.above) {
		b1 = f.above[lo]
	}
	if lo+1 < len(f.above) {
		b2 = f.above[lo+1]
	}
	return b1, b2
}

// endOfLine reads the code of the end of a line, and the zeros that may fill the
// space before it, if they come next.
func (f *reader) endOfLine() bool {
	if f.err != nil || f.peek(11) != 0 {
		return false
	}
	for f.err == nil && f.peek(1) == 0 {
		f.skip(1)
	}
	f.skip(1)
	return f.err == nil
}

// peek returns the next n bits, up to 13. Behind the end of the data there are zeros.
func (f *reader) peek(n int) int {
	for f.n < n {
		b, err := f.r.ReadByte()
		if err != nil {
			b = 0
			f.beyond += 8
			if err != io.EOF && f.err == nil {
				f.err = err
			}
		}
		f.bits = f.bits<<8 | uint64(b)
		f.n += 8
		f.bytes++
	}
	return int(f.bits >> (f.n - n) & (1<<n - 1))
}

func (f *reader) take(n int) int {
	v := f.peek(n)
	f.skip(n)
	return v
}

func (f *reader) skip(n int) {
	f.peek(n)
	f.n -= n
	if f.n < f.beyond && f.err == nil {
		f.err = io.ErrUnexpectedEOF
	}
}

func (f *reader) fail(text string, args ...any) {
	switch {
	case f.err != nil:
	case f.beyond > 0:
		f.err = io.ErrUnexpectedEOF // what was read as a code is not in the file
	default:
		f.err = format.Malformed(format.TIFF, "fax compression: "+text, args...)
	}
}
