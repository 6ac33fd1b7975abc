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

// CheckRoom returns an error that wraps ErrShape or ErrOutOfMemory if a device can never hold an array of shape s. It is called
// before the host's memory is asked for as much: if that is not there, Go ends the process.
func CheckRoom(dev backend.Device, s backend.Shape) error {
	if err := s.Check(); err != nil {
		return err
	}
	if most := dev.Description().Memory; most > 0 && int64(s.Len()) > most/4 {
		return fmt.Errorf("%w: an array of %v has more than %d bytes", backend.ErrOutOfMemory, s, most)
	}
	return nil
}
