package operator

import (
	"fmt"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/arguments"
)

// Linear is a linear map K from an unknown image to measurements, the same for every channel. An iteration
// needs nothing else of it. Examples are the blur of package deblur, the mask of inpaint, the downsampling of
// upscale, and the results of Compose and FromHost. Package operatortest checks whether a map is one.
type Linear interface {
	// Domain returns the rows and columns of the unknown image.
	Domain() (h, w int)
	// Range returns the rows and columns of the measurements.
	Range() (h, w int)
	// Apply sets dst = K·src. dst has Range, src Domain size; they are one image of the same
	// number of channels, and share no memory.
	Apply(dst, src backend.Buffer) error
	// Adjoint sets dst = Kᵀ·src, with the sizes exchanged.
	Adjoint(dst, src backend.Buffer) error
	// Norm returns a proven upper bound of ‖K‖, and the reason.
	Norm() (bound float64, reason string)
}

// ByChannel is a Linear operator that can also be had for one channel of an image. An iteration on a large
// image then takes less memory.
type ByChannel interface {
	Linear
	// Channel returns what the operator does to channel c of an image. It works for as long as the operator, and
	// is not freed.
	Channel(c int) (Linear, error)
}

// EachChannel calls f with every channel of dst and the same one of src. It returns an error that wraps
// backend.ErrShape unless both are one image with the same number of channels.
func EachChannel(dev backend.Device, dst, src backend.Buffer, f func(dst, src backend.Buffer) error) error {
	if s, t := arguments.ShapeOf(dst), arguments.ShapeOf(src); s.N != 1 || t.N != 1 || s.C != t.C {
		return fmt.Errorf("operator: from %v to %v, want one image of as many channels: %w", t, s, backend.ErrShape)
	}
	if err := arguments.CheckDevice("operator", dev); err != nil {
		return err
	}
	for c := range dst.Shape().C {
		x, err := dev.Channels(dst, c, 1)
		if err != nil {
			return fmt.Errorf("operator: %w", err)
		}
		y, err := dev.Channels(src, c, 1)
		if err != nil {
			x.Free()
			return fmt.Errorf("operator: %w", err)
		}
		err = f(x, y)
		x.Free()
		y.Free()
		if err != nil {
			return err
		}
	}
	return nil
}
