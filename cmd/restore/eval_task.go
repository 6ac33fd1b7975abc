package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/internal/degradation"
	"github.com/averaged/imaging/internal/evaluation"
	"github.com/averaged/imaging/internal/networks"
	"github.com/averaged/imaging/restore"
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
			e.task.value = evaluation.Deblur
		case e.maskFile != "" || e.missing != 0:
			e.task.value = evaluation.Inpaint
		}
	}
	task := e.task.value
	for _, own := range []struct {
		flag, task string
		given      bool
	}{
		{"kernel", evaluation.Deblur, e.kernelFile != ""},
		{"mask", evaluation.Inpaint, e.maskFile != ""},
		{"missing", evaluation.Inpaint, e.missing != 0},
	} {
		if own.given && own.task != task {
			return usagef("--%s is for --task %s and not for %s; leave one of them out", own.flag, own.task, task)
		}
	}
	switch {
	case task == evaluation.Deblur && e.kernelFile == "":
		return usagef("--task deblur needs --kernel FILE, an image of the blur; 'restore kernel' makes some")
	case task == evaluation.Inpaint && e.maskFile == "" && e.missing == 0:
		return usagef("--task inpaint needs --mask FILE, an image that is white where pixels are missing, or --missing SHARE, such as 0.3")
	case e.maskFile != "" && e.missing != 0:
		return usagef("--mask and --missing both say which pixels are missing; give one of them")
	case task == evaluation.Inpaint && c.Flags().Changed("adapt"):
		return usagef("--adapt is for denoising and deblurring, and not for --task inpaint; leave it out")
	case task == evaluation.Inpaint && len(e.sigmas) == 0:
		e.sigmas = sigmaList{0}
	case len(e.sigmas) == 0:
		return usagef("eval needs --sigma LIST, such as 0.15 or 15/255,25/255,50/255")
	}
	if task == evaluation.Inpaint {
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
	case evaluation.Deblur, evaluation.Inpaint:
		return networks.DefaultPrior()
	}
	return networks.DefaultMethod()
}

// readTask reads the kernel or the mask of the task.
func (a *app) readTask(ctx context.Context, e *evalFlags) (*evaluation.Task, error) {
	t := &evaluation.Task{
		Name: e.task.value, KernelFile: message.FileName(e.kernelFile), MaskFile: message.FileName(e.maskFile),
		Missing: float64(e.missing), Seed: e.seed, Blind: e.blind,
	}
	switch {
	case e.kernelFile != "":
		k, err := a.readKernel(ctx, e.kernelFile, e.reading)
		if err != nil {
			return nil, err
		}
		t.Kernel = &k
	case e.maskFile != "":
		m, err := a.read(ctx, e.maskFile, e.reading)
		if err != nil {
			return nil, err
		}
		t.Mask = degradation.BlackAndWhite(m.ToImage())
	}
	return t, nil
}
