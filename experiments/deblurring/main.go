// Deblurring is the paper's experiment on plug-and-play (section 4.4): the proximal gradient
// method with the learned denoisers in place of a proximal map, its residuals beside what is
// proven of them, and the PSNR of the iterates.
package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/experiments/internal/command"
	"github.com/averaged/imaging/experiments/internal/denoisers"
	"github.com/averaged/imaging/experiments/internal/results"
	"github.com/averaged/imaging/internal/findings"
	"github.com/averaged/imaging/internal/htmlreport"
	"github.com/averaged/imaging/internal/quality"
	"github.com/averaged/imaging/pnp"
)

func main() { command.Main(run) }

type options struct {
	*denoisers.Options
	length     float64
	angle      float64
	sigma      float64
	level      float64
	iterations int
	kernel     deblur.Kernel
}

// relaxation makes averaged maps of Heun and RK4, which are only nonexpansive.
const relaxation = 0.9

func run(ctx context.Context, arguments []string, out io.Writer) error {
	o := &options{Options: denoisers.NewOptions("deblurring", "`folder` of photographs", 160)}
	o.Compare([]string{denoisers.Euler, denoisers.Heun, denoisers.RK4, denoisers.TV, denoisers.DnCNN}, 4)
	o.Float64Var(&o.length, "length", 15, "length of the motion in pixels")
	o.Float64Var(&o.angle, "angle", 30, "its angle in degrees")
	o.Float64Var(&o.sigma, "sigma", 0.03, "standard deviation of the noise, where 1 is white")
	o.Float64Var(&o.level, "level", 0.01, "noise level that the denoisers are rescaled to; 0.15 is as they were trained, the paper's way")
	o.IntVar(&o.iterations, "iterations", 300, "iterations of a run")
	return o.Run(ctx, arguments, out, o.check, o.work)
}

func (o *options) check() (err error) {
	if !(o.sigma >= 0 && o.sigma <= 1) || !(o.level > 0 && o.level <= 1) || o.iterations < 2 {
		return command.Usagef("-sigma and -level must be within [0, 1], and -iterations at least 2")
	}
	if o.kernel, err = deblur.Motion(o.length, o.angle); err != nil {
		return command.Usagef("%v", err)
	}
	return o.Check()
}

// course is a run: residuals of each iteration, what is proven to bound them (empty: nothing), and
// the PSNR of what the denoiser returns.
type course struct {
	residuals, bounds, psnr []float64
	result                  []float32
}

func (o *options) work(ctx context.Context, dev backend.Device, out io.Writer) (*findings.Page, error) {
	photographs, err := denoisers.Read(ctx, o.Data, o.Limit, o.Crop)
	if err != nil {
		return nil, err
	}
	methods := denoisers.NewCollection(dev, o.Weights)
	defer methods.Free()
	kept, err := results.Open(o.Out, "deblurring.json", fmt.Sprint(o.Data, o.Weights, o.length, o.angle, o.sigma, o.level, o.iterations, o.Crop, o.Seed))
	if err != nil {
		return nil, err
	}
	courses := map[string][]course{}
	for i := range photographs {
		p := &photographs[i]
		for _, name := range o.Methods {
			v, err := kept.Get(ctx, name+" "+p.Name, func() ([]float64, error) { return o.deblur(ctx, methods, name, p, i) })
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", name, p.Name, err)
			}
			c := decode(v, o.iterations)
			courses[name] = append(courses[name], c)
			fmt.Fprintf(out, "%s, %s: %.2f dB, residual %.3g\n", p.Name, denoisers.Title(name), c.psnr[len(c.psnr)-1], c.residuals[len(c.residuals)-1])
		}
	}
	return o.report(ctx, dev, photographs, courses)
}

// blurred returns the operator and the measurements of a photograph.
func (o *options) blurred(dev backend.Device, p *denoisers.Photograph, number int) (*deblur.Operator, backend.Buffer, error) {
	k, err := deblur.New(dev, o.kernel, deblur.Circular, p.H, p.W)
	if err != nil {
		return nil, nil, err
	}
	y, err := dev.Alloc(p.Shape())
	if err != nil {
		k.Free()
		return nil, nil, err
	}
	err = func() error {
		x, err := dev.Alloc(p.Shape())
		if err != nil {
			return err
		}
		defer x.Free()
		noise, err := dev.Alloc(p.Shape())
		if err != nil {
			return err
		}
		defer noise.Free()
		if err := dev.Upload(x, p.Samples); err != nil {
			return err
		}
		if err := k.Apply(y, x); err != nil {
			return err
		}
		if err := dev.Gaussian(noise, o.Seed+uint64(number), 0, float32(o.sigma)); err != nil {
			return err
		}
		return dev.LinearCombination(y, backend.Term{A: 1, X: y}, backend.Term{A: 1, X: noise})
	}()
	if err != nil {
		k.Free()
		y.Free()
		return nil, nil, err
	}
	return k, y, nil
}

// deblur runs the iteration, and returns what decode reads.
func (o *options) deblur(ctx context.Context, methods *denoisers.Collection, name string, p *denoisers.Photograph, number int) ([]float64, error) {
	dev := methods.Device()
	k, y, err := o.blurred(dev, p, number)
	if err != nil {
		return nil, err
	}
	defer k.Free()
	defer y.Free()
	var psnr []float64
	samples := make([]float32, len(p.Samples))
	look := func(result backend.Buffer) error {
		if err := dev.Download(samples, result); err != nil {
			return err
		}
		for i, v := range samples { // as the iteration's projection and a screen do
			samples[i] = float32(math.Max(0, math.Min(float64(v), 1)))
		}
		v, err := quality.PSNR(p.Samples, samples, quality.Peak(p.Samples))
		psnr = append(psnr, v)
		return err
	}
	var phi pnp.Denoiser
	if name == denoisers.TV {
		prox, err := methods.TotalVariation(p.Shape(), o.level/denoisers.Sigma)
		if err != nil {
			return nil, err
		}
		defer prox.Free()
		phi = denoisers.Observe(dev, prox, look)
	} else {
		n, err := methods.Network(ctx, name)
		if err != nil {
			return nil, err
		}
		d, err := denoise.Rescale(n, o.level/denoisers.Sigma)
		if err != nil {
			return nil, err
		}
		if name == denoisers.Heun || name == denoisers.RK4 {
			if d, err = denoise.Relax(d, relaxation); err != nil {
				return nil, err
			}
		}
		whole, ok := d.(denoisers.Full)
		if !ok {
			return nil, fmt.Errorf("%s does not bound its errors", name)
		}
		phi = denoisers.Observe(dev, whole, look)
	}
	x, report, err := pnp.Solve(ctx, dev, y, k, phi, pnp.Options{Tolerance: -1, MaxIterations: o.iterations})
	if err != nil {
		return nil, err
	}
	x.Free()
	v := slices.Clone(report.Residuals)
	for i := range report.Residuals {
		v = append(v, math.Min(report.Bound(i), math.MaxFloat64)) // files hold no infinities
	}
	v = append(v, psnr...)
	for _, s := range samples {
		v = append(v, math.Round(255*float64(s)))
	}
	return v, nil
}

func decode(v []float64, n int) course {
	c := course{residuals: v[:n], psnr: v[2*n : 3*n]}
	if v[n] < math.MaxFloat64 {
		c.bounds = v[n : 2*n]
	}
	for _, level := range v[3*n:] {
		c.result = append(c.result, float32(level/255))
	}
	return c
}

func (o *options) report(ctx context.Context, dev backend.Device, photographs []denoisers.Photograph, courses map[string][]course) (*findings.Page, error) {
	residuals := htmlreport.Chart{Title: "Residuals of the iterates of " + photographs[0].Name, X: "iteration", Y: "‖x_k − T(x_k)‖", LogX: true, LogY: true}
	psnr := htmlreport.Chart{Title: "PSNR by iteration of " + photographs[0].Name, X: "iteration", Y: "PSNR in dB", LogX: true}
	table := findings.Table{Name: "deblurring", Caption: fmt.Sprintf("Means over %d photographs", len(photographs)), Header: []string{"prior", "PSNR in dB at the end", "at its best", "first residual", "last residual", "bound of the last"}}
	s := findings.Section{Title: "Deblurring by plug-and-play (the paper's section 4.4)"}
	blurred, err := o.pictureOfBlur(dev, &photographs[0])
	if err != nil {
		return nil, err
	}
	truth, err := findings.NewPicture("x, "+photographs[0].Name, photographs[0].Samples, 3, photographs[0].H, photographs[0].W)
	if err != nil {
		return nil, err
	}
	pictures := []findings.Picture{truth, blurred}
	var words []string
	for _, name := range o.Methods {
		title := denoisers.Title(name)
		if name == denoisers.Heun || name == denoisers.RK4 {
			title += fmt.Sprintf(", relaxed by %g", relaxation)
		}
		first := courses[name][0]
		iterations := make([]float64, len(first.residuals))
		for i := range iterations {
			iterations[i] = float64(i + 1)
		}
		residuals.Series = append(residuals.Series, htmlreport.Series{Name: title, X: iterations, Y: first.residuals})
		if name == denoisers.Euler && len(first.bounds) > 0 {
			residuals.Series = append(residuals.Series, htmlreport.Series{Name: title + ": bound", X: iterations, Y: first.bounds})
		}
		psnr.Series = append(psnr.Series, htmlreport.Series{Name: title, X: iterations, Y: first.psnr})
		var end, best, begin, last, bound float64
		for _, c := range courses[name] {
			n := float64(len(photographs))
			end, best = end+c.psnr[len(c.psnr)-1]/n, best+slices.Max(c.psnr)/n
			begin, last = begin+c.residuals[0]/n, last+c.residuals[len(c.residuals)-1]/n
			if len(c.bounds) > 0 {
				bound += c.bounds[len(c.bounds)-1] / n
				for i, r := range c.residuals {
					// The bound is one of the smallest residual so far, and residuals do not grow.
					if r > c.bounds[i] && slices.Min(c.residuals[:i+1]) > c.bounds[i] {
						words = append(words, fmt.Sprintf("CONTRADICTION: the residuals of %s are above their bound in iteration %d", title, i+1))
						break
					}
				}
			}
		}
		proven := "nothing is proven"
		if bound > 0 {
			proven = figure(bound)
		}
		table.Rows = append(table.Rows, []string{title, strconv.FormatFloat(end, 'f', 2, 64), strconv.FormatFloat(best, 'f', 2, 64), figure(begin), figure(last), proven})
		picture, err := findings.NewPicture(fmt.Sprintf("%s, %.2f dB", title, first.psnr[len(first.psnr)-1]), first.result, 3, photographs[0].H, photographs[0].W)
		if err != nil {
			return nil, err
		}
		pictures = append(pictures, picture)
		words = append(words, fmt.Sprintf("%s: the residual falls to %.2g of the first, and PSNR ends %.2f dB below its best", title, last/begin, best-end))
	}
	s.Paragraphs = []string{
		fmt.Sprintf("y = k∗x + noise, k a motion of %g pixels at %g°, circular, the noise of standard deviation %g: the paper says that its blur is a motion and does not give it in numbers. x ← P(Φ(x − τKᵀ(Kx − y))) with τ = 1/‖K‖² from Kᵀy, without acceleration, and P the projection onto [0, 1], with which a bound of the residuals is known beforehand. Denoisers are rescaled to the noise level %g, which leaves what is proven of them as it is.", o.length, o.angle, o.sigma, o.level),
		"Heun and RK4 are only nonexpansive: relaxed they are averaged. DnCNN need not converge, and nothing bounds its residuals. The bound holds for the smallest residual so far, rounding included where it is known.",
	}
	s.Tables, s.Figures = []findings.Table{table}, []findings.Figure{findings.Lines("residuals", residuals), findings.Lines("psnr", psnr)}
	s.Galleries = []findings.Gallery{{Pictures: pictures}}
	for i, w := range words {
		if i > 0 {
			s.Verdict += "; "
		}
		s.Verdict += w
	}
	s.Verdict += ". The paper shows that Euler's iterates converge, and prints no residuals."
	return &findings.Page{Title: "Deblurring by plug-and-play with the learned denoisers", Sections: []findings.Section{s}}, ctx.Err()
}

func figure(v float64) string { return strconv.FormatFloat(v, 'g', 4, 64) }

func (o *options) pictureOfBlur(dev backend.Device, p *denoisers.Photograph) (findings.Picture, error) {
	k, y, err := o.blurred(dev, p, 0)
	if err != nil {
		return findings.Picture{}, err
	}
	defer k.Free()
	defer y.Free()
	samples := make([]float32, len(p.Samples))
	if err := dev.Download(samples, y); err != nil {
		return findings.Picture{}, err
	}
	v, err := quality.PSNR(p.Samples, samples, quality.Peak(p.Samples))
	if err != nil {
		return findings.Picture{}, err
	}
	return findings.NewPicture(fmt.Sprintf("y, %.2f dB", v), samples, 3, p.H, p.W)
}
