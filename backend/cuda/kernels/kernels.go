// Package kernels holds the CUDA kernels of backend/cuda: their sources, and the PTX that
// build.sh makes of them.
package kernels

import (
	"embed"
	"fmt"
	"slices"
	"strings"
)

//go:generate bash build.sh

//go:embed *.ptx
var files embed.FS

// architectures are those that build.sh makes PTX for, times ten, the newest first.
var architectures = []int{80, 70}

// Files returns the names of the sources, without .cu, that there is PTX of.
func Files() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	var names []string
	for _, e := range entries {
		name, _, _ := strings.Cut(e.Name(), ".")
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// PTX returns the PTX of one of the Files for the newest architecture that a GPU of the
// given compute capability, times ten, can run. The error says that there is none.
func PTX(file string, capability int) ([]byte, error) {
	for _, arch := range architectures {
		if arch > capability {
			continue
		}
		if ptx, err := files.ReadFile(fmt.Sprintf("%s.sm_%d.ptx", file, arch)); err == nil {
			return ptx, nil
		}
	}
	return nil, fmt.Errorf("no PTX of %s for compute capability %d.%d", file, capability/10, capability%10)
}
