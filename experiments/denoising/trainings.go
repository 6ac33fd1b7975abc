package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/experiments/internal/denoisers"
	"github.com/averaged/imaging/experiments/internal/results"
	"github.com/averaged/imaging/internal/curves"
	"github.com/averaged/imaging/internal/findings"
	"github.com/averaged/imaging/internal/htmlreport"
	"github.com/averaged/imaging/train"
)

// config is the paper's recipe for Euler. The learning rates are those of the range test.
func (o *options) config(decay, minimum, maximum float64) train.Config {
	c := train.PaperConfig("euler")
	c.Iterations, c.Width, c.Blocks, c.Crop = o.iterations, o.width, o.blocks, o.cropSize
	c.Optimiser.WeightDecay = decay
	c.Schedule.Minimum, c.Schedule.Maximum = minimum, maximum
	c.ReportEvery, c.ValidateEvery, c.CheckpointEvery = 5, 0, 20
	return c
}

// trainings has the range test, the effect of weight decay, and the steps as training goes on.
func (o *options) trainings(ctx context.Context, dev backend.Device, folder string, photographs []denoisers.Photograph, out io.Writer) ([]findings.Section, error) {
	read, err := denoisers.Read(ctx, folder, 0, 0)
	if err != nil {
		return nil, err
	}
	data := train.Data{}
	if data.Training, err = pictures(read); err != nil {
		return nil, err
	}
	heldOut := make([]denoisers.Photograph, min(8, len(photographs)))
	for i := range heldOut {
		heldOut[i] = photographs[i].Middle(256)
	}
	if data.Validation, err = pictures(heldOut); err != nil {
		return nil, err
	}
	minimum, maximum, rangeTest, err := o.rangeTest(ctx, dev, data.Training, out)
	if err != nil {
		return nil, err
	}
	steps := htmlreport.Chart{Title: "Integration steps as training goes on", X: "iteration", Y: "steps of all blocks", Note: fmt.Sprintf("%d in the beginning; the paper's Euler has 23 in the end", o.blocks)}
	loss := htmlreport.Chart{Title: "Loss in training", X: "iteration", Y: "mean squared error", LogY: true}
	table := findings.Table{Name: "weight-decay", Caption: "The paper's recipe for Euler under each weight decay", Header: []string{"weight decay", "iterations", "steps", "largest norm", "PSNR of the held-out photographs in dB"}}
	best, bestDecay := math.Inf(-1), 0.0
	for _, decay := range o.decays {
		metrics, err := o.trainOne(ctx, dev, o.config(decay, minimum, maximum), data, out)
		if err != nil {
			return nil, err
		}
		name := "λ = " + strconv.FormatFloat(decay, 'g', -1, 64)
		s, l := htmlreport.Series{Name: name}, htmlreport.Series{Name: name}
		for _, m := range metrics {
			l.X, l.Y = append(l.X, float64(m.Iteration)), append(l.Y, m.Loss)
			total, _ := blocks(m)
			s.X, s.Y = append(s.X, float64(m.Iteration)), append(s.Y, float64(total))
		}
		steps.Series, loss.Series = append(steps.Series, s), append(loss.Series, l)
		last := metrics[len(metrics)-1]
		total, norm := blocks(last)
		psnr := last.Validation[0].PSNR
		if psnr > best {
			best, bestDecay = psnr, decay
		}
		table.Rows = append(table.Rows, []string{strconv.FormatFloat(decay, 'g', -1, 64), strconv.Itoa(last.Iteration), strconv.Itoa(total), decibel(norm), decibel(psnr)})
	}
	return []findings.Section{rangeTest, {
		Title: "Weight decay, and integration steps",
		Paragraphs: []string{fmt.Sprintf("Euler with %d blocks of %d channels, trained by the paper's recipe (SGD with momentum, piecewise linear rates, steps that split) for %d iterations of 5 crops of %d×%d pixels; the paper has 40,000 of whole photographs.",
			o.blocks, o.width, o.iterations, o.cropSize, o.cropSize)},
		Tables: []findings.Table{table}, Figures: []findings.Figure{findings.Lines("steps", steps), findings.Lines("loss", loss)},
		Verdict: fmt.Sprintf("After %d iterations λ = %g is best on the held-out photographs; the paper's choice for Euler, after 40,000, is 1e-5.", o.iterations, bestDecay),
	}}, nil
}

func blocks(m train.Metrics) (steps int, norm float64) {
	for _, b := range m.Blocks {
		steps, norm = steps+b.Steps, math.Max(norm, b.Norm)
	}
	return steps, norm
}

func pictures(list []denoisers.Photograph) (*train.Pictures, error) {
	var of []train.Picture
	for _, p := range list {
		of = append(of, train.Picture{Channels: 3, Height: p.H, Width: p.W, Samples: p.Samples})
	}
	return train.NewPictures(3, of)
}

// rangeTest finds the learning rates, once.
func (o *options) rangeTest(ctx context.Context, dev backend.Device, training *train.Pictures, out io.Writer) (minimum, maximum float64, s findings.Section, err error) {
	kept, err := results.Open(o.Out, "range-test.json", fmt.Sprint(o.Data, o.rangeIterations, o.width, o.blocks, o.cropSize))
	if err != nil {
		return 0, 0, s, err
	}
	// The rates that were found, and then rate, loss and smoothed loss of each iteration.
	v, err := kept.Get(ctx, "euler", func() ([]float64, error) {
		r, err := train.RangeTest(ctx, dev, o.config(o.decays[0], 1e-5, 1), training, 1e-5, 10, o.rangeIterations)
		if err != nil {
			return nil, err
		}
		list := []float64{r.Minimum, r.Maximum}
		for _, p := range r.Points {
			list = append(list, p.LearningRate, p.Loss, p.Smoothed)
		}
		return list, nil
	})
	if err != nil {
		return 0, 0, s, err
	}
	minimum, maximum = v[0], v[1]
	fmt.Fprintf(out, "range test: learning rates from %.3g to %.3g\n", minimum, maximum)
	c := htmlreport.Chart{Title: "Learning-rate range test of Euler", X: "learning rate", Y: "mean squared error", LogX: true, LogY: true, Series: []htmlreport.Series{{Name: "loss"}, {Name: "smoothed"}}}
	table := findings.Table{Name: "range-test", Caption: "The test", Header: []string{"learning rate", "loss", "smoothed"}}
	for p := v[2:]; len(p) > 0; p = p[3:] {
		for i := range c.Series {
			c.Series[i].X, c.Series[i].Y = append(c.Series[i].X, p[0]), append(c.Series[i].Y, p[1+i])
		}
		table.Rows = append(table.Rows, []string{fmt.Sprintf("%.4g", p[0]), fmt.Sprintf("%.4g", p[1]), fmt.Sprintf("%.4g", p[2])})
	}
	return minimum, maximum, findings.Section{
		Title:      "Learning rates (the paper's section 4.1)",
		Paragraphs: []string{fmt.Sprintf("As Smith and Topin (2018) do: the rate at which the smoothed loss is smallest, %.3g, is the max of the schedule, and a tenth of it the min. The paper does not print its rates.", maximum)},
		Tables:     []findings.Table{table}, Figures: []findings.Figure{findings.Lines("range-test", c)},
	}, nil
}

// trainOne trains, or goes on training, in a folder of its own, and returns the metrics.
func (o *options) trainOne(ctx context.Context, dev backend.Device, c train.Config, data train.Data, out io.Writer) ([]train.Metrics, error) {
	folder := filepath.Join(o.Out, "euler-"+strconv.FormatFloat(c.Optimiser.WeightDecay, 'g', -1, 64))
	var r *train.Run
	var err error
	if _, e := os.Stat(filepath.Join(folder, train.ConfigFile)); e == nil {
		var there train.Config
		if there, err = train.ReadConfig(folder); err == nil {
			same, wanted := "", ""
			for _, of := range []struct {
				to *string
				c  train.Config
			}{{&same, there}, {&wanted, c}} {
				b, err := train.MarshalConfig(of.c)
				if err != nil {
					return nil, err
				}
				*of.to = string(b)
			}
			if same != wanted {
				return nil, fmt.Errorf("the folder %q holds a training with other options: take another folder", folder)
			}
			r, err = train.Open(dev, folder, data)
		}
	} else {
		r, err = train.Create(dev, folder, c, data)
	}
	if err != nil {
		return nil, err
	}
	err = r.Train(ctx, func(backend.Progress) error {
		if p := r.Last(); p.Metrics != nil {
			fmt.Fprintf(out, "%s: iteration %d, loss %.4g, %v left\n", filepath.Base(folder), p.Iteration, p.Loss, p.Remaining.Round(1e9))
		}
		return nil
	})
	if e := r.Close(); err == nil {
		err = e
	}
	if err != nil {
		return nil, err
	}
	f, err := os.Open(filepath.Join(folder, train.MetricsFile))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return curves.ReadMetrics(f)
}
