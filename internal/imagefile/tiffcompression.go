package imagefile

import (
	"bufio"
	"compress/zlib"
	"io"
	"math/bits"

	"golang.org/x/image/ccitt"
	"golang.org/x/image/tiff/lzw"
)

// The compressions of TIFF that are read.
const (
	compressionNone       = 1
	compressionGroup3     = 3
	compressionGroup4     = 4
	compressionLZW        = 5
	compressionDeflate    = 8
	compressionPackBits   = 32773
	compressionOldDeflate = 32946
)

var compressionNames = map[uint32]string{
	2: "CCITT Huffman", 6: "old JPEG", 7: "JPEG", 34712: "JPEG 2000", 34887: "LERC",
	34925: "LZMA", 50000: "Zstandard", 50001: "WebP", 50002: "JPEG XL",
}

// decompress returns the bytes that a strip or tile of some rows unpacks to. It
// does so while it is read, so a small file cannot claim much memory.
func (d *tiffDecoder) decompress(block io.Reader, rows int) (io.Reader, error) {
	packed := io.Reader(bufio.NewReaderSize(block, 1<<15))
	ccittOrder := ccitt.MSB
	if d.lowBitFirst {
		ccittOrder = ccitt.LSB
		if d.compression != compressionGroup3 && d.compression != compressionGroup4 {
			packed = bitReverser{packed}
		}
	}
	switch d.compression {
	case 0, compressionNone:
		return packed, nil
	case compressionPackBits:
		return bufio.NewReader(&packBitsReader{r: bufio.NewReader(packed)}), nil
	case compressionLZW:
		return lzw.NewReader(packed, lzw.MSB, 8), nil
	case compressionDeflate, compressionOldDeflate:
		z, err := zlib.NewReader(packed)
		if err != nil {
			return nil, foreignError(TIFF, err)
		}
		return z, nil
	case compressionGroup3, compressionGroup4:
		if d.bits != 1 || d.samples != 1 {
			return nil, malformedTIFF("fax compression needs one sample of one bit, not %d of %d", d.samples, d.bits)
		}
		form := ccitt.SubFormat(ccitt.Group4)
		if d.compression == compressionGroup3 {
			form = ccitt.Group3
			const twoDimensional = 1
			if d.options&twoDimensional != 0 {
				return nil, unsupportedTIFF("two-dimensional Group 3 fax compression (save it with LZW, deflate or none)")
			}
		}
		// A 1 of ccitt is white, which is what a 1 means when black is zero.
		options := &ccitt.Options{Invert: d.photometric == photometricWhiteIsZero}
		return ccitt.NewReader(packed, ccittOrder, form, d.blockW, rows, options), nil
	}
	name := compressionNames[d.compression]
	if name != "" {
		name = " (" + name + ")"
	}
	return nil, unsupportedTIFF("compression %d%s (save it with LZW, deflate or none)", d.compression, name)
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
