package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/restore"
)

// kernelInfo is what is said of a kernel that was estimated.
type kernelInfo struct {
	Kind   string `json:"kind"` // shake, motion, disk, gaussian, turn or none
	Length number `json:"length,omitempty"`
	Angle  number `json:"angle,omitempty"`
	Radius number `json:"radius,omitempty"`
	Std    number `json:"std,omitempty"`
	Width  int    `json:"width"`
	Height int    `json:"height"`
	// Trust is good, fair or doubtful; it follows from the agreement of parts of the photograph.
	Trust     string   `json:"trust"`
	Agreement number   `json:"agreement,omitempty"`
	Parts     []number `json:"parts,omitempty"`
	Varies    bool     `json:"varies"`
	Variation number   `json:"variation"`         // 0: none seen
	Spreads   []number `json:"spreads,omitempty"` // of the two parts that differ most, in pixels
	// Point is what the camera turned about: column and row. Angle is then by how much, in degrees.
	Point []number `json:"point,omitempty"`
	// Rows and Columns are those of kernels that were estimated for parts of the frame.
	Rows    int    `json:"rows,omitempty"`
	Columns int    `json:"columns,omitempty"`
	Written string `json:"written,omitempty"` // the file of --write-kernel
}

func kernelInfoOf(k deblur.Kernel, r *restore.KernelReport) *kernelInfo {
	info := &kernelInfo{
		Kind: r.Kind, Length: number(r.Length), Angle: number(r.Angle), Radius: number(r.Radius), Std: number(r.Std),
		Width: k.W, Height: k.H, Trust: r.Trust, Agreement: number(r.Agreement), Varies: r.Varies, Variation: number(r.Variation),
	}
	if r.Variation > 0 {
		info.Spreads = []number{number(r.Spreads[0]), number(r.Spreads[1])}
	}
	for _, p := range r.Parts {
		info.Parts = append(info.Parts, number(p))
	}
	return info
}

// kernelInfoOfTurn is what is said of a turn. Its trust is fair: parts of the photograph are not compared.
func kernelInfoOfTurn(t *restore.Turn, typical deblur.Kernel) *kernelInfo {
	return &kernelInfo{
		Kind: "turn", Angle: number(t.Degrees), Point: []number{number(t.X), number(t.Y)},
		Width: typical.W, Height: typical.H, Trust: "fair", Varies: true,
	}
}

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
	a.remark(input, "kernel estimated: %s", r)
	for _, doubt := range r.Doubts {
		a.remark(input, "%s", doubt)
	}
}

// kernelEstimate is the command that estimates a kernel and does no more.
func (a *app) kernelEstimate() *cobra.Command {
	var output string
	var force bool
	var size int
	sigma := sigmaFlag{auto: true}
	var reads reading
	c := &cobra.Command{
		Use:   "estimate IN -o FILE",
		Short: "Estimate the kernel of a blurred photograph",
		Long: `Estimates the blur kernel of a photograph from the photograph alone, and prints what
kind of blur it is and how far the estimate can be trusted. 'restore deblur' without
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
			opt, err := a.kernelWriting(output, force)
			if err != nil {
				return err
			}
			limit, err := kernelSizeOption(size)
			if err != nil {
				return err
			}
			opts := []restore.Option{limit}
			if sigma.given {
				opts = append(opts, restore.Sigma(sigma.value))
			}
			m, err := a.read(c.Context(), args[0], reads)
			if err != nil {
				return err
			}
			bar := a.newProgress(args[0])
			defer bar.clear()
			opts = append(opts, restore.Progress(func(p backend.Progress) error {
				bar.show(p.Fraction, 0)
				return c.Context().Err()
			}))
			k, report, err := restore.EstimateKernel(c.Context(), planarOf(m), opts...)
			if err != nil {
				return fileError{args[0], err}
			}
			bar.clear()
			for _, doubt := range report.Doubts {
				a.remark(args[0], "%s", doubt)
			}
			if err := a.writeKernelFile(c.Context(), k, output, opt); err != nil {
				return err
			}
			switch {
			case a.json:
				return a.printJSON(kernelRecord{
					Schema: schema, Command: "kernel", Shape: "estimate", Output: output, Width: k.W, Height: k.H,
					Input: args[0], Estimate: kernelInfoOf(k, report), Notes: a.notes, Exact: exactNames("output", output, "input", args[0]),
				})
			case a.quiet:
			case output == standardStream:
				a.note("%s, %d×%d", report, k.W, k.H)
			default:
				a.result("%s: %s, %d×%d", oneLine(output), report, k.W, k.H)
			}
			return nil
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "", "`FILE` to write: .png, .tif, .pgm or .pfm; - for a PNG on standard output (required)")
	c.Flags().BoolVar(&force, "force", false, "overwrite the file if it exists")
	c.Flags().Var(&sigma, "sigma", "standard deviation of the noise, where 1 is white, such as 25/255; auto: measured")
	bindKernelSize(c, &size)
	reads.bind(c)
	return c
}

// kernelWriting checks the name of a file for a kernel, and returns how it is written.
func (a *app) kernelWriting(output string, force bool) (imagefile.WriteOptions, error) {
	opt := imagefile.WriteOptions{Format: imagefile.PNG, Overwrite: force}
	if err := a.refuseTerminal(output); err != nil {
		return opt, err
	}
	if output == standardStream {
		return opt, nil
	}
	format, err := outputFormat(output, opt.Format)
	if err != nil {
		return opt, err
	}
	if format == imagefile.JPEG || format == imagefile.BMP {
		return opt, usagef("%s: %s has 8 bits, too few for a kernel; use .png, .tif or .pfm", oneLine(output), format)
	}
	opt.Format = format
	return opt, nil
}

func (a *app) writeKernelFile(ctx context.Context, k deblur.Kernel, output string, opt imagefile.WriteOptions) error {
	m, err := kernelImage(k, opt.Format)
	if err != nil {
		return err
	}
	return a.write(ctx, output, m, opt)
}

// doubtsOfKernel adds to what speaks against a kernel the flag that helps.
func doubtsOfKernel(doubts []string) []string {
	for i, d := range doubts {
		switch {
		case strings.Contains(d, "180 degrees"):
			doubts[i] = d + "; --kernel-flip turns it"
		case strings.Contains(d, "another one"), strings.Contains(d, "than blur does"):
			doubts[i] = d + "; without --kernel it is estimated"
		}
	}
	return doubts
}
