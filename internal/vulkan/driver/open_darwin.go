//go:build darwin && (amd64 || arm64)

package driver

// The loader, or MoltenVK without one, where Homebrew and the Vulkan SDK put them.
var libraryNames = []string{
	"libvulkan.1.dylib", "libMoltenVK.dylib",
	"/opt/homebrew/lib/libvulkan.1.dylib", "/opt/homebrew/lib/libMoltenVK.dylib",
	"/usr/local/lib/libvulkan.1.dylib", "/usr/local/lib/libMoltenVK.dylib",
}
