package main

import (
	"cmp"
	"context"
	"fmt"
	"image"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/averaged/imaging/internal/findings"
	"github.com/averaged/imaging/internal/htmlreport"
)

const (
	// mostWorst photographs are shown of each method at each noise level.
	mostWorst = 3
	// largestShown is the most pixels that a picture in the page has: what people see side by side.
	largestShown = 512 * 512
	// mostFailures are told of, one by one.
	mostFailures = 10
)

// evalPage gathers what --html writes. A nil one gathers nothing.
type evalPage struct {
	path  string
	force bool
	run   *comparison
	about findings.Section

	levels   []*evalLevel
	worst    int // photographs that are shown of each method at each noise level
	budget   int // of the pixels of one of their pictures
	failures []string
}

// evalLevel is what was measured at a noise level, by contender.
type evalLevel struct {
	sigma  float64
	scores [][]imageScore
	worst  [][]worstImage // the lowest PSNR first
}

type imageScore struct {
	image int
	score
}

// worstImage is a photograph as the page shows it.
type worstImage struct {
	psnr      float64
	galleries []findings.Gallery
}

// newPage checks --html against all that eval reads; nil if there is none.
func (e *evaluation) newPage(folder string, images []source) (*evalPage, error) {
	if e.html == "" {
		return nil, nil
	}
	files := append([]string{folder}, e.files()...)
	for _, s := range images {
		files = append(files, s.path)
	}
	if err := checkReport("html", e.html, e.force, files); err != nil {
		return nil, err
	}
	return &evalPage{path: e.html, force: e.force}, nil
}

// begin says what is going to be measured.
func (p *evalPage) begin(r *comparison) error {
	if p == nil {
		return nil
	}
	p.run = r
	rows := len(r.contenders) * len(r.flags.sigmas)
	p.worst = min(mostWorst, htmlreport.MostPictured/3/rows)
	p.budget = min(htmlreport.Budget(3*max(1, p.worst)*rows), largestShown)
	p.about = findings.Section{Title: "What was measured", Paragraphs: []string{r.taskInWords()}}
	if r.kernel != nil {
		k, err := kernelPicture(*r.kernel)
		if err != nil {
			return err
		}
		p.show("The kernel "+name(r.flags.kernelFile), k)
	}
	if r.mask != nil {
		m, err := maskPicture(r.mask)
		if err != nil {
			return err
		}
		p.show("The mask "+name(r.flags.maskFile)+": white pixels are missing", m)
	}
	networks := findings.Table{Name: "networks", Caption: "The networks", Header: []string{"method", "network", "file", "licence", "checksum"}}
	for _, k := range r.contenders {
		if n := k.networkInfo(); n != nil {
			networks.Rows = append(networks.Rows, []string{k.label, oneLine(n.Name), name(n.File), oneLine(n.Licence), oneLine(n.Checksum)})
		}
	}
	if len(networks.Rows) > 0 {
		p.about.Tables = append(p.about.Tables, networks)
	}
	return nil
}

// show adds a picture to what was measured.
func (p *evalPage) show(caption string, picture htmlreport.Picture) {
	p.about.Galleries = append(p.about.Galleries, findings.Gallery{Pictures: []findings.Picture{{Caption: caption, Picture: picture}}})
}

func maskPicture(m *image.Gray) (htmlreport.Picture, error) {
	size, pix := m.Bounds().Size(), make([]float32, len(m.Pix))
	for i, v := range m.Pix {
		pix[i] = float32(v) / 255
	}
	return htmlreport.Windows(size.X, size.Y, largestShown)[0].Draw(pix, 1, size.Y, size.X, 1)
}

// taskInWords says how images were degraded and measured.
func (r *comparison) taskInWords() string {
	f := r.flags
	var b strings.Builder
	switch f.task.value {
	case evalDeblur:
		fmt.Fprintf(&b, "Deblurring, with each method as the prior: blurred circularly with the kernel %s, then with Gaussian noise. Images: %d.", name(f.kernelFile), len(r.images))
	case evalInpaint:
		which := "those that are white in " + name(f.maskFile)
		if r.mask == nil {
			which = decimal(100*float64(f.missing)) + " % of them, drawn by the seed of the image"
		}
		fmt.Fprintf(&b, "Inpainting, with each method as the prior: pixels are missing, %s. They are black in what was given, and all pixels count. Images: %d.", which, len(r.images))
	default:
		fmt.Fprintf(&b, "Denoising: Gaussian noise was added. Images: %d.", len(r.images))
	}
	fmt.Fprintf(&b, " The seed of the first image is %d, that of the next %d, and so on.", f.seed, f.seed+1)
	switch {
	case f.blind:
		b.WriteString(" The methods estimated the noise level.")
	case slices.Max(f.sigmas) > 0:
		b.WriteString(" The methods were told the noise level.")
	}
	return b.String() + " PSNR has the peak 1, and nothing is clipped."
}

// level begins what is measured at a noise level.
func (p *evalPage) level(sigma float64) {
	if p != nil {
		n := len(p.run.contenders)
		p.levels = append(p.levels, &evalLevel{sigma, make([][]imageScore, n), make([][]worstImage, n)})
	}
}

// add takes what a contender made of an image.
func (p *evalPage) add(contender, index int, path string, d degraded, restored []float32, s score) error {
	if p == nil {
		return nil
	}
	l := p.levels[len(p.levels)-1]
	l.scores[contender] = append(l.scores[contender], imageScore{index, s})
	list := l.worst[contender]
	if p.worst == 0 || len(list) == p.worst && s.psnr >= list[len(list)-1].psnr {
		return nil
	}
	galleries, err := p.pictures(path, d, restored, s)
	if err != nil {
		return err
	}
	list = append(list, worstImage{s.psnr, galleries})
	slices.SortStableFunc(list, func(a, b worstImage) int { return cmp.Compare(a.psnr, b.psnr) })
	l.worst[contender] = list[:min(len(list), p.worst)]
	return nil
}

// pictures draws an image as it is, as it was given, and as it was restored: all of it, and where it
// had to be reduced for that, the part in which the error is largest as it is.
func (p *evalPage) pictures(path string, d degraded, restored []float32, s score) ([]findings.Gallery, error) {
	c := d.clean
	windows := htmlreport.Windows(c.Width, c.Height, p.budget)
	windows[0].Label = "all of it" // a browser fits it to its column
	if len(windows) > 1 {
		part := &windows[1]
		part.X, part.Y = largestError(c.Pix, restored, c.Channels, c.Height, c.Width, part.Height, part.Width)
		part.Label = "where the error is largest"
	}
	var galleries []findings.Gallery
	for _, window := range windows {
		g := findings.Gallery{Title: fmt.Sprintf("%s, %s: %s", name(path), psnrOf(s.psnr), window.Label)}
		for _, shown := range []struct {
			caption string
			pix     []float32
		}{
			{"as it is", c.Pix},
			{"as it was given, " + psnrOf(s.noisy), d.given.Pix},
			{"as it was restored, " + psnrOf(s.psnr), restored},
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
func largestError(clean, restored []float32, channels, height, width, h, w int) (x, y int) {
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

// fail takes what went wrong with an image.
func (p *evalPage) fail(text string) {
	// An image that cannot be read fails at each noise level.
	if p != nil && !slices.Contains(p.failures, text) {
		p.failures = append(p.failures, text)
	}
}

// write writes the page once all has been measured, or ended as it was.
func (p *evalPage) write(ctx context.Context, a *app, ended error) error {
	if p == nil || !slices.ContainsFunc(p.levels, func(l *evalLevel) bool {
		return slices.ContainsFunc(l.scores, func(s []imageScore) bool { return len(s) > 0 })
	}) {
		return ended
	}
	return a.writeReport(ctx, p.path, p.force, p.page().Write, ended)
}

func (p *evalPage) page() *findings.Page {
	if n := len(p.failures); n > 0 {
		text := strings.Join(p.failures[:min(n, mostFailures)], "; ")
		if n > mostFailures {
			text += fmt.Sprintf("; and %d more", n-mostFailures)
		}
		p.about.Verdict = fmt.Sprintf("Not measured: %s.", text)
	}
	if p.worst == 0 {
		p.about.Paragraphs = append(p.about.Paragraphs, "So many methods and noise levels leave no room for pictures.")
	}
	page := &findings.Page{
		Title: "restore eval: " + p.run.flags.task.value, Command: commandLine(p.run.app.args), Program: "restore " + thisBuild().Version,
		Sections: []findings.Section{p.about},
	}
	if len(p.levels) > 1 {
		page.Sections = append(page.Sections, p.byLevel())
	}
	for i, l := range p.levels {
		page.Sections = append(page.Sections, p.section(i, l)...)
	}
	return page
}

// byLevel compares the means of all noise levels.
func (p *evalPage) byLevel() findings.Section {
	table := findings.Table{Name: "levels", Caption: "Mean PSNR in dB", Header: []string{"sigma", "before"}}
	gains := htmlreport.Chart{Title: "What each method gains", X: "sigma", Y: "mean PSNR above that before, in dB"}
	for _, k := range p.run.contenders {
		table.Header = append(table.Header, k.label)
		gains.Series = append(gains.Series, htmlreport.Series{Name: k.label})
	}
	levels := slices.SortedStableFunc(slices.Values(p.levels), func(a, b *evalLevel) int { return cmp.Compare(a.sigma, b.sigma) })
	for _, l := range levels {
		row := []string{fmt.Sprintf("%.4g", l.sigma), "–"}
		for i, scores := range l.scores {
			if len(scores) == 0 {
				row = append(row, "–")
				continue
			}
			m := meanOf(scores)
			row[1] = decibel(m.noisy)
			row = append(row, decibel(m.psnr))
			s := &gains.Series[i]
			s.X, s.Y = append(s.X, l.sigma), append(s.Y, m.psnr-m.noisy)
		}
		table.Rows = append(table.Rows, row)
	}
	return findings.Section{Title: "By noise level", Tables: []findings.Table{table}, Figures: []findings.Figure{findings.Lines("gains", gains)}}
}

// section is about a noise level: distributions, and what was restored worst.
func (p *evalPage) section(number int, l *evalLevel) []findings.Section {
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
	for i, k := range p.run.contenders {
		scores := l.scores[i]
		violin := findings.Distribution{Name: k.label}
		row := []string{k.label, strconv.Itoa(len(scores))}
		if len(scores) > 0 {
			for _, s := range scores {
				violin.Values = append(violin.Values, s.psnr)
			}
			m, v := meanOf(scores), slices.Sorted(slices.Values(violin.Values))
			row = append(row, decibel(m.noisy), decibel(m.psnr))
			for _, q := range []float64{0, 0.25, 0.5, 0.75, 1} {
				row = append(row, decibel(findings.Quantile(v, q)))
			}
			row = append(row, ssimOf(m.ssim), fmt.Sprintf("%.3f", m.seconds), strconv.Itoa(best[i]))
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
	for i, k := range p.run.contenders {
		worst := findings.Section{Title: fmt.Sprintf("Lowest PSNR: %s, %s", k.label, strings.ToLower(title[:1])+title[1:])}
		for _, w := range l.worst[i] {
			worst.Galleries = append(worst.Galleries, w.galleries...)
		}
		if len(worst.Galleries) > 0 {
			sections = append(sections, worst)
		}
	}
	return sections
}

// best counts for each contender the images that it restored better than all others that did.
func (l *evalLevel) best() []int {
	type winner struct {
		contender int
		psnr      float64
		tied      bool
	}
	winners := map[int]winner{}
	for i, scores := range l.scores {
		for _, s := range scores {
			w, some := winners[s.image]
			switch {
			case !some || s.psnr > w.psnr:
				winners[s.image] = winner{i, s.psnr, false}
			case s.psnr == w.psnr:
				w.tied = true
				winners[s.image] = w
			}
		}
	}
	counts := make([]int, len(l.scores))
	for _, w := range winners {
		if !w.tied {
			counts[w.contender]++
		}
	}
	return counts
}

func meanOf(scores []imageScore) score {
	var t total
	for _, s := range scores {
		t.add(s.score)
	}
	return t.mean()
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
