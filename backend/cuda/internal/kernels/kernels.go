// Package kernels holds the CUDA kernels of backend/cuda: their sources, and the PTX that build.sh makes of
// them.
package kernels

import (
	"embed"
	"fmt"
)

//go:generate bash build.sh

//go:embed *.ptx
var files embed.FS

// architectures are those that build.sh makes PTX for, times ten, the newest first.
var architectures = []int{80, 70}

// PTX returns the PTX of a source, named without .cu, for the newest architecture that a GPU of the given
// compute capability, times ten, can run. It is an error if there is none.
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
