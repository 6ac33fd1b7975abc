//go:build linux && !android && (amd64 || arm64)

package driver

var libraryNames = []string{"libvulkan.so.1", "libvulkan.so"}
