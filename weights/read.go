package weights

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"slices"
)

// lengthSize is the size of the length at the beginning of a file.
const lengthSize = 8

// Decode reads a file from memory. The tensors share the memory of b, which must not change while they are
// used. Every error wraps ErrMalformed.
func Decode(b []byte) (*File, error) {
	if len(b) < lengthSize {
		return nil, malformed("it has %d bytes, want at least the %d of the header's length", len(b), lengthSize)
	}
	n, err := headerSize(b[:lengthSize])
	if err != nil {
		return nil, err
	}
	rest := b[lengthSize:]
	if n > len(rest) {
		return nil, malformed("the header has %d bytes, want the %d that its length says", len(rest), n)
	}
	return decode(rest[:n], func(int) ([]byte, error) { return rest[n:], nil })
}

// Read reads a file to its end. It takes memory only for the bytes that come, not for what the header
// promises. An error wraps ErrMalformed or the error of r.
func Read(r io.Reader) (*File, error) {
	var length [lengthSize]byte
	if n, err := io.ReadFull(r, length[:]); err == io.EOF || err == io.ErrUnexpectedEOF {
		return nil, malformed("it has %d bytes, want at least the %d of the header's length", n, lengthSize)
	} else if err != nil {
		return nil, fmt.Errorf("weights: reading the header's length: %w", err)
	}
	n, err := headerSize(length[:])
	if err != nil {
		return nil, err
	}
	header, err := io.ReadAll(io.LimitReader(r, int64(n)))
	if err != nil {
		return nil, fmt.Errorf("weights: reading the header: %w", err)
	}
	if len(header) != n {
		return nil, malformed("the header has %d bytes, want the %d that its length says", len(header), n)
	}
	return decode(header, func(size int) ([]byte, error) {
		data, err := io.ReadAll(io.LimitReader(r, int64(size)))
		if err != nil || len(data) < size {
			return data, err
		}
		// One byte too many is enough to be refused.
		var more [1]byte
		n, err := io.ReadFull(r, more[:])
		if err == io.EOF {
			err = nil
		}
		return append(data, more[:n]...), err
	})
}

// ReadFile is Read for the file of that name. Errors name the file.
func ReadFile(path string) (*File, error) {
	r, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer r.Close() // nothing was written, so closing cannot lose anything
	f, err := Read(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return f, nil
}

// headerSize returns the length of the header.
func headerSize(length []byte) (int, error) {
	n := binary.LittleEndian.Uint64(length)
	if n > MaxHeaderSize {
		return 0, malformed("the length of the header is %d bytes, more than the limit of %d", n, MaxHeaderSize)
	}
	return int(n), nil
}

// decode makes a file of its header and its data. read returns all that follows
// the header, but need not go further than one byte beyond the size it is given.
func decode(header []byte, read func(size int) ([]byte, error)) (*File, error) {
	metadata, entries, err := parseHeader(header)
	if err != nil {
		return nil, err
	}
	size, err := tile(entries)
	if err != nil {
		return nil, err
	}
	data, err := read(size)
	switch {
	case err != nil:
		return nil, fmt.Errorf("weights: reading the data: %w", err)
	case len(data) < size:
		return nil, malformed("the data has %d bytes, want the %d that the header says", len(data), size)
	case len(data) > size:
		return nil, malformed("bytes follow the %d of the data", size)
	}
	f := &File{Metadata: metadata, Tensors: make([]Tensor, 0, len(entries))}
	for _, e := range entries {
		f.Tensors = append(f.Tensors, Tensor{
			Name: e.name, DType: e.dtype, Shape: e.shape,
			// No appending to one tensor may write into the next.
			Data: data[e.begin:e.end:e.end],
		})
	}
	return f, nil
}

// tile sorts the entries by their ranges, returns the size of the data, and an
// error unless each range fits its tensor and they lie end to end.
func tile(entries []entry) (int, error) {
	slices.SortStableFunc(entries, func(a, b entry) int {
		return cmp.Or(cmp.Compare(a.begin, b.begin), cmp.Compare(a.end, b.end))
	})
	at := 0
	for _, e := range entries {
		size, err := bytesOf(e.dtype, e.shape)
		if err != nil {
			return 0, malformed("tensor %.80q: %v", e.name, err)
		}
		switch {
		case e.end < e.begin:
			return 0, malformed("tensor %.80q ends at byte %d, before it begins at %d", e.name, e.end, e.begin)
		case e.end-e.begin != size:
			return 0, malformed("tensor %.80q has a range of %d bytes, want %d for %v of shape %.80s",
				e.name, e.end-e.begin, size, e.dtype, fmt.Sprint(e.shape))
		case e.begin < at:
			return 0, malformed("tensor %.80q begins at byte %d, inside the one before, which ends at %d", e.name, e.begin, at)
		case e.begin > at:
			return 0, malformed("no tensor has the bytes from %d to %d of the data, before %.80q", at, e.begin, e.name)
		}
		at = e.end
	}
	return at, nil
}

// malformed returns an error that wraps ErrMalformed.
func malformed(format string, args ...any) error {
	return fmt.Errorf("weights: %w: %s", ErrMalformed, fmt.Sprintf(format, args...))
}
