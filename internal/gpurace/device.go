package main

import (
	"fmt"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cuda"
	"github.com/averaged/imaging/backend/vulkan"
)

// gpu is which device races.
type gpu struct {
	kind      string // "cuda" or "vulkan"
	number    int
	precision string // "float32", "tf32" or "half"
}

var (
	precisions       = map[string]cuda.Precision{"float32": cuda.Float32, "tf32": cuda.TF32, "half": cuda.Half}
	vulkanPrecisions = map[string]vulkan.Precision{"float32": vulkan.Float32, "half": vulkan.Half}
)

func (g gpu) open() (backend.Device, error) {
	unknown := fmt.Errorf("%s has no precision %q", g.kind, g.precision)
	switch g.kind {
	case "cuda":
		p, ok := precisions[g.precision]
		if !ok {
			return nil, unknown
		}
		return cuda.Open(g.number, cuda.UsePrecision(p))
	case "vulkan":
		p, ok := vulkanPrecisions[g.precision]
		if !ok {
			return nil, unknown
		}
		return vulkan.Open(g.number, vulkan.UsePrecision(p))
	}
	return nil, fmt.Errorf("device %q, must be cuda or vulkan", g.kind)
}

// trains tells whether the device makes gradients.
func (g gpu) trains() bool { return g.kind == "cuda" }

// racer is the device's name in the lines that come out.
func (g gpu) racer() string {
	if g.kind == "vulkan" {
		return "this library, Vulkan"
	}
	return "this library"
}

func (g gpu) shownPrecision() string { return precisions[g.precision].String() }
