package message

import (
	"fmt"
	"slices"
	"strings"
)

// DidYouMean is "did you mean …? ", with the words that a mistyped one is nearest to, or nothing
// if it is near none.
func DidYouMean(typed string, words []string) string {
	// One slip in a short word, two in a longer one.
	least := 2
	if len(typed) > 4 {
		least = 3
	}
	var near []string
	for _, w := range words {
		d := slips(strings.ToLower(typed), strings.ToLower(w))
		if strings.HasPrefix(w, strings.ToLower(typed)) {
			d = min(d, 1) // not finished
		}
		switch {
		case d < least:
			least, near = d, []string{w}
		case d == least && near != nil && !slices.Contains(near, w):
			near = append(near, w)
		}
	}
	if near == nil || len(typed) < 2 { // of one letter everything is near
		return ""
	}
	return fmt.Sprintf("did you mean %s? ", Or(near))
}

// slips is how many letters have to be inserted, left out, replaced or exchanged with their
// neighbour to make b of a (the distance of optimal string alignment).
func slips(a, b string) int {
	x, y := []rune(a), []rune(b)
	before, last := make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := range x {
		row := make([]int, len(y)+1)
		row[0] = i + 1
		for j := range y {
			replace := last[j]
			if x[i] != y[j] {
				replace++
			}
			row[j+1] = min(replace, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(y)]
}

// Or is a list of words, such as "a, b or c".
func Or(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
