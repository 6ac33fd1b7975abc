//go:build js && wasm

package main

import (
	"fmt"
	"image"
	"strings"
	"time"

	"github.com/averaged/imaging/restore"
)

// done is what a task has made, and what the page says of it.
type done struct {
	image  image.Image
	report *restore.Report
	suffix string // of the file's name
	blur   string // that was found
	doubts []restore.Doubt
}

// facts are lines of a list: names and values.
func (d *done) facts(took time.Duration) []any {
	var facts []any
	add := func(name, format string, args ...any) {
		facts = append(facts, []any{name, fmt.Sprintf(format, args...)})
	}
	r := d.report
	if r.Unchanged {
		add("Method", "none: the picture is as it was")
	} else {
		add("Method", "%s", r.Method)
	}
	found := "given"
	if r.Noise.Estimate != nil {
		found = "estimated, " + r.Noise.Estimate.Kind
	}
	add("Noise level", "%.3g of 255 (%s)", 255*r.Noise.Sigma, found)
	if d.blur != "" {
		add("Blur", "%s", d.blur)
	}
	if r.Iteration.Count > 0 {
		state := "converged"
		if !r.Iteration.Converged {
			state = "not converged"
		}
		add("Iterations", "%d, %s", r.Iteration.Count, state)
	}
	add("Time", "%.1f s", took.Seconds())
	return facts
}

// proof has the constants that are proven, with their theorems; it is empty where nothing is.
func (d *done) proof() string {
	var parts []string
	if n := d.report.Network.Certificate; n != nil && n.Proven {
		parts = append(parts, n.String())
	}
	if i := d.report.Iteration.Run; i != nil {
		parts = append(parts, i.Certificate.String())
	}
	return strings.Join(parts, "\n")
}

// pixelsOf are samples as a canvas has them: four bytes a pixel, the last one opaque.
func pixelsOf(pix []float32, channels int) []byte {
	plane := len(pix) / channels
	data := make([]byte, 4*plane)
	for i := range plane {
		for c := range 3 {
			data[4*i+c] = eightBits(pix[min(c, channels-1)*plane+i])
		}
		data[4*i+3] = 255
	}
	return data
}

// eightBits rounds a sample; not-a-number is black.
func eightBits(v float32) byte {
	if !(v > 0) {
		return 0
	}
	return byte(min(v, 1)*255 + 0.5)
}
