//go:build novulkan

package devices

import (
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/cmd/restore/internal/message"
)

// bestVulkan returns the device that --backend auto takes by Vulkan: none.
func bestVulkan(*message.Printer, int) backend.Device { return nil }

// openVulkan says that this program knows nothing of Vulkan.
func (c *Choice) openVulkan(*message.Printer, int) (backend.Device, error) {
	return nil, unavailable("--backend %s: this build has no Vulkan support; use --backend cpu", c.Backend)
}

// Vulkan returns no devices, as a matter of the build.
func Vulkan() ([]Device, string) { return nil, "" }

// fault is for devices that this program does not have.
func fault(backend.Device, error) (string, bool) { return "", false }
