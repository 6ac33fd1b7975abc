package imageplanes

import "github.com/averaged/imaging/backend"

// Lend puts samples on the device, without a copy where that is possible; they
// are read, not written.
func Lend(dev backend.Device, shape backend.Shape, pix []float32) (backend.Buffer, error) {
	if host, ok := dev.(backend.HostMemory); ok {
		return host.Wrap(shape, pix)
	}
	b, err := dev.Alloc(shape)
	if err != nil {
		return nil, err
	}
	if err := dev.Upload(b, pix); err != nil {
		b.Free()
		return nil, err
	}
	return b, nil
}

// Borrow returns a buffer for results that are to end up in pix, and the function
// that brings them there.
func Borrow(dev backend.Device, shape backend.Shape, pix []float32) (backend.Buffer, func() error, error) {
	if host, ok := dev.(backend.HostMemory); ok {
		b, err := host.Wrap(shape, pix)
		return b, dev.Sync, err
	}
	b, err := dev.Alloc(shape)
	return b, func() error { return dev.Download(pix, b) }, err
}

// MeanOnDevice returns the mean of the channels of an image on a device.
func MeanOnDevice(dev backend.Device, x backend.Buffer) (*Planes, error) {
	s := x.Shape()
	mean := New(1, s.H, s.W)
	to, fetch, err := Borrow(dev, backend.Image(1, s.H, s.W), mean.Pix)
	if err != nil {
		return nil, err
	}
	defer to.Free()
	terms := make([]backend.Term, s.C)
	for c := range terms {
		channel, err := dev.Channels(x, c, 1)
		if err != nil {
			return nil, err
		}
		terms[c] = backend.Term{A: 1 / float32(s.C), X: channel}
	}
	if err := dev.LinearCombination(to, terms...); err != nil {
		return nil, err
	}
	return mean, fetch()
}
