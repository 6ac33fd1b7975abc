package findings

import (
	"fmt"
	"html"
	"math"
	"slices"
	"strings"

	"github.com/averaged/imaging/internal/htmlreport"
)

// Distribution is a list of numbers with a name.
type Distribution struct {
	Name   string
	Values []float64
}

// maxPoints values of a distribution are drawn each; more would only blacken it.
const maxPoints = 50

// Violins draws the density of each distribution to both sides, with a box from the lower to the
// upper quartile and a line at the median, and few values as points. Values that are not finite are
// left out.
func Violins(name, caption, unit string, list []Distribution) Figure {
	const width, height, top, bottom, left = 640, 330, 12.0, 280.0, 60.0
	low, high := math.Inf(1), math.Inf(-1)
	sorted := make([][]float64, len(list))
	for i, d := range list {
		sorted[i] = finite(d.Values)
		for _, v := range sorted[i] {
			low, high = math.Min(low, v), math.Max(high, v)
		}
	}
	if low > high {
		low, high = 0, 1
	}
	room := 0.05*(high-low) + 1e-9*(1+math.Abs(high))
	low, high = low-room, high+room
	y := func(v float64) float64 { return bottom + (v-low)/(high-low)*(top-bottom) }
	var b strings.Builder
	begin(&b, width, height, caption)
	step := htmlreport.NiceStep((high - low) / 6)
	for k := math.Ceil(low / step); k*step <= high; k++ {
		fmt.Fprintf(&b, `<path class="grid" d="M%g %.1fH628" stroke="#d9dadc"/><text x="%g" y="%.1f" dy="4" text-anchor="end">%.6g</text>`+"\n", left, y(k*step), left-6, y(k*step), k*step)
	}
	fmt.Fprintf(&b, `<text transform="translate(14 146) rotate(-90)" text-anchor="middle">%s</text>`+"\n", html.EscapeString(unit))
	column := (628 - left) / float64(max(1, len(list)))
	for i, d := range list {
		x := left + column*(float64(i)+0.5)
		value, class := colour(i)
		fmt.Fprintf(&b, `<g class="%s">`+"\n", class)
		fmt.Fprintf(&b, `<text x="%.1f" y="300" text-anchor="middle">%s</text>`+"\n", x, html.EscapeString(shortened(d.Name, int(column/letter))))
		if s := sorted[i]; len(s) > 0 {
			var right, back []string
			for _, p := range density(s) {
				w := p[1] * 0.42 * column
				right = append(right, fmt.Sprintf("%.1f,%.1f", x+w, y(p[0])))
				back = append(back, fmt.Sprintf("%.1f,%.1f", x-w, y(p[0])))
			}
			slices.Reverse(back)
			q1, q2, q3 := Quantile(s, 0.25), Quantile(s, 0.5), Quantile(s, 0.75)
			about := fmt.Sprintf("%s: %d, the middle half from %.2f to %.2f around %.2f, all from %.2f to %.2f", d.Name, len(s), q1, q3, q2, s[0], s[len(s)-1])
			fmt.Fprintf(&b, `<polygon points="%s" fill="%s" fill-opacity="0.35" stroke="%s"><title>%s</title></polygon>`+"\n", strings.Join(append(right, back...), " "), value, value, html.EscapeString(about))
			if len(s) <= maxPoints {
				for _, v := range s {
					fmt.Fprintf(&b, `<circle cx="%.1f" cy="%.1f" r="2" fill="%s"/>`+"\n", x+0.2*column, y(v), value)
				}
			}
			fmt.Fprintf(&b, `<path class="box" d="M%.1f %.1fH%.1fV%.1fH%.1fz" fill="#fff" stroke="#1c1d1f"/><path class="median" d="M%.1f %.1fh12" stroke="#1c1d1f" stroke-width="2"/>`+"\n", x-6, y(q3), x+6, y(q1), x-6, x-6, y(q2))
			fmt.Fprintf(&b, `<text x="%.1f" y="316" text-anchor="middle" fill="#5d6166">%.2f</text>`+"\n", x, q2)
		}
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	return Figure{Name: name, Caption: caption + ". The median stands below.", SVG: b.String()}
}

func finite(values []float64) []float64 {
	var s []float64
	for _, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			s = append(s, v)
		}
	}
	slices.Sort(s)
	return s
}

// Quantile of sorted values, at least one, by linear interpolation; p is in [0, 1].
func Quantile(s []float64, p float64) float64 {
	at := p * float64(len(s)-1)
	i := int(at)
	if at == float64(i) || s[i] == s[i+1] { // which may be infinite
		return s[i]
	}
	return s[i] + (at-float64(i))*(s[i+1]-s[i])
}

// density is a kernel estimate with a Gaussian of Silverman's width, at points from the least to
// the largest value, its maximum scaled to 1.
func density(s []float64) [][2]float64 {
	mean, variance := 0.0, 0.0
	for _, v := range s {
		mean += v / float64(len(s))
	}
	for _, v := range s {
		variance += (v - mean) * (v - mean) / float64(len(s))
	}
	spread := math.Min(math.Sqrt(variance), (Quantile(s, 0.75)-Quantile(s, 0.25))/1.34)
	if !(spread > 0) {
		spread = math.Sqrt(variance)
	}
	width := math.Max(0.9*spread*math.Pow(float64(len(s)), -0.2), 1e-9*(1+math.Abs(mean)))
	const n = 60
	points, most := make([][2]float64, n+1), 0.0
	for i := range points {
		at := s[0] + (s[len(s)-1]-s[0])*float64(i)/n
		sum := 0.0
		for _, v := range s {
			d := (v - at) / width
			sum += math.Exp(-d * d / 2)
		}
		points[i], most = [2]float64{at, sum}, math.Max(most, sum)
	}
	for i := range points {
		points[i][1] /= most
	}
	return points
}
