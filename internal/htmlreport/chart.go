package htmlreport

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Chart is a plot of lines over one axis.
type Chart struct {
	Title string
	// X and Y name the axes, with their units.
	X, Y string
	// LogX and LogY are for logarithmic scales, on which only what is positive is drawn.
	LogX, LogY bool
	Series     []Series
	// Note stands below.
	Note string
}

// Series is a line of a chart. A point that is not finite, or not positive on a logarithmic
// scale, leaves a gap.
type Series struct {
	Name string
	X, Y []float64
}

// The axes in the view box that page.html gives a plot, 640×300.
const left, right, top, bottom = 72.0, 628.0, 12.0, 254.0

const (
	maxMarks = 60 // points of a line that are marked; more would only blacken it
	maxTicks = 6  // of a linear axis, or decades of a logarithmic one
)

// polyline is a series in the view box, a piece for each run without a gap.
type polyline struct {
	Name, Class string
	Pieces      []string // points, as SVG has them
	Marks       []mark
}

type mark struct{ X, Y, Text string }

// tick is a line of the grid.
type tick struct{ At, Text string }

// Lines are the series in the view box.
func (c *Chart) Lines() []polyline {
	x, y := c.axes()
	lines := make([]polyline, len(c.Series))
	for i, s := range c.Series {
		line := polyline{Name: s.Name, Class: fmt.Sprintf("s%d", i)}
		var piece []string
		end := func() {
			if len(piece) > 0 {
				line.Pieces = append(line.Pieces, strings.Join(piece, " "))
			}
			piece = nil
		}
		for j, v := range s.X {
			if !x.shows(v) || !y.shows(s.Y[j]) {
				end()
				continue
			}
			m := mark{coordinate(x.place(v, left, right)), coordinate(y.place(s.Y[j], bottom, top)), fmt.Sprintf("%s: %s at %s", s.Name, figure(s.Y[j]), figure(v))}
			piece = append(piece, m.X+","+m.Y)
			if len(s.X) <= maxMarks {
				line.Marks = append(line.Marks, m)
			}
		}
		end()
		lines[i] = line
	}
	return lines
}

// XTicks and YTicks are the lines of the grid.
func (c *Chart) XTicks() []tick {
	x, _ := c.axes()
	return x.ticks(left, right)
}

// YTicks: see XTicks.
func (c *Chart) YTicks() []tick {
	_, y := c.axes()
	return y.ticks(bottom, top)
}

// Rows are the numbers, for the table: those of X, and of each series that has the X.
func (c *Chart) Rows() [][]string {
	longest := 0
	for i, s := range c.Series {
		if len(s.X) > len(c.Series[longest].X) {
			longest = i
		}
	}
	var rows [][]string
	for j, x := range c.Series[longest].X {
		row := []string{figure(x)}
		for _, s := range c.Series {
			if j < len(s.Y) && s.X[j] == x && !math.IsNaN(s.Y[j]) && !math.IsInf(s.Y[j], 0) {
				row = append(row, figure(s.Y[j]))
			} else {
				row = append(row, "–")
			}
		}
		rows = append(rows, row)
	}
	return rows
}

// axis is a range of numbers that is drawn.
type axis struct {
	low, high float64 // low < high; of a logarithmic one powers of ten
	log       bool
}

// axes are those that hold all points.
func (c *Chart) axes() (x, y axis) {
	x, y = axis{math.Inf(1), math.Inf(-1), c.LogX}, axis{math.Inf(1), math.Inf(-1), c.LogY}
	for _, s := range c.Series {
		for j := range s.X {
			x.include(s.X[j])
			y.include(s.Y[j])
		}
	}
	if !y.log {
		y.include(0)
	}
	x.close(false)
	y.close(true)
	return x, y
}

func (a *axis) shows(v float64) bool {
	return !math.IsNaN(v) && !math.IsInf(v, 0) && (!a.log || v > 0)
}

func (a *axis) include(v float64) {
	if a.shows(v) {
		a.low, a.high = math.Min(a.low, v), math.Max(a.high, v)
	}
}

// close makes a range of what was included; with room it ends at a line of the grid.
func (a *axis) close(room bool) {
	if a.low > a.high {
		a.low, a.high = 1, 10
	}
	switch {
	case a.log && room:
		a.low, a.high = math.Pow(10, math.Floor(math.Log10(a.low))), math.Pow(10, math.Ceil(math.Log10(a.high)))
		if a.low == a.high {
			a.high *= 10
		}
	case a.log && a.low == a.high:
		a.low, a.high = a.low/2, a.high*2
	case a.low == a.high:
		a.high++
	case room:
		step := a.step()
		a.high = step * math.Ceil(a.high/step)
	}
}

// step is the distance of the lines of a linear grid.
func (a *axis) step() float64 { return NiceStep((a.high - a.low) / maxTicks) }

// NiceStep returns the smallest of 1, 2 and 5 times a power of ten that is not below v, but for
// rounding.
func NiceStep(v float64) float64 {
	power := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5} {
		if m*power >= v*(1-1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// place maps a number to between two coordinates.
func (a *axis) place(v, from, to float64) float64 {
	low, high := a.low, a.high
	if a.log {
		v, low, high = math.Log(v), math.Log(low), math.Log(high)
	}
	return from + (v-low)/(high-low)*(to-from)
}

func (a *axis) ticks(from, to float64) []tick {
	var ticks []tick
	add := func(v float64) {
		if v >= a.low*(1-1e-9) && v <= a.high*(1+1e-9) {
			ticks = append(ticks, tick{coordinate(a.place(v, from, to)), figure(v)})
		}
	}
	if a.log {
		first, last := int(math.Floor(math.Log10(a.low))), int(math.Ceil(math.Log10(a.high)))
		every := 1 + (last-first)/(maxTicks+1)
		for e := first; e <= last; e += every {
			for _, m := range []float64{1, 2, 5} {
				if m == 1 || last-first <= 2 {
					add(m * math.Pow(10, float64(e)))
				}
			}
		}
		return ticks
	}
	step := a.step()
	for i := math.Ceil(a.low / step); i*step <= a.high*(1+1e-9); i++ {
		add(i * step)
	}
	return ticks
}

// coordinate writes a place in the view box.
func coordinate(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

// figure writes a number for people.
func figure(v float64) string {
	if v == math.Trunc(v) && v >= 1000 && v < 1e6 {
		return strconv.FormatFloat(v, 'f', 0, 64)
	}
	return strconv.FormatFloat(v, 'g', 3, 64)
}
