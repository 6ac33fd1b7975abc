package restore

import (
	"slices"
	"strings"
)

// task is what a call is to do: the name of its function.
type task string

const (
	taskDenoise task = "Denoise"
	taskDeblur  task = "Deblur"
	taskInpaint task = "Inpaint"
	taskUpscale task = "Upscale"
	taskSolve   task = "Solve"
	// taskDenoiseRaw measures the noise by itself.
	taskDenoiseRaw task = "DenoiseRaw"
	taskCheck      task = "Check"
	// taskEstimateKernel has an option of its own, and few of the others.
	taskEstimateKernel task = "EstimateKernel"
	// taskNew is not one: the options that concern what a Restorer keeps.
	taskNew task = "New"
)

// belongs says which tasks an option belongs to; those that it does not list belong to all.
var belongs = map[string][]task{
	"Sigma":         {taskDenoise, taskDeblur, taskInpaint, taskUpscale, taskSolve, taskCheck},
	"SigmaAuto":     {taskDenoise, taskDeblur, taskInpaint, taskUpscale, taskCheck},
	"Noise":         {taskDenoise},
	"Adaptation":    {taskDenoise, taskDeblur},
	"CoarseNetwork": {taskDenoise, taskDenoiseRaw},
	"Shadows":       {taskDenoise},
	"Prior":         {taskDenoise, taskDeblur, taskInpaint, taskUpscale, taskSolve},
	"PriorFunc":     {taskDenoise, taskDeblur, taskInpaint, taskUpscale, taskSolve},
	"StepSize":      {taskDeblur, taskInpaint, taskUpscale, taskSolve, taskCheck},
	"Constraint":    {taskDeblur, taskInpaint, taskUpscale, taskSolve, taskCheck},
	"Contraction":   {taskDeblur, taskInpaint, taskUpscale, taskSolve},
	"Boundary":      {taskDeblur, taskInpaint, taskUpscale, taskCheck},
	"Start":         {taskDeblur},
	"Kernel":        {taskInpaint, taskUpscale},
	"Antialias":     {taskUpscale},
	"Device":        {taskNew},
	"Threads":       {taskNew},
	"MemoryLimit":   {taskNew},
	"KernelSize":    {taskEstimateKernel},
}

// check returns an *OptionError about the first option that does not belong to one of the
// tasks.
func (t task) check(options []Option, besides ...task) error {
	for _, o := range options {
		if o == nil {
			continue
		}
		of, some := belongs[o.name()]
		if !some || slices.Contains(of, t) || slices.ContainsFunc(besides, func(b task) bool { return slices.Contains(of, b) }) {
			continue
		}
		var names []string
		for _, t := range of {
			names = append(names, string(t))
		}
		return &OptionError{Option: o.name(), Want: strings.Join(names, ", "), Task: string(t)}
	}
	return nil
}
