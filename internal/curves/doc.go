// Package curves draws the curves of a training as a PNG: what package train writes
// into metrics.jsonl, and what its range test finds.
//
// It stands apart from package train so that whoever trains without a picture does not
// take on a plotting library and a font. It takes the drawing layer (vg) of gonum/plot, and
// not the plots on top, which would bring seven more formats and a dozen fonts into every
// program: see RATIONALE.md.
//
// The functions are pure: equal arguments give equal bytes. They are safe for concurrent
// use. Numbers that cannot be drawn (not a number, infinite, beyond ±1e30, or not
// positive on a logarithmic scale) leave a gap.
package curves
