package findings

import (
	"fmt"
	"html"
	"strings"

	"github.com/averaged/imaging/internal/htmlreport"
)

// dashes of the lines, so that the legend can be read without colours.
var dashes = []string{"", "8 4", "2 4", "10 3 2 3", "5 5", "1 3", "14 4"}

// Lines draws a chart. What lies on the axes is that of package htmlreport.
func Lines(name string, c htmlreport.Chart) Figure {
	lines := c.Lines()
	height := 300 + 18*((len(lines)+1)/2)
	var b strings.Builder
	begin(&b, 640, height, c.Title)
	for _, t := range c.XTicks() {
		fmt.Fprintf(&b, `<path class="grid" d="M%s 12V254" stroke="#d9dadc"/><text x="%s" y="270" text-anchor="middle">%s</text>`+"\n", t.At, t.At, html.EscapeString(t.Text))
	}
	for _, t := range c.YTicks() {
		fmt.Fprintf(&b, `<path class="grid" d="M72 %sH628" stroke="#d9dadc"/><text x="66" y="%s" dy="4" text-anchor="end">%s</text>`+"\n", t.At, t.At, html.EscapeString(t.Text))
	}
	fmt.Fprintf(&b, `<text x="350" y="290" text-anchor="middle">%s</text>`+"\n", html.EscapeString(c.X))
	fmt.Fprintf(&b, `<text transform="translate(14 133) rotate(-90)" text-anchor="middle">%s</text>`+"\n", html.EscapeString(c.Y))
	for i, l := range lines {
		value, class := colour(i)
		pen := fmt.Sprintf(`fill="none" stroke="%s" stroke-width="2" stroke-dasharray="%s"`, value, dashes[i%len(dashes)])
		fmt.Fprintf(&b, `<g class="%s">`+"\n", class)
		for _, piece := range l.Pieces {
			fmt.Fprintf(&b, `<polyline points="%s" %s/>`+"\n", piece, pen)
		}
		for _, m := range l.Marks {
			fmt.Fprintf(&b, `<circle cx="%s" cy="%s" r="2.5" fill="%s"><title>%s</title></circle>`+"\n", m.X, m.Y, value, html.EscapeString(m.Text))
		}
		x, y := 72+290*(i%2), 308+18*(i/2)
		fmt.Fprintf(&b, `<path class="key" d="M%d %dh28" %s/><text x="%d" y="%d">%s</text>`+"\n</g>\n", x, y, pen, x+34, y+4, html.EscapeString(shortened(l.Name, 250/letter)))
	}
	b.WriteString("</svg>\n")
	return Figure{Name: name, Caption: strings.TrimSpace(c.Title + ". " + c.Note), SVG: b.String()}
}
