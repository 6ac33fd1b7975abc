package main

import (
	"fmt"
	"path/filepath"
	"unicode/utf8"

	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/cmd/restore/internal/record"
	"github.com/averaged/imaging/internal/evaluation"
)

// evalRecord is a JSON object of eval: about an image, which Input names, or the means
// over Images of them.
type evalRecord struct {
	Schema  int             `json:"schema"`
	Command string          `json:"command"`
	Input   string          `json:"input,omitempty"`
	Images  int             `json:"images,omitempty"`
	Method  string          `json:"method,omitempty"`
	Network *record.Network `json:"network,omitempty"`
	// Task is that of inpainting; deblurring has a kernel.
	Task     string        `json:"task,omitempty"`
	Kernel   string        `json:"kernel,omitempty"`
	Boundary string        `json:"boundary,omitempty"`
	Mask     string        `json:"mask,omitempty"`
	Missing  record.Number `json:"missing,omitempty"` // share of the pixels, without a mask
	Sigma    record.Number `json:"sigma"`
	// Blind: the method was not told sigma.
	Blind bool `json:"blind"`
	// Seed is that of the image, and of the first one in means.
	Seed *uint64 `json:"seed,omitempty"`
	// Error says what went wrong; nothing below is set then.
	Error string `json:"error,omitempty"`
	*evalScore
}

type evalScore struct {
	Noisy   record.Number `json:"psnr_noisy"`
	PSNR    record.Number `json:"psnr"`
	SSIM    record.Number `json:"ssim"` // null below 11×11
	Seconds record.Number `json:"seconds"`
}

// of says which method the object is about.
func (e *evalRecord) of(k *contender) {
	if k != nil {
		e.Method, e.Network = k.method, k.networkInfo()
	}
}

func (r *comparison) record(k *contender, seed uint64, sigma float64, s evaluation.Score) evalRecord {
	rec := evalRecord{
		Schema: record.Schema, Command: "eval", Sigma: record.Number(sigma), Blind: r.flags.blind, Seed: &seed, Kernel: r.flags.kernelFile,
		evalScore: &evalScore{record.Number(s.Noisy), record.Number(s.PSNR), record.Number(s.SSIM), record.Number(s.Seconds)},
	}
	switch r.flags.task.value {
	case evaluation.Deblur:
		rec.Boundary = "circular"
	case evaluation.Inpaint:
		rec.Task, rec.Mask, rec.Missing = evaluation.Inpaint, r.flags.maskFile, record.Number(r.flags.missing)
	}
	rec.of(k)
	return rec
}

// header prints the names of the columns.
func (r *comparison) header() {
	r.width = len("method")
	for _, k := range r.contenders {
		r.width = max(r.width, utf8.RuneCountInString(k.label))
	}
	if !r.app.json {
		r.bar.Clear()
		r.app.result("%-*s  %-8s  %7s  %7s  %6s  %8s  %s", r.width, "method", "sigma", "before", "PSNR", "SSIM", "seconds", "images")
	}
}

func (r *comparison) row(k *contender, sigma float64, s evaluation.Score, what string) {
	r.bar.Clear()
	r.app.result("%-*s  %-8.4g  %7.2f  %7.2f  %6s  %8.3f  %s", r.width, k.label, sigma, s.Noisy, s.PSNR, evaluation.SSIMText(s.SSIM), s.Seconds, what)
}

// imageRow prints what came of one image.
func (r *comparison) imageRow(k *contender, path string, index int, sigma float64, s evaluation.Score) error {
	switch {
	case r.app.json:
		r.bar.Clear()
		rec := r.record(k, r.task.SeedOf(index), sigma, s)
		rec.Input = path
		return r.app.printJSON(rec)
	case r.app.Verbose:
		r.row(k, sigma, s, message.OneLine(filepath.Base(path)))
	}
	return r.app.stdout.err
}

// meanRow prints the means over all images.
func (r *comparison) meanRow(k *contender, sigma float64, t *evaluation.Total) error {
	if r.app.json {
		r.bar.Clear()
		rec := r.record(k, r.flags.seed, sigma, t.Mean())
		rec.Images = t.Images
		return r.app.printJSON(rec)
	}
	what := fmt.Sprint(t.Images)
	if r.app.Verbose {
		what = "mean of " + what
	}
	r.row(k, sigma, t.Mean(), what)
	return r.app.stdout.err
}
