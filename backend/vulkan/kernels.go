package vulkan

//go:generate bash kernels/build.sh
