package driver

import "unsafe"

//lint:file-ignore U1000 Vulkan reads and writes the fields that Go does not.

// The structures of the Vulkan specification that are passed to its functions, with its names. A C
// compiler for a 64-bit processor lays them out as Go does.

// The sTypes of structures.
const (
	typeApplicationInfo            = 0
	typeInstanceCreateInfo         = 1
	typeDeviceQueueCreateInfo      = 2
	typeDeviceCreateInfo           = 3
	typeSubmitInfo                 = 4
	typeMemoryAllocateInfo         = 5
	typeFenceCreateInfo            = 8
	typeBufferCreateInfo           = 12
	typeShaderModuleCreateInfo     = 16
	typePipelineShaderStage        = 18
	typeComputePipelineCreateInfo  = 29
	typePipelineLayoutCreateInfo   = 30
	typeDescriptorSetLayout        = 32
	typeDescriptorPoolCreateInfo   = 33
	typeDescriptorSetAllocateInfo  = 34
	typeWriteDescriptorSet         = 35
	typeCommandPoolCreateInfo      = 39
	typeCommandBufferAllocateInfo  = 40
	typeCommandBufferBeginInfo     = 42
	typeMemoryBarrier              = 46
	typePhysicalDeviceFeatures2    = 1000059000
	typePhysicalDeviceProperties2  = 1000059001
	typePhysicalDeviceMemory2      = 1000059006
	typeFloat16Int8Features        = 1000082000
	typePhysicalDeviceDriver       = 1000196000
	typePhysicalDeviceMemoryBudget = 1000237000
)

// Bits and values.
const (
	portabilityEnumeration = 1 // of instances

	queueCompute = 2

	memoryDeviceLocal  = 1
	memoryHostVisible  = 2
	memoryHostCoherent = 4
	memoryHostCached   = 8

	usageTransferSource      = 1
	usageTransferDestination = 2
	usageStorage             = 0x20

	descriptorStorageBuffer = 7
	stageCompute            = 0x20 // of shaders
	bindCompute             = 1

	pipelineCompute  = 0x800
	pipelineTransfer = 0x1000
	pipelineHost     = 0x4000

	accessShaderRead    = 0x20
	accessShaderWrite   = 0x40
	accessTransferRead  = 0x800
	accessTransferWrite = 0x1000
	accessHostRead      = 0x2000

	commandsOnce = 1

	maxHeaps, maxMemoryTypes = 16, 32
)

type head struct {
	sType uint32
	next  unsafe.Pointer
}

type applicationInfo struct {
	head
	name          unsafe.Pointer
	version       uint32
	engine        unsafe.Pointer
	engineVersion uint32
	apiVersion    uint32
}

type instanceCreateInfo struct {
	head
	flags          uint32
	application    unsafe.Pointer
	layerCount     uint32
	layers         unsafe.Pointer
	extensionCount uint32
	extensions     unsafe.Pointer
}

type deviceQueueCreateInfo struct {
	head
	flags, family, count uint32
	priorities           unsafe.Pointer
}

type deviceCreateInfo struct {
	head
	flags          uint32
	queueCount     uint32
	queues         unsafe.Pointer
	layerCount     uint32
	layers         unsafe.Pointer
	extensionCount uint32
	extensions     unsafe.Pointer
	features       unsafe.Pointer
}

type extensionProperties struct {
	name    [256]byte
	version uint32
}

type physicalDeviceLimits struct {
	images                                                        [7]uint32 // to maxUniformBufferRange
	maxStorageBufferRange, maxPushConstantsSize                   uint32
	maxMemoryAllocationCount, maxSamplerAllocationCount           uint32
	bufferImageGranularity, sparseAddressSpaceSize                uint64
	maxBoundDescriptorSets                                        uint32
	maxPerStageDescriptorSamplers, maxPerStageUniform             uint32
	maxPerStageDescriptorStorageBuffers                           uint32
	descriptors                                                   [12]uint32 // to maxDescriptorSetInputAttachments
	vertices                                                      [5]uint32  // to maxVertexOutputComponents
	tessellation                                                  [8]uint32
	geometry                                                      [5]uint32
	fragments                                                     [4]uint32
	maxComputeSharedMemorySize                                    uint32
	maxComputeWorkGroupCount                                      [3]uint32
	maxComputeWorkGroupInvocations                                uint32
	maxComputeWorkGroupSize                                       [3]uint32
	precisions                                                    [3]uint32
	draws                                                         [2]uint32
	samplers                                                      [2]float32
	viewports                                                     [6]uint32 // to viewportSubPixelBits
	minMemoryMapAlignment                                         uint64
	minTexelBufferOffsetAlignment, minUniformBufferOffsetAlignmen uint64
	minStorageBufferOffsetAlignment                               uint64
	rest                                                          [168]byte
}

type physicalDeviceProperties2 struct {
	head
	apiVersion, driverVersion, vendor, device, kind uint32
	name                                            [256]byte
	cache                                           [16]byte
	limits                                          physicalDeviceLimits
	sparse                                          [5]uint32
}

type physicalDeviceDriver struct {
	head
	id          uint32
	name, info  [256]byte
	conformance [4]byte
}

type physicalDeviceFeatures2 struct {
	head
	features [55]uint32
}

// Places in the features.
const (
	featureFloat64 = 39
	featureCount   = 55
)

type float16Int8Features struct {
	head
	float16, int8 uint32
}

type memoryType struct{ flags, heap uint32 }

type memoryHeap struct {
	size  uint64
	flags uint32
}

type physicalDeviceMemory2 struct {
	head
	typeCount uint32
	types     [maxMemoryTypes]memoryType
	heapCount uint32
	heaps     [maxHeaps]memoryHeap
}

type memoryBudget struct {
	head
	budget, usage [maxHeaps]uint64
}

type queueFamilyProperties struct {
	flags, count, timestampBits uint32
	granularity                 [3]uint32
}

type bufferCreateInfo struct {
	head
	flags                    uint32
	size                     uint64
	usage, sharing, families uint32
	family                   unsafe.Pointer
}

type memoryRequirements struct {
	size, alignment uint64
	types           uint32
}

type memoryAllocateInfo struct {
	head
	size uint64
	kind uint32
}

type shaderModuleCreateInfo struct {
	head
	flags uint32
	size  uint64
	code  unsafe.Pointer
}

type descriptorSetLayoutBinding struct {
	binding, kind, count, stages uint32
	samplers                     unsafe.Pointer
}

type descriptorSetLayoutCreateInfo struct {
	head
	flags, count uint32
	bindings     unsafe.Pointer
}

type pushConstantRange struct{ stages, offset, size uint32 }

type pipelineLayoutCreateInfo struct {
	head
	flags, setCount uint32
	sets            unsafe.Pointer
	rangeCount      uint32
	ranges          unsafe.Pointer
}

type specializationEntry struct {
	id, offset uint32
	size       uint64
}

type specializationInfo struct {
	count   uint32
	entries unsafe.Pointer
	size    uint64
	data    unsafe.Pointer
}

type pipelineShaderStage struct {
	head
	flags, stage   uint32
	module         uint64
	name           unsafe.Pointer
	specialization unsafe.Pointer
}

type computePipelineCreateInfo struct {
	head
	flags        uint32
	stage        pipelineShaderStage
	layout, base uint64
	baseIndex    int32
}

type descriptorPoolSize struct{ kind, count uint32 }

type descriptorPoolCreateInfo struct {
	head
	flags, sets, sizeCount uint32
	sizes                  unsafe.Pointer
}

type descriptorSetAllocateInfo struct {
	head
	pool    uint64
	count   uint32
	layouts unsafe.Pointer
}

type descriptorBuffer struct{ buffer, offset, size uint64 }

type writeDescriptorSet struct {
	head
	set                           uint64
	binding, element, count, kind uint32
	images, buffers, texels       unsafe.Pointer
}

type commandPoolCreateInfo struct {
	head
	flags, family uint32
}

type commandBufferAllocateInfo struct {
	head
	pool         uint64
	level, count uint32
}

type commandBufferBeginInfo struct {
	head
	flags     uint32
	inherited unsafe.Pointer
}

type memoryBarrier struct {
	head
	from, to uint32
}

type bufferCopy struct{ from, to, size uint64 }

type fenceCreateInfo struct {
	head
	flags uint32
}

type submitInfo struct {
	head
	waitCount     uint32
	waits, stages unsafe.Pointer
	commandCount  uint32
	commands      unsafe.Pointer
	signalCount   uint32
	signals       unsafe.Pointer
}
