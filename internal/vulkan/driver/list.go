package driver

import (
	"fmt"
	"runtime"
	"sync"
	"unsafe"
)

const (
	version10 = 1 << 22
	version11 = version10 | 1<<12
	version12 = version10 | 2<<12

	extensionPortability         = "VK_KHR_portability_enumeration"
	extensionPortabilitySubset   = "VK_KHR_portability_subset"
	extensionMemoryBudget        = "VK_EXT_memory_budget"
	extensionCooperativeMatrix   = "VK_KHR_cooperative_matrix"
	kindIntegrated, kindDiscrete = 1, 2
	kindVirtual, kindProcessor   = 3, 4
)

// instance is the one of this process, made for the first that asks. It stays, because NVIDIA's driver 580
// refused to make more after some sixty in one process that were destroyed again.
var instance struct {
	sync.Mutex
	handle uintptr
}

func theInstance() (uintptr, error) {
	if err := load(); err != nil {
		return 0, err
	}
	instance.Lock()
	defer instance.Unlock()
	if instance.handle != 0 {
		return instance.handle, nil
	}
	handle, err := newInstance()
	if err == nil {
		instance.handle = handle
	}
	return handle, err
}

// DestroyInstance destroys the instance, of which no device may be open. It is for tests: the next that asks
// makes another.
func DestroyInstance() {
	instance.Lock()
	defer instance.Unlock()
	if instance.handle != 0 {
		call(destroyInstance, instance.handle, 0)
		instance.handle = 0
	}
}

func newInstance() (uintptr, error) {
	extensions, err := extensionsOf(func(count *uint32, list unsafe.Pointer) result {
		return call(enumerateInstanceExtensions, 0, address(count), uintptr(list))
	}, enumerateInstanceExtensions)
	if err != nil {
		return 0, err
	}
	name := text("restore")
	application := onHeap(applicationInfo{head: head{sType: typeApplicationInfo}, name: name, apiVersion: version12})
	info := onHeap(instanceCreateInfo{head: head{sType: typeInstanceCreateInfo}, application: unsafe.Pointer(application)})
	// MoltenVK is listed for those alone who say that they know of it.
	if extensions[extensionPortability] {
		info.flags, info.extensionCount = portabilityEnumeration, 1
		info.extensions = unsafe.Pointer(onHeap(text(extensionPortability)))
	}
	handle := onHeap(uintptr(0))
	err = check(createInstance, address(info), 0, address(handle))
	runtime.KeepAlive(info)
	return *handle, err
}

// extensionsOf asks twice: how many there are, and which.
func extensionsOf(ask func(count *uint32, list unsafe.Pointer) result, f function) (map[string]bool, error) {
	count := onHeap(uint32(0))
	if err := failed(functionNames[f], ask(count, nil)); err != nil {
		return nil, err
	}
	if *count == 0 {
		return nil, nil
	}
	list := onHeapSlice[extensionProperties](int(*count))
	if r := ask(count, unsafe.Pointer(&list[0])); r != incomplete { // one that came in between is not missed
		if err := failed(functionNames[f], r); err != nil {
			return nil, err
		}
	}
	names := map[string]bool{}
	for _, e := range list[:min(int(*count), len(list))] {
		names[goText(e.name[:])] = true
	}
	runtime.KeepAlive(list)
	return names, nil
}

// physical is a device of the loader.
type physical struct {
	GPU
	handle       uintptr
	family       uint32 // of its queue
	memory       physicalDeviceMemory2
	portability  bool // must be told that we know of its limits
	memoryBudget bool
}

// List returns the devices that can compute, in the order of the loader. There may be none.
func List() ([]GPU, error) {
	handle, err := theInstance()
	if err != nil {
		return nil, err
	}
	all, err := devices(handle)
	if err != nil {
		return nil, err
	}
	gpus := make([]GPU, len(all))
	for i, p := range all {
		gpus[i] = p.GPU
	}
	return gpus, nil
}

// devices are those with Vulkan 1.1 and a queue for compute.
func devices(instance uintptr) ([]*physical, error) {
	count := onHeap(uint32(0))
	if err := check(enumeratePhysicalDevices, instance, address(count), 0); err != nil {
		return nil, err
	}
	if *count == 0 {
		return nil, ErrNoDevice
	}
	handles := onHeapSlice[uintptr](int(*count))
	if r := call(enumeratePhysicalDevices, instance, address(count), address(&handles[0])); r != incomplete {
		if err := failed(functionNames[enumeratePhysicalDevices], r); err != nil {
			return nil, err
		}
	}
	var found []*physical
	for _, h := range handles[:min(int(*count), len(handles))] {
		p, err := describe(h)
		if err != nil {
			return nil, err
		}
		if p != nil {
			p.Index = len(found)
			found = append(found, p)
		}
	}
	if len(found) == 0 {
		return nil, fmt.Errorf("%w that computes and has Vulkan 1.1", ErrNoDevice)
	}
	return found, nil
}

// describe asks for all that is known of a device. It returns nil for one that is of no use.
func describe(handle uintptr) (*physical, error) {
	p := &physical{handle: handle}
	properties := onHeap(physicalDeviceProperties2{head: head{sType: typePhysicalDeviceProperties2}})
	call(getProperties, handle, address(properties))
	if properties.apiVersion < version11 {
		return nil, nil
	}
	family, ok := computeFamily(handle)
	if !ok {
		return nil, nil
	}
	p.family = family
	extensions, err := extensionsOf(func(count *uint32, list unsafe.Pointer) result {
		return call(enumerateDeviceExtensions, handle, 0, address(count), uintptr(list))
	}, enumerateDeviceExtensions)
	if err != nil {
		return nil, err
	}
	p.portability = extensions[extensionPortabilitySubset]
	p.memoryBudget = extensions[extensionMemoryBudget]

	about := onHeap(physicalDeviceDriver{head: head{sType: typePhysicalDeviceDriver}})
	halves := onHeap(float16Int8Features{head: head{sType: typeFloat16Int8Features}})
	features := onHeap(physicalDeviceFeatures2{head: head{sType: typePhysicalDeviceFeatures2, next: unsafe.Pointer(halves)}})
	properties.next = unsafe.Pointer(about)
	if properties.apiVersion < version12 {
		properties.next, features.next = nil, nil
	}
	call(getProperties, handle, address(properties))
	call(getFeatures, handle, address(features))
	runtime.KeepAlive(about)
	runtime.KeepAlive(halves)

	limits := &properties.limits
	p.GPU = GPU{
		Name: goText(properties.name[:]), Driver: driverName(properties, about), Kind: kindOf(properties.kind),
		Major: int(properties.apiVersion >> 22 & 0x7f), Minor: int(properties.apiVersion >> 12 & 0x3ff),
		Vendor: properties.vendor, Model: properties.device,
		Float64: features.features[featureFloat64] != 0, Float16: halves.float16 != 0,
		CooperativeMatrix: extensions[extensionCooperativeMatrix],
		SharedMemory:      int(limits.maxComputeSharedMemorySize),
		Invocations:       int(min(limits.maxComputeWorkGroupInvocations, limits.maxComputeWorkGroupSize[0])),
		MaxBinding:        int64(limits.maxStorageBufferRange),
		OffsetAlignment:   int64(limits.minStorageBufferOffsetAlignment),
		Bindings:          int(limits.maxPerStageDescriptorStorageBuffers), PushBytes: int(limits.maxPushConstantsSize),
	}
	p.measureMemory()
	return p, nil
}

func computeFamily(handle uintptr) (uint32, bool) {
	count := onHeap(uint32(0))
	call(getQueueFamilies, handle, address(count), 0)
	if *count == 0 {
		return 0, false
	}
	families := onHeapSlice[queueFamilyProperties](int(*count))
	call(getQueueFamilies, handle, address(count), address(&families[0]))
	for i, f := range families[:min(int(*count), len(families))] {
		if f.flags&queueCompute != 0 && f.count > 0 {
			return uint32(i), true
		}
	}
	return 0, false
}

func kindOf(k uint32) Kind {
	switch k {
	case kindIntegrated:
		return Integrated
	case kindDiscrete:
		return Discrete
	case kindVirtual:
		return Virtual
	case kindProcessor:
		return Processor
	}
	return Other
}

// driverName is what the driver calls itself, or its number where it is older than Vulkan 1.2.
func driverName(p *physicalDeviceProperties2, about *physicalDeviceDriver) string {
	name, info := goText(about.name[:]), goText(about.info[:])
	switch {
	case name == "":
		return fmt.Sprintf("driver %d.%d.%d", p.driverVersion>>22, p.driverVersion>>12&0x3ff, p.driverVersion&0xfff)
	case info == "":
		return name
	}
	return name + " " + info
}

// measureMemory sets Memory and Free from the largest heap of the device's own memory.
func (p *physical) measureMemory() {
	memory := onHeap(physicalDeviceMemory2{head: head{sType: typePhysicalDeviceMemory2}})
	budget := onHeap(memoryBudget{head: head{sType: typePhysicalDeviceMemoryBudget}})
	if p.memoryBudget {
		memory.next = unsafe.Pointer(budget)
	}
	call(getMemoryProperties, p.handle, address(memory))
	runtime.KeepAlive(budget)
	p.memory = *memory
	p.memory.next = nil
	p.Memory, p.Free = 0, 0
	for _, t := range memory.types[:min(memory.typeCount, maxMemoryTypes)] {
		if t.flags&memoryDeviceLocal == 0 || t.heap >= maxHeaps {
			continue
		}
		size := int64(memory.heaps[t.heap].size)
		if size <= p.Memory {
			continue
		}
		p.Memory, p.Free = size, size
		if p.memoryBudget {
			b, used := int64(budget.budget[t.heap]), int64(budget.usage[t.heap])
			p.Free = max(0, min(size, b-used))
		}
	}
}
