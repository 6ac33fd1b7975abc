package evaluation

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/averaged/imaging/internal/findings"
	"github.com/averaged/imaging/internal/htmlreport"
)

const (
	// shownWorst photographs are shown of each method at each noise level.
	shownWorst = 3
	// LargestShown is the most pixels that a picture in the page has: what people see side by side.
	LargestShown = 512 * 512
	// maxFailures are told of, one by one.
	maxFailures = 10
)

// Results gathers what methods made of images, for a page.
type Results struct {
	methods  []string
	levels   []*level
	worst    int // photographs that are shown of each method at each noise level
	budget   int // of the pixels of one of their pictures
	failures []string
}

// level is what was measured at a noise level, by method.
type level struct {
	sigma  float64
	scores [][]imageScore
	worst  [][]worstImage // the lowest PSNR first
}

type imageScore struct {
	image int
	Score
}

// worstImage is a photograph as the page shows it.
type worstImage struct {
	psnr      float64
	galleries []findings.Gallery
}

// NewResults returns results of methods, by their labels, at so many noise levels.
func NewResults(methods []string, levels int) *Results {
	rows := len(methods) * levels
	worst := min(shownWorst, htmlreport.MaxPictured/3/rows)
	return &Results{methods: methods, worst: worst, budget: min(htmlreport.Budget(3*max(1, worst)*rows), LargestShown)}
}

// Level begins what is measured at a noise level.
func (r *Results) Level(sigma float64) {
	n := len(r.methods)
	r.levels = append(r.levels, &level{sigma, make([][]imageScore, n), make([][]worstImage, n)})
}

// Add takes what a method made of an image.
func (r *Results) Add(method, index int, p Photograph, s Score) error {
	l := r.levels[len(r.levels)-1]
	l.scores[method] = append(l.scores[method], imageScore{index, s})
	list := l.worst[method]
	if r.worst == 0 || len(list) == r.worst && s.PSNR >= list[len(list)-1].psnr {
		return nil
	}
	galleries, err := r.pictures(p, s)
	if err != nil {
		return err
	}
	list = append(list, worstImage{s.PSNR, galleries})
	slices.SortStableFunc(list, func(a, b worstImage) int { return cmp.Compare(a.psnr, b.psnr) })
	l.worst[method] = list[:min(len(list), r.worst)]
	return nil
}

// pictures draws an image as it is, as it was given, and as it was restored: all of it, and where it
// had to be reduced for that, the part in which the error is largest as it is.
func (r *Results) pictures(p Photograph, s Score) ([]findings.Gallery, error) {
	c := p.Clean
	windows := htmlreport.Windows(c.Width, c.Height, r.budget)
	windows[0].Label = "all of it" // a browser fits it to its column
	if len(windows) > 1 {
		part := &windows[1]
		part.X, part.Y = largestError(c.Pix, p.Restored, c.Height, c.Width, part.Height, part.Width)
		part.Label = "where the error is largest"
	}
	var galleries []findings.Gallery
	for _, window := range windows {
		g := findings.Gallery{Title: fmt.Sprintf("%s, %s: %s", p.Name, psnrOf(s.PSNR), window.Label)}
		for _, shown := range []struct {
			caption string
			pix     []float32
		}{
			{"as it is", c.Pix},
			{"as it was given, " + psnrOf(s.Noisy), p.Given.Pix},
			{"as it was restored, " + psnrOf(s.PSNR), p.Restored},
		} {
			picture, err := window.Draw(shown.pix, c.Channels, c.Height, c.Width, 1)
			if err != nil {
				return nil, err
			}
			g.Pictures = append(g.Pictures, findings.Picture{Caption: shown.caption, Picture: picture})
		}
		galleries = append(galleries, g)
	}
	return galleries, nil
}

// largestError looks for the part of h×w pixels of an image in which the squared error is largest,
// on a grid of some eighths of the part.
func largestError(clean, restored []float32, height, width, h, w int) (x, y int) {
	cell := max(1, min(h, w)/8)
	columns := (width + cell - 1) / cell
	errors := make([]float64, columns*((height+cell-1)/cell))
	for i := range clean {
		at, e := i%(height*width), float64(restored[i])-float64(clean[i])
		errors[at/width/cell*columns+at%width/cell] += e * e
	}
	most := math.Inf(-1)
	for _, top := range places(height, h, cell) {
		for _, left := range places(width, w, cell) {
			sum := 0.0
			for row := top / cell; row*cell < top+h; row++ {
				for column := left / cell; column*cell < left+w; column++ {
					sum += errors[row*columns+column]
				}
			}
			if sum > most {
				x, y, most = left, top, sum
			}
		}
	}
	return x, y
}

// places are where a part of a length can begin, in steps, and where it reaches the end.
func places(whole, part, step int) []int {
	var list []int
	for at := 0; at+part < whole; at += step {
		list = append(list, at)
	}
	return append(list, whole-part)
}

// Fail takes what went wrong with an image.
func (r *Results) Fail(text string) {
	// An image that cannot be read fails at each noise level.
	if !slices.Contains(r.failures, text) {
		r.failures = append(r.failures, text)
	}
}

// Empty tells whether nothing was measured.
func (r *Results) Empty() bool {
	return !slices.ContainsFunc(r.levels, func(l *level) bool {
		return slices.ContainsFunc(l.scores, func(s []imageScore) bool { return len(s) > 0 })
	})
}

// Sections are those of a page that begins with what was measured.
func (r *Results) Sections(about findings.Section) []findings.Section {
	if n := len(r.failures); n > 0 {
		text := strings.Join(r.failures[:min(n, maxFailures)], "; ")
		if n > maxFailures {
			text += fmt.Sprintf("; and %d more", n-maxFailures)
		}
		about.Verdict = fmt.Sprintf("Not measured: %s.", text)
	}
	if r.worst == 0 {
		about.Paragraphs = append(about.Paragraphs, "So many methods and noise levels leave no room for pictures.")
	}
	sections := []findings.Section{about}
	if len(r.levels) > 1 {
		sections = append(sections, r.byLevel())
	}
	for i, l := range r.levels {
		sections = append(sections, r.section(i, l)...)
	}
	return sections
}

// byLevel compares the means of all noise levels.
func (r *Results) byLevel() findings.Section {
	table := findings.Table{Name: "levels", Caption: "Mean PSNR in dB", Header: []string{"sigma", "before"}}
	gains := htmlreport.Chart{Title: "What each method gains", X: "sigma", Y: "mean PSNR above that before, in dB"}
	for _, k := range r.methods {
		table.Header = append(table.Header, k)
		gains.Series = append(gains.Series, htmlreport.Series{Name: k})
	}
	levels := slices.SortedStableFunc(slices.Values(r.levels), func(a, b *level) int { return cmp.Compare(a.sigma, b.sigma) })
	for _, l := range levels {
		row := []string{fmt.Sprintf("%.4g", l.sigma), "–"}
		for i, scores := range l.scores {
			if len(scores) == 0 {
				row = append(row, "–")
				continue
			}
			m := meanOf(scores)
			row[1] = decibel(m.Noisy)
			row = append(row, decibel(m.PSNR))
			s := &gains.Series[i]
			s.X, s.Y = append(s.X, l.sigma), append(s.Y, m.PSNR-m.Noisy)
		}
		table.Rows = append(table.Rows, row)
	}
	return findings.Section{Title: "By noise level", Tables: []findings.Table{table}, Figures: []findings.Figure{findings.Lines("gains", gains)}}
}

// section is about a noise level: distributions, and what was restored worst.
func (r *Results) section(number int, l *level) []findings.Section {
	suffix := "-" + strconv.Itoa(number+1)
	title := fmt.Sprintf("Noise of sigma %.4g", l.sigma)
	if l.sigma == 0 {
		title = "Without noise"
	}
	table := findings.Table{
		Name: "psnr" + suffix, Caption: "PSNR in dB, and how many images a method restored better than all others",
		Header: []string{"method", "images", "before", "mean", "least", "lower quartile", "median", "upper quartile", "largest", "SSIM", "seconds", "best of all"},
	}
	best := l.best()
	var violins []findings.Distribution
	for i, k := range r.methods {
		scores := l.scores[i]
		violin := findings.Distribution{Name: k}
		row := []string{k, strconv.Itoa(len(scores))}
		if len(scores) > 0 {
			for _, s := range scores {
				violin.Values = append(violin.Values, s.PSNR)
			}
			m, v := meanOf(scores), slices.Sorted(slices.Values(violin.Values))
			row = append(row, decibel(m.Noisy), decibel(m.PSNR))
			for _, q := range []float64{0, 0.25, 0.5, 0.75, 1} {
				row = append(row, decibel(findings.Quantile(v, q)))
			}
			row = append(row, SSIMText(m.SSIM), fmt.Sprintf("%.3f", m.Seconds), strconv.Itoa(best[i]))
		}
		for len(row) < len(table.Header) {
			row = append(row, "–")
		}
		violins = append(violins, violin)
		table.Rows = append(table.Rows, row)
	}
	sections := []findings.Section{{
		Title: title, Tables: []findings.Table{table},
		Figures: []findings.Figure{findings.Violins("psnr"+suffix, "PSNR of what was restored, by method. "+title, "PSNR in dB", violins)},
	}}
	for i, k := range r.methods {
		worst := findings.Section{Title: fmt.Sprintf("Lowest PSNR: %s, %s", k, strings.ToLower(title[:1])+title[1:])}
		for _, w := range l.worst[i] {
			worst.Galleries = append(worst.Galleries, w.galleries...)
		}
		if len(worst.Galleries) > 0 {
			sections = append(sections, worst)
		}
	}
	return sections
}

// best counts for each method the images that it restored better than all others that did.
func (l *level) best() []int {
	type winner struct {
		method int
		psnr   float64
		tied   bool
	}
	winners := map[int]winner{}
	for i, scores := range l.scores {
		for _, s := range scores {
			w, some := winners[s.image]
			switch {
			case !some || s.PSNR > w.psnr:
				winners[s.image] = winner{i, s.PSNR, false}
			case s.PSNR == w.psnr:
				w.tied = true
				winners[s.image] = w
			}
		}
	}
	counts := make([]int, len(l.scores))
	for _, w := range winners {
		if !w.tied {
			counts[w.method]++
		}
	}
	return counts
}

func meanOf(scores []imageScore) Score {
	var t Total
	for _, s := range scores {
		t.Add(s.Score)
	}
	return t.Mean()
}

// decibel is a PSNR in a table of them.
func decibel(v float64) string {
	if math.IsInf(v, 1) {
		return "∞"
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// psnrOf is a PSNR under a picture.
func psnrOf(v float64) string { return decibel(v) + " dB" }
