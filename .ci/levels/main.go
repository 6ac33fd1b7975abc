// Command levels prints what .ci/run needs to know of the CPU device in this
// build on this processor: the levels that it has, one a line and the best last,
// then "runs" and the level that a new device really runs.
package main

import (
	"fmt"
	"os"

	"github.com/averaged/imaging/backend/cpu"
)

func main() {
	selected, err := cpu.Selected()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	device := cpu.New()
	defer device.Close()
	if got := device.Description().Model; got != selected.String() {
		fmt.Fprintf(os.Stderr, "a new device runs level %q, but %q is selected\n", got, selected)
		os.Exit(1)
	}
	for _, l := range cpu.Levels() {
		fmt.Println(l)
	}
	fmt.Println("runs", selected)
}
