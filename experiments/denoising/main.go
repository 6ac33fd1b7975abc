// Denoising is the paper's experiment on denoising (section 4.3): Euler, Heun, RK4, backward
// Euler, DnCNN and total variation at noise of 0.15, and how the paper's recipe trains.
package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/experiments/internal/command"
	"github.com/averaged/imaging/experiments/internal/denoisers"
	"github.com/averaged/imaging/experiments/internal/results"
	"github.com/averaged/imaging/internal/findings"
	"github.com/averaged/imaging/internal/quality"
)

func main() { command.Main(run) }

type options struct {
	*denoisers.Options
	draws           int
	example         int
	iterations      int
	rangeIterations int
	decays          command.Numbers
	width           int
	blocks          int
	cropSize        int
}

func run(ctx context.Context, arguments []string, out io.Writer) error {
	o := &options{
		Options: denoisers.NewOptions("denoising", "`folder` of photographs; one with train and val (or test) trains on the first and measures on the second", 0),
		decays:  command.Numbers{1e-5, 5e-5, 1e-4, 5e-4},
	}
	o.Compare(denoisers.Names(), 0)
	o.IntVar(&o.draws, "draws", 10, "noisy images of each photograph")
	o.IntVar(&o.example, "example", 160, "width and height of the examples in pixels")
	o.IntVar(&o.iterations, "iterations", 300, "iterations of each training, of which the paper has 40,000; 0: no training")
	o.IntVar(&o.rangeIterations, "range-iterations", 150, "iterations of the learning-rate range test")
	o.Var(&o.decays, "decays", "weight decays of the trainings")
	o.IntVar(&o.width, "width", 64, "channels of the networks in training")
	o.IntVar(&o.blocks, "blocks", 10, "blocks of the networks in training")
	o.IntVar(&o.cropSize, "training-crop", 64, "width and height of the crops in training; the paper takes whole photographs")
	return o.Run(ctx, arguments, out, o.check, o.work)
}

func (o *options) check() error {
	if o.draws < 1 || o.example < 1 || o.iterations < 0 || o.rangeIterations < 2 || len(o.decays) == 0 {
		return command.Usagef("numbers of iterations must not be negative, and there must be a draw, an example's size, two iterations of a range test and a weight decay")
	}
	return o.Check()
}

// folders returns where photographs to train on are, or nothing, and those to measure on.
func folders(data string) (training, test string) {
	is := func(name string) bool {
		info, err := os.Stat(filepath.Join(data, name))
		return err == nil && info.IsDir()
	}
	for _, name := range []string{"test", "val"} {
		if is("train") && is(name) {
			return filepath.Join(data, "train"), filepath.Join(data, name)
		}
	}
	return "", data
}

func (o *options) work(ctx context.Context, dev backend.Device, out io.Writer) (*findings.Page, error) {
	training, test := folders(o.Data)
	photographs, err := denoisers.Read(ctx, test, o.Limit, o.Crop)
	if err != nil {
		return nil, err
	}
	methods := denoisers.NewCollection(dev, o.Weights)
	defer methods.Free()
	m, err := o.measure(ctx, methods, photographs, out)
	if err != nil {
		return nil, err
	}
	comparison, err := o.comparison(ctx, methods, m, test)
	if err != nil {
		return nil, err
	}
	p := &findings.Page{
		Title:    "Denoising at σ = 0.15: Euler, Heun, RK4, backward Euler, DnCNN and total variation",
		Sections: []findings.Section{comparison},
	}
	if training != "" && o.iterations > 0 {
		s, err := o.trainings(ctx, dev, training, photographs, out)
		if err != nil {
			return nil, err
		}
		p.Sections = append(p.Sections, s...)
	}
	return p, nil
}

// measurement has the PSNR of every noisy image, by method; "noisy" is before.
type measurement struct {
	photographs []denoisers.Photograph
	psnr        map[string][]float64 // draws of the first photograph, of the second, …
}

const before = "noisy"

// measure denoises all noisy images with all methods. PSNR is the paper's: the peak is the largest
// value of the reference.
func (o *options) measure(ctx context.Context, methods *denoisers.Collection, photographs []denoisers.Photograph, out io.Writer) (*measurement, error) {
	about := fmt.Sprint(o.Data, o.Weights, o.draws, o.Crop, o.Seed)
	kept, err := results.Open(o.Out, "psnr.json", about)
	if err != nil {
		return nil, err
	}
	m := &measurement{photographs, map[string][]float64{}}
	for _, name := range append([]string{before}, o.Methods...) {
		for i := range photographs {
			v, err := kept.Get(ctx, name+" "+photographs[i].Name, func() ([]float64, error) {
				return o.one(ctx, methods, name, &photographs[i], i)
			})
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", name, photographs[i].Name, err)
			}
			m.psnr[name] = append(m.psnr[name], v...)
		}
		fmt.Fprintf(out, "%s: %.2f dB\n", name, mean(m.psnr[name]))
	}
	return m, nil
}

// noiseSeed is that of a draw of a photograph.
func (o *options) noiseSeed(photograph, draw int) uint64 {
	return o.Seed + uint64(photograph)*uint64(o.draws) + uint64(draw)
}

func (o *options) one(ctx context.Context, methods *denoisers.Collection, name string, p *denoisers.Photograph, number int) ([]float64, error) {
	var list []float64
	for draw := range o.draws {
		result, err := o.denoise(ctx, methods, name, p, o.noiseSeed(number, draw))
		if err != nil {
			return nil, err
		}
		v, err := quality.PSNR(p.Samples, result, quality.Peak(p.Samples))
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// denoise returns what a method makes of a photograph with noise.
func (o *options) denoise(ctx context.Context, methods *denoisers.Collection, name string, p *denoisers.Photograph, seed uint64) (samples []float32, err error) {
	dev := methods.Device()
	var buffers [3]backend.Buffer
	for i := range buffers {
		if buffers[i], err = dev.Alloc(p.Shape()); err != nil {
			return nil, err
		}
		defer buffers[i].Free()
	}
	clean, noisy, result := buffers[0], buffers[1], buffers[2]
	if err := dev.Upload(clean, p.Samples); err != nil {
		return nil, err
	}
	if err := denoisers.Noisy(dev, noisy, clean, seed); err != nil {
		return nil, err
	}
	if name == before {
		result = noisy
	} else if err := methods.Apply(ctx, name, result, noisy); err != nil {
		return nil, err
	}
	samples = make([]float32, len(p.Samples))
	return samples, dev.Download(samples, result)
}

func mean(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// comparison has the paper's figures of distributions and of examples.
func (o *options) comparison(ctx context.Context, methods *denoisers.Collection, m *measurement, folder string) (findings.Section, error) {
	table := findings.Table{
		Name: "denoising", Caption: fmt.Sprintf("PSNR in dB (peak: the largest value of the reference) of %d noisy images of the %d photographs in %s", len(m.psnr[before]), len(m.photographs), filepath.Base(folder)),
		Header: []string{"method", "mean", "median", "min", "max", "parameters", "in the paper"},
	}
	var violins []findings.Distribution
	for _, name := range append([]string{before}, o.Methods...) {
		v := slices.Sorted(slices.Values(m.psnr[name]))
		title := denoisers.Title(name)
		if name == before {
			title = "noisy"
		} else {
			violins = append(violins, findings.Distribution{Name: title, Values: v})
		}
		table.Rows = append(table.Rows, []string{title, decibel(mean(v)), decibel(findings.Quantile(v, 0.5)), decibel(v[0]), decibel(v[len(v)-1]), o.parameters(name), papers[name]})
	}
	s := findings.Section{
		Title: "PSNR (the paper's figure of distributions)",
		Paragraphs: []string{
			"The paper prints no numbers for this figure. It says that all learned methods are on par with each other, and slightly better than total variation.",
			"The networks that ship are not quite the paper's: they work on 2×2 pixels as channels, and have projections onto balls in place of LeakyReLU. Backward Euler has Euler's weights. Total variation has the weight of package tv for this noise, on colour axes.",
		},
		Tables:  []findings.Table{table},
		Figures: []findings.Figure{findings.Violins("psnr", "PSNR of the denoised images", "PSNR in dB", violins)},
		Verdict: o.verdict(m),
	}
	var err error
	if s.Galleries, err = o.examples(ctx, methods, m); err != nil {
		return s, err
	}
	return s, nil
}

// papers are the numbers of parameters that the paper gives.
var papers = map[string]string{
	denoisers.Euler: "369,280 parameters, λ = 1e-5", denoisers.Heun: "369,280 parameters", denoisers.RK4: "369,280 parameters",
	denoisers.DnCNN: "670,531 parameters, λ = 5e-4", denoisers.TV: "weight tuned on the training set",
}

func (o *options) parameters(name string) string {
	if name == before || name == denoisers.TV {
		return "–"
	}
	n, err := denoisers.Parameters(name, o.Weights)
	if err != nil {
		return "–" // the network was opened before, so that there is a number
	}
	return strconv.Itoa(n)
}

func decibel(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

func (o *options) verdict(m *measurement) string {
	low, high, tv := math.Inf(1), math.Inf(-1), math.NaN()
	for _, name := range o.Methods {
		v := mean(m.psnr[name])
		if name == denoisers.TV {
			tv = v
			continue
		}
		low, high = math.Min(low, v), math.Max(high, v)
	}
	if math.IsInf(low, 1) || math.IsNaN(tv) {
		return "Learned methods and total variation were not both measured."
	}
	agrees := "as the paper says"
	if low <= tv {
		agrees = "other than in the paper"
	}
	return fmt.Sprintf("The learned methods lie within %.2f dB of each other, from %.2f to %.2f, and total variation has %.2f: %s.", high-low, low, high, tv, agrees)
}

// examples are the photograph that favours Euler most over total variation, and that which does
// least, as all methods return them.
func (o *options) examples(ctx context.Context, methods *denoisers.Collection, m *measurement) ([]findings.Gallery, error) {
	euler, tv := m.psnr[denoisers.Euler], m.psnr[denoisers.TV]
	if len(euler) == 0 || len(tv) == 0 {
		return nil, nil
	}
	most, least := 0, 0
	for i := range m.photographs {
		gain := func(i int) float64 { return euler[i*o.draws] - tv[i*o.draws] }
		if gain(i) > gain(most) {
			most = i
		}
		if gain(i) < gain(least) {
			least = i
		}
	}
	var list []findings.Gallery
	for k, i := range []int{most, least} {
		p := &m.photographs[i]
		g := findings.Gallery{Title: p.Name + [...]string{", more favourable to learned methods", ", more favourable to total variation"}[k]}
		for _, name := range append([]string{"", before}, o.Methods...) {
			caption, samples := "x", p.Samples
			if name != "" {
				var err error
				if samples, err = o.denoise(ctx, methods, name, p, o.noiseSeed(i, 0)); err != nil {
					return nil, err
				}
				caption = fmt.Sprintf("%s, %.2f dB", denoisers.Title(name), m.psnr[name][i*o.draws])
				if name == before {
					caption = fmt.Sprintf("noisy, %.2f dB", m.psnr[name][i*o.draws])
				}
			}
			part := (&denoisers.Photograph{H: p.H, W: p.W, Samples: samples}).Middle(o.example)
			picture, err := findings.NewPicture(caption, part.Samples, 3, part.H, part.W)
			if err != nil {
				return nil, err
			}
			g.Pictures = append(g.Pictures, picture)
		}
		list = append(list, g)
	}
	return list, nil
}
