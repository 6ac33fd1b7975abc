package main

import (
	"fmt"
	"path/filepath"
	"unicode/utf8"

	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/cmd/restore/internal/record"
	"github.com/averaged/imaging/internal/evaluation"
)

func (r *comparison) record(k *contender, seed uint64, sigma float64, s evaluation.Score) record.Eval {
	rec := record.Eval{
		Schema: record.Schema, Command: "eval", Method: k.method, Network: k.networkInfo(), Sigma: record.Number(sigma), Blind: r.flags.blind, Seed: &seed, Kernel: r.flags.kernelFile,
		EvalScore: record.EvalScoreOf(s),
	}
	switch r.flags.task.value {
	case evaluation.Deblur:
		rec.Boundary = "circular"
	case evaluation.Inpaint:
		rec.Task, rec.Mask, rec.Missing = evaluation.Inpaint, r.flags.maskFile, record.Number(r.flags.missing)
	}
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
