package deblur

import (
	"fmt"

	"github.com/averaged/imaging/backend"
)

// Boundary is what a blur assumes about the scene beyond the photograph.
type Boundary uint8

const (
	// Unknown assumes nothing, as for a real photograph. The unknown image is larger than the photograph by
	// the kernel's size less one, and only the part of its blur that the photograph shows is kept.
	Unknown Boundary = iota
	// Circular repeats the image periodically.
	Circular
	// Zero assumes black beyond the frame.
	Zero
	// Reflect mirrors the image and repeats the edge sample.
	Reflect
)

var boundaryNames = [...]string{Unknown: "unknown", Circular: "circular", Zero: "zero", Reflect: "reflect"}

// String returns the name that ParseBoundary takes.
func (b Boundary) String() string {
	if int(b) < len(boundaryNames) {
		return boundaryNames[b]
	}
	return fmt.Sprintf("Boundary(%d)", uint8(b))
}

// ParseBoundary returns the boundary of a name: unknown, circular, zero or reflect.
func ParseBoundary(name string) (Boundary, error) {
	for b, n := range boundaryNames {
		if n == name {
			return Boundary(b), nil
		}
	}
	return Unknown, fmt.Errorf("deblur: no boundary is called %q, want unknown, circular, zero or reflect", name)
}

func (b Boundary) backend() (backend.Boundary, error) {
	switch b {
	case Unknown:
		return backend.Valid, nil
	case Circular:
		return backend.Circular, nil
	case Zero:
		return backend.Zero, nil
	case Reflect:
		return backend.Reflect, nil
	}
	return 0, fmt.Errorf("deblur: boundary %d, want Unknown, Circular, Zero or Reflect", uint8(b))
}
