package deblur_test

import (
	"fmt"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/deblur"
)

// A point becomes the picture of the kernel.
func Example() {
	kernel, err := deblur.NewKernel([]float32{1, 2, 1}, 1, 3) // one row of three weights, normalised to a sum of 1
	if err != nil {
		fmt.Println(err)
		return
	}
	device, err := cpu.Open()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer device.Close()
	blur, err := deblur.New(device, kernel, deblur.Zero, 1, 7)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer blur.Free()
	h, w := blur.Domain() // 1 and 7; with deblur.Unknown the unknown image is larger than the photograph
	x, err := device.Alloc(backend.Image(1, h, w))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer x.Free()
	y, err := device.Alloc(backend.Image(1, 1, 7)) // one channel, one row, seven columns
	if err != nil {
		fmt.Println(err)
		return
	}
	defer y.Free()
	if err := device.Upload(x, []float32{0, 0, 1, 0, 0, 0, 0}); err != nil {
		fmt.Println(err)
		return
	}
	if err := blur.Apply(y, x); err != nil {
		fmt.Println(err)
		return
	}
	out := make([]float32, y.Shape().Len())
	if err := device.Download(out, y); err != nil {
		fmt.Println(err)
		return
	}
	bound, reason := blur.Norm()
	fmt.Printf("%.2f\n‖K‖ ≤ %.4g: %s\n", out, bound, reason)
	// Output:
	// [0.00 0.25 0.50 0.25 0.00 0.00 0.00]
	// ‖K‖ ≤ 1: zero: the sum of the weights, none of which is negative (Young's inequality)
}

// Kernels come from formulas; lengths and radii are in pixels, angles in degrees.
func ExampleMotion() {
	motion, err := deblur.Motion(15, 30)
	if err != nil {
		fmt.Println(err)
		return
	}
	defocus, err := deblur.Disk(2)
	if err != nil {
		fmt.Println(err)
		return
	}
	both, err := deblur.Convolve(motion, defocus)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(motion.H, motion.W, defocus.H, defocus.W, both.H, both.W)
	// Output: 9 15 5 5 13 19
}
