package curves

import (
	"math"
	"slices"
	"strconv"

	"github.com/averaged/imaging/train"
)

// widest is how many points a curve that changes slowly is drawn with: more than there are
// pixels across a panel would not be seen.
const widest = 700

// Training draws the metrics of a run over its iterations, which must rise: loss, PSNR of
// training and validation, learning rate and images per second, and of an averaged
// network the norm and the number of steps of each block. The noisy curves are drawn
// faintly, with a moving average over a fiftieth of the lines on top. title stands above;
// what is too long of it is cut off.
func Training(title string, metrics []train.Metrics) ([]byte, error) {
	return encode(title, panelsOf(metrics), 2)
}

func panelsOf(metrics []train.Metrics) []*panel {
	d := dataOf(metrics)
	panels := []*panel{d.loss(), d.psnr()}
	if d.blocks > 0 {
		panels = append(panels, d.norms(), d.steps())
	}
	return append(panels, d.learningRate(), d.speed())
}

// data are metrics by curve.
type data struct {
	metrics []train.Metrics
	x       span
	memory  float64 // of moving averages, in lines
	blocks  int
}

func dataOf(metrics []train.Metrics) *data {
	d := &data{metrics: metrics, x: span{0, 1}, memory: float64(len(metrics)) / 50}
	for _, m := range metrics {
		d.x = d.x.including(float64(m.Iteration))
		d.blocks = max(d.blocks, len(m.Blocks))
	}
	return d
}

// of returns a number of each line.
func (d *data) of(f func(*train.Metrics) float64) series {
	s := make(series, len(d.metrics))
	for i := range d.metrics {
		s[i] = point{float64(d.metrics[i].Iteration), f(&d.metrics[i])}
	}
	return s
}

func (d *data) panel(title, unit string) *panel {
	return &panel{title: title, unit: unit, xLabel: "iteration", x: d.x, y: emptySpan()}
}

func (d *data) loss() *panel {
	p := d.panel("Loss", "")
	p.logY, p.legendAtTop = true, true
	raw := d.of(func(m *train.Metrics) float64 { return m.Loss })
	p.include(raw)
	p.addLine("", raw, rawColour, 1, false)
	p.addLine("training", raw.smoothed(d.memory), trainingColour, 1.6, false)
	return p
}

// psnr shows the range that a run settles in: before that it is far below.
func (d *data) psnr() *panel {
	p := d.panel("PSNR", "dB, peak 1")
	raw := d.of(func(m *train.Metrics) float64 { return m.PSNR })
	p.include(raw.afterStart())
	p.addLine("", raw, rawColour, 1, false)
	p.addLine("training", raw.smoothed(d.memory), trainingColour, 1.6, false)
	for i, sigma := range d.sigmas() {
		var s series
		for _, m := range d.metrics {
			for _, v := range m.Validation {
				if v.Sigma == sigma {
					s = append(s, point{float64(m.Iteration), v.PSNR})
				}
			}
		}
		p.include(s.afterStart())
		text := "validation, σ " + strconv.FormatFloat(sigma, 'g', 3, 64)
		p.addLine(text, s, validationColours[i%len(validationColours)], 1.6, len(s) <= 60)
	}
	return p
}

// sigmas returns the noise levels of the validations, from low to high.
func (d *data) sigmas() []float64 {
	var list []float64
	for _, m := range d.metrics {
		for _, v := range m.Validation {
			if !slices.Contains(list, v.Sigma) {
				list = append(list, v.Sigma)
			}
		}
	}
	slices.Sort(list)
	return list
}

func (d *data) norms() *panel {
	p := d.panel("Norm of each block", "")
	for i := range d.blocks {
		s := d.of(func(m *train.Metrics) float64 {
			if i < len(m.Blocks) {
				return m.Blocks[i].Norm
			}
			return math.NaN()
		}).thinned(widest)
		p.include(s)
		p.addLine(d.blockText(i), s, blockColour(i, d.blocks), 1.2, false)
	}
	p.legendAtTop, p.legendAtLeft = true, true
	return p
}

// steps shows the numbers of steps of all blocks on top of each other: whole numbers would
// hide one another, and their sum is what an evaluation of the network costs.
func (d *data) steps() *panel {
	p := d.panel("Steps of each block, stacked", "")
	p.whole, p.fromZero = true, true
	below := d.of(func(*train.Metrics) float64 { return 0 }).thinned(widest)
	for i := range d.blocks {
		s := d.of(func(m *train.Metrics) float64 {
			if i < len(m.Blocks) {
				return math.Max(0, float64(m.Blocks[i].Steps))
			}
			return 0
		}).thinned(widest)
		for k := range s {
			s[k].y = math.Min(s[k].y+below[k].y, largest/2)
		}
		p.include(s)
		p.add("", band{low: below, high: s, colour: blockColour(i, d.blocks)})
		below = s
	}
	p.addLine("", below, textColour, 1, false)
	return p
}

// blockText names the first and the last block in the legend; between them the colours
// tell.
func (d *data) blockText(i int) string {
	if i == 0 || i == d.blocks-1 {
		return "block " + strconv.Itoa(i+1)
	}
	return ""
}

func (d *data) learningRate() *panel {
	p := d.panel("Learning rate", "")
	p.fromZero = true
	s := d.of(func(m *train.Metrics) float64 { return m.LearningRate })
	p.include(s)
	p.addLine("", s, trainingColour, 1.6, false)
	return p
}

func (d *data) speed() *panel {
	p := d.panel("Images per second", "")
	p.fromZero = true
	raw := d.of(func(m *train.Metrics) float64 { return m.ImagesPerSecond })
	p.include(raw)
	p.addLine("", raw, rawColour, 1, false)
	p.addLine("", raw.smoothed(d.memory), trainingColour, 1.6, false)
	return p
}
