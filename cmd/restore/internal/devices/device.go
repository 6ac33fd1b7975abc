package devices

import (
	"fmt"
	"strings"

	"github.com/averaged/imaging/cmd/restore/internal/message"
)

// Device is a device that a user can name, in JSON.
type Device struct {
	Name    string `json:"name"`
	Model   string `json:"model"`
	Threads int    `json:"threads"`
	Memory  int64  `json:"memory_limit"` // bytes; 0: no limit of its own
	// Capability is the compute capability of a CUDA card.
	Capability string `json:"capability,omitempty"`
	// Of a Vulkan device: what it is, its driver, the version of Vulkan, what its shaders compute with,
	// whether its results are those of the processor, and if not what was found.
	Kind      string   `json:"kind,omitempty"`
	Driver    string   `json:"driver,omitempty"`
	Vulkan    string   `json:"vulkan,omitempty"`
	Abilities []string `json:"abilities,omitempty"`
	Works     *bool    `json:"works,omitempty"`
	Failure   string   `json:"failure,omitempty"`
}

// About describes the device in a line.
func (d Device) About() string {
	if d.Works != nil {
		passed := "its results are those of the processor"
		if !*d.Works {
			passed = "not used: " + d.Failure
		}
		return fmt.Sprintf("%s: %s, %s, %.1f GiB, Vulkan %s with %s, driver %s; %s",
			d.Name, message.OneLine(d.Model), d.Kind, float64(d.Memory)/(1<<30), d.Vulkan, strings.Join(d.Abilities, ", "), message.OneLine(d.Driver), passed)
	}
	if d.Capability != "" {
		return fmt.Sprintf("%s: %s, %.1f GiB, compute capability %s", d.Name, d.Model, float64(d.Memory)/(1<<30), d.Capability)
	}
	return fmt.Sprintf("%s: %s, %d threads", d.Name, d.Model, d.Threads)
}
