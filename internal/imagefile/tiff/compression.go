package tiff

import (
	"bufio"
	gif "compress/lzw"
	"compress/zlib"
	"io"
	"math/bits"

	"github.com/averaged/imaging/internal/imagefile/format"
	"github.com/averaged/imaging/internal/imagefile/tiff/fax"
	"golang.org/x/image/tiff/lzw"
)

// The compressions of TIFF that are read.
const (
	compressionNone         = 1
	compressionHuffman      = 2
	compressionGroup3       = 3
	compressionGroup4       = 4
	compressionLZW          = 5
	compressionOldJPEG      = 6
	compressionJPEG         = 7
	compressionDeflate      = 8
	compressionHuffmanWords = 32771
	compressionPackBits     = 32773
	compressionOldDeflate   = 32946
)

var compressionNames = map[uint32]string{
	32766: "NeXT", 32809: "ThunderScan", 34712: "JPEG 2000", 34887: "LERC",
	34925: "LZMA", 50000: "Zstandard", 50001: "WebP", 50002: "JPEG XL",
}

// bufferSize is how far the bytes of a strip or tile are read ahead.
const bufferSize = 1 << 12

// unpacking is what one strip or tile leaves to the next.
type unpacking struct {
	buffer   *bufio.Reader
	inflater io.ReadCloser
}

// decompress returns the bytes that a strip or tile of some rows unpacks to. It
// does so while it is read, so a small file cannot claim much memory. The next strip
// ends the use of the one before.
func (d *decoder) decompress(block io.Reader) (io.Reader, error) {
	if d.buffer == nil {
		d.buffer = bufio.NewReaderSize(nil, bufferSize)
	}
	d.buffer.Reset(block)
	packed := io.Reader(d.buffer)
	if d.lowBitFirst {
		packed = bitReverser{packed}
	}
	switch d.compression {
	case 0, compressionNone:
		return packed, nil
	case compressionPackBits:
		return bufio.NewReader(&packBitsReader{r: bufio.NewReader(packed)}), nil
	case compressionLZW:
		return d.unpackLZW(packed)
	case compressionDeflate, compressionOldDeflate:
		var err error
		if d.inflater == nil {
			d.inflater, err = zlib.NewReader(packed)
		} else {
			err = d.inflater.(zlib.Resetter).Reset(packed, nil)
		}
		if err != nil {
			return nil, format.Foreign(format.TIFF, err)
		}
		return d.inflater, nil
	case compressionHuffman, compressionGroup3, compressionGroup4, compressionHuffmanWords:
		if d.bits != 1 || d.samples != 1 && !d.planar {
			return nil, malformed("fax compression needs one sample of one bit, not %d of %d", d.samples, d.bits)
		}
		return fax.NewReader(bufio.NewReader(packed), d.faxForm(), d.blockW), nil
	}
	name := compressionNames[d.compression]
	if name != "" {
		name = " (" + name + ")"
	}
	return nil, unsupported("compression %d%s (save it with LZW, deflate or none)", d.compression, name)
}

// faxForm returns which of the fax codings it is.
func (d *decoder) faxForm() fax.Form {
	const twoDimensional = 1
	switch {
	case d.compression == compressionHuffman:
		return fax.Bytes
	case d.compression == compressionHuffmanWords:
		return fax.Words
	case d.compression == compressionGroup4:
		return fax.Group4
	case d.options&twoDimensional != 0:
		return fax.Mixed
	}
	return fax.Group3
}

// unpackLZW reads LZW, and its dialect from before TIFF 6.0, which is that of GIF:
// the lowest bit comes first, and codes become longer one code later. Either begins
// with the clear code, which is 256, so its first nine bits tell them apart.
func (d *decoder) unpackLZW(packed io.Reader) (io.Reader, error) {
	r := bufio.NewReader(packed)
	if start, err := r.Peek(2); err == nil && start[0] == 0 && start[1]&1 == 1 {
		return gif.NewReader(r, gif.LSB, 8), nil
	}
	return lzw.NewReader(r, lzw.MSB, 8), nil
}

// bitReverser turns round the bits of each byte, for files whose lowest bit
// comes first.
type bitReverser struct{ r io.Reader }

func (b bitReverser) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	for i, v := range p[:n] {
		p[i] = bits.Reverse8(v)
	}
	return n, err
}

// packBitsReader unpacks runs of bytes (TIFF 6.0, section 9): a count n from 0 to
// 127 announces n + 1 bytes as they are, one from −127 to −1 a byte that is
// repeated 1 − n times, and −128 means nothing.
type packBitsReader struct {
	r      *bufio.Reader
	left   int
	repeat bool
	value  byte
}

func (p *packBitsReader) Read(dst []byte) (int, error) {
	if len(dst) == 0 {
		return 0, nil
	}
	for p.left == 0 {
		b, err := p.r.ReadByte()
		if err != nil {
			return 0, err
		}
		switch n := int(int8(b)); {
		case n >= 0:
			p.left, p.repeat = n+1, false
		case n > -128:
			p.left, p.repeat = 1-n, true
			if p.value, err = p.r.ReadByte(); err != nil {
				return 0, err
			}
		}
	}
	n := min(p.left, len(dst))
	if !p.repeat {
		n, err := io.ReadFull(p.r, dst[:n])
		p.left -= n
		return n, err
	}
	for i := range dst[:n] {
		dst[i] = p.value
	}
	p.left -= n
	return n, nil
}
