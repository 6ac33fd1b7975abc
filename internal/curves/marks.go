package curves

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// mark is something that is drawn between the axes.
type mark interface {
	paint(*frame)
	// colour and dashes of its sample in the legend.
	pen() draw.LineStyle
}

// line joins the points of a series, with gaps where one cannot be drawn. A point between
// two gaps is a dot; with dots set, all points are.
type line struct {
	series series
	style  draw.LineStyle
	dots   bool
}

func (l line) pen() draw.LineStyle { return l.style }

func (l line) paint(f *frame) {
	dot := draw.GlyphStyle{Color: l.style.Color, Radius: 1.5 * l.style.Width, Shape: draw.CircleGlyph{}}
	var run []vg.Point
	end := func() {
		if l.dots || len(run) == 1 {
			for _, p := range run {
				f.area.DrawGlyph(dot, p) // if it lies inside
			}
		}
		f.area.StrokeLines(l.style, f.area.ClipLinesXY(run)...)
		run = nil
	}
	for _, p := range l.series {
		if drawable(p.y, f.y.logarithmic) {
			run = append(run, f.at(p))
		} else {
			end()
		}
	}
	end()
}

// band fills what is between two series over the same x, of numbers that can be drawn.
type band struct {
	low, high series
	colour    color.Color
}

func (b band) pen() draw.LineStyle { return draw.LineStyle{Color: b.colour, Width: 6} }

func (b band) paint(f *frame) {
	var outline []vg.Point
	for _, p := range b.low {
		outline = append(outline, f.at(p))
	}
	for i := len(b.high) - 1; i >= 0; i-- {
		outline = append(outline, f.at(b.high[i]))
	}
	if len(outline) > 0 {
		f.area.FillPolygon(b.colour, f.area.ClipPolygonXY(outline))
	}
}

// upright is a vertical line at x.
type upright struct {
	x     float64
	style draw.LineStyle
}

func (u upright) pen() draw.LineStyle { return u.style }

func (u upright) paint(f *frame) {
	if x := f.area.X(f.x.fraction(u.x)); f.area.ContainsX(x) {
		f.area.StrokeLine2(u.style, x, f.area.Min.Y, x, f.area.Max.Y)
	}
}
