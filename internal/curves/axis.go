package curves

import (
	"math"
	"strconv"
	"strings"

	"github.com/averaged/imaging/internal/htmlreport"
)

// span is a range of numbers; the zero value is not one, emptySpan is.
type span struct{ min, max float64 }

func emptySpan() span { return span{math.Inf(1), math.Inf(-1)} }

func (r span) empty() bool { return r.min > r.max }

func (r span) including(v float64) span { return span{math.Min(r.min, v), math.Max(r.max, v)} }

// padded returns a range that is a little wider, and never of no width.
func (r span) padded(logarithmic bool) span {
	switch {
	case r.empty():
		return span{0, 1}
	case logarithmic:
		factor := math.Max(math.Pow(r.max/r.min, 0.04), 1.05)
		return span{r.min / factor, r.max * factor}
	}
	margin := 0.04 * (r.max - r.min)
	if least := 1e-3 * math.Max(math.Abs(r.max), math.Abs(r.min)); margin < least {
		margin = least
	}
	if margin == 0 {
		margin = 1
	}
	return span{r.min - margin, r.max + margin}
}

// withRoom returns a range of which a part at the top or at the bottom lies beyond r.
func (r span) withRoom(part float64, atTop, logarithmic bool) span {
	part = math.Min(part, 0.6)
	grown := (r.max - r.min) * part / (1 - part)
	if logarithmic {
		grown = math.Pow(r.max/r.min, part/(1-part))
	}
	switch {
	case atTop && logarithmic:
		r.max *= grown
	case atTop:
		r.max += grown
	case logarithmic:
		r.min /= grown
	default:
		r.min -= grown
	}
	return r
}

// scale puts numbers of a range on an axis.
type scale struct {
	span
	logarithmic bool
}

// fraction returns how far along the axis v lies: 0 at the beginning, 1 at the end.
func (s scale) fraction(v float64) float64 {
	if s.logarithmic {
		return math.Log(v/s.min) / math.Log(s.max/s.min)
	}
	return (v - s.min) / (s.max - s.min)
}

// tick is a mark on an axis; one without a label is small.
type tick struct {
	value float64
	label string
}

// ticker chooses the ticks of a range that is not empty.
type ticker interface {
	ticks(span) []tick
}

// linearTicks marks multiples of 1, 2 or 5 times a power of ten.
type linearTicks struct {
	most  int  // of labels
	whole bool // numbers that are counted
}

func (t linearTicks) ticks(r span) []tick {
	step := htmlreport.NiceStep((r.max - r.min) / float64(t.most))
	if t.whole {
		step = math.Max(step, 1)
	}
	var list []tick
	const rounding = 1e-9
	for k := math.Ceil(r.min/step - rounding); k <= r.max/step+rounding && len(list) <= 4*t.most; k++ {
		list = append(list, tick{k * step, tickLabel(k*step, step)})
	}
	return list
}

// tickLabel writes a multiple of step with as many digits as tell it from its neighbours,
// thousands of thousands as k and M.
func tickLabel(v, step float64) string {
	if math.Abs(v) < step/2 {
		return "0"
	}
	if a := math.Abs(v); a >= 1e9 || a < 1e-3 {
		return shortNumber(v)
	}
	unit := ""
	switch {
	case step >= 1e5:
		v, step, unit = v/1e6, step/1e6, "M"
	case step >= 500:
		v, step, unit = v/1e3, step/1e3, "k"
	}
	digits := int(math.Max(0, math.Ceil(-math.Log10(step)-1e-9)))
	text := strconv.FormatFloat(v, 'f', digits, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text + unit
}

// logTicks marks powers of ten, and between them 2 and 5 times a power where there is
// room.
type logTicks struct{ most int }

// Both ends of the range must be positive.
func (t logTicks) ticks(r span) []tick {
	low, high := int(math.Floor(math.Log10(r.min))), int(math.Ceil(math.Log10(r.max)))
	labelled := []float64{1}
	switch decades := math.Log10(r.max / r.min); {
	case decades < 0.7: // not even 1, 2 and 5 are in it for sure
		return linearTicks{most: t.most}.ticks(r)
	case decades < float64(t.most)/3:
		labelled = []float64{1, 2, 5}
	}
	stride := 1
	for _, s := range []int{1, 2, 3, 5, 10, 20, 50} {
		if stride = s; high-low <= s*t.most {
			break
		}
	}
	var list []tick
	for e := low; e <= high; e++ {
		for m := 1.0; m < 10; m++ {
			mark := tick{value: m * math.Pow10(e)}
			if mark.value < r.min || mark.value > r.max {
				continue
			}
			for _, l := range labelled {
				if l == m && e%stride == 0 {
					mark.label = shortNumber(mark.value)
				}
			}
			if mark.label != "" || stride == 1 {
				list = append(list, mark)
			}
		}
	}
	return list
}

// shortNumber writes at most three digits, 0.0002 as 2e-4.
func shortNumber(v float64) string {
	text := strconv.FormatFloat(v, 'g', 3, 64)
	if a := math.Abs(v); a < 1e-3 && a > 0 {
		text = strconv.FormatFloat(v, 'e', 2, 64)
	}
	mantissa, exponent, has := strings.Cut(text, "e")
	if !has {
		return text
	}
	if strings.Contains(mantissa, ".") {
		mantissa = strings.TrimRight(strings.TrimRight(mantissa, "0"), ".")
	}
	sign := strings.TrimLeft(exponent[:1], "+")
	return mantissa + "e" + sign + strings.TrimLeft(exponent[1:], "0")
}
