package weights

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"unicode/utf8"
)

// alignment is the multiple of bytes at which the data begins.
const alignment = 8

// Encode returns the bytes of the file. Equal files give equal bytes, in any order of their tensors. It is an
// error if a name, a shape or the size of some data is not as Tensor describes it, two names are equal, a
// text is not valid UTF-8, or the header is larger than MaxHeaderSize.
func (f *File) Encode() ([]byte, error) {
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Write writes the file as Encode does. Errors of Encode come before the first byte is written.
func (f *File) Write(w io.Writer) error {
	if err := f.check(); err != nil {
		return err
	}
	tensors := f.sorted()
	header := appendHeader(make([]byte, lengthSize), f.Metadata, tensors)
	n := len(header) - lengthSize
	if n > MaxHeaderSize {
		return fmt.Errorf("weights: the header has %d bytes, more than the limit of %d", n, MaxHeaderSize)
	}
	binary.LittleEndian.PutUint64(header, uint64(n))
	if _, err := w.Write(header); err != nil {
		return fmt.Errorf("weights: writing the header: %w", err)
	}
	for _, t := range tensors {
		if _, err := w.Write(t.Data); err != nil {
			return fmt.Errorf("weights: writing tensor %.80q: %w", t.Name, err)
		}
	}
	return nil
}

// appendHeader appends the JSON of the header to b, and spaces until the length is
// a multiple of the alignment.
func appendHeader(b []byte, metadata map[string]string, tensors []Tensor) []byte {
	b = append(b, '{')
	if len(metadata) > 0 {
		b = append(appendString(b, metadataKey), ":{"...)
		for i, key := range slices.Sorted(maps.Keys(metadata)) {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(appendString(b, key), ':')
			b = appendString(b, metadata[key])
		}
		b = append(b, '}')
	}
	begin := 0
	for i, t := range tensors {
		if i > 0 || len(metadata) > 0 {
			b = append(b, ',')
		}
		end := begin + len(t.Data)
		b = append(appendString(b, t.Name), `:{"dtype":`...)
		b = append(appendString(b, t.DType.String()), `,"shape":`...)
		b = append(appendNumbers(b, t.Shape...), `,"data_offsets":`...)
		b = append(appendNumbers(b, begin, end), '}')
		begin = end
	}
	b = append(b, '}')
	for len(b)%alignment != 0 {
		b = append(b, ' ')
	}
	return b
}

// appendNumbers appends an array in JSON.
func appendNumbers(b []byte, numbers ...int) []byte {
	b = append(b, '[')
	for i, n := range numbers {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendInt(b, int64(n), 10)
	}
	return append(b, ']')
}

// appendString appends a string in JSON. Only what must be is escaped, in the
// shortest way, as in the reference implementation; encoding/json escapes more.
func appendString(b []byte, s string) []byte {
	const hex = "0123456789abcdef"
	b = append(b, '"')
	for _, r := range s {
		switch r {
		case '"', '\\':
			b = append(b, '\\', byte(r))
		case '\b':
			b = append(b, `\b`...)
		case '\f':
			b = append(b, `\f`...)
		case '\n':
			b = append(b, `\n`...)
		case '\r':
			b = append(b, `\r`...)
		case '\t':
			b = append(b, `\t`...)
		default:
			if r < ' ' {
				b = append(b, `\u00`...)
				b = append(b, hex[r>>4], hex[r&15])
				continue
			}
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}
