// Package ondevice brings the numbers of networks to devices.
package ondevice

import "github.com/averaged/imaging/backend"

// Filter prepares weights of that shape on a device.
func Filter(dev backend.Device, shape backend.Shape, w []float32) (backend.Filter, error) {
	b, err := dev.Alloc(shape)
	if err != nil {
		return nil, err
	}
	defer b.Free()
	if err := dev.Upload(b, w); err != nil {
		return nil, err
	}
	return dev.NewFilter(b)
}

// Vector puts biases or radii on a device. Without any it returns nil.
func Vector(dev backend.Device, values []float32) (backend.Buffer, error) {
	if values == nil {
		return nil, nil
	}
	b, err := dev.Alloc(backend.Vector(len(values)))
	if err != nil {
		return nil, err
	}
	if err := dev.Upload(b, values); err != nil {
		b.Free()
		return nil, err
	}
	return b, nil
}
