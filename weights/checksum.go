package weights

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"strings"
)

// ErrChecksum is wrapped by errors about tensors that are not those that a Card was made for.
var ErrChecksum = errors.New("the weights are not those of the checksum")

// The beginning of a checksum, and the length of its hexadecimal digits.
const (
	checksumPrefix = "sha256:"
	checksumDigits = 2 * sha256.Size
)

// checksumDomain keeps the checksums of other things, and of a later definition,
// apart from these.
const checksumDomain = "averaged weights 1\n"

// Checksum returns "sha256:" and 64 hexadecimal digits: the SHA-256 of the names, types, shapes and data of
// all tensors, in the order of their names. It ignores the order of f.Tensors and the metadata, so that a
// checksum can stand in the metadata of its own file. It depends on the stored type: the same numbers as F16
// and as F32 have different checksums.
//
// The hashed bytes are the text "averaged weights 1\n", the number of tensors, and for each tensor its name,
// its type as files write it, the number of its axes, their sizes, and its data. Text and data are preceded
// by their length in bytes, and every number is a 64-bit little-endian one. No two lists of tensors give the
// same bytes.
func (f *File) Checksum() string {
	tensors := slices.Clone(f.Tensors)
	slices.SortStableFunc(tensors, func(a, b Tensor) int { return cmp.Compare(a.Name, b.Name) })
	h := sha256.New() // its Write never returns an error
	number := func(n int) {
		var b [8]byte
		binary.LittleEndian.PutUint64(b[:], uint64(n))
		h.Write(b[:])
	}
	text := func(s string) {
		number(len(s))
		io.WriteString(h, s)
	}
	io.WriteString(h, checksumDomain)
	number(len(tensors))
	for _, t := range tensors {
		text(t.Name)
		text(t.DType.String())
		number(len(t.Shape))
		for _, n := range t.Shape {
			number(n)
		}
		number(len(t.Data))
		h.Write(t.Data)
	}
	return checksumPrefix + hex.EncodeToString(h.Sum(nil))
}

// isChecksum tells whether s has the form of a checksum.
func isChecksum(s string) bool {
	digits, ok := strings.CutPrefix(s, checksumPrefix)
	return ok && len(digits) == checksumDigits && strings.Trim(digits, "0123456789abcdef") == ""
}
