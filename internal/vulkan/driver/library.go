package driver

import (
	"fmt"
	"runtime"
	"sync"
	"unsafe"
)

// function is one of Vulkan's that is called here.
type function int

const (
	createInstance function = iota
	destroyInstance
	enumerateInstanceExtensions
	enumeratePhysicalDevices
	getProperties
	getFeatures
	getMemoryProperties
	getQueueFamilies
	enumerateDeviceExtensions
	createDevice
	destroyDevice
	getDeviceQueue
	deviceWaitIdle
	createBuffer
	destroyBuffer
	getBufferRequirements
	allocateMemory
	freeMemory
	bindBufferMemory
	mapMemory
	createShaderModule
	destroyShaderModule
	createDescriptorSetLayout
	destroyDescriptorSetLayout
	createPipelineLayout
	destroyPipelineLayout
	createComputePipelines
	destroyPipeline
	createDescriptorPool
	destroyDescriptorPool
	resetDescriptorPool
	allocateDescriptorSets
	updateDescriptorSets
	createCommandPool
	destroyCommandPool
	resetCommandPool
	allocateCommandBuffers
	beginCommandBuffer
	endCommandBuffer
	cmdBindPipeline
	cmdBindDescriptorSets
	cmdPushConstants
	cmdDispatch
	cmdCopyBuffer
	cmdFillBuffer
	cmdPipelineBarrier
	queueSubmit
	createFence
	destroyFence
	resetFences
	waitForFences
	functionCount
)

var functionNames = [functionCount]string{
	"vkCreateInstance", "vkDestroyInstance", "vkEnumerateInstanceExtensionProperties", "vkEnumeratePhysicalDevices",
	"vkGetPhysicalDeviceProperties2", "vkGetPhysicalDeviceFeatures2", "vkGetPhysicalDeviceMemoryProperties2",
	"vkGetPhysicalDeviceQueueFamilyProperties", "vkEnumerateDeviceExtensionProperties",
	"vkCreateDevice", "vkDestroyDevice", "vkGetDeviceQueue", "vkDeviceWaitIdle",
	"vkCreateBuffer", "vkDestroyBuffer", "vkGetBufferMemoryRequirements", "vkAllocateMemory", "vkFreeMemory",
	"vkBindBufferMemory", "vkMapMemory",
	"vkCreateShaderModule", "vkDestroyShaderModule", "vkCreateDescriptorSetLayout", "vkDestroyDescriptorSetLayout",
	"vkCreatePipelineLayout", "vkDestroyPipelineLayout", "vkCreateComputePipelines", "vkDestroyPipeline",
	"vkCreateDescriptorPool", "vkDestroyDescriptorPool", "vkResetDescriptorPool", "vkAllocateDescriptorSets", "vkUpdateDescriptorSets",
	"vkCreateCommandPool", "vkDestroyCommandPool", "vkResetCommandPool", "vkAllocateCommandBuffers", "vkBeginCommandBuffer", "vkEndCommandBuffer",
	"vkCmdBindPipeline", "vkCmdBindDescriptorSets", "vkCmdPushConstants", "vkCmdDispatch", "vkCmdCopyBuffer", "vkCmdFillBuffer", "vkCmdPipelineBarrier",
	"vkQueueSubmit", "vkCreateFence", "vkDestroyFence", "vkResetFences", "vkWaitForFences",
}

// returnsNothing tells whether a function is void, so that it cannot fail.
func (f function) returnsNothing() bool {
	switch f {
	case destroyInstance, getProperties, getFeatures, getMemoryProperties, getQueueFamilies, destroyDevice, getDeviceQueue,
		destroyBuffer, getBufferRequirements, freeMemory, destroyShaderModule, destroyDescriptorSetLayout, destroyPipelineLayout,
		destroyPipeline, destroyDescriptorPool, updateDescriptorSets, destroyCommandPool,
		cmdBindPipeline, cmdBindDescriptorSets, cmdPushConstants, cmdDispatch, cmdCopyBuffer, cmdFillBuffer, cmdPipelineBarrier, destroyFence:
		return true
	}
	return false
}

// library is the loader's, with the addresses of its functions.
var library struct {
	once      sync.Once
	err       error
	addresses [functionCount]uintptr
}

// load opens the loader's library once. It stays open.
func load() error {
	library.once.Do(func() {
		if len(libraryNames) == 0 {
			library.err = fmt.Errorf("%w: it is not looked for on %s/%s", ErrNoDriver, runtime.GOOS, runtime.GOARCH)
			return
		}
		var handle uintptr
		var tried error
		for _, name := range libraryNames {
			if handle, tried = openLibrary(name); tried == nil {
				break
			}
		}
		if tried != nil {
			library.err = fmt.Errorf("%w: %s is not installed", ErrNoDriver, libraryNames[0])
			return
		}
		for f := range functionCount {
			address, err := symbol(handle, functionNames[f])
			if err != nil || address == 0 {
				library.err = fmt.Errorf("%w: the loader is older than Vulkan 1.1, it has no %s", ErrNoDriver, functionNames[f])
				return
			}
			library.addresses[f] = address
		}
	})
	return library.err
}

// faults stands in for Vulkan where a test wants a call to fail.
var faults struct {
	sync.Mutex
	ask  func(name string) (code int32, fails bool)
	tell func(name string, code int32)
}

// Fail has ask asked before each call that can fail and each dispatch, by the function's name. Where it
// says so the call is not made and returns the code; a dispatch is left out. It is for tests; nil ends it.
func Fail(ask func(name string) (code int32, fails bool)) {
	faults.Lock()
	defer faults.Unlock()
	faults.ask = ask
}

// Watch has tell told of each call that was made, and what it returned. It is for tests; nil ends it.
func Watch(tell func(name string, code int32)) {
	faults.Lock()
	defer faults.Unlock()
	faults.tell = tell
}

// Fallible returns the names of the functions that Fail asks about.
func Fallible() []string {
	var names []string
	for f := range functionCount {
		if !f.returnsNothing() || f == cmdDispatch {
			names = append(names, functionNames[f])
		}
	}
	return names
}

// call calls a function. What its arguments point to is from onHeap, and kept alive by the caller.
func call(f function, arguments ...uintptr) result {
	faults.Lock()
	ask, tell := faults.ask, faults.tell
	faults.Unlock()
	if ask != nil && (!f.returnsNothing() || f == cmdDispatch) {
		if code, fails := ask(functionNames[f]); fails {
			return result(code)
		}
	}
	r := result(int32(invoke(library.addresses[f], arguments...)))
	if tell != nil {
		if f.returnsNothing() {
			r = success
		}
		tell(functionNames[f], int32(r))
	}
	return r
}

// check is call for those who want an error.
func check(f function, arguments ...uintptr) error {
	return failed(functionNames[f], call(f, arguments...))
}

// onHeap returns a copy of v that does not move, as what is on a stack does: Vulkan gets its address
// as a number, which nothing corrects.
//
//go:noinline
func onHeap[T any](v T) *T { return &v }

// address is that of what onHeap returned. Who passes it on keeps p alive.
func address[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

// text is a string of C.
func text(s string) unsafe.Pointer {
	b := onHeapSlice[byte](len(s) + 1)
	copy(b, s)
	return unsafe.Pointer(&b[0])
}

// onHeapSlice is onHeap for n zeros.
//
//go:noinline
func onHeapSlice[T any](n int) []T { return make([]T, n) }

// goText is the string of C at the beginning of b.
func goText(b []byte) string {
	for i, c := range b {
		if c == 0 {
			return string(b[:i])
		}
	}
	return string(b)
}
