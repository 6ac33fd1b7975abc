package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/cmd/restore/internal/record"
	"github.com/averaged/imaging/internal/curves"
	"github.com/averaged/imaging/train"
)

// rangeTestIterations is the length of a range test unless told otherwise.
const rangeTestIterations = 300

// rangeTestFile is the picture of a range test in the folder of -o.
const rangeTestFile = "range-test.png"

// rangeFlag is --range-test, with or without the learning rates to test.
type rangeFlag struct {
	rateRange
	given bool
}

// The learning rates that a test goes through unless told otherwise: below and beyond
// what any optimiser here is used with.
const testedRates = "1e-6..10"

func (r *rangeFlag) bind(c *cobra.Command) {
	f := c.Flags().VarPF(r, "range-test", "", "look for learning rates from `FROM..TO`, and train nothing (with = between flag and value)")
	f.NoOptDefVal = testedRates
}

func (r *rangeFlag) Type() string { return "FROM..TO" }

func (r *rangeFlag) Set(text string) error {
	if err := r.rateRange.Set(text); err != nil {
		return err
	}
	if !r.ranged || !(r.low > 0 && r.low < r.high) {
		return fmt.Errorf("want two different numbers above 0, such as %s", testedRates)
	}
	r.given = true
	return nil
}

// testRange makes a range test.
func (a *app) testRange(c *cobra.Command, t *training) error {
	ctx := c.Context()
	config, err := a.config(c, &t.recipeFlags)
	if err != nil {
		return err
	}
	iterations := rangeTestIterations
	if c.Flags().Changed("iterations") {
		iterations = config.Iterations
	}
	path := ""
	if t.run != "" {
		if err := checkFolder(t.run); err != nil {
			return err
		}
		path = filepath.Join(t.run, rangeTestFile)
		if exists(path) && !t.force {
			return fileError{path, errors.New("exists already; --force overwrites it")}
		}
	}
	dev, err := a.open(&t.computing)
	if err != nil {
		return err
	}
	defer dev.Close() // its only error would be of work that has been waited for
	set, err := a.pictures(ctx, t, t.Data, config.Channels, config.Crop)
	if err != nil {
		return err
	}
	a.Note("%s with learning rates from %g to %g", message.Count(iterations, "iteration"), t.rangeTest.low, t.rangeTest.high)
	began := time.Now()
	report, err := train.RangeTest(ctx, dev, config, set, t.rangeTest.low, t.rangeTest.high, iterations)
	if err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		return err
	}
	took := time.Since(began)
	if path != "" {
		picture, err := curves.RangeTest(fmt.Sprintf("range test of %s", folderName(t.run)), report)
		if err != nil {
			return err
		}
		if err := os.MkdirAll(t.run, 0o777); err != nil {
			return fileError{t.run, err}
		}
		if err := writeFile(path, picture); err != nil {
			return fileError{path, err}
		}
	}
	return a.printRange(config, report, path, took)
}

func (a *app) printRange(config train.Config, r train.RangeReport, path string, took time.Duration) error {
	if a.json {
		return a.printJSON(record.RangeTestOf(r, path, took))
	}
	a.result("minimum learning rate %.3g", r.Minimum)
	a.result("maximum learning rate %.3g", r.Maximum)
	if path != "" {
		a.result("%s", message.OneLine(path))
	}
	if !r.Diverged {
		a.Note("note: the loss did not rise far by the end of the range: larger learning rates may do too")
	}
	advice := fmt.Sprintf("%.3g", r.Maximum)
	if config.Schedule.Name == train.PiecewiseLinear {
		advice = fmt.Sprintf("%.3g..%.3g", r.Minimum, r.Maximum)
	}
	a.Note("train with --learning-rate %s", advice)
	return nil
}
