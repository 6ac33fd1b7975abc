package main

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/averaged/imaging/experiments/internal/cifar"
	"github.com/averaged/imaging/internal/findings"
	"github.com/averaged/imaging/internal/htmlreport"
)

// published are the paper's numbers: clean accuracy and area under the curve.
var published = map[string]struct {
	title       string
	clean, area float64
}{
	nonExpNet: {"NonExpNet", 0.842, 0.234},
	resNet:    {"ResNet", 0.902, 0.142},
	resNetAT:  {"ResNet-AT", 0.901, 0.304},
}

func percent(v float64) string { return strconv.FormatFloat(100*v, 'f', 1, 64) + " %" }
func number(v float64) string  { return strconv.FormatFloat(v, 'g', 4, 64) }

func (o *options) report(models []*trained, data *cifar.Data) *findings.Page {
	return &findings.Page{
		Title:    "Adversarial robustness: NonExpNet, ResNet and ResNet-AT on CIFAR-10",
		Sections: []findings.Section{o.robustness(models, data), o.proof(models), o.training(models)},
	}
}

// robustness has the paper's figure and its numbers.
func (o *options) robustness(models []*trained, data *cifar.Data) findings.Section {
	epsilons := []float64(o.epsilons)
	chart := htmlreport.Chart{
		Title: "Robust accuracy", X: "size ε of the attack (ℓ²)", Y: "share that is still classified right",
		Note: fmt.Sprintf("ℓ²-PGD with %d iterations on %d test pictures; certified: proven for all %d test pictures. Adversarial training was within ε = 0.5", o.steps, min(o.attacked, data.Test.Len()), data.Test.Len()),
	}
	table := findings.Table{
		Name: "robustness", Caption: "Clean accuracy on the test pictures, and area under the curve: the mean robust accuracy over ε",
		Header: []string{"network", "parameters", "epochs", "clean", "paper", "area", "paper", "certified area"},
	}
	curves := findings.Table{Name: "curves", Caption: "Robust accuracy by ε", Header: []string{"ε"}}
	for _, e := range epsilons {
		curves.Rows = append(curves.Rows, []string{number(e)})
	}
	add := func(name string, y []float64, line htmlreport.Series) {
		line.Name = name
		chart.Series = append(chart.Series, line)
		curves.Header = append(curves.Header, name)
		for i := range y {
			curves.Rows[i] = append(curves.Rows[i], number(y[i]))
		}
	}
	for _, m := range models {
		p := published[m.name]
		robust := m.result.robust()
		add(p.title, robust, htmlreport.Series{X: epsilons, Y: robust})
		certified := "–"
		if m.name == nonExpNet {
			x, y := m.result.certifiedLine()
			add(p.title+", certified", m.result.certifiedCurve(), htmlreport.Series{X: x, Y: y})
			certified = number(m.result.certifiedArea())
		}
		table.Rows = append(table.Rows, []string{
			p.title, strconv.Itoa(m.run.Network().Count()), number(m.run.Epochs()), percent(m.result.clean()), percent(p.clean),
			number(area(epsilons, robust)), number(p.area), certified,
		})
	}
	return findings.Section{
		Title: "Robust accuracy (the paper's section 4.2)",
		Paragraphs: []string{
			fmt.Sprintf("%d training pictures, %d held out, %d test pictures. Classifiers learn with the multi-class hinge loss of margin %g; attacks ascend the cross-entropy, from a random point of the ball, with steps of %g radii, and count as successful when any iterate is classified otherwise.",
				data.Training.Len(), data.HeldOut.Len(), data.Test.Len(), models[0].run.Config().Margin, 2.5/float64(o.steps)),
			"The paper says neither over which ε its areas are nor how long its steps are: compare the order of the areas, and not their values.",
		},
		Tables: []findings.Table{table, curves}, Figures: []findings.Figure{findings.Lines("robustness", chart)},
		Verdict: verdict(models, epsilons),
	}
}

// certifiedCurve is the certified accuracy at each ε.
func (r *robustness) certifiedCurve() []float64 {
	y := make([]float64, len(r.Epsilons))
	for i, e := range r.Epsilons {
		y[i] = r.certified(e)
	}
	return y
}

// certifiedLine is the certified accuracy from 0 to the largest certified radius, finely, and 0 from
// there to the largest ε: most radii may be far below the second ε.
func (r *robustness) certifiedLine() (x, y []float64) {
	most := 0.0
	for of := range r.Margins {
		most = max(most, r.radius(of))
	}
	const points = 100
	for i := range points + 1 {
		x = append(x, most*float64(i)/points)
		y = append(y, r.certified(x[i]))
	}
	if end := r.Epsilons[len(r.Epsilons)-1]; most < end {
		x, y = append(x, math.Nextafter(most, end), end), append(y, 0, 0)
	}
	return x, y
}

// certifiedArea is the mean of the certified accuracy over all ε up to the largest: that of the
// certified radii, exactly.
func (r *robustness) certifiedArea() float64 {
	end, sum := r.Epsilons[len(r.Epsilons)-1], 0.0
	for of := range r.Margins {
		sum += min(r.radius(of), end)
	}
	return sum / end / float64(len(r.Margins))
}

// beyond returns the radius beyond which that share of the pictures that are right is certified.
func (r *robustness) beyond(share float64) float64 {
	var radii []float64
	for of, m := range r.Margins {
		if m > 0 {
			radii = append(radii, r.radius(of))
		}
	}
	if len(radii) == 0 {
		return 0
	}
	slices.Sort(radii)
	return radii[int((1-share)*float64(len(radii)-1))]
}

// verdict compares the order of the areas with the paper's, and the clean accuracies.
func verdict(models []*trained, epsilons []float64) string {
	var words []string
	for i, a := range models {
		for _, b := range models[i+1:] {
			ours := area(epsilons, a.result.robust()) - area(epsilons, b.result.robust())
			theirs := published[a.name].area - published[b.name].area
			relation, agrees := "a larger", "as"
			if ours < 0 {
				relation = "a smaller"
			} else if ours == 0 {
				relation = "the same"
			}
			if ours*theirs <= 0 {
				agrees = "not as"
			}
			words = append(words, fmt.Sprintf("%s has %s area than %s, %s in the paper", published[a.name].title, relation, published[b.name].title, agrees))
		}
	}
	for _, m := range models {
		c := m.run.Config()
		words = append(words, fmt.Sprintf("%s is at %s clean after %.3g epochs, for the paper's %s after %.3g", published[m.name].title,
			percent(m.result.clean()), m.run.Epochs(), percent(published[m.name].clean), 40_000*128/47_500.))
		if m.run.Iteration() < c.Iterations {
			words = append(words, fmt.Sprintf("its training has come to iteration %d of %d", m.run.Iteration(), c.Iterations))
		}
	}
	return strings.Join(words, "; ") + "."
}

// proof has what is certified, and the attacks on it.
func (o *options) proof(models []*trained) findings.Section {
	s := findings.Section{Title: "What is proven (not in the paper)", Paragraphs: []string{
		"A score's difference to another changes by at most √2·L times the length of a perturbation, L the Lipschitz constant of all scores. L is the product of proven bounds of the parts: norms of the 1×1 layers, of the means over pixels, and 1 for each stage, whose steps are short enough for the proven norms of their filters. What is computed is float32; the claim is about exact arithmetic.",
	}}
	table := findings.Table{Name: "lipschitz", Caption: "Proven Lipschitz constants", Header: []string{"network", "part", "bound"}}
	for _, m := range models {
		for _, f := range m.result.Factors {
			table.Rows = append(table.Rows, []string{published[m.name].title, f.Name, number(f.Bound)})
		}
		table.Rows = append(table.Rows, []string{published[m.name].title, "all", number(m.result.Lipschitz)})
		if m.name != nonExpNet {
			continue
		}
		r := m.result
		s.Paragraphs = append(s.Paragraphs, fmt.Sprintf("Of NonExpNet, L = %.4g: half of the test pictures that it has right are certified up to ε = %.3g and more, a tenth of them up to %.3g and more. %s of all are certified at ε = 0.05, %s at 0.25.", r.Lipschitz, r.beyond(0.5), r.beyond(0.1), percent(r.certified(0.05)), percent(r.certified(0.25))))
		if s.Verdict = fmt.Sprintf("Of %d attacks within the certified radius of their picture, none succeeded.", r.Inside); r.Contradictions > 0 {
			s.Verdict = fmt.Sprintf("CONTRADICTION: of %d attacks within the certified radius of their picture %d succeeded.", r.Inside, r.Contradictions)
		}
	}
	s.Tables = []findings.Table{table}
	return s
}

// training has the curves of the trainings.
func (o *options) training(models []*trained) findings.Section {
	loss := htmlreport.Chart{Title: "Loss in training", X: "iteration", Y: "hinge loss", LogY: true}
	accuracy := htmlreport.Chart{Title: "Accuracy on the held-out pictures", X: "iteration", Y: "share"}
	steps := htmlreport.Chart{Title: "Integration steps of NonExpNet as it learns", X: "iteration", Y: "steps of all blocks", Note: "15 in the beginning; the paper's has 63 in the end"}
	table := findings.Table{Name: "trainings", Caption: "All trainings; the smallest loss on the held-out pictures chooses the weight decay", Header: []string{"network", "weight decay", "iterations", "of", "held-out loss", "held-out accuracy", "chosen"}}
	for _, m := range models {
		for i, r := range m.all {
			name := fmt.Sprintf("%s, λ = %g", published[m.name].title, r.Config().Optimiser.WeightDecay)
			var l, a, s htmlreport.Series
			l.Name, a.Name, s.Name = name, name, name
			for _, p := range r.Lines() {
				l.X, l.Y = append(l.X, float64(p.Iteration)), append(l.Y, p.Loss)
				if p.Steps > 0 {
					s.X, s.Y = append(s.X, float64(p.Iteration)), append(s.Y, float64(p.Steps))
				}
				if p.HeldOutLoss > 0 {
					a.X, a.Y = append(a.X, float64(p.Iteration)), append(a.Y, p.HeldOutAccuracy)
				}
			}
			loss.Series, accuracy.Series = append(loss.Series, l), append(accuracy.Series, a)
			if len(s.X) > 0 {
				steps.Series = append(steps.Series, s)
			}
			row := []string{published[m.name].title, number(r.Config().Optimiser.WeightDecay), strconv.Itoa(r.Iteration()), strconv.Itoa(r.Config().Iterations), number(m.heldOut[i].loss), percent(m.heldOut[i].accuracy), ""}
			if r == m.run {
				row[6] = "yes"
			}
			table.Rows = append(table.Rows, row)
		}
	}
	s := findings.Section{Title: "Training", Tables: []findings.Table{table}, Figures: []findings.Figure{findings.Lines("loss", loss), findings.Lines("held-out", accuracy)}}
	if len(steps.Series) > 0 {
		s.Figures = append(s.Figures, findings.Lines("steps", steps))
	}
	c := models[0].run.Config()
	s.Paragraphs = []string{fmt.Sprintf("Optimiser %s, learning rates %s from %g to %g, batches of %d, random erasing, crops and flips.", c.Optimiser.Name, c.Schedule.Name, c.Schedule.Minimum, c.Schedule.Maximum, c.Batch)}
	if c.Form.Gain > 0 {
		s.Paragraphs = append(s.Paragraphs, fmt.Sprintf("Unlike the paper's, the 1×1 layers begin as %g times isometries that take middle grey to 0.", c.Form.Gain))
	}
	for _, m := range models {
		switch c := m.run.Config(); {
		case c.Attack.Iterations > 0:
			s.Paragraphs = append(s.Paragraphs, fmt.Sprintf("%s: each batch is attacked by %d iterations within ε = %g, for the paper's 7 within 0.5.", published[m.name].title, c.Attack.Iterations, c.Epsilon))
		case c.Form.StageLimit > 0:
			s.Paragraphs = append(s.Paragraphs, fmt.Sprintf("%s: filters of the stages whose norm an update has made larger than %g are scaled back to it, where the paper splits steps without a limit.", published[m.name].title, c.Form.StageLimit))
		}
	}
	return s
}
