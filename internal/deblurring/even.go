package deblurring

import (
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/networks"
	"github.com/averaged/imaging/operator"
)

// evenBlur is a blur with a larger unknown image, of sides that a network asks for.
type evenBlur struct {
	*operator.Widened
	blur blurring
	dev  backend.Device
}

// even returns the blur, or one of unknown images with the sides that the denoiser asks for, which frees the blur.
func even(dev backend.Device, blur blurring, choice *networks.Choice) (blurring, error) {
	dh, dw := blur.Domain()
	h, w := choice.Even(dh, dw)
	if h == dh && w == dw {
		return blur, nil
	}
	wide, err := operator.Widen(dev, blur, h, w)
	if err != nil {
		blur.Free()
		return nil, err
	}
	return &evenBlur{wide, blur, dev}, nil
}

// Crop implements blurring.
func (e *evenBlur) Crop(dst, src []float32) error {
	part, wide := e.planes(len(src))
	return e.blur.Crop(dst, part.Unmirrored(src, wide))
}

// Extend implements blurring.
func (e *evenBlur) Extend(dst, src []float32) error {
	part, wide := e.planes(len(dst))
	part.Pix = make([]float32, part.Shape().Len())
	if err := e.blur.Extend(part.Pix, src); err != nil {
		return err
	}
	copy(dst, part.Mirrored(wide.Height, wide.Width).Pix)
	return nil
}

// Wiener implements blurring.
func (e *evenBlur) Wiener(dst, src backend.Buffer, nsr float64) error {
	part, wide := e.planes(dst.Shape().Len())
	part.Pix = make([]float32, part.Shape().Len())
	b, fetch, err := imageplanes.Borrow(e.dev, part.Shape(), part.Pix)
	if err != nil {
		return err
	}
	defer b.Free()
	if err := e.blur.Wiener(b, src, nsr); err != nil {
		return err
	}
	if err := fetch(); err != nil {
		return err
	}
	return e.dev.Upload(dst, part.Mirrored(wide.Height, wide.Width).Pix)
}

// Free implements blurring.
func (e *evenBlur) Free() {
	e.Widened.Free()
	e.blur.Free()
}

// planes are those of an unknown image of n samples, and the part of it that is the blur's, both without the samples.
func (e *evenBlur) planes(n int) (part, wide *imageplanes.Planes) {
	h, w := e.Domain()
	dh, dw := e.blur.Domain()
	channels := n / (h * w)
	return &imageplanes.Planes{Channels: channels, Height: dh, Width: dw}, &imageplanes.Planes{Channels: channels, Height: h, Width: w}
}
