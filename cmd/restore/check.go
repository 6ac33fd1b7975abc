package main

import (
	"fmt"
	"image"

	"github.com/spf13/cobra"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/cmd/restore/internal/manual"
	"github.com/averaged/imaging/cmd/restore/internal/record"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/networks"
	"github.com/averaged/imaging/restore"
)

func (a *app) checkCommand() *cobra.Command {
	var r restoration
	var reads reading
	var kernelFile string
	var boundary choice
	c := &cobra.Command{
		Use:   "check [IN]",
		Short: "Print the certificate of a prior, and test it on an image",
		Long: `Prints what is proven about a prior and about the iteration with it. Given an image,
it also runs the iteration from two starts and compares the residuals with their
bounds. A network is proven anew, and attacked.

The default prior is ` + networks.DefaultPrior() + `, tv is total variation, and the others are
networks.
` + embeddedNetworks() + `
The exit status is 0 only if everything that the certificate claims holds.
'restore man check' says what is tested.`,
		Annotations: manual.Story(`The iteration runs from two different starts. The residual of each is printed beside
its proven bound, and the distance of the two, which must never grow. Residuals and
distances are Euclidean norms over all samples.

--weights FILE names another network. The attack is a gradient ascent that looks for
two images that contradict its constant α: it moves them apart, or it is averaged, but
with a larger constant. It prints the largest ratio of distances that it found, of the
map T with prior = (1−α)·identity + α·T. That must not be above 1 by more than
rounding. A network with a guide is frozen for the image, as in the first run of deblur,
and attacked with radii of several kinds. Given an image, the network is applied to it
again and again, without clipping: residuals never grow if it is nonexpansive, and go
to 0 if it is averaged and has a fixed point. --uncertified takes a network as its weights say, without a
certificate, to see what happens then.

Exit status 1: something was contradicted, or nothing is proven.`),
		Example: `  restore check
  restore check --prior tv --kernel motion.png --sigma 0.05 photo.png
  restore check --prior ` + exampleNetwork() + `
  restore check --weights run/weights.safetensors
  restore check photo.png --iterations 50 --json`,
		Args: inputs(0, 1, "one image at most"),
	}
	c.Flags().StringVarP(&kernelFile, "kernel", "k", "", "image `FILE` of the blur kernel; default: a motion blur")
	bindBoundary(c, &boundary, "what lies beyond the frame")
	r.bind(c, selectPrior, "")
	c.Flags().BoolVar(&r.uncertified, "uncertified", false, "take the network as its weights are, and prove nothing of it")
	reads.bind(c)
	c.RunE = func(c *cobra.Command, args []string) error {
		ctx := c.Context()
		r.prove = true
		opts, err := r.settings(a, c)
		if err != nil {
			return err
		}
		if err := reads.check(); err != nil {
			return err
		}
		if r.uncertified && !r.isNetwork() {
			return usagef("--uncertified is about a network; name one with --prior, or its file with --weights FILE")
		}
		if err := readOnce(append(args, kernelFile, r.weights)...); err != nil {
			return err
		}
		r.Gradients = r.isNetwork() // for the attack
		// Files first: a network takes a while to prove.
		var kernel deblur.Kernel
		if kernelFile != "" {
			k, err := a.readKernel(ctx, kernelFile, reads)
			if err != nil {
				return err
			}
			kernel = k
		}
		var img image.Image
		path, label := "", "check"
		if len(args) == 1 {
			path, label = args[0], args[0]
			m, err := a.read(ctx, path, reads)
			if err != nil {
				return err
			}
			a.measureInRange(path, m)
			img = planarOf(m)
		}
		device, err := a.start(&r.computing, func(dev backend.Device) ([]restore.Option, func(), error) { return r.use(ctx, a, dev) })
		if err != nil {
			return err
		}
		defer device.End()
		bar := a.newProgress(label)
		bar.Show(0, 0)
		defer bar.Clear()
		opts = append(opts, restore.Boundary(boundaryOf(boundary)),
			restore.Progress(func(p backend.Progress) error {
				bar.Show(p.Fraction, p.Residual)
				return ctx.Err()
			}))
		var report *restore.CheckReport
		err = device.Run(opts, func(opts []restore.Option) (err error) {
			report, err = restore.Check(ctx, img, kernel, opts...)
			return err
		})
		if err != nil {
			if path == "" {
				return err
			}
			return fileError{path, err}
		}
		bar.Clear()
		switch {
		case a.json:
			if err := a.printJSON(record.CheckOf(path, report, r.networkInfo())); err != nil {
				return err
			}
		case !a.Quiet:
			for _, line := range record.CheckLines(report, r.networkInfo(), a.Verbose) {
				a.result("%s", line)
			}
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
	case len(r.Violations) == 0 && r.Attack != nil && r.Attack.Expansive():
		return fmt.Errorf("check: %s has no certificate, and the attack found two images that it moves apart by a factor of %.4g", r.Method, r.Attack.Ratio)
	case len(r.Violations) == 0 && r.Certificate.Proven:
		return fmt.Errorf("check: no proof for %s in float32: rounding could change a pixel by %.3g/255 (RMS; %.3g measured)",
			r.Method, 255*r.NetworkRounding, 255*r.MeasuredRounding)
	case len(r.Violations) == 0:
		return fmt.Errorf("check: %s has no certificate, so there is nothing to check", r.Method)
	case len(r.Violations) == 1:
		return fmt.Errorf("check: a claim is contradicted: %s", r.Violations[0])
	}
	return fmt.Errorf("check: %d claims are contradicted, the first: %s", len(r.Violations), r.Violations[0])
}
