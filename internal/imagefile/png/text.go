package png

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"

	"github.com/averaged/imaging/internal/metadata"
)

// ImageMagick and exiftool write metadata that PNG had no chunk for as a text in
// hexadecimal, under a keyword "Raw profile type NAME": a line with the name, one
// with the number of bytes, and the bytes.

const (
	rawProfileKeyword = "Raw profile type "
	iptcProfile       = "iptc"
)

// keepRawProfile takes EXIF, XMP or IPTC from a chunk tEXt or zTXt, and tells whether there was some. What a chunk
// of their own says counts for more.
func (p *chunks) keepRawProfile(c metadata.Chunk) bool {
	kind, ok := strings.CutPrefix(c.Keyword(), rawProfileKeyword)
	if !ok || c.Name == "iTXt" || kind != "exif" && kind != "APP1" && kind != "app1" && kind != "xmp" && kind != iptcProfile && kind != "8bim" {
		return false
	}
	_, text, _ := bytes.Cut(c.Data, []byte{0})
	if c.Name == "zTXt" {
		if len(text) < 1 {
			return false
		}
		unpacked, err := p.inflate(text[1:])
		if err != nil {
			return false
		}
		text = unpacked
	}
	raw, ok := rawProfile(text)
	switch {
	case !ok:
		return false
	case kind == iptcProfile, kind == "8bim":
		iptc, whole := metadata.IPTCOfProfile(raw)
		if iptc != nil {
			p.metadata.IPTC = iptc
		}
		return whole
	case bytes.HasPrefix(raw, []byte(metadata.EXIFMark)), bytes.HasPrefix(raw, []byte("II*\x00")), bytes.HasPrefix(raw, []byte("MM\x00*")):
		p.rawEXIF = metadata.TrimEXIF(raw)
	case bytes.HasPrefix(raw, []byte(metadata.XMPMark)), kind == "xmp":
		p.rawXMP = bytes.TrimPrefix(raw, []byte(metadata.XMPMark))
	default:
		return false
	}
	return true
}

// rawProfile returns the bytes of a text in hexadecimal.
func rawProfile(text []byte) ([]byte, bool) {
	_, rest, ok := bytes.Cut(bytes.TrimLeft(text, "\n"), []byte("\n")) // the name
	size, digits, ok2 := bytes.Cut(rest, []byte("\n"))
	n, err := strconv.Atoi(string(bytes.TrimSpace(size)))
	if !ok || !ok2 || err != nil {
		return nil, false
	}
	digits = bytes.ReplaceAll(digits, []byte("\n"), nil)
	if len(digits) < 2*n || n < 1 {
		return nil, false
	}
	raw := make([]byte, n)
	if _, err := hex.Decode(raw, digits[:2*n]); err != nil {
		return nil, false
	}
	return raw, true
}

// iptcText is the data of a chunk zTXt with IPTC.
func iptcText(iptc []byte) []byte {
	raw := metadata.IPTCResource(iptc)
	text := fmt.Appendf(nil, "\n%s\n%8d\n", iptcProfile, len(raw))
	const perLine = 36
	for len(raw) > 0 {
		n := min(len(raw), perLine)
		text = append(hex.AppendEncode(text, raw[:n]), '\n')
		raw = raw[n:]
	}
	return append([]byte(rawProfileKeyword+iptcProfile+"\x00\x00"), deflate(text)...)
}
