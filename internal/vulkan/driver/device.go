package driver

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"
	"unsafe"
)

// MaxBindings is how many buffers a kernel may have, and MaxPush how many 32-bit constants.
const (
	MaxBindings = 6
	MaxPush     = 32
)

// Device is an open device with one queue. Its methods are not for concurrent use, except for those of
// different Commands; devices that share a queue are one Device.
type Device struct {
	physical
	logical, queue uintptr
	submitting     sync.Mutex
	sets           uint64 // the layout of sets of bindings, the same for all kernels
	layout         uint64 // of pipelines
}

// Open opens the device with this number of List.
func Open(index int) (*Device, error) {
	handle, err := theInstance()
	if err != nil {
		return nil, err
	}
	all, err := devices(handle)
	if err != nil {
		return nil, err
	}
	if index < 0 || index >= len(all) {
		return nil, fmt.Errorf("%w with number %d: there are %d, counted from 0", ErrNoDevice, index, len(all))
	}
	d := &Device{physical: *all[index]}
	if err := d.open(); err != nil {
		d.destroy()
		return nil, err
	}
	return d, nil
}

func (d *Device) open() error {
	priority := onHeap(float32(1))
	queue := onHeap(deviceQueueCreateInfo{head: head{sType: typeDeviceQueueCreateInfo}, family: d.family, count: 1, priorities: unsafe.Pointer(priority)})
	features := onHeap([featureCount]uint32{})
	if d.Float64 {
		features[featureFloat64] = 1
	}
	info := onHeap(deviceCreateInfo{head: head{sType: typeDeviceCreateInfo}, queueCount: 1, queues: unsafe.Pointer(queue), features: unsafe.Pointer(features)})
	if d.portability {
		info.extensionCount, info.extensions = 1, unsafe.Pointer(onHeap(text(extensionPortabilitySubset)))
	}
	handle := onHeap(uintptr(0))
	err := check(createDevice, d.handle, address(info), 0, address(handle))
	runtime.KeepAlive(info)
	if err != nil {
		return err
	}
	d.logical = *handle
	call(getDeviceQueue, d.logical, uintptr(d.family), 0, address(handle))
	d.queue = *handle
	return d.newLayouts()
}

// newLayouts makes the layouts of bindings and constants.
func (d *Device) newLayouts() error {
	bindings := onHeap([MaxBindings]descriptorSetLayoutBinding{})
	for i := range bindings {
		bindings[i] = descriptorSetLayoutBinding{binding: uint32(i), kind: descriptorStorageBuffer, count: 1, stages: stageCompute}
	}
	sets := onHeap(descriptorSetLayoutCreateInfo{head: head{sType: typeDescriptorSetLayout}, count: MaxBindings, bindings: unsafe.Pointer(bindings)})
	handle := onHeap(uint64(0))
	err := check(createDescriptorSetLayout, d.logical, address(sets), 0, address(handle))
	runtime.KeepAlive(sets)
	if err != nil {
		return err
	}
	d.sets = *handle
	constants := onHeap(pushConstantRange{stages: stageCompute, size: 4 * MaxPush})
	layout := onHeap(pipelineLayoutCreateInfo{
		head: head{sType: typePipelineLayoutCreateInfo}, setCount: 1, sets: unsafe.Pointer(onHeap(d.sets)),
		rangeCount: 1, ranges: unsafe.Pointer(constants),
	})
	err = check(createPipelineLayout, d.logical, address(layout), 0, address(handle))
	runtime.KeepAlive(layout)
	if err != nil {
		return err
	}
	d.layout = *handle
	return nil
}

// Close waits for the device and destroys it. All that was made of it must have been freed.
func (d *Device) Close() error {
	err := d.Wait()
	d.destroy()
	return err
}

func (d *Device) destroy() {
	if d.logical == 0 {
		return
	}
	if d.layout != 0 {
		call(destroyPipelineLayout, d.logical, uintptr(d.layout), 0)
	}
	if d.sets != 0 {
		call(destroyDescriptorSetLayout, d.logical, uintptr(d.sets), 0)
	}
	call(destroyDevice, d.logical, 0)
	d.logical = 0
}

// Wait waits until the device has done all of its work.
func (d *Device) Wait() error {
	d.submitting.Lock()
	defer d.submitting.Unlock()
	return check(deviceWaitIdle, d.logical)
}

// FreeMemory returns what the driver says is left, where it does.
func (d *Device) FreeMemory() int64 {
	p := d.physical
	p.measureMemory()
	return p.Free
}

// Memory is a buffer with memory of its own.
type Memory struct {
	Size           int64
	buffer, memory uint64
	host           []byte // where the host sees it, nil if it does not
}

// Host is the memory as the host sees it, nil if it does not.
func (m *Memory) Host() []byte { return m.host }

// Allocate makes a buffer in the device's memory, or in the host's, where both see it.
func (d *Device) Allocate(size int64, host bool) (*Memory, error) {
	m := &Memory{Size: size}
	if err := d.allocate(m, host); err != nil {
		d.Free(m)
		return nil, err
	}
	return m, nil
}

func (d *Device) allocate(m *Memory, host bool) error {
	info := onHeap(bufferCreateInfo{head: head{sType: typeBufferCreateInfo}, size: uint64(m.Size), usage: usageStorage | usageTransferSource | usageTransferDestination})
	handle := onHeap(uint64(0))
	if err := check(createBuffer, d.logical, address(info), 0, address(handle)); err != nil {
		return err
	}
	m.buffer = *handle
	need := onHeap(memoryRequirements{})
	call(getBufferRequirements, d.logical, uintptr(m.buffer), address(need))
	kind, ok := d.memoryType(need.types, host)
	if !ok {
		return fmt.Errorf("%w: no memory of the kind that is needed", ErrOutOfMemory)
	}
	request := onHeap(memoryAllocateInfo{head: head{sType: typeMemoryAllocateInfo}, size: need.size, kind: kind})
	if err := check(allocateMemory, d.logical, address(request), 0, address(handle)); err != nil {
		return err
	}
	m.memory = *handle
	if err := check(bindBufferMemory, d.logical, uintptr(m.buffer), uintptr(m.memory), 0); err != nil {
		return err
	}
	if !host {
		return nil
	}
	at := onHeap(unsafe.Pointer(nil))
	if err := check(mapMemory, d.logical, uintptr(m.memory), 0, ^uintptr(0), 0, address(at)); err != nil {
		return err
	}
	m.host = unsafe.Slice((*byte)(*at), m.Size)
	return nil
}

// memoryType returns the first type, which the driver puts first for being the fastest, that has what
// is needed. For the host's one that its cache holds is read much faster.
func (d *Device) memoryType(types uint32, host bool) (uint32, bool) {
	wanted := []uint32{memoryDeviceLocal, 0}
	if host {
		wanted = []uint32{memoryHostVisible | memoryHostCoherent | memoryHostCached, memoryHostVisible | memoryHostCoherent}
	}
	for _, flags := range wanted {
		for i := range min(d.memory.typeCount, maxMemoryTypes) {
			if types&(1<<i) != 0 && d.memory.types[i].flags&flags == flags {
				return i, true
			}
		}
	}
	return 0, false
}

// Free gives a buffer back, which the device must not be using.
func (d *Device) Free(m *Memory) {
	if m.buffer != 0 {
		call(destroyBuffer, d.logical, uintptr(m.buffer), 0)
	}
	if m.memory != 0 {
		call(freeMemory, d.logical, uintptr(m.memory), 0)
	}
	*m = Memory{}
}

// Kernel is a compute shader.
type Kernel struct{ pipeline uint64 }

// NewKernel compiles SPIR-V whose entry is main, with values of its specialization constants from 0 on.
func (d *Device) NewKernel(spirv []byte, constants ...uint32) (*Kernel, error) {
	if len(spirv) == 0 || len(spirv)%4 != 0 {
		return nil, errors.New("SPIR-V of no whole words")
	}
	code := onHeapSlice[uint32](len(spirv) / 4)
	copy(unsafe.Slice((*byte)(unsafe.Pointer(&code[0])), len(spirv)), spirv)
	module := onHeap(shaderModuleCreateInfo{head: head{sType: typeShaderModuleCreateInfo}, size: uint64(len(spirv)), code: unsafe.Pointer(&code[0])})
	handle := onHeap(uint64(0))
	err := check(createShaderModule, d.logical, address(module), 0, address(handle))
	runtime.KeepAlive(module)
	if err != nil {
		return nil, err
	}
	shader := *handle
	defer call(destroyShaderModule, d.logical, uintptr(shader), 0)
	entry := text("main")
	info := onHeap(computePipelineCreateInfo{
		head: head{sType: typeComputePipelineCreateInfo}, layout: d.layout, baseIndex: -1,
		stage: pipelineShaderStage{head: head{sType: typePipelineShaderStage}, stage: stageCompute, module: shader, name: entry},
	})
	if n := len(constants); n > 0 {
		entries, data := onHeapSlice[specializationEntry](n), onHeapSlice[uint32](n)
		copy(data, constants)
		for i := range entries {
			entries[i] = specializationEntry{id: uint32(i), offset: uint32(4 * i), size: 4}
		}
		info.stage.specialization = unsafe.Pointer(onHeap(specializationInfo{
			count: uint32(n), entries: unsafe.Pointer(&entries[0]), size: uint64(4 * n), data: unsafe.Pointer(&data[0]),
		}))
	}
	err = check(createComputePipelines, d.logical, 0, 1, address(info), 0, address(handle))
	runtime.KeepAlive(info)
	if err != nil {
		return nil, err
	}
	return &Kernel{*handle}, nil
}

// FreeKernel gives a kernel back, which the device must not be using.
func (d *Device) FreeKernel(k *Kernel) { call(destroyPipeline, d.logical, uintptr(k.pipeline), 0) }

// Binding is a range of a buffer that a kernel gets; its offset is a multiple of OffsetAlignment.
type Binding struct {
	Memory       *Memory
	Offset, Size int64
}

// Commands are recorded, submitted and waited for, over and over.
type Commands struct {
	device        *Device
	pool          uint64 // of command buffers
	buffer        uintptr
	descriptors   uint64
	setsLeft      int
	fence         uint64
	recording     bool
	pending       bool
	set           *uint64
	setInfo       *descriptorSetAllocateInfo
	buffers       *[MaxBindings]descriptorBuffer
	writes        *[MaxBindings]writeDescriptorSet
	push          *[MaxPush]uint32
	barrier, last *memoryBarrier
	copies        *bufferCopy
}

// setsOfCommands is how many dispatches Commands may have.
const setsOfCommands = 256

// NewCommands returns Commands that are to be begun.
func (d *Device) NewCommands() (*Commands, error) {
	c := &Commands{device: d}
	if err := c.open(); err != nil {
		c.Free()
		return nil, err
	}
	return c, nil
}

func (c *Commands) open() error {
	d, handle := c.device, onHeap(uint64(0))
	pool := onHeap(commandPoolCreateInfo{head: head{sType: typeCommandPoolCreateInfo}, family: d.family})
	if err := check(createCommandPool, d.logical, address(pool), 0, address(handle)); err != nil {
		return err
	}
	c.pool = *handle
	request := onHeap(commandBufferAllocateInfo{head: head{sType: typeCommandBufferAllocateInfo}, pool: c.pool, count: 1})
	buffer := onHeap(uintptr(0))
	if err := check(allocateCommandBuffers, d.logical, address(request), address(buffer)); err != nil {
		return err
	}
	c.buffer = *buffer
	sizes := onHeap(descriptorPoolSize{descriptorStorageBuffer, setsOfCommands * MaxBindings})
	descriptors := onHeap(descriptorPoolCreateInfo{head: head{sType: typeDescriptorPoolCreateInfo}, sets: setsOfCommands, sizeCount: 1, sizes: unsafe.Pointer(sizes)})
	err := check(createDescriptorPool, d.logical, address(descriptors), 0, address(handle))
	runtime.KeepAlive(descriptors)
	if err != nil {
		return err
	}
	c.descriptors = *handle
	fence := onHeap(fenceCreateInfo{head: head{sType: typeFenceCreateInfo}})
	if err := check(createFence, d.logical, address(fence), 0, address(handle)); err != nil {
		return err
	}
	c.fence = *handle

	// What each command needs stays in one place.
	c.set, c.push, c.copies = onHeap(uint64(0)), onHeap([MaxPush]uint32{}), onHeap(bufferCopy{})
	c.setInfo = onHeap(descriptorSetAllocateInfo{head: head{sType: typeDescriptorSetAllocateInfo}, pool: c.descriptors, count: 1, layouts: unsafe.Pointer(onHeap(d.sets))})
	c.buffers, c.writes = onHeap([MaxBindings]descriptorBuffer{}), onHeap([MaxBindings]writeDescriptorSet{})
	for i := range c.writes {
		c.writes[i] = writeDescriptorSet{
			head: head{sType: typeWriteDescriptorSet}, binding: uint32(i), count: 1, kind: descriptorStorageBuffer, buffers: unsafe.Pointer(&c.buffers[i]),
		}
	}
	c.barrier = onHeap(memoryBarrier{
		head: head{sType: typeMemoryBarrier}, from: accessShaderWrite | accessTransferWrite,
		to: accessShaderRead | accessShaderWrite | accessTransferRead | accessTransferWrite,
	})
	c.last = onHeap(memoryBarrier{head: head{sType: typeMemoryBarrier}, from: accessShaderWrite | accessTransferWrite, to: accessHostRead})
	return nil
}

// Free gives the commands back, which the device must not be using.
func (c *Commands) Free() {
	d := c.device
	if c.fence != 0 {
		call(destroyFence, d.logical, uintptr(c.fence), 0)
	}
	if c.descriptors != 0 {
		call(destroyDescriptorPool, d.logical, uintptr(c.descriptors), 0)
	}
	if c.pool != 0 {
		call(destroyCommandPool, d.logical, uintptr(c.pool), 0)
	}
}

// Begin begins to record.
func (c *Commands) Begin() error {
	d := c.device
	if err := check(resetCommandPool, d.logical, uintptr(c.pool), 0); err != nil {
		return err
	}
	if err := check(resetDescriptorPool, d.logical, uintptr(c.descriptors), 0); err != nil {
		return err
	}
	info := onHeap(commandBufferBeginInfo{head: head{sType: typeCommandBufferBeginInfo}, flags: commandsOnce})
	if err := check(beginCommandBuffer, c.buffer, address(info)); err != nil {
		return err
	}
	c.setsLeft, c.recording = setsOfCommands, true
	return nil
}

// Recording tells whether the commands have begun and are not submitted.
func (c *Commands) Recording() bool { return c.recording }

// Full tells whether there is no room for another dispatch.
func (c *Commands) Full() bool { return c.setsLeft == 0 }

// after makes what comes see what all work before, of earlier Commands too, has written.
func (c *Commands) after() {
	const stages = pipelineCompute | pipelineTransfer
	call(cmdPipelineBarrier, c.buffer, stages, stages, 0, 1, address(c.barrier), 0, 0, 0, 0)
}

// Dispatch runs a kernel in x·y·z workgroups. It gets the bindings from 0 on, and constants.
func (c *Commands) Dispatch(k *Kernel, bindings []Binding, push []uint32, x, y, z int) error {
	d := c.device
	if err := check(allocateDescriptorSets, d.logical, address(c.setInfo), address(c.set)); err != nil {
		return err
	}
	c.setsLeft--
	for i, b := range bindings {
		c.buffers[i] = descriptorBuffer{b.Memory.buffer, uint64(b.Offset), uint64(b.Size)}
		c.writes[i].set = *c.set
	}
	call(updateDescriptorSets, d.logical, uintptr(len(bindings)), address(&c.writes[0]), 0, 0)
	c.after()
	call(cmdBindPipeline, c.buffer, bindCompute, uintptr(k.pipeline))
	call(cmdBindDescriptorSets, c.buffer, bindCompute, uintptr(d.layout), 0, 1, address(c.set), 0, 0)
	copy(c.push[:], push)
	call(cmdPushConstants, c.buffer, uintptr(d.layout), stageCompute, 0, uintptr(4*len(push)), address(c.push))
	call(cmdDispatch, c.buffer, uintptr(x), uintptr(y), uintptr(z))
	return nil
}

// Copy copies bytes between buffers.
func (c *Commands) Copy(dst *Memory, to int64, src *Memory, from, size int64) {
	c.after()
	*c.copies = bufferCopy{uint64(from), uint64(to), uint64(size)}
	call(cmdCopyBuffer, c.buffer, uintptr(src.buffer), uintptr(dst.buffer), 1, address(c.copies))
}

// Fill sets words of a buffer; offset and size are multiples of 4.
func (c *Commands) Fill(dst *Memory, offset, size int64, word uint32) {
	c.after()
	call(cmdFillBuffer, c.buffer, uintptr(dst.buffer), uintptr(offset), uintptr(size), uintptr(word))
}

// Submit ends the recording and puts it on the queue, behind all that was submitted before.
func (c *Commands) Submit() error {
	d := c.device
	c.recording = false
	// What the host reads after it has waited.
	call(cmdPipelineBarrier, c.buffer, pipelineCompute|pipelineTransfer, pipelineHost, 0, 1, address(c.last), 0, 0, 0, 0)
	if err := check(endCommandBuffer, c.buffer); err != nil {
		return err
	}
	if err := check(resetFences, d.logical, 1, address(onHeap(c.fence))); err != nil {
		return err
	}
	info := onHeap(submitInfo{head: head{sType: typeSubmitInfo}, commandCount: 1, commands: unsafe.Pointer(onHeap(c.buffer))})
	d.submitting.Lock()
	defer d.submitting.Unlock()
	err := check(queueSubmit, d.queue, 1, address(info), uintptr(c.fence))
	runtime.KeepAlive(info)
	c.pending = err == nil
	return err
}

// Wait waits for the commands that were submitted, ErrTimeout after so long.
func (c *Commands) Wait(limit time.Duration) error {
	if !c.pending {
		return nil
	}
	if err := check(waitForFences, c.device.logical, 1, address(onHeap(c.fence)), 1, uintptr(limit)); err != nil {
		return err
	}
	c.pending = false
	return nil
}
