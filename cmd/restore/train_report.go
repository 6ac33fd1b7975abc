package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/cmd/restore/internal/record"
	"github.com/averaged/imaging/cmd/restore/internal/terminal"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/curves"
	"github.com/averaged/imaging/train"
)

// curvesFile is the file of a run folder that shows its metrics.
const curvesFile = "curves.png"

// trainRecord is the JSON object about a report of train.
type trainRecord struct {
	Schema     int    `json:"schema"`
	Command    string `json:"command"`
	Run        string `json:"run"`
	Iterations int    `json:"iterations"` // in all
	// SecondsLeft is an estimate.
	SecondsLeft record.Number `json:"seconds_left"`
	*train.Metrics
}

// trainedRecord is the JSON object about a run that has ended.
type trainedRecord struct {
	Schema      int                  `json:"schema"`
	Command     string               `json:"command"`
	Run         string               `json:"run"`
	Done        bool                 `json:"done"`
	Iterations  int                  `json:"iterations"`
	Weights     string               `json:"weights"`
	Curves      string               `json:"curves"`
	Name        string               `json:"name"`
	Licence     string               `json:"licence"`
	Proven      bool                 `json:"proven"`
	Averaged    record.Number        `json:"averagedness"` // null if not proven
	Certificate *denoise.Certificate `json:"certificate,omitempty"`
	Seconds     record.Number        `json:"seconds"`
}

// finishTraining trains a run to its end and writes its weights.
func (a *app) finishTraining(ctx context.Context, t *training, run *train.Run) (err error) {
	defer func() { err = errors.Join(err, run.Close()) }()
	began := time.Now()
	config, first := run.Config(), run.Iteration()
	bar := a.newProgress(t.run)
	defer bar.Clear()
	undrawn := false
	err = run.Train(ctx, func(backend.Progress) error {
		p := run.Last()
		if m := p.Metrics; m != nil {
			if err := a.reportTraining(t, p, bar); err != nil {
				return err
			}
			// The last picture is drawn when all is done.
			if due := config.ValidateEvery > 0 && m.Iteration%config.ValidateEvery == 0; due && m.Iteration < p.Iterations {
				// The weights are worth more than the picture: go on, and say it once.
				if err := drawCurves(t.run, t.Name, config); err != nil && !undrawn {
					undrawn = true
					bar.Clear()
					a.Note("note: %v", err)
				}
			}
		}
		showTraining(bar, p)
		return a.stdout.err
	})
	bar.Clear()
	switch {
	case a.stdout.err != nil:
		return a.stdout.err // told once, by run
	case ctx.Err() != nil && err != nil:
		return a.interruptedTraining(ctx, t, run, err)
	case err != nil:
		return trainingError(ctx, t.run, err)
	}
	card, err := t.card(config)
	if err != nil {
		return err
	}
	path, certificate, err := run.Finish(ctx, card)
	switch {
	case ctx.Err() != nil && err != nil:
		return a.interruptedTraining(ctx, t, run, err)
	case err != nil:
		return trainingError(ctx, t.run, err)
	}
	var drawn error
	// A run that was finished before has nothing new to draw.
	if run.Iteration() > first || !exists(filepath.Join(t.run, curvesFile)) {
		drawn = drawCurves(t.run, t.Name, config)
	}
	if err := a.reportTrained(t, run, path, certificate, time.Since(began)); err != nil {
		return err
	}
	return drawn
}

// interruptedTraining says how to go on. The error of Train is the context's, joined with
// that of the checkpoint if it could not be written.
func (a *app) interruptedTraining(ctx context.Context, t *training, run *train.Run, err error) error {
	var parts interface{ Unwrap() []error }
	if errors.As(err, &parts) {
		for _, e := range parts.Unwrap() {
			if !errors.Is(e, ctx.Err()) {
				a.Fail(trainingError(context.WithoutCancel(ctx), t.run, fmt.Errorf("no checkpoint could be written; the one before is still there: %w", e)).Error())
			}
		}
	}
	a.Note("stopped after iteration %d of %d; 'restore train --resume -o %s' continues", run.Iteration(), run.Config().Iterations, message.Quoted(t.run))
	return ctx.Err()
}

// reportTraining prints a report. Where a person watches the bar, only those with a
// validation are printed, or with -v all.
func (a *app) reportTraining(t *training, p train.Step, bar *terminal.Bar) error {
	m := p.Metrics
	watched := bar.OnTerminal() && terminal.Is(a.stdout.w)
	switch {
	case a.json:
		return a.printJSON(trainRecord{record.Schema, "train", t.run, p.Iterations, record.Number(p.Remaining.Seconds()), m})
	case a.Quiet || watched && !a.Verbose && len(m.Validation) == 0 && p.Iteration < p.Iterations:
		return nil
	}
	bar.Clear()
	a.result("%s", reportLine(p))
	return nil
}

// reportLine is a report for people.
func reportLine(p train.Step) string {
	m := p.Metrics
	digits := len(fmt.Sprint(p.Iterations))
	parts := []string{
		fmt.Sprintf("%*d/%d", digits, m.Iteration, p.Iterations),
		fmt.Sprintf("loss %.6f", m.Loss),
		fmt.Sprintf("PSNR %.2f dB", m.PSNR),
		fmt.Sprintf("rate %.2e", m.LearningRate),
		fmt.Sprintf("%.1f images/s", m.ImagesPerSecond),
	}
	if len(m.Blocks) > 0 {
		least, most, steps := math.Inf(1), 0.0, 0
		for _, b := range m.Blocks {
			least, most, steps = min(least, b.Norm), max(most, b.Norm), steps+b.Steps
		}
		parts = append(parts, fmt.Sprintf("norms %.2f to %.2f, %s", least, most, message.Count(steps, "step")))
	}
	for _, v := range m.Validation {
		parts = append(parts, fmt.Sprintf("validation %.2f dB (sigma %.4g)", v.PSNR, v.Sigma))
	}
	return strings.Join(append(parts, terminal.Clock(p.Remaining)+" left"), "  ")
}

// reportTrained prints where the weights are and what is proven of them.
func (a *app) reportTrained(t *training, run *train.Run, path string, c denoise.Certificate, took time.Duration) error {
	averaged := len(c.Blocks) > 0
	if a.json {
		rec := trainedRecord{
			Schema: record.Schema, Command: "train", Run: t.run, Done: true, Iterations: run.Iteration(),
			Weights: path, Curves: filepath.Join(t.run, curvesFile), Name: t.Name, Licence: t.Licence,
			Proven: c.Proven, Averaged: record.ProvenOr(c.Averagedness, c.Proven), Seconds: record.Number(took.Seconds()),
		}
		if averaged {
			rec.Certificate = &c
		}
		return a.printJSON(rec)
	}
	if a.Quiet {
		return nil
	}
	a.result("%s: %s", message.OneLine(path), certificateSummary(c))
	a.result("%s", message.OneLine(filepath.Join(t.run, curvesFile)))
	if averaged {
		for _, line := range message.Lines(c.String()) {
			a.Detail("%s: %s", message.FileName(path), line)
		}
	}
	return nil
}

// certificateSummary is what a certificate proves, in a line.
func certificateSummary(c denoise.Certificate) string {
	if len(c.Blocks) == 0 {
		return "a network without constraint, nothing is proven"
	}
	norm, steps := 0.0, 0
	for _, b := range c.Blocks {
		norm, steps = max(norm, b.Norm.Upper), steps+b.Steps
	}
	claim := "nothing is proven: " + c.Reason
	switch {
	case c.Proven && c.Averagedness < 1:
		claim = fmt.Sprintf("proven to be %.6g-averaged", c.Averagedness)
	case c.Proven:
		claim = "proven to be nonexpansive"
	}
	return fmt.Sprintf("%s; %s in %s, norms at most %.4g", claim, message.Count(steps, "step"), message.Count(len(c.Blocks), "block"), norm)
}

// drawCurves draws the metrics of a run.
func drawCurves(run, title string, config train.Config) error {
	path := filepath.Join(run, curvesFile)
	metricsPath := filepath.Join(run, train.MetricsFile)
	text, err := os.ReadFile(metricsPath)
	if err != nil {
		return fileError{metricsPath, err}
	}
	metrics, err := curves.ReadMetrics(bytes.NewReader(text))
	if err != nil {
		return fileError{metricsPath, err}
	}
	reached := 0
	if n := len(metrics); n > 0 {
		reached = metrics[n-1].Iteration
	}
	picture, err := curves.Training(fmt.Sprintf("%s: %d of %d iterations", title, reached, config.Iterations), metrics)
	if err != nil {
		return fileError{path, err}
	}
	if err := writeFile(path, picture); err != nil {
		return fileError{path, err}
	}
	return nil
}

// showTraining draws the state of a run, which may go on from somewhere.
func showTraining(bar *terminal.Bar, p train.Step) {
	fraction := float64(p.Iteration) / float64(p.Iterations)
	bar.ShowText(fraction, fmt.Sprintf("%3.0f%%  %s left  iteration %d  loss %.2e", math.Floor(100*fraction), terminal.Clock(p.Remaining), p.Iteration, p.Loss))
}
