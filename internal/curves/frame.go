package curves

import (
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// frame is the area of a panel that curves are drawn in, with its scales.
type frame struct {
	area           draw.Canvas
	x, y           scale
	xTicks, yTicks []tick
}

// at returns the place of a point, which may lie outside.
func (f *frame) at(p point) vg.Point {
	return vg.Point{X: f.area.X(f.x.fraction(p.x)), Y: f.area.Y(f.y.fraction(p.y))}
}

// Lengths of ticks, and between ticks and their labels.
const (
	tickLength = 4
	tickGap    = 3
)

// paintGrid draws a line at every labelled tick.
func (f *frame) paintGrid() {
	style := draw.LineStyle{Color: gridColour, Width: 0.5}
	for _, t := range f.xTicks {
		if x := f.area.X(f.x.fraction(t.value)); t.label != "" && f.area.ContainsX(x) {
			f.area.StrokeLine2(style, x, f.area.Min.Y, x, f.area.Max.Y)
		}
	}
	for _, t := range f.yTicks {
		if y := f.area.Y(f.y.fraction(t.value)); t.label != "" && f.area.ContainsY(y) {
			f.area.StrokeLine2(style, f.area.Min.X, y, f.area.Max.X, y)
		}
	}
}

// paintAxes draws the lower and the left axis with their labels.
func (f *frame) paintAxes(style draw.TextStyle, xLabel string) {
	pen := draw.LineStyle{Color: textColour, Width: 0.8}
	left, bottom := f.area.Min.X, f.area.Min.Y
	f.area.StrokeLine2(pen, left, bottom, f.area.Max.X, bottom)
	f.area.StrokeLine2(pen, left, bottom, left, f.area.Max.Y)
	length := func(t tick) vg.Length {
		if t.label == "" {
			return tickLength / 2
		}
		return tickLength
	}
	style.XAlign, style.YAlign = draw.XCenter, draw.YTop
	for _, t := range f.xTicks {
		if x := f.area.X(f.x.fraction(t.value)); f.area.ContainsX(x) {
			f.area.StrokeLine2(pen, x, bottom, x, bottom-length(t))
			f.area.FillText(style, vg.Point{X: x, Y: bottom - tickLength - tickGap}, t.label)
		}
	}
	line := style.FontExtents().Height
	f.area.FillText(style, vg.Point{X: f.area.Center().X, Y: bottom - tickLength - 2*tickGap - line}, xLabel)
	style.XAlign, style.YAlign = draw.XRight, draw.YCenter
	for _, t := range f.yTicks {
		if y := f.area.Y(f.y.fraction(t.value)); f.area.ContainsY(y) {
			f.area.StrokeLine2(pen, left, y, left-length(t), y)
			f.area.FillText(style, vg.Point{X: left - tickLength - tickGap, Y: y}, t.label)
		}
	}
}
