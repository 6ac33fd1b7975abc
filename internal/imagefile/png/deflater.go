package png

import (
	"bytes"
	"encoding/binary"
	"hash"
	"hash/adler32"
	"io"
	"runtime"

	"github.com/klauspost/compress/flate"
)

// deflater writes what it is given as a zlib stream (RFC 1950), on several threads: pieces of it are
// compressed by themselves, each with the end of the one before as its dictionary, and end at a whole byte
// (flate's Flush). The bytes do not depend on how many threads there are.
type deflater struct {
	w       io.Writer
	threads int
	size    int // of a piece
	sum     hash.Hash32
	piece   []byte // under way
	last    []byte // the piece before
	under   []chan []byte
	begun   bool
	err     error
}

const (
	// deflatePiece costs a few bytes for its end. It is large beside what goes before it as a dictionary.
	deflatePiece  = 1 << 20
	deflateWindow = 1 << 15
	// deflateLevel takes a third of the processor time of compress/flate, for photographs that are 1 to 4 % larger.
	deflateLevel = 7
)

// newDeflater returns one that uses so many threads, all for 0.
func newDeflater(w io.Writer, threads int) *deflater {
	if threads < 1 {
		threads = runtime.GOMAXPROCS(0)
	}
	return &deflater{w: w, threads: threads, size: deflatePiece, sum: adler32.New()}
}

// Write implements io.Writer. It returns an error of the writer below as soon as it is known.
func (d *deflater) Write(b []byte) (int, error) {
	n := len(b)
	d.sum.Write(b) // which does not fail
	for len(b) > 0 && d.err == nil {
		if len(d.piece) == d.size {
			d.start(false)
		}
		part := b[:min(len(b), d.size-len(d.piece))]
		d.piece, b = append(d.piece, part...), b[len(part):]
	}
	return n - len(b), d.err
}

// Close writes what is left, and the checksum.
func (d *deflater) Close() error {
	d.start(true)
	for len(d.under) > 0 {
		d.take()
	}
	d.write(binary.BigEndian.AppendUint32(nil, d.sum.Sum32()))
	return d.err
}

// start has the piece compressed.
func (d *deflater) start(last bool) {
	for len(d.under) >= d.threads {
		d.take()
	}
	piece, before, done := d.piece, d.last[max(0, len(d.last)-deflateWindow):], make(chan []byte, 1)
	go func() { done <- deflated(piece, before, last) }()
	d.under = append(d.under, done)
	d.piece, d.last = make([]byte, 0, len(piece)), piece
}

// take writes the oldest piece that was started.
func (d *deflater) take() {
	packed := <-d.under[0]
	d.under = d.under[1:]
	if !d.begun {
		d.begun = true
		d.write([]byte{0x78, 0x9c}) // deflate with a window of 32 KiB, at the default level
	}
	d.write(packed)
}

func (d *deflater) write(b []byte) {
	if d.err == nil {
		_, d.err = d.w.Write(b)
	}
}

// deflated compresses a piece that follows after the other one.
func deflated(piece, before []byte, last bool) []byte {
	var packed bytes.Buffer
	// The level is one that there is, and writing into memory does not fail.
	z, _ := flate.NewWriterDict(&packed, deflateLevel, before)
	z.Write(piece)
	if last {
		z.Close()
	} else {
		z.Flush()
	}
	return packed.Bytes()
}
