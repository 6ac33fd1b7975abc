package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/averaged/imaging/internal/racing"
)

// baseline is the racer that the others are compared with.
const baseline = "ONNX Runtime"

// readResults reads lines of JSON.
func readResults(in io.Reader) ([]Result, error) {
	var results []Result
	for d := json.NewDecoder(in); ; {
		var r Result
		err := d.Decode(&r)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("result %d: %w", len(results)+1, err)
		}
		if !(r.MedianMS > 0) || r.Height < 1 || r.Width < 1 {
			return nil, fmt.Errorf("result %d, of %q, has no time or no size", len(results)+1, r.Racer)
		}
		results = append(results, r)
	}
	if len(results) == 0 {
		return nil, errors.New("no results")
	}
	return results, nil
}

// raceTable has one row for each racer: the median of what its rounds gave and their
// range, and how many times as fast as the baseline it was, the median of the ratios
// within a round.
func raceTable(results []Result) string {
	names, rounds := group(results, func(r Result) string { return r.Racer })
	rows := [][]string{{"racer", "ms", "rounds from … to", "GFLOP/s", "times " + baseline, "peak MiB", "largest difference"}}
	for _, name := range names {
		own := rounds[name]
		ms := sorted(own, func(r Result) float64 { return r.MedianMS })
		var ratios []float64
		if reference := rounds[baseline]; len(reference) == len(own) {
			for i, r := range own {
				ratios = append(ratios, reference[i].MedianMS/r.MedianMS)
			}
		}
		ratio := "–"
		if len(ratios) > 0 {
			ratio = fmt.Sprintf("%.2f", racing.Median(ratios))
		}
		most := "–"
		d := 0.0
		for _, r := range own {
			if r.Difference != nil {
				d = max(d, *r.Difference)
				most = fmt.Sprintf("%.1e", d)
			}
		}
		rows = append(rows, []string{
			name, fmt.Sprintf("%.0f", racing.Median(ms)), fmt.Sprintf("%.0f … %.0f", ms[0], ms[len(ms)-1]),
			fmt.Sprintf("%.0f", racing.Median(sorted(own, func(r Result) float64 { return r.GFLOPS }))),
			ratio, peak(own), most,
		})
	}
	return markdown(rows)
}

// scalingTable has one row for each size of picture, with the time per pixel and what
// that is of the first row's.
func scalingTable(results []Result) string {
	names, rounds := group(results, func(r Result) string { return fmt.Sprintf("%d×%d", r.Width, r.Height) })
	rows := [][]string{{"picture", "megapixels", "ms", "ns per pixel", "of the first", "peak MiB"}}
	first := 0.0
	for _, name := range names {
		own := rounds[name]
		pixels := float64(own[0].Height) * float64(own[0].Width)
		perPixel := func(r Result) float64 { return r.MedianMS * 1e6 / (pixels * float64(max(1, r.Pictures))) }
		cost := racing.Median(sorted(own, perPixel))
		if first == 0 {
			first = cost
		}
		rows = append(rows, []string{
			name, fmt.Sprintf("%.2f", pixels/1e6),
			fmt.Sprintf("%.0f", racing.Median(sorted(own, func(r Result) float64 { return r.MedianMS }))),
			fmt.Sprintf("%.0f", cost), fmt.Sprintf("%.3f", cost/first), peak(own),
		})
	}
	return markdown(rows)
}

// group sorts results by a name, in the order in which the names come up.
func group(results []Result, name func(Result) string) (names []string, by map[string][]Result) {
	by = map[string][]Result{}
	for _, r := range results {
		n := name(r)
		if len(by[n]) == 0 {
			names = append(names, n)
		}
		by[n] = append(by[n], r)
	}
	return names, by
}

func sorted(results []Result, of func(Result) float64) []float64 {
	x := make([]float64, len(results))
	for i, r := range results {
		x[i] = of(r)
	}
	slices.Sort(x)
	return x
}

// peak is the largest of all rounds.
func peak(results []Result) string {
	mib := sorted(results, func(r Result) float64 { return r.PeakMiB })
	if most := mib[len(mib)-1]; most > 0 {
		return fmt.Sprintf("%.0f", most)
	}
	return "–"
}

// markdown returns a table with its columns aligned, the first row being its head.
func markdown(rows [][]string) string {
	width := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			width[i] = max(width[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for k, row := range rows {
		for i, cell := range row {
			space := strings.Repeat(" ", width[i]-utf8.RuneCountInString(cell))
			if i == 0 {
				fmt.Fprintf(&b, "| %s%s |", cell, space)
			} else {
				fmt.Fprintf(&b, " %s%s |", space, cell)
			}
		}
		b.WriteByte('\n')
		if k > 0 {
			continue
		}
		b.WriteByte('|')
		for i, w := range width {
			if i == 0 {
				b.WriteString(strings.Repeat("-", w+2) + "|")
			} else {
				b.WriteString(strings.Repeat("-", w+1) + ":|")
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}
