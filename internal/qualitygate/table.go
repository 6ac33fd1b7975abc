package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"text/tabwriter"
)

// row is what the pictures of a kind came to, in dB.
type row struct {
	kind        string
	pictures    int
	clean       bool    // nothing was to be removed; before, gain, worse and worst are none
	before      float64 // mean PSNR of inputs
	mean        float64 // mean PSNR of results
	least       float64 // lowest of them
	gain        float64 // mean
	worse01     int     // pictures that come out more than 0.1 dB below their input
	worse1      int     // more than 1 dB
	worst       float64 // lowest gain
	below45     int     // results below 45 dB, where nothing was to be removed
	same        int     // pictures of which no sample changed
	compared    bool
	beside      float64 // mean difference from the other picture
	worstBeside float64 // lowest difference
}

func rowOf(kind string, scores []score) row {
	r := row{kind: kind, pictures: len(scores), least: math.Inf(1), worst: math.Inf(1), worstBeside: math.Inf(1)}
	compared := 0
	for _, s := range scores {
		n := float64(len(scores))
		r.clean = s.clean
		r.before += s.before / n
		r.mean += s.after / n
		r.gain += (s.after - s.before) / n
		r.least = min(r.least, s.after)
		r.worst = min(r.worst, s.after-s.before)
		if s.same {
			r.same++
		}
		switch {
		case s.clean && s.after < 45:
			r.below45++
		case s.clean:
		case s.after < s.before-1:
			r.worse1++
			r.worse01++
		case s.after < s.before-0.1:
			r.worse01++
		}
		if s.compared {
			compared++
			r.beside += s.beside
			r.worstBeside = min(r.worstBeside, s.beside)
		}
	}
	if compared > 0 {
		r.compared = true
		r.beside /= float64(compared)
	}
	return r
}

// together are the rows of groups, as far as all their kinds were measured.
func together(pictures []score, measured []kind) []row {
	var rows []row
	for _, g := range groups {
		complete := !slices.ContainsFunc(g.kinds, func(name string) bool {
			return !slices.ContainsFunc(measured, func(k kind) bool { return k.name == name })
		})
		if !complete {
			continue
		}
		var scores []score
		for _, s := range pictures {
			if slices.Contains(g.kinds, s.kind) {
				s.compared = false // with different things
				scores = append(scores, s)
			}
		}
		rows = append(rows, rowOf(g.name, scores))
	}
	return rows
}

// table is for people.
func table(rows []row) string {
	var b strings.Builder
	w := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(w, "kind\tpictures\tinput\tresult\tleast\tgain\tworse by 0.1\tby 1\tworst\tbelow 45\tsame\tbeside\tworst\t")
	for _, r := range rows {
		fmt.Fprintf(w, "%s\t%d\t", r.kind, r.pictures)
		if r.clean {
			fmt.Fprintf(w, "\t%.2f\t%.2f\t\t\t\t\t%d\t", r.mean, r.least, r.below45)
		} else {
			fmt.Fprintf(w, "%.2f\t%.2f\t%.2f\t%.2f\t%d\t%d\t%.2f\t\t", r.before, r.mean, r.least, r.gain, r.worse01, r.worse1, r.worst)
		}
		fmt.Fprintf(w, "%d\t", r.same)
		if r.compared {
			fmt.Fprintf(w, "%.2f\t%.2f\t", r.beside, r.worstBeside)
		} else {
			fmt.Fprint(w, "\t\t")
		}
		fmt.Fprintln(w)
	}
	w.Flush() // to memory
	return b.String()
}

// list has a line of comma-separated values for each picture.
func list(pictures []score) string {
	var b strings.Builder
	fmt.Fprintln(&b, "kind,picture,input,result,beside,same")
	for _, s := range pictures {
		before, beside := fmt.Sprintf("%.3f", s.before), ""
		if s.clean {
			before = ""
		}
		if s.compared {
			beside = fmt.Sprintf("%.3f", s.beside)
		}
		fmt.Fprintf(&b, "%s,%s,%s,%.3f,%s,%t\n", s.kind, s.name, before, s.after, beside, s.same)
	}
	return b.String()
}
