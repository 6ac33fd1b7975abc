package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
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
		return a.printJSON(record.Training{Schema: record.Schema, Command: "train", Run: t.run, Iterations: p.Iterations, SecondsLeft: record.Number(p.Remaining.Seconds()), Metrics: m})
	case a.Quiet || watched && !a.Verbose && len(m.Validation) == 0 && p.Iteration < p.Iterations:
		return nil
	}
	bar.Clear()
	a.result("%s", record.TrainingLine(p))
	return nil
}

// reportTrained prints where the weights are and what is proven of them.
func (a *app) reportTrained(t *training, run *train.Run, path string, c denoise.Certificate, took time.Duration) error {
	averaged := len(c.Blocks) > 0
	if a.json {
		rec := record.Trained{
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
	a.result("%s: %s", message.OneLine(path), record.CertificateSummary(c))
	a.result("%s", message.OneLine(filepath.Join(t.run, curvesFile)))
	if averaged {
		for _, line := range message.Lines(c.String()) {
			a.Detail("%s: %s", message.FileName(path), line)
		}
	}
	return nil
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
