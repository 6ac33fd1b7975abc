package main

import (
	"fmt"
	"strconv"
	"strings"
)

// bound is a column of the file of limits.
type bound struct {
	column string
	value  func(r row) float64
	most   bool // the limit is the most that is allowed, and else the least
	// Measured columns are what a run gave, the mean less the row's slack, as -write-limits writes them;
	// others are aims.
	measured bool
}

var bounds = []bound{
	{"mean", func(r row) float64 { return r.mean }, false, true},
	{"worse 0.1", func(r row) float64 { return float64(r.worse01) }, true, true},
	{"worse 1", func(r row) float64 { return float64(r.worse1) }, true, true},
	{"least", func(r row) float64 { return r.least }, false, false},
	{"below 45", func(r row) float64 { return float64(r.below45) }, true, true},
	{"same", func(r row) float64 { return float64(r.same) }, false, false},
	{"beside", func(r row) float64 { return r.beside }, false, false},
	{"worst beside", func(r row) float64 { return r.worstBeside }, false, false},
}

// limit is a row of the file: for "full" or "quick", and a kind. Bounds that are not given are nil.
type limit struct {
	size, kind string
	slack      *float64   // nil: all of the row are aims
	values     []*float64 // as bounds
}

type limits []limit

// none stands where a row has no limit.
const none = "-"

// parseLimits reads lines of columns with tabs between them: size, kind, slack, and those of bounds. Lines
// that begin with # are comments.
func parseLimits(content string) (limits, error) {
	var list limits
	seen := make(map[string]bool)
	for i, line := range strings.Split(content, "\n") {
		if line == "" || line[0] == '#' {
			continue
		}
		l, err := parseLimit(line)
		if err == nil && seen[l.size+l.kind] {
			err = fmt.Errorf("%s %s again", l.size, l.kind)
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		seen[l.size+l.kind] = true
		list = append(list, l)
	}
	return list, nil
}

func parseLimit(line string) (limit, error) {
	fields := strings.Split(line, "\t")
	if len(fields) != 3+len(bounds) {
		return limit{}, fmt.Errorf("%d columns, want %d", len(fields), 3+len(bounds))
	}
	l := limit{size: fields[0], kind: fields[1], values: make([]*float64, len(bounds))}
	if l.size != "full" && l.size != "quick" {
		return limit{}, fmt.Errorf("%q, want full or quick", l.size)
	}
	if !known(l.kind) {
		return limit{}, fmt.Errorf("there is no kind %q", l.kind)
	}
	var err error
	if l.slack, err = number("slack", fields[2]); err != nil {
		return limit{}, err
	}
	for i, b := range bounds {
		if l.values[i], err = number(b.column, fields[3+i]); err != nil {
			return limit{}, err
		}
	}
	return l, nil
}

// number is nil for none.
func number(column, text string) (*float64, error) {
	if text == none {
		return nil, nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || v-v != 0 {
		return nil, fmt.Errorf("%s is %q, want a number or %s", column, text, none)
	}
	return &v, nil
}

func known(name string) bool {
	for _, k := range kinds {
		if k.name == name {
			return true
		}
	}
	for _, g := range groups {
		if g.name == name {
			return true
		}
	}
	return false
}

// missed says of each limit that rows miss which one it is, a line each.
func (l limits) missed(size string, rows []row) []string {
	var list []string
	for _, r := range rows {
		for _, one := range l {
			if one.size != size || one.kind != r.kind {
				continue
			}
			for i, b := range bounds {
				if one.values[i] == nil {
					continue
				}
				v, limit := b.value(r), *one.values[i]
				switch {
				case b.most && v > limit:
					list = append(list, fmt.Sprintf("%s: %s is %.4g, at most %.4g is allowed", r.kind, b.column, v, limit))
				case !b.most && !(v >= limit):
					list = append(list, fmt.Sprintf("%s: %s is %.2f, at least %.4g is wanted", r.kind, b.column, v, limit))
				}
			}
		}
	}
	return list
}

// rewritten is the content of a file with the measured limits of a run in place of those that it
// has. Rows without a slack stay as they are, and columns without a limit stay without.
func rewritten(content, size string, rows []row) string {
	lines := strings.Split(content, "\n")
	for i, line := range lines {
		l, err := parseLimit(line)
		if err != nil || l.size != size || l.slack == nil {
			continue
		}
		fields := strings.Split(line, "\t")
		for _, r := range rows {
			if r.kind != l.kind {
				continue
			}
			for k, b := range bounds {
				switch {
				case !b.measured || l.values[k] == nil:
				case b.most:
					fields[3+k] = fmt.Sprint(b.value(r))
				default:
					fields[3+k] = fmt.Sprintf("%.2f", b.value(r)-*l.slack)
				}
			}
		}
		lines[i] = strings.Join(fields, "\t")
	}
	return strings.Join(lines, "\n")
}
