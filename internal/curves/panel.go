package curves

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// panel is one of the charts that make up a picture.
type panel struct {
	title, unit  string
	xLabel       string
	logX, logY   bool
	whole        bool // the values are counted
	fromZero     bool // the vertical axis begins at 0
	x, y         span // of what is to be seen
	marks        []mark
	legend       []entry
	legendAtTop  bool
	legendAtLeft bool
}

// entry is a line of the legend.
type entry struct {
	text string
	mark mark
}

// add draws a mark over the earlier ones, with an entry in the legend if it has a text.
func (p *panel) add(text string, m mark) {
	p.marks = append(p.marks, m)
	if text != "" {
		p.legend = append(p.legend, entry{text, m})
	}
}

// addLine draws a series with a line of so many points.
func (p *panel) addLine(text string, s series, c color.Color, width float64, dots bool) {
	p.add(text, line{series: s, style: draw.LineStyle{Color: c, Width: vg.Points(width)}, dots: dots})
}

// include widens the vertical axis to the values of a series.
func (p *panel) include(s series) {
	for _, v := range s {
		if drawable(v.y, p.logY) {
			p.y = p.y.including(v.y)
		}
	}
}

// heading is the title with the unit.
func (p *panel) heading() string {
	switch {
	case p.y.empty():
		return p.title + ": no values yet"
	case p.unit != "":
		return p.title + " (" + p.unit + ")"
	}
	return p.title
}

// Lengths of a panel in points (1/72 inch).
const (
	panelWidth  = 412
	panelHeight = 254
	titleHeight = 22 // above the frame
	leftMargin  = 46 // for labels
	rightMargin = 14
	underMargin = 40
	legendLine  = 15
	legendInset = 10
	sampleWidth = 18
)

// most labels of an axis
const (
	maxX = 7
	maxY = 6
)

// paint draws the panel on its part of a page.
func (p *panel) paint(c draw.Canvas, style draw.TextStyle) {
	f := &frame{area: draw.Crop(c, leftMargin, -rightMargin, underMargin, -titleHeight)}
	heading := style
	heading.Font.Size, heading.XAlign, heading.YAlign = 12, draw.XCenter, draw.YBottom
	c.FillText(heading, vg.Point{X: f.area.Center().X, Y: f.area.Max.Y + 7}, p.heading())

	f.x = scale{p.x, p.logX}
	f.xTicks = p.ticker(p.logX, maxX, !p.logX).ticks(p.x)
	if p.y.empty() {
		f.paintAxes(style, p.xLabel)
		return
	}
	y := p.y.padded(p.logY)
	if p.fromZero {
		y.min = math.Min(0, p.y.min)
	}
	// No curve runs through the legend.
	room := float64(len(p.legend)*legendLine+legendInset) / float64(f.area.Max.Y-f.area.Min.Y)
	if len(p.legend) > 0 {
		y = y.withRoom(room, p.legendAtTop, p.logY)
	}
	f.y = scale{y, p.logY}
	f.yTicks = p.ticker(p.logY, maxY, p.whole).ticks(y)
	f.paintGrid()
	for _, m := range p.marks {
		m.paint(f)
	}
	f.paintAxes(style, p.xLabel)
	p.paintLegend(f.area, style)
}

func (p *panel) ticker(logarithmic bool, most int, whole bool) ticker {
	if logarithmic {
		return logTicks{most}
	}
	return linearTicks{most, whole}
}

// paintLegend writes what the marks are into a corner.
func (p *panel) paintLegend(area draw.Canvas, style draw.TextStyle) {
	style.YAlign = draw.YCenter
	sample, textX := area.Max.X-legendInset-sampleWidth, area.Max.X-legendInset-sampleWidth-5
	style.XAlign = draw.XRight
	if p.legendAtLeft {
		sample, textX = area.Min.X+legendInset, area.Min.X+legendInset+sampleWidth+5
		style.XAlign = draw.XLeft
	}
	y := area.Min.Y + vg.Length(len(p.legend))*legendLine - legendLine/2 + legendInset/2
	if p.legendAtTop {
		y = area.Max.Y - legendLine/2 - legendInset/2
	}
	for _, e := range p.legend {
		area.StrokeLine2(e.mark.pen(), sample, y, sample+sampleWidth, y)
		area.FillText(style, vg.Point{X: textX, Y: y}, e.text)
		y -= legendLine
	}
}
