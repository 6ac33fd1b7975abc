// Package driver calls Vulkan without cgo: some fifty functions of the loader's library, behind a
// Device that computes. It knows nothing of images. A program on a machine without Vulkan, or for a
// platform on which purego does not work, gets ErrNoDriver from List.
package driver
