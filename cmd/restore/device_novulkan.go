//go:build novulkan

package main

import "github.com/averaged/imaging/backend"

// bestVulkan returns the device that --backend auto takes by Vulkan: none.
func bestVulkan(*app, int) backend.Device { return nil }

// openVulkan says that this program knows nothing of Vulkan.
func (c *computing) openVulkan(int) (backend.Device, error) {
	return nil, usagef("--backend %s: this build has no Vulkan support; use --backend cpu", c.backend)
}

// vulkanDevices returns no devices, as a matter of the build.
func vulkanDevices() ([]device, string) { return nil, "" }

// deviceFault is for devices that this program does not have.
func deviceFault(backend.Device, error) (string, bool) { return "", false }
