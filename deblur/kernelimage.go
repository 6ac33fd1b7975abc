package deblur

import (
	"errors"
	"fmt"
	"image"
	"image/color"
	"math"

	"github.com/averaged/imaging/internal/imagecheck"
)

// KernelFromImage makes a kernel of a picture of it. The weight of a pixel is the mean of its red, green and
// blue values as stored; for a grey picture that is its grey value. A transparent pixel weighs less in
// proportion to its alpha. Otherwise it works like NewKernel.
func KernelFromImage(img image.Image) (Kernel, error) {
	if img == nil {
		return Kernel{}, errors.New("deblur: the kernel image is nil")
	}
	var weights []float64
	var h, w int
	err := imagecheck.Read(img, func() error {
		b := img.Bounds()
		h, w = b.Dy(), b.Dx()
		if checkSize(h, w) != nil {
			return nil // it is said below
		}
		weights = make([]float64, 0, h*w)
		for y := b.Min.Y; y < b.Max.Y; y++ {
			for x := b.Min.X; x < b.Max.X; x++ {
				r, g, b, _ := img.At(x, y).RGBA()
				weights = append(weights, float64(r+g+b))
			}
		}
		return nil
	})
	if err != nil {
		return Kernel{}, fmt.Errorf("deblur: kernel image: %w", err)
	}
	if err := checkSize(h, w); err != nil {
		return Kernel{}, err
	}
	return normalised(weights, h, w)
}

// KernelFromPlanes makes a kernel of planar samples of any scale, channel by channel and each h×w. The weight
// of a pixel is the mean over the channels, so leave alpha out. Otherwise it works like NewKernel, which is
// the case of one channel.
func KernelFromPlanes(pix []float32, channels, h, w int) (Kernel, error) {
	if err := checkSize(h, w); err != nil {
		return Kernel{}, err
	}
	n := h * w
	if channels < 1 || len(pix)%n != 0 || len(pix)/n != channels {
		return Kernel{}, fmt.Errorf("deblur: %d samples for a kernel of %d channels of %d×%d", len(pix), channels, h, w)
	}
	weights := make([]float64, n)
	for c := range channels {
		for i, v := range pix[c*n : (c+1)*n] {
			if v < 0 {
				return Kernel{}, fmt.Errorf("deblur: kernel sample in row %d, column %d is %v, want none below 0", i/w, i%w, v)
			}
			weights[i] += float64(v)
		}
	}
	return normalised(weights, h, w)
}

// Image returns the kernel as a picture of 16-bit grey, scaled so that the largest weight is white.
// KernelFromImage reads a kernel of this package back with weights that differ by at most 2⁻¹⁷ of the
// largest, apart from a common factor. A negative weight is an error: grey has none.
func (k Kernel) Image() (*image.Gray16, error) {
	if err := k.Check(); err != nil {
		return nil, err
	}
	top := float32(0)
	for _, v := range k.Weights {
		if v < 0 {
			return nil, fmt.Errorf("deblur: kernel has a weight of %v, and grey cannot show one below 0", v)
		}
		top = max(top, v)
	}
	if top == 0 {
		return nil, errors.New("deblur: kernel is all zero, want at least one weight above 0")
	}
	img := image.NewGray16(image.Rect(0, 0, k.W, k.H))
	for i, v := range k.Weights {
		grey := math.Round(float64(v) / float64(top) * math.MaxUint16)
		img.SetGray16(i%k.W, i/k.W, color.Gray16{Y: uint16(grey)})
	}
	return img, nil
}
