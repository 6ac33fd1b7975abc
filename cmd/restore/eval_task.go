package main

import (
	"context"
	"fmt"
	"image"

	"github.com/spf13/cobra"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/internal/degradation"
	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/restore"
)

// The tasks that eval measures.
const (
	evalDenoise = "denoise"
	evalDeblur  = "deblur"
	evalInpaint = "inpaint"
)

// shareFlag is a part of a whole: a number or a fraction between 0 and 1; 0 if it was not given.
type shareFlag float64

func (s *shareFlag) String() string {
	if *s == 0 {
		return ""
	}
	return decimal(float64(*s))
}

func (s *shareFlag) Type() string { return "SHARE" }

func (s *shareFlag) Set(text string) error {
	v, err := fraction(text)
	if err != nil || !(v > 0 && v < 1) {
		return fmt.Errorf("want a number between 0 and 1, such as 0.3 or 1/3")
	}
	*s = shareFlag(v)
	return nil
}

// checkTask finds out which task it is, and whether it has what it needs.
func (e *evalFlags) checkTask(c *cobra.Command) error {
	if !c.Flags().Changed("task") {
		switch {
		case e.kernelFile != "":
			e.task.value = evalDeblur
		case e.maskFile != "" || e.missing != 0:
			e.task.value = evalInpaint
		}
	}
	task := e.task.value
	for _, own := range []struct {
		flag, task string
		given      bool
	}{
		{"kernel", evalDeblur, e.kernelFile != ""},
		{"mask", evalInpaint, e.maskFile != ""},
		{"missing", evalInpaint, e.missing != 0},
	} {
		if own.given && own.task != task {
			return usagef("--%s is for --task %s and not for %s; leave one of them out", own.flag, own.task, task)
		}
	}
	switch {
	case task == evalDeblur && e.kernelFile == "":
		return usagef("--task deblur needs --kernel FILE, an image of the blur; 'restore kernel' makes some")
	case task == evalInpaint && e.maskFile == "" && e.missing == 0:
		return usagef("--task inpaint needs --mask FILE, an image that is white where pixels are missing, or --missing SHARE, such as 0.3")
	case e.maskFile != "" && e.missing != 0:
		return usagef("--mask and --missing both say which pixels are missing; give one of them")
	case task == evalInpaint && c.Flags().Changed("adapt"):
		return usagef("--adapt is for denoising and deblurring, and not for --task inpaint; leave it out")
	case task == evalInpaint && len(e.sigmas) == 0:
		e.sigmas = sigmaList{0}
	case len(e.sigmas) == 0:
		return usagef("eval needs --sigma LIST, such as 0.15 or 15/255,25/255,50/255")
	}
	if task == evalInpaint {
		return nil
	}
	for _, sigma := range e.sigmas {
		if err := restore.Validate(restore.Sigma(sigma)); err != nil {
			return optionError(err)
		}
	}
	return nil
}

// defaultMethod is that of the task.
func (e *evalFlags) defaultMethod() string {
	switch e.task.value {
	case evalDeblur:
		return defaultPrior()
	case evalInpaint:
		return defaultInversePrior()
	}
	return defaultMethod()
}

// load reads the kernel or the mask.
func (r *comparison) load(ctx context.Context) error {
	switch {
	case r.flags.kernelFile != "":
		k, err := r.app.readKernel(ctx, r.flags.kernelFile, r.flags.reading)
		if err != nil {
			return err
		}
		r.kernel = &k
	case r.flags.maskFile != "":
		m, err := r.app.read(ctx, r.flags.maskFile, r.flags.reading)
		if err != nil {
			return err
		}
		r.mask = degradation.BlackAndWhite(m.ToImage())
	}
	return nil
}

// degraded is an image as it is, and as a method is given it.
type degraded struct {
	clean, given *imagefile.Image
	mask         *image.Gray // of inpainting: white where pixels are missing, which are black in given
}

// degrade reads an image and degrades it as the task says.
func (r *comparison) degrade(ctx context.Context, index int, s source, sigma float64) (d degraded, err error) {
	if s.err != nil {
		return d, s.err
	}
	if d.clean, err = r.app.read(ctx, s.path, r.flags.reading); err != nil {
		return d, err
	}
	r.app.measureInRange(s.path, d.clean)
	given := *d.clean
	d.given = &given
	given.Pix, given.Alpha = append([]float32(nil), d.clean.Pix...), nil
	if r.kernel != nil {
		if err := r.device.On(func(dev backend.Device) error {
			return degradation.Blur(dev, &given, degradation.OneKernel(*r.kernel), deblur.Circular)
		}); err != nil {
			return d, err
		}
	}
	if sigma > 0 {
		if err := r.device.On(func(dev backend.Device) error {
			return degradation.AddNoise(dev, &given, r.seed(index), float32(sigma))
		}); err != nil {
			return d, err
		}
	}
	if r.flags.task.value != evalInpaint {
		return d, nil
	}
	if d.mask = r.mask; d.mask == nil {
		d.mask = degradation.MissingPixels(given.Height, given.Width, float64(r.flags.missing), r.seed(index))
	}
	if size := d.mask.Bounds().Size(); size.X != given.Width || size.Y != given.Height {
		return d, fmt.Errorf("the mask %s has %d×%d pixels and the image %d×%d; give one of its size, or --missing SHARE",
			message.FileName(r.flags.maskFile), size.X, size.Y, given.Width, given.Height)
	}
	for i := range given.Pix {
		if d.mask.Pix[i%len(d.mask.Pix)] != 0 {
			given.Pix[i] = 0
		}
	}
	return d, nil
}

// restore does the task.
func (r *comparison) restore(ctx context.Context, d degraded, sigma float64, opts []restore.Option) (*restore.Planar, error) {
	task := r.flags.task.value
	switch {
	case !r.flags.blind && sigma > 0:
		opts = append(opts, restore.Sigma(sigma))
	case r.flags.blind && task == evalInpaint:
		opts = append(opts, restore.SigmaAuto()) // its default is no noise
	}
	var out *restore.Planar
	var err error
	switch task {
	case evalDeblur:
		out, _, err = asPlanar(restore.Deblur(ctx, planarOf(d.given), *r.kernel, append(opts, restore.Boundary(deblur.Circular))...))
	case evalInpaint:
		out, _, err = asPlanar(restore.Inpaint(ctx, planarOf(d.given), d.mask, opts...))
	default:
		out, _, err = asPlanar(restore.Denoise(ctx, planarOf(d.given), opts...))
	}
	return out, err
}
