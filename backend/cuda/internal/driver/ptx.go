package driver

import (
	"bytes"
	"regexp"
)

// entry matches the head of a kernel in PTX: its name, and its parameters if it has any.
var entry = regexp.MustCompile(`\.entry\s+([A-Za-z_$%][A-Za-z0-9_$]*)\s*(?:\(([^)]*)\))?`)

// parameters returns the number of parameters of every kernel in the text of a PTX file:
// the driver cannot be asked for it before CUDA 12.4, and reads as many as there are.
func parameters(ptx []byte) map[string]int {
	counts := map[string]int{}
	for _, m := range entry.FindAllSubmatch(ptx, -1) {
		counts[string(m[1])] = bytes.Count(m[2], []byte(".param"))
	}
	return counts
}
