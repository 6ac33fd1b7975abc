package driver

import "fmt"

// Kind is what a device is made of.
type Kind uint32

const (
	Other Kind = iota
	Integrated
	Discrete
	Virtual
	Processor // computes on the CPU
)

func (k Kind) String() string {
	switch k {
	case Integrated:
		return "integrated GPU"
	case Discrete:
		return "discrete GPU"
	case Virtual:
		return "virtual GPU"
	case Processor:
		return "software on the processor"
	}
	return "device"
}

// GPU is what is known of a device without opening it.
type GPU struct {
	Index         int    // in the order of the loader
	Name          string // "AMD Radeon RX 6600"
	Driver        string // its name and version, "radv Mesa 24.1.0"
	Kind          Kind
	Major, Minor  int    // of the Vulkan that it has
	Vendor, Model uint32 // of PCI
	// Memory is the size of its own memory, or of the part of the host's that it may use; Free is how
	// much of that the driver says is left, Memory if it does not say.
	Memory, Free int64
	// What its compute shaders have.
	Float64, Float16, CooperativeMatrix bool
	SharedMemory                        int // bytes of a workgroup
	Invocations                         int // of a workgroup
	// MaxBinding is the largest number of bytes that a shader can reach through one binding.
	MaxBinding int64
	// OffsetAlignment is what offsets of bindings are multiples of.
	OffsetAlignment int64
	// Bindings and PushBytes are how many storage buffers, and bytes of constants, a shader may have.
	Bindings, PushBytes int
}

// Version is the version of Vulkan, such as 1.3.
func (g GPU) Version() string { return fmt.Sprintf("%d.%d", g.Major, g.Minor) }
