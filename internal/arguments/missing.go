package arguments

import (
	"fmt"
	"reflect"

	"github.com/averaged/imaging/backend"
)

// CheckDevice returns an error unless there is a device. A nil pointer in the interface is none, which is what remains
// of an open whose error was ignored. whose is the package of the caller.
func CheckDevice(whose string, dev backend.Device) error {
	if v := reflect.ValueOf(dev); !v.IsValid() || v.Kind() == reflect.Pointer && v.IsNil() {
		return fmt.Errorf("%s: the device is nil; Open of backend/cpu makes one", whose)
	}
	return nil
}

// ShapeOf returns the shape of a buffer. That of nil is zero, which no image has.
func ShapeOf(b backend.Buffer) backend.Shape {
	if b == nil {
		return backend.Shape{}
	}
	return b.Shape()
}
