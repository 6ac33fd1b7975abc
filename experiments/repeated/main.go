// Repeated is the paper's figure of repeated application (section 4.4): what becomes of a picture
// when Euler, and when DnCNN, is applied to it again and again.
package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise/refute"
	"github.com/averaged/imaging/experiments/internal/command"
	"github.com/averaged/imaging/experiments/internal/denoisers"
	"github.com/averaged/imaging/experiments/internal/results"
	"github.com/averaged/imaging/internal/findings"
	"github.com/averaged/imaging/internal/htmlreport"
)

func main() { command.Main(run) }

// maxDrawn is above every bound: what diverges would leave no room for the rest.
const maxDrawn = 1e6

type options struct {
	*denoisers.Options
	repetitions int
	picture     int
}

// outcome is what one map did.
type outcome struct {
	title             string
	residuals, bounds []float64 // bounds is empty where nothing is proven
	violations        float64
	diverged          bool
	pictures          [][]float32 // after each of the numbers of shown, as many as there are
	alpha             float64
}

// trial is a map that is repeated.
type trial struct {
	name  string
	title string
	clip  bool
}

func run(ctx context.Context, arguments []string, out io.Writer) error {
	o := &options{Options: denoisers.NewOptions("repeated", "`folder` of photographs", 160)}
	o.IntVar(&o.repetitions, "repetitions", 1000, "applications")
	o.IntVar(&o.picture, "picture", 1, "which photograph of the folder, counted from 1 in the order of their names")
	return o.Run(ctx, arguments, out, o.check, o.work)
}

func (o *options) check() error {
	if o.repetitions < 2 || o.picture < 1 {
		return command.Usagef("-repetitions must be at least 2, and -picture at least 1")
	}
	return o.Check()
}

func (o *options) work(ctx context.Context, dev backend.Device, out io.Writer) (*findings.Page, error) {
	list, err := denoisers.Read(ctx, o.Data, o.picture, o.Crop)
	if err != nil {
		return nil, err
	}
	if len(list) < o.picture {
		return nil, fmt.Errorf("%q has %d photographs, and not %d", o.Data, len(list), o.picture)
	}
	p := &list[o.picture-1]
	methods := denoisers.NewCollection(dev, o.Weights)
	defer methods.Free()
	kept, err := results.Open(o.Out, "repetitions.json", fmt.Sprint(o.Data, p.Name, o.Weights, o.repetitions, o.Crop))
	if err != nil {
		return nil, err
	}
	var outcomes []outcome
	for _, t := range []trial{
		{denoisers.Euler, "Euler", false}, {denoisers.Euler, "Euler, projected onto [0, 1]", true}, {denoisers.DnCNN, "DnCNN", false},
	} {
		v, err := kept.Get(ctx, t.title, func() ([]float64, error) { return o.repeat(ctx, methods, t, p) })
		if err != nil {
			return nil, err
		}
		r := decode(v, len(p.Samples))
		r.title = t.title
		outcomes = append(outcomes, r)
		fmt.Fprintf(out, "%s: the residual goes from %.4g to %.4g\n", t.title, r.residuals[0], r.residuals[len(r.residuals)-1])
	}
	return o.report(p, outcomes)
}

// shown are the numbers of applications after which the picture is shown.
func (o *options) shown() []int {
	var list []int
	for k := 1; k < o.repetitions; k *= 10 {
		list = append(list, k)
	}
	return append(list, o.repetitions)
}

// repeat applies a map, and returns what decode reads: the averagedness (0 where nothing is
// proven), the number of contradictions to what is proven, whether it diverged, how many residuals
// there are, these, their bounds, and pictures, clipped to levels.
func (o *options) repeat(ctx context.Context, methods *denoisers.Collection, t trial, p *denoisers.Photograph) ([]float64, error) {
	n, err := methods.Network(ctx, t.name)
	if err != nil {
		return nil, err
	}
	dev := methods.Device()
	x, err := dev.Alloc(p.Shape())
	if err != nil {
		return nil, err
	}
	defer x.Free()
	if err := dev.Upload(x, p.Samples); err != nil {
		return nil, err
	}
	var pictures []float64
	count, samples := 0, make([]float32, len(p.Samples))
	watched := denoisers.Observe(dev, n, func(result backend.Buffer) error {
		count++
		for _, k := range o.shown() {
			if k != count {
				continue
			}
			if err := dev.Download(samples, result); err != nil {
				return err
			}
			for _, v := range samples {
				level := 0.0
				if v > 0 { // not-a-number is black
					level = math.Round(255 * math.Min(float64(v), 1))
				}
				pictures = append(pictures, level)
			}
		}
		return nil
	})
	report, err := refute.Repeat(ctx, watched, x, refute.RepeatOptions{Iterations: o.repetitions, Clip: t.clip})
	if err != nil {
		return nil, err
	}
	if len(report.Rows) == 0 {
		return nil, fmt.Errorf("%s leaves the range of float32 at once", t.title)
	}
	v := []float64{0, float64(len(report.Violations)), 0, float64(len(report.Rows))}
	if report.Proven {
		v[0] = report.Averagedness
	}
	if report.Diverged {
		v[2] = 1
	}
	for _, r := range report.Rows {
		v = append(v, r.Residual)
	}
	for _, r := range report.Rows {
		v = append(v, math.Min(r.Bound, math.MaxFloat64)) // files hold no infinities
	}
	return append(v, pictures...), nil
}

func decode(v []float64, samples int) outcome {
	r := outcome{alpha: v[0], violations: v[1], diverged: v[2] != 0}
	n := int(v[3])
	r.residuals, v = v[4:4+n], v[4+n:]
	if r.alpha > 0 {
		r.bounds = v[:n]
	}
	for v = v[n:]; len(v) >= samples; v = v[samples:] {
		picture := make([]float32, samples)
		for i := range picture {
			picture[i] = float32(v[i] / 255)
		}
		r.pictures = append(r.pictures, picture)
	}
	return r
}

func (o *options) report(p *denoisers.Photograph, outcomes []outcome) (*findings.Page, error) {
	chart := htmlreport.Chart{Title: "Residuals of repeated application", X: "k, the number of applications", Y: "‖x_k − Φ(x_k)‖", LogX: true, LogY: true}
	table := findings.Table{Name: "residuals", Caption: "Residuals, and what is proven to bound them", Header: []string{"k"}}
	numbers := o.shown()
	for _, k := range numbers {
		table.Rows = append(table.Rows, []string{strconv.Itoa(k)})
	}
	s := findings.Section{Title: "Repeated application (the paper's figure in section 4.4)", Paragraphs: []string{
		"An averaged map has residuals that never grow, and that go to 0 if it has a fixed point: the bound of Euler is its first residual. Projected onto [0, 1] it surely has one, and the bound is √(α/((1−α)(k+1))) times the distance to the farthest corner of the box, with what float32 adds. Of DnCNN nothing is proven. Residuals of a million and more are not drawn. Pictures are clipped to [0, 1], as in the paper.",
	}}
	first, err := findings.NewPicture("x, "+p.Name, p.Samples, 3, p.H, p.W)
	if err != nil {
		return nil, err
	}
	pictures := []findings.Picture{first}
	for _, r := range outcomes {
		add := func(name string, y []float64) {
			if len(y) == 0 {
				return
			}
			series := htmlreport.Series{Name: name}
			for i, v := range y {
				if v < maxDrawn {
					series.X, series.Y = append(series.X, float64(i+1)), append(series.Y, v)
				}
			}
			chart.Series = append(chart.Series, series)
			table.Header = append(table.Header, name)
			for i, k := range numbers {
				word := "–"
				if k <= len(y) && y[k-1] < math.MaxFloat64 {
					word = strconv.FormatFloat(y[k-1], 'g', 4, 64)
				}
				table.Rows[i] = append(table.Rows[i], word)
			}
		}
		add(r.title, r.residuals)
		add(r.title+": bound", r.bounds)
		for i, samples := range r.pictures {
			picture, err := findings.NewPicture(fmt.Sprintf("%s, applied %d times", r.title, numbers[i]), samples, 3, p.H, p.W)
			if err != nil {
				return nil, err
			}
			pictures = append(pictures, picture)
		}
	}
	s.Tables, s.Figures, s.Galleries = []findings.Table{table}, []findings.Figure{findings.Lines("residuals", chart)}, []findings.Gallery{{Pictures: pictures}}
	euler, dncnn := outcomes[0], outcomes[len(outcomes)-1]
	verdict := fmt.Sprintf("Euler's residual falls from %.4g to %.4g, as the paper says; ", euler.residuals[0], euler.residuals[len(euler.residuals)-1])
	if euler.residuals[len(euler.residuals)-1] > euler.residuals[0] {
		verdict = "Euler's residual grew, against the paper and against what is proven; "
	}
	for _, r := range outcomes {
		if r.violations > 0 {
			verdict += fmt.Sprintf("CONTRADICTION: %s is above what is proven %g times; ", r.title, r.violations)
		}
	}
	last := dncnn.residuals[len(dncnn.residuals)-1]
	switch {
	case dncnn.diverged:
		verdict += fmt.Sprintf("DnCNN diverges, as in the paper: after %d applications it has left the range of float32.", len(dncnn.residuals))
	case last > dncnn.residuals[0]:
		verdict += fmt.Sprintf("DnCNN's residual grows from %.4g to %.4g: it diverges, as in the paper.", dncnn.residuals[0], last)
	default:
		verdict += fmt.Sprintf("DnCNN's residual goes from %.4g to %.4g: it does not diverge on this picture, where the paper's does.", dncnn.residuals[0], last)
	}
	s.Verdict = verdict
	return &findings.Page{Title: fmt.Sprintf("Repeated application: %d times Euler and DnCNN", o.repetitions), Sections: []findings.Section{s}}, nil
}
