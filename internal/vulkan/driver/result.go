package driver

import (
	"errors"
	"fmt"
)

var (
	// ErrNoDriver: this machine has no Vulkan loader, or the program was built for a platform on which
	// it is not looked for.
	ErrNoDriver = errors.New("no Vulkan driver")
	// ErrNoDevice: the loader knows no device.
	ErrNoDevice = errors.New("no Vulkan device")
	// ErrOutOfMemory: the device or the host has no memory left.
	ErrOutOfMemory = errors.New("out of memory")
	// errLost: the driver has given the device up. Nothing can be computed on it any more.
	errLost = errors.New("the device was lost")
	// ErrTimeout: the device has not finished in the time that it was given.
	ErrTimeout = errors.New("the device does not answer")
)

// result is a VkResult.
type result int32

const (
	success           result = 0
	timeout           result = 2
	incomplete        result = 5
	outOfHostMemory   result = -1
	outOfDeviceMemory result = -2
	deviceLost        result = -4
	outOfPoolMemory   result = -1000069000
	fragmentedPool    result = -12
)

var resultNames = map[result]string{
	timeout: "VK_TIMEOUT", incomplete: "VK_INCOMPLETE",
	outOfHostMemory: "VK_ERROR_OUT_OF_HOST_MEMORY", outOfDeviceMemory: "VK_ERROR_OUT_OF_DEVICE_MEMORY",
	-3: "VK_ERROR_INITIALIZATION_FAILED", deviceLost: "VK_ERROR_DEVICE_LOST", -5: "VK_ERROR_MEMORY_MAP_FAILED",
	-6: "VK_ERROR_LAYER_NOT_PRESENT", -7: "VK_ERROR_EXTENSION_NOT_PRESENT", -8: "VK_ERROR_FEATURE_NOT_PRESENT",
	-9: "VK_ERROR_INCOMPATIBLE_DRIVER", -10: "VK_ERROR_TOO_MANY_OBJECTS", fragmentedPool: "VK_ERROR_FRAGMENTED_POOL",
	-13: "VK_ERROR_UNKNOWN", outOfPoolMemory: "VK_ERROR_OUT_OF_POOL_MEMORY",
}

func (r result) String() string {
	if name, ok := resultNames[r]; ok {
		return name
	}
	return fmt.Sprintf("VkResult %d", int32(r))
}

// failed returns nil for success, and else an error that names the function and what it returned.
func failed(function string, r result) error {
	var kind error
	switch r {
	case success:
		return nil
	case timeout:
		kind = ErrTimeout
	case outOfHostMemory, outOfDeviceMemory, outOfPoolMemory, fragmentedPool:
		kind = ErrOutOfMemory
	case deviceLost:
		kind = errLost
	default:
		return fmt.Errorf("%s: %v", function, r)
	}
	return fmt.Errorf("%w: %s: %v", kind, function, r)
}
