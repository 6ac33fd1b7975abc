package main

import (
	"math"

	"github.com/spf13/cobra"

	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/cmd/restore/internal/record"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/kernelimage"
)

// kernelTurn is the command for the sheet of kernels of a camera that turned.
func (a *app) kernelTurn() *cobra.Command {
	var output string
	var force bool
	var angle, x, y float64
	var width, height int
	c := &cobra.Command{
		Use:   "turn -o FILE",
		Short: "The blur of a camera that turns evenly about a point, as a sheet of kernels",
		Long: `Makes a sheet of the kernels of a camera that turned at constant speed about a point, for
'restore deblur --kernel FILE --kernel-grid ROWSxCOLUMNS', and prints rows and columns.`,
		Example: "  restore kernel turn --angle 7 --width 1200 --height 800 -o turn.png",
		Args:    inputs(0, 0, "no input"),
		RunE: func(c *cobra.Command, _ []string) error {
			if output == "" {
				return usagef("kernel turn needs -o FILE (.png, .tif, .pgm or .pfm)")
			}
			for _, flag := range []string{"angle", "width", "height"} {
				if !c.Flags().Changed(flag) {
					return usagef("kernel turn needs --%s; '%s --help' says what it means", flag, c.CommandPath())
				}
			}
			if !(angle > 0 && angle <= 180) {
				return usagef("--angle %v: want a number of degrees above 0, at most 180", angle)
			}
			right, below := 0.0, 0.0
			if c.Flags().Changed("x") {
				right = x - float64(width)/2
			}
			if c.Flags().Changed("y") {
				below = y - float64(height)/2
			}
			m, err := deblur.UniformTurn(angle*math.Pi/180, below, right, height, width)
			if err != nil {
				return usageError{err}
			}
			g, err := m.Grid(height, width)
			if err != nil {
				return usageError{err}
			}
			opt, err := a.kernelWriting("-o", output, force)
			if err != nil {
				return err
			}
			sheet, err := kernelimage.Sheet(g, opt.Format)
			if err != nil {
				return err
			}
			if err := a.write(c.Context(), output, sheet, opt); err != nil {
				return err
			}
			switch {
			case a.json:
				return a.printJSON(record.KernelFile{
					Schema: record.Schema, Command: "kernel", Shape: "turn", Output: output, Width: sheet.Width, Height: sheet.Height,
					Rows: g.Rows, Columns: g.Columns, Exact: record.ExactNames("output", output),
				})
			case a.Quiet:
			case output == message.StandardStream:
				a.Note("sheet of a turn, for --kernel-grid %dx%d", g.Rows, g.Columns)
			default:
				a.result("%s: sheet of a turn, for --kernel-grid %dx%d", message.OneLine(output), g.Rows, g.Columns)
			}
			return nil
		},
	}
	c.Flags().Float64Var(&angle, "angle", 0, "`DEGREES`, above 0, at most 180 (required)")
	c.Flags().IntVar(&width, "width", 0, "width of the photograph in `PIXELS` (required)")
	c.Flags().IntVar(&height, "height", 0, "height of the photograph in `PIXELS` (required)")
	c.Flags().Float64Var(&x, "x", 0, "the point's distance from the left border in `PIXELS` (default: the middle)")
	c.Flags().Float64Var(&y, "y", 0, "the point's distance from the top in `PIXELS` (default: the middle)")
	c.Flags().StringVarP(&output, "output", "o", "", "`FILE` to write: .png, .tif, .pgm or .pfm; - for a PNG on standard output (required)")
	c.Flags().BoolVar(&force, "force", false, "overwrite the file if it exists")
	return c
}
