package driver

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// The sizes that a C compiler gives the structures of the specification.
func TestStructuresAreLaidOutAsInC(t *testing.T) {
	if unsafe.Sizeof(uintptr(0)) != 8 {
		t.Skip("Vulkan is called on 64-bit processors only")
	}
	for name, size := range map[string][2]uintptr{
		"VkPhysicalDeviceLimits":            {unsafe.Sizeof(physicalDeviceLimits{}), 504},
		"VkPhysicalDeviceProperties2":       {unsafe.Sizeof(physicalDeviceProperties2{}), 16 + 824},
		"VkPhysicalDeviceFeatures2":         {unsafe.Sizeof(physicalDeviceFeatures2{}), 240},
		"VkPhysicalDeviceMemoryProperties2": {unsafe.Sizeof(physicalDeviceMemory2{}), 16 + 520},
		"VkInstanceCreateInfo":              {unsafe.Sizeof(instanceCreateInfo{}), 64},
		"VkDeviceCreateInfo":                {unsafe.Sizeof(deviceCreateInfo{}), 72},
		"VkBufferCreateInfo":                {unsafe.Sizeof(bufferCreateInfo{}), 56},
		"VkComputePipelineCreateInfo":       {unsafe.Sizeof(computePipelineCreateInfo{}), 96},
		"VkWriteDescriptorSet":              {unsafe.Sizeof(writeDescriptorSet{}), 64},
		"VkSubmitInfo":                      {unsafe.Sizeof(submitInfo{}), 72},
		"VkSpecializationInfo":              {unsafe.Sizeof(specializationInfo{}), 32},
		"VkDescriptorSetLayoutBinding":      {unsafe.Sizeof(descriptorSetLayoutBinding{}), 24},
	} {
		require.Equal(t, size[1], size[0], name)
	}
}

func TestFailures(t *testing.T) {
	require.NoError(t, failed("vkF", success))
	require.ErrorIs(t, failed("vkF", outOfDeviceMemory), ErrOutOfMemory)
	require.ErrorIs(t, failed("vkF", deviceLost), errLost)
	require.ErrorIs(t, failed("vkF", timeout), ErrTimeout)
	require.EqualError(t, failed("vkF", -9), "vkF: VK_ERROR_INCOMPATIBLE_DRIVER")
	require.EqualError(t, failed("vkF", 77), "vkF: VkResult 77")
}
