package curves

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/averaged/imaging/train"
)

// RangeTest draws the loss of a range test over the learning rate, both on logarithmic
// scales, with the two rates that it found.
func RangeTest(title string, r train.RangeReport) ([]byte, error) {
	p := &panel{
		title: "Loss", xLabel: "learning rate",
		logX: true, logY: true, x: emptySpan(), y: emptySpan(), legendAtTop: true, legendAtLeft: true,
	}
	var raw, smoothed series
	for _, q := range r.Points {
		if !drawable(q.LearningRate, true) {
			continue
		}
		p.x = p.x.including(q.LearningRate)
		raw = append(raw, point{q.LearningRate, q.Loss})
		smoothed = append(smoothed, point{q.LearningRate, q.Smoothed})
	}
	if p.x.empty() {
		p.x = span{1, 10}
	}
	p.x = p.x.padded(true)
	p.include(raw)
	p.include(smoothed)
	p.addLine("", raw, rawColour, 1, false)
	p.addLine("loss, smoothed", smoothed, trainingColour, 1.6, false)
	for i, found := range []struct {
		text string
		rate float64
	}{{"minimum", r.Minimum}, {"maximum", r.Maximum}} {
		if drawable(found.rate, true) {
			p.add(found.text+" "+shortNumber(found.rate), upright{found.rate, dashed(validationColours[i])})
		}
	}
	return encode(title, []*panel{p}, 1)
}

func dashed(c color.Color) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: vg.Points(1.4), Dashes: []vg.Length{vg.Points(5), vg.Points(3)}}
}
