package main

import (
	"math"

	"github.com/spf13/cobra"

	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/cmd/restore/internal/record"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/kernelimage"
)

func (a *app) kernelCommand() *cobra.Command {
	c := &cobra.Command{
		Use:   "kernel SHAPE",
		Short: "Make the image of a blur kernel, or estimate it",
		Long: `Makes an image of a blur kernel, for deblur and degrade, and prints its size. The
extension of -o decides: .png, .tif and .pgm hold 16-bit grey, scaled so that the
largest weight is white; .pfm holds the exact weights, which sum to 1.

'restore kernel estimate' makes it from a blurred photograph.`,
		Example: `  restore kernel motion --length 15 --angle 30 -o motion.png
  restore kernel shake --size 31 --seed 7 -o shake.pfm`,
		Args: cobra.ArbitraryArgs,
		// The flags belong to the shapes; without one, the shape is what is missing.
		FParseErrWhitelist: cobra.FParseErrWhitelist{UnknownFlags: true},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usagef("kernel: unknown shape %q; %sthere is: motion, gaussian, disk, box, shake, turn, estimate", message.OneLine(args[0]), message.DidYouMean(args[0], commandNames(c)))
			}
			return usagef("kernel needs a shape: motion, gaussian, disk, box, shake or turn; or estimate")
		},
	}

	var length, angle float64
	motion := a.kernelShape("motion", "The blur of a camera that moves at constant speed along a straight line",
		"--length 15 --angle 30", []string{"length"},
		func() (deblur.Kernel, error) {
			if math.Abs(angle) > 360 {
				return deblur.Kernel{}, usagef("--angle %v: want -360 to 360 degrees", angle)
			}
			return deblur.Motion(length, angle)
		})
	motion.Flags().Float64Var(&length, "length", 0, "length of the line in `PIXELS`, 1 to 2000 (required)")
	motion.Flags().Float64Var(&angle, "angle", 0, "`DEGREES` counterclockwise from horizontal, -360 to 360")

	var std float64
	gaussian := a.kernelShape("gaussian", "A normal distribution, cut off at 4 standard deviations",
		"--std 1.6", []string{"std"},
		func() (deblur.Kernel, error) { return deblur.Gaussian(std) })
	gaussian.Flags().Float64Var(&std, "std", 0, "standard deviation in `PIXELS`, above 0, at most 250 (required)")

	var radius float64
	disk := a.kernelShape("disk", "The blur of a lens out of focus",
		"--radius 4.5", []string{"radius"},
		func() (deblur.Kernel, error) { return deblur.Disk(radius) })
	disk.Flags().Float64Var(&radius, "radius", 0, "radius in `PIXELS`, above 0, at most 1000 (required)")

	var boxSize int
	box := a.kernelShape("box", "The mean over a square",
		"--size 9", []string{"size"},
		func() (deblur.Kernel, error) { return deblur.Box(boxSize) })
	box.Flags().IntVar(&boxSize, "size", 0, "side of the square in `PIXELS`, 1 to 2000 (required)")

	var shakeSize int
	var seed uint64
	shake := a.kernelShape("shake", "The blur of a camera that a hand did not hold still",
		"--size 31 --seed 7", []string{"size"},
		func() (deblur.Kernel, error) { return deblur.Shake(shakeSize, seed) })
	shake.Flags().IntVar(&shakeSize, "size", 0, "side of the square that the path fits, in `PIXELS`, odd, 3 to 2001 (required)")
	shake.Flags().Uint64Var(&seed, "seed", 1, "`NUMBER` of the random path; equal seeds give equal kernels everywhere")

	c.AddCommand(motion, gaussian, disk, box, shake, a.kernelTurn(), a.kernelEstimate())
	return c
}

// kernelShape is the command for one shape.
func (a *app) kernelShape(shape, short, example string, required []string, make func() (deblur.Kernel, error)) *cobra.Command {
	var output string
	var force bool
	c := &cobra.Command{
		Use:     shape + " -o FILE",
		Short:   short,
		Example: "  restore kernel " + shape + " " + example + " -o " + shape + ".png",
		Args:    inputs(0, 0, "no input"),
		RunE: func(c *cobra.Command, _ []string) error {
			if output == "" {
				return usagef("kernel %s needs -o FILE (.png, .tif, .pgm or .pfm)", shape)
			}
			for _, flag := range required {
				if !c.Flags().Changed(flag) {
					return usagef("kernel %s needs --%s; '%s --help' says what it means", shape, flag, c.CommandPath())
				}
			}
			k, err := make()
			if err != nil {
				return usageError{err}
			}
			return a.writeKernel(c, shape, k, output, force)
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "", "`FILE` to write: .png, .tif, .pgm or .pfm; - for a PNG on standard output (required)")
	c.Flags().BoolVar(&force, "force", false, "overwrite the file if it exists")
	return c
}

func (a *app) writeKernel(c *cobra.Command, shape string, k deblur.Kernel, output string, force bool) error {
	opt, err := a.kernelWriting("-o", output, force)
	if err != nil {
		return err
	}
	m, err := kernelimage.Of(k, opt.Format)
	if err != nil {
		return err
	}
	if err := a.write(c.Context(), output, m, opt); err != nil {
		return err
	}
	switch {
	case a.json:
		return a.printJSON(record.KernelFile{
			Schema: record.Schema, Command: "kernel", Shape: shape, Output: output, Width: k.W, Height: k.H,
			Exact: record.ExactNames("output", output),
		})
	case a.Quiet:
	case output == message.StandardStream:
		a.Note("%s kernel, %d×%d", shape, k.W, k.H)
	default:
		a.result("%s: %s kernel, %d×%d", message.OneLine(output), shape, k.W, k.H)
	}
	return nil
}
