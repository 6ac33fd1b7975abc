// Command levels prints what .ci/run needs to know of the CPU device in this build on this
// processor: the instruction sets that it has, one a line and the best last, then "runs"
// and the one that a new device really runs.
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
	device, err := cpu.Open()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	defer device.Close()
	if got := device.Description().Model; got != selected.String() {
		fmt.Fprintf(os.Stderr, "a new device runs %q, but %q is selected\n", got, selected)
		os.Exit(1)
	}
	for _, l := range cpu.InstructionSets() {
		fmt.Println(l)
	}
	fmt.Println("runs", selected)
}
