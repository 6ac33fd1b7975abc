// Package fallback computes what the kernels of a device lack: by other operations of the device, or from
// the numbers of its arrays on the host. Fused kernels are tested against it.
package fallback
