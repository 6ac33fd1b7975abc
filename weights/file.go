package weights

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// MaxHeaderSize is the largest header in bytes, of files read and written. The reference implementation
// allows 100 MB; a header of this library has a few kilobytes.
const MaxHeaderSize = 4 << 20

// metadataKey is the key of the header that does not name a tensor.
const metadataKey = "__metadata__"

// ErrMalformed is wrapped by every error of Decode and Read that is about the bytes of the file, not about
// reading them.
var ErrMalformed = errors.New("not a valid safetensors file")

// File is the content of a weight file.
type File struct {
	// Metadata is free text by key; nil and empty are the same.
	Metadata map[string]string
	// Tensors have different names. After reading they stand in the order of their data; writing sorts them.
	Tensors []Tensor
}

// Tensor returns the tensor of that name. Its data is shared with the file.
func (f *File) Tensor(name string) (Tensor, error) {
	for _, t := range f.Tensors {
		if t.Name == name {
			return t, nil
		}
	}
	return Tensor{}, fmt.Errorf("weights: the file has no tensor %.80q", name)
}

// Parameters returns the number of elements of all tensors. A shape that Tensor does not allow counts as 0.
func (f *File) Parameters() int {
	sum := 0
	for _, t := range f.Tensors {
		if n, err := elements(t.Shape); err == nil {
			sum += n
		}
	}
	return sum
}

// check returns an error unless f can be written.
func (f *File) check() error {
	for key, value := range f.Metadata {
		if !utf8.ValidString(key) {
			return fmt.Errorf("weights: the metadata key %.80q is not valid UTF-8", key)
		}
		if !utf8.ValidString(value) {
			return fmt.Errorf("weights: the metadata value of %.80q is not valid UTF-8", key)
		}
	}
	names := make(map[string]bool, len(f.Tensors))
	for _, t := range f.Tensors {
		if err := t.check(); err != nil {
			return err
		}
		if names[t.Name] {
			return fmt.Errorf("weights: two tensors have the name %.80q", t.Name)
		}
		names[t.Name] = true
	}
	return nil
}

// sorted returns the tensors in the order of a file: those of the larger type
// first, by name among equals. As sizes fall, every tensor of a type of 8 bits or
// more is aligned to its elements.
func (f *File) sorted() []Tensor {
	tensors := slices.Clone(f.Tensors)
	slices.SortStableFunc(tensors, func(a, b Tensor) int {
		return cmp.Or(cmp.Compare(b.DType, a.DType), cmp.Compare(a.Name, b.Name))
	})
	return tensors
}

// Equal tells whether two files hold the same metadata and the same tensors, in any order. nil equals no file.
func (f *File) Equal(g *File) bool {
	if g == nil {
		return false
	}
	if len(f.Metadata) != len(g.Metadata) {
		return false
	}
	for key, value := range f.Metadata {
		if other, ok := g.Metadata[key]; !ok || other != value {
			return false
		}
	}
	return slices.EqualFunc(f.sorted(), g.sorted(), func(a, b Tensor) bool {
		return a.Name == b.Name && a.DType == b.DType && slices.Equal(a.Shape, b.Shape) && bytes.Equal(a.Data, b.Data)
	})
}
