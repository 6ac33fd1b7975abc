package cpu

import (
	"fmt"
	"unsafe"

	"github.com/averaged/imaging/backend"
)

// overlap tells whether two arrays share memory.
func overlap(a, b []float32) bool {
	if len(a) == 0 || len(b) == 0 {
		return false
	}
	a0, b0 := uintptr(unsafe.Pointer(&a[0])), uintptr(unsafe.Pointer(&b[0]))
	return a0 < b0+uintptr(len(b))*4 && b0 < a0+uintptr(len(a))*4
}

// apart returns an error if dst shares memory with one of the sources.
func apart(dst *buffer, sources ...*buffer) error {
	for _, s := range sources {
		if overlap(dst.data, s.data) {
			return fmt.Errorf("%w: %v and %v", backend.ErrAlias, dst.shape, s.shape)
		}
	}
	return nil
}

// apartOrSame accepts a source that is the very same memory as dst, and refuses
// one that overlaps it in part.
func apartOrSame(dst *buffer, sources ...*buffer) error {
	for _, s := range sources {
		if &dst.data[0] == &s.data[0] && len(dst.data) == len(s.data) {
			continue
		}
		if err := apart(dst, s); err != nil {
			return err
		}
	}
	return nil
}
