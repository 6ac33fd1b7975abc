package main

import (
	"fmt"
	"image"
	"strings"

	"github.com/spf13/cobra"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/restore"
)

// checkRecord is the JSON object of check.
type checkRecord struct {
	Schema      int          `json:"schema"`
	Command     string       `json:"command"`
	Input       string       `json:"input,omitempty"`
	Method      string       `json:"method"`
	Denoiser    []string     `json:"denoiser"` // the prior's certificate, line by line
	Certificate *certificate `json:"certificate"`
	Rows        []checkRow   `json:"rows,omitempty"`
	Expansion   number       `json:"expansion"`
	Holds       bool         `json:"holds"`
	Violations  []string     `json:"violations"`
}

type checkRow struct {
	Iteration int       `json:"iteration"`
	Residuals [2]number `json:"residuals"`
	Bound     number    `json:"bound"`
	Distance  number    `json:"distance"`
}

func (a *app) checkCommand() *cobra.Command {
	var r restoration
	var reads reading
	var kernelFile string
	var boundary choice
	c := &cobra.Command{
		Use:   "check [IN]",
		Short: "Print the certificate of a prior, and test it on an image",
		Long: `Prints what is proven about a prior: the constants of its parts, its averagedness,
and what follows for the plug-and-play iteration.

Given an image, it also runs that iteration from two different starts, and prints
the residual of each beside the proven bound, and the distance of the two, which
must never grow. Residuals and distances are Euclidean norms over all samples.

Exit status 0 only if everything that the certificate claims was seen to hold; 1
if something was contradicted, or if nothing is proven.`,
		Example: `  restore check
  restore check --prior tv --kernel motion.png --sigma 0.05 photo.png
  restore check photo.png --iterations 50 --json`,
		Args: inputs(0, 1, "one image at most"),
	}
	c.Flags().StringVarP(&kernelFile, "kernel", "k", "", "image `FILE` of the blur kernel; default: a motion blur")
	bindBoundary(c, &boundary, "what lies beyond the frame")
	r.bind(c, "prior", "the relative change of an iteration")
	reads.bind(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		ctx := c.Context()
		opts, err := r.settings(a, c)
		if err != nil {
			return err
		}
		if err := reads.check(); err != nil {
			return err
		}
		dev, err := r.open()
		if err != nil {
			return err
		}
		defer dev.Close() // its only error would be of work that has been waited for
		var kernel deblur.Kernel
		if kernelFile != "" {
			if kernelFile == standardStream && len(args) == 1 && args[0] == standardStream {
				return usagef("- (standard input) can be read once; name a file for the other")
			}
			if kernel, err = a.readKernel(ctx, kernelFile, reads); err != nil {
				return err
			}
		}
		var img image.Image
		path := ""
		if len(args) == 1 {
			path = args[0]
			m, err := a.read(ctx, path, reads)
			if err != nil {
				return err
			}
			img = planarOf(m)
		}
		bar := a.newProgress(path)
		defer bar.clear()
		opts = append(opts, restore.OnDevice(dev), restore.Boundary(boundaryOf(boundary)),
			restore.WithProgress(func(p restore.Progress) error {
				bar.show(p.Fraction, p.Residual)
				return ctx.Err()
			}))
		report, err := restore.Check(ctx, img, kernel, opts...)
		if err != nil {
			if path == "" {
				return err
			}
			return fileError{path, err}
		}
		bar.clear()
		if err := a.printCheck(path, report); err != nil {
			return err
		}
		return judge(report)
	}
	return c
}

// judge is the exit status of check.
func judge(r *restore.CheckReport) error {
	switch {
	case r.Holds:
		return nil
	case len(r.Violations) == 0:
		return fmt.Errorf("check: nothing is proven of %s, so there is nothing that could hold", r.Method)
	}
	return fmt.Errorf("check: %d claims are contradicted, the first: %s", len(r.Violations), r.Violations[0])
}

func (a *app) printCheck(path string, r *restore.CheckReport) error {
	if a.json {
		rec := checkRecord{
			Schema: schema, Command: "check", Input: path, Method: r.Method,
			Denoiser:    lines(r.Denoiser),
			Certificate: iterationCertificateOf(r.Certificate),
			Expansion:   number(r.Expansion), Holds: r.Holds, Violations: append([]string{}, r.Violations...),
		}
		for _, row := range r.Rows {
			rec.Rows = append(rec.Rows, checkRow{
				Iteration: row.Iteration, Residuals: [2]number{number(row.Residuals[0]), number(row.Residuals[1])},
				Bound: number(row.Bound), Distance: number(row.Distance),
			})
		}
		return a.printJSON(rec)
	}
	if a.quiet {
		return nil
	}
	a.result("prior %s", r.Method)
	for _, l := range lines(r.Denoiser) {
		a.result("  %s", l)
	}
	a.result("iteration T(x) = clip(prior(x - step·gradient))")
	for _, l := range lines(r.Certificate.String()) {
		a.result("  %s", l)
	}
	if len(r.Rows) > 0 {
		a.result("run from two starts, a and b")
		a.result("  %9s  %12s  %12s  %12s  %12s", "iteration", "residual a", "residual b", "bound", "distance")
		for i, row := range r.Rows {
			if a.verbose || i == len(r.Rows)-1 || isMilestone(row.Iteration) {
				a.result("  %9d  %12.6g  %12.6g  %12.6g  %12.6g", row.Iteration, row.Residuals[0], row.Residuals[1], row.Bound, row.Distance)
			}
		}
		a.result("  largest ratio of successive distances, errors of computing T included: %.9g", r.Expansion)
	}
	for _, v := range r.Violations {
		a.result("contradicted: %s", v)
	}
	if r.Holds {
		a.result("holds: yes")
	} else {
		a.result("holds: no")
	}
	return nil
}

// isMilestone picks 1…10, 20, 30 … 100, 200 …: a table to read, where -v prints
// all rows.
func isMilestone(n int) bool {
	for n > 10 {
		if n%10 != 0 {
			return false
		}
		n /= 10
	}
	return true
}

func lines(text string) []string {
	return strings.Split(strings.TrimSpace(text), "\n")
}
