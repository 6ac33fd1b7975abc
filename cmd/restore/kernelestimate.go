package main

import (
	"context"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/cmd/restore/internal/plan"
	"github.com/averaged/imaging/cmd/restore/internal/record"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/internal/kernelimage"
	"github.com/averaged/imaging/restore"
)

// bindKernelSize is the flag that limits an estimated kernel.
func bindKernelSize(c *cobra.Command, size *int) {
	c.Flags().IntVar(size, "kernel-size", 0, "estimate a kernel of at most `N`×N pixels, 3 to 301 (default 101)")
}

// kernelSizeOption is the option that --kernel-size makes, nil where it was not given.
func kernelSizeOption(size int) (restore.Option, error) {
	if size == 0 {
		return nil, nil
	}
	o := restore.KernelSize(size)
	if err := restore.Validate(o); err != nil {
		return nil, optionError(err)
	}
	return o, nil
}

// tellKernel says what was found, in a line, and what is doubtful of it.
func (a *app) tellKernel(input string, r *restore.KernelReport) {
	a.Remark(input, "kernel estimated: %s", r)
	a.remarkDoubts(input, r.Doubts)
}

// kernelEstimate is the command that estimates a kernel and does no more.
func (a *app) kernelEstimate() *cobra.Command {
	var output string
	var force bool
	var linear choice
	var size int
	sigma := sigmaFlag{auto: true}
	reads := reading{noise: true}
	c := &cobra.Command{
		Use:   "estimate IN -o FILE",
		Short: "Estimate the kernel of a blurred photograph",
		Long: `Estimates the blur kernel of a photograph from the photograph alone, and prints what
kind of blur it is and how far the estimate can be trusted. If the camera turned, it
writes a sheet of kernels, and prints the --kernel-grid for it. 'restore deblur' without
--kernel does this and removes the blur in one go.`,
		Example: "  restore kernel estimate photo.jpg -o kernel.png",
		Args:    inputs(1, 1, "one input"),
		RunE: func(c *cobra.Command, args []string) error {
			if output == "" {
				return usagef("kernel estimate needs -o FILE (.png, .tif, .pgm or .pfm)")
			}
			if err := reads.check(); err != nil {
				return err
			}
			opt, err := a.kernelWriting("-o", output, force)
			if err != nil {
				return err
			}
			limit, err := kernelSizeOption(size)
			if err != nil {
				return err
			}
			if err := refuseExisting(output, force); err != nil {
				return err
			}
			opts := []restore.Option{limit, lightOption(linear)}
			if sigma.given {
				opts = append(opts, restore.Sigma(sigma.value))
			}
			m, err := a.read(c.Context(), args[0], reads)
			if err != nil {
				return err
			}
			opts = append(opts, compressionOf(m)...)
			bar := a.newProgress(args[0])
			defer bar.Clear()
			opts = append(opts, restore.Progress(func(p backend.Progress) error {
				bar.Show(p.Fraction, 0)
				return c.Context().Err()
			}))
			b, err := restore.EstimateBlur(c.Context(), planarOf(m), opts...)
			if err != nil {
				return fileError{args[0], err}
			}
			bar.Clear()
			a.remarkDoubts(args[0], b.Doubts())
			written, err := a.writeKernels(c.Context(), b.Grid, output, opt)
			if err != nil {
				return err
			}
			found := fmt.Sprintf("%s, %d×%d", b, written.Width, written.Height)
			info := record.BlurOf(b)
			if b.Turn != nil {
				found = fmt.Sprintf("%s, for --kernel-grid %dx%d", b, info.Rows, info.Columns)
			}
			switch {
			case a.json:
				return a.printJSON(record.KernelFile{
					Schema: record.Schema, Command: "kernel", Shape: "estimate", Output: output, Width: written.Width, Height: written.Height, Rows: info.Rows, Columns: info.Columns,
					Input: args[0], Estimate: info, Notes: a.Notes, Exact: record.ExactNames("output", output, "input", args[0]),
				})
			case a.Quiet:
			case output == message.StandardStream:
				a.Note("%s", found)
			default:
				a.result("%s: %s", message.OneLine(output), found)
			}
			return nil
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "", "`FILE` to write: .png, .tif, .pgm or .pfm; - for a PNG on standard output (required)")
	c.Flags().BoolVar(&force, "force", false, "overwrite the file if it exists")
	bindLinearLight(c, &linear)
	c.Flags().Var(&sigma, "sigma", "standard deviation of the noise, where 1 is white, such as 25/255; auto: measured")
	bindKernelSize(c, &size)
	reads.bind(c)
	return c
}

// kernelWriting checks the name of a file for a kernel, which a flag gives, and returns how it is written.
func (a *app) kernelWriting(flag, output string, force bool) (imagefile.WriteOptions, error) {
	opt := imagefile.WriteOptions{Format: imagefile.PNG, Overwrite: force}
	if err := a.refuseTerminal(output); err != nil {
		return opt, err
	}
	if output == message.StandardStream {
		return opt, nil
	}
	if plan.IsFolder(output) {
		return opt, usagef("%s %s: it is a folder; a file name is needed", flag, message.OneLine(output))
	}
	format, err := plan.OutputFormat(flag, output, opt.Format)
	if err != nil {
		return opt, usageError{err}
	}
	if format == imagefile.JPEG || format == imagefile.BMP {
		return opt, usagef("%s %s: %s has 8 bits, too few for a kernel; use .png, .tif or .pfm", flag, message.OneLine(output), format)
	}
	opt.Format = format
	return opt, nil
}

// refuseExisting tells before an estimate, which takes long, that its file would not be written.
func refuseExisting(output string, force bool) error {
	if info, err := os.Stat(output); err == nil && info.Mode().IsRegular() && !force {
		return fileError{output, fs.ErrExist}
	}
	return nil
}

// writeKernels writes one kernel, or a sheet of many, and returns the image.
func (a *app) writeKernels(ctx context.Context, g deblur.Grid, output string, opt imagefile.WriteOptions) (m *imagefile.Image, err error) {
	if len(g.Kernels) > 1 {
		m, err = kernelimage.Sheet(g, opt.Format)
	} else {
		m, err = kernelimage.Of(g.Kernels[0], opt.Format)
	}
	if err != nil {
		return nil, err
	}
	return m, a.write(ctx, output, m, opt)
}
