//go:build cuda && cgo && (amd64 || arm64)

package driver

/*
#cgo noescape launch
#cgo nocallback launch
#include <cuda.h>
#include <stdlib.h>

// launch makes a context current and launches a kernel in one call from Go, whose
// arguments stand in slots of 8 bytes each.
static CUresult launch(CUcontext context, CUfunction f,
		unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
		unsigned shared, CUstream stream, uint64_t *slots, int count) {
	void *arguments[256];
	CUresult r = cuCtxSetCurrent(context);
	if (r != CUDA_SUCCESS)
		return r;
	for (int i = 0; i < count; i++)
		arguments[i] = &slots[i];
	return cuLaunchKernel(f, gx, gy, gz, bx, by, bz, shared, stream, arguments, NULL);
}

// load_module lets the driver translate PTX; what it has to say against it goes to log.
static CUresult load_module(CUmodule *module, const char *ptx, char *log, unsigned bytes) {
	CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
	void *values[] = {log, (void *)(uintptr_t)bytes};
	return cuModuleLoadDataEx(module, ptx, 2, options, values);
}

static CUresult launch_graph(CUcontext context, CUgraphExec g, CUstream stream) {
	CUresult r = cuCtxSetCurrent(context);
	return r != CUDA_SUCCESS ? r : cuGraphLaunch(g, stream);
}
*/
import "C"

import (
	"fmt"
	"maps"
	"math"
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"gorgonia.org/cu"
)

// maxArguments is the size of launch's array.
const maxArguments = 256

// List returns the GPUs of this machine, in the driver's order. The error is
// ErrNoDriver or ErrNoDevice where there is nothing, and an *Error where there is
// something that does not work.
func List() ([]Properties, error) {
	version, err := load()
	if err != nil {
		return nil, err
	}
	n, err := cu.NumDevices()
	if err != nil {
		return nil, check("cuDeviceGetCount", err)
	}
	if n == 0 {
		return nil, fmt.Errorf("%w: there is a driver, and no GPU", ErrNoDevice)
	}
	all := make([]Properties, n)
	for i := range all {
		if all[i], err = properties(i, version); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func properties(ordinal, version int) (Properties, error) {
	p := Properties{Ordinal: ordinal, DriverVersion: version}
	dev, err := cu.GetDevice(ordinal)
	if err != nil {
		return p, check("cuDeviceGet", err)
	}
	if p.Name, err = dev.Name(); err != nil {
		return p, check("cuDeviceGetName", err)
	}
	if p.Memory, err = dev.TotalMem(); err != nil {
		return p, check("cuDeviceTotalMem", err)
	}
	for _, a := range []struct {
		to        *int
		attribute cu.DeviceAttribute
	}{
		{&p.Major, cu.ComputeCapabilityMajor},
		{&p.Minor, cu.ComputeCapabilityMinor},
		{&p.Multiprocessors, cu.MultiprocessorCount},
		{&p.SharedPerBlock, cu.MaxSharedMemoryPerBlock},
		{&p.SharedPerBlockOptIn, C.CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN},
		{&p.SharedPerMultiprocessor, cu.MaxSharedMemoryPerMultiprocessor},
		{&p.L2, cu.L2CacheSize},
		{&p.ClockKHz, cu.ClockRate},
	} {
		if *a.to, err = dev.Attribute(a.attribute); err != nil {
			return p, check("cuDeviceGetAttribute", err)
		}
	}
	return p, nil
}

// Open opens the GPU with the given number, from 0.
func Open(ordinal int) (Device, error) {
	all, err := List()
	if err != nil {
		return nil, err
	}
	if ordinal < 0 || ordinal >= len(all) {
		return nil, fmt.Errorf("%w: there is no GPU %d, there are 0 to %d", ErrNoDevice, ordinal, len(all)-1)
	}
	dev, err := cu.GetDevice(ordinal)
	if err != nil {
		return nil, check("cuDeviceGet", err)
	}
	context, err := dev.RetainPrimaryCtx()
	if err != nil {
		return nil, check("cuDevicePrimaryCtxRetain", err)
	}
	return &device{
		properties: all[ordinal], dev: dev, context: context,
		streams: map[Stream]struct{}{}, parameters: map[Module]map[string]int{},
	}, nil
}

type device struct {
	properties Properties
	dev        cu.Device
	context    cu.CUContext

	// Calls hold mu for reading, Close for writing.
	mu     sync.RWMutex
	closed bool

	handles    sync.Mutex
	streams    map[Stream]struct{}       // that were made and not freed
	parameters map[Module]map[string]int // of the kernels of each module
}

// The handles of cu are structs around one C pointer, and keep it to themselves.
var (
	_ = [1]struct{}{}[unsafe.Sizeof(cu.Stream{})-unsafe.Sizeof(uintptr(0))]
	_ = [1]struct{}{}[unsafe.Sizeof(cu.Event{})-unsafe.Sizeof(uintptr(0))]
	_ = [1]struct{}{}[unsafe.Sizeof(cu.Module{})-unsafe.Sizeof(uintptr(0))]
	_ = [1]struct{}{}[unsafe.Sizeof(cu.Function{})-unsafe.Sizeof(uintptr(0))]
	_ = [1]struct{}{}[unsafe.Sizeof(cu.CUContext{})-unsafe.Sizeof(uintptr(0))]
)

func (s Stream) cu() cu.Stream          { return *(*cu.Stream)(unsafe.Pointer(&s)) }
func (s Stream) c() C.CUstream          { return *(*C.CUstream)(unsafe.Pointer(&s)) }
func (e Event) cu() cu.Event            { return *(*cu.Event)(unsafe.Pointer(&e)) }
func (m Module) cu() cu.Module          { return *(*cu.Module)(unsafe.Pointer(&m)) }
func (g Graph) c() C.CUgraphExec        { return *(*C.CUgraphExec)(unsafe.Pointer(&g)) }
func (f *Function) cu() cu.Function     { return *(*cu.Function)(unsafe.Pointer(&f.Handle)) }
func (f *Function) c() C.CUfunction     { return *(*C.CUfunction)(unsafe.Pointer(&f.Handle)) }
func (d *device) contextC() C.CUcontext { return *(*C.CUcontext)(unsafe.Pointer(&d.context)) }

// do calls f on a thread on which the context is current.
func (d *device) do(f func() error) error {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if d.closed {
		return ErrClosed
	}
	// The current context belongs to the thread, and the goroutine may change its thread
	// between two calls of C.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if err := cu.SetCurrentContext(d.context); err != nil {
		return check("cuCtxSetCurrent", err)
	}
	return f()
}

func (d *device) Properties() Properties { return d.properties }

func (d *device) MemoryInfo() (free, total int64, err error) {
	err = d.do(func() (err error) {
		free, total, err = cu.MemInfo()
		return check("cuMemGetInfo", err)
	})
	return free, total, err
}

// Close waits for its own streams: to wait for the context, which other Devices of the GPU share,
// is an error of whatever these record at the time, and ends it.
func (d *device) Close() error {
	d.handles.Lock()
	own := slices.Collect(maps.Keys(d.streams))
	d.handles.Unlock()
	var err error
	for _, s := range own {
		if late := d.Synchronize(s); late == ErrClosed {
			return nil
		} else if err == nil {
			err = late
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	if late := check("cuDevicePrimaryCtxRelease", d.dev.ReleasePrimaryCtx()); err == nil {
		err = late
	}
	return err
}

func (d *device) Alloc(bytes int64) (Pointer, error) {
	if bytes < 1 {
		return 0, fmt.Errorf("%w: %d bytes of memory; want 1 or more", ErrArgument, bytes)
	}
	var p cu.DevicePtr
	err := d.do(func() (err error) {
		p, err = cu.MemAlloc(bytes)
		return check("cuMemAlloc", err)
	})
	return Pointer(p), err
}

func (d *device) Free(p Pointer) error {
	if p == 0 {
		return nil
	}
	return d.do(func() error { return check("cuMemFree", cu.MemFree(cu.DevicePtr(p))) })
}

// pinned is HostMemory.
type pinned struct {
	at    unsafe.Pointer
	bytes int64
}

func (m *pinned) Bytes() []byte { return unsafe.Slice((*byte)(m.at), m.bytes) }

func (m *pinned) Floats() []float32 { return unsafe.Slice((*float32)(m.at), m.bytes/4) }

func (d *device) AllocHost(bytes int64) (HostMemory, error) {
	if bytes < 1 {
		return nil, fmt.Errorf("%w: %d bytes of host memory; want 1 or more", ErrArgument, bytes)
	}
	m := &pinned{bytes: bytes}
	err := d.do(func() error {
		return checkResult("cuMemHostAlloc", C.cuMemHostAlloc(&m.at, C.size_t(bytes), C.CU_MEMHOSTALLOC_PORTABLE))
	})
	if err != nil {
		return nil, err
	}
	return m, nil
}

func (d *device) FreeHost(m HostMemory) error {
	p, ok := m.(*pinned)
	if !ok || p.at == nil {
		return fmt.Errorf("%w: host memory that is not pinned, or free already", ErrArgument)
	}
	err := d.do(func() error { return check("cuMemFreeHost", cu.MemFreeHost(p.at)) })
	if err == nil {
		p.at, p.bytes = nil, 0
	}
	return err
}

// part returns the address of bytes bytes of m from offset on.
func part(m HostMemory, offset, bytes int64) (unsafe.Pointer, error) {
	p, ok := m.(*pinned)
	if !ok || p.at == nil {
		return nil, fmt.Errorf("%w: a copy with host memory that is not pinned, or free already", ErrArgument)
	}
	if offset < 0 || bytes < 0 || offset > p.bytes || bytes > p.bytes-offset {
		return nil, fmt.Errorf("%w: bytes %d to %d of host memory of %d bytes", ErrArgument, offset, offset+bytes, p.bytes)
	}
	return unsafe.Add(p.at, offset), nil
}

func (d *device) CopyToDevice(s Stream, dst Pointer, src HostMemory, offset, bytes int64) error {
	from, err := part(src, offset, bytes)
	if err != nil {
		return err
	}
	return d.do(func() error {
		return check("cuMemcpyHtoDAsync", cu.MemcpyHtoDAsync(cu.DevicePtr(dst), from, bytes, s.cu()))
	})
}

func (d *device) CopyToHost(s Stream, dst HostMemory, offset int64, src Pointer, bytes int64) error {
	to, err := part(dst, offset, bytes)
	if err != nil {
		return err
	}
	return d.do(func() error {
		return check("cuMemcpyDtoHAsync", cu.MemcpyDtoHAsync(to, cu.DevicePtr(src), bytes, s.cu()))
	})
}

func (d *device) CopyOnDevice(s Stream, dst, src Pointer, bytes int64) error {
	return d.do(func() error {
		return check("cuMemcpyDtoDAsync", cu.MemcpyDtoDAsync(cu.DevicePtr(dst), cu.DevicePtr(src), bytes, s.cu()))
	})
}

func (d *device) Fill(s Stream, dst Pointer, word uint32, count int64) error {
	return d.do(func() error {
		if count == 0 { // of which the driver's reference does not say what it does
			return nil
		}
		return check("cuMemsetD32Async", cu.MemsetD32Async(cu.DevicePtr(dst), uint(word), count, s.cu()))
	})
}

func (d *device) NewStream() (s Stream, err error) {
	err = d.do(func() error {
		made, err := cu.MakeStream(cu.NonBlocking)
		s = *(*Stream)(unsafe.Pointer(&made))
		return check("cuStreamCreate", err)
	})
	if err == nil {
		d.handles.Lock()
		d.streams[s] = struct{}{}
		d.handles.Unlock()
	}
	return s, err
}

func (d *device) FreeStream(s Stream) error {
	d.handles.Lock()
	delete(d.streams, s)
	d.handles.Unlock()
	return d.do(func() error {
		old := s.cu()
		return check("cuStreamDestroy", old.Destroy())
	})
}

func (d *device) Synchronize(s Stream) error {
	return d.do(func() error { return check("cuStreamSynchronize", s.cu().Synchronize()) })
}

func (d *device) NewEvent(timing bool) (e Event, err error) {
	flags := cu.DisableTiming
	if timing {
		flags = cu.DefaultEvent
	}
	err = d.do(func() error {
		made, err := cu.MakeEvent(flags)
		e = *(*Event)(unsafe.Pointer(&made))
		return check("cuEventCreate", err)
	})
	return e, err
}

func (d *device) FreeEvent(e Event) error {
	return d.do(func() error {
		old := e.cu()
		return check("cuEventDestroy", cu.DestroyEvent(&old))
	})
}

func (d *device) Record(s Stream, e Event) error {
	return d.do(func() error { return check("cuEventRecord", e.cu().Record(s.cu())) })
}

func (d *device) Wait(s Stream, e Event) error {
	return d.do(func() error { return check("cuStreamWaitEvent", s.cu().Wait(e.cu(), 0)) })
}

func (d *device) SynchronizeEvent(e Event) error {
	return d.do(func() error { return check("cuEventSynchronize", e.cu().Synchronize()) })
}

func (d *device) Done(e Event) (done bool, err error) {
	err = d.do(func() error {
		err := e.cu().Query()
		done = err == nil
		if err == cu.NotReady {
			return nil
		}
		return check("cuEventQuery", err)
	})
	return done, err
}

func (d *device) Elapsed(from, to Event) (milliseconds float64, err error) {
	err = d.do(func() (err error) {
		milliseconds, err = from.cu().Elapsed(to.cu())
		return check("cuEventElapsedTime", err)
	})
	return milliseconds, err
}

func (d *device) LoadModule(ptx []byte) (m Module, err error) {
	kernels := parameters(ptx)
	if len(kernels) == 0 {
		return 0, fmt.Errorf("%w: %d bytes that are no PTX of any kernel", ErrArgument, len(ptx))
	}
	text := C.CString(string(ptx))
	defer C.free(unsafe.Pointer(text))
	const room = 4 << 10
	log := (*C.char)(C.calloc(room, 1))
	defer C.free(unsafe.Pointer(log))
	err = d.do(func() error {
		var made C.CUmodule
		r := C.load_module(&made, text, log, room)
		m = *(*Module)(unsafe.Pointer(&made))
		return untranslated(checkResult("cuModuleLoadDataEx", r), C.GoStringN(log, room-1))
	})
	if err != nil {
		return 0, err
	}
	d.handles.Lock()
	defer d.handles.Unlock()
	d.parameters[m] = kernels
	return m, nil
}

func (d *device) UnloadModule(m Module) error {
	// Before the driver can give the same handle to another module.
	d.handles.Lock()
	delete(d.parameters, m)
	d.handles.Unlock()
	return d.do(func() error { return check("cuModuleUnload", m.cu().Unload()) })
}

func (d *device) Function(m Module, name string) (*Function, error) {
	d.handles.Lock()
	count, known := d.parameters[m][name]
	d.handles.Unlock()
	if !known {
		return nil, fmt.Errorf("%w: the module has no kernel %q", ErrArgument, name)
	}
	if count > maxArguments {
		return nil, fmt.Errorf("%w: kernel %q has %d arguments; want at most %d", ErrArgument, name, count, maxArguments)
	}
	f := &Function{Name: name, Parameters: count, Owner: d}
	err := d.do(func() error {
		made, err := m.cu().Function(name)
		if err != nil {
			return check("cuModuleGetFunction", err)
		}
		f.Handle = *(*uintptr)(unsafe.Pointer(&made))
		for _, a := range []struct {
			to        *int
			attribute cu.FunctionAttribute
		}{
			{&f.Registers, cu.NumRegs},
			{&f.Local, cu.LocalSizeBytes},
			{&f.Shared, cu.SharedSizeBytes},
			{&f.MaxThreads, cu.FnMaxThreadsPerBlock},
		} {
			if *a.to, err = made.Attribute(a.attribute); err != nil {
				return check("cuFuncGetAttribute", err)
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return f, nil
}

// own returns an error unless f is a kernel of this device.
func (d *device) own(f *Function) error {
	if f == nil || f.Owner != Device(d) {
		return fmt.Errorf("%w: a kernel of another device", ErrArgument)
	}
	return nil
}

func (d *device) SetDynamicShared(f *Function, bytes int) error {
	if err := d.own(f); err != nil {
		return err
	}
	if bytes < 0 || bytes > math.MaxInt32 {
		return fmt.Errorf("%w: %d bytes of shared memory for kernel %s", ErrArgument, bytes, f.Name)
	}
	return d.do(func() error {
		return checkResult("cuFuncSetAttribute", C.cuFuncSetAttribute(f.c(), C.CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, C.int(bytes)))
	})
}

func (d *device) BlocksPerMultiprocessor(f *Function, threads, shared int) (blocks int, err error) {
	if err := d.own(f); err != nil {
		return 0, err
	}
	err = d.do(func() (err error) {
		blocks, err = f.cu().MaxActiveBlocksPerMultiProcessor(threads, int64(shared))
		return check("cuOccupancyMaxActiveBlocksPerMultiprocessor", err)
	})
	return blocks, err
}

func (d *device) Launch(s Stream, f *Function, grid, block Dim, shared int, args ...Arg) error {
	if err := d.own(f); err != nil {
		return err
	}
	if len(args) != f.Parameters {
		return fmt.Errorf("%w: kernel %s with %d arguments; want %d", ErrArgument, f.Name, len(args), f.Parameters)
	}
	grid, block = grid.atLeastOne(), block.atLeastOne()
	if !grid.within(math.MaxInt32, 65535, 65535) || !block.within(1024, 1024, 64) || block.X*block.Y*block.Z > f.MaxThreads ||
		shared < 0 || shared > math.MaxInt32 {
		return fmt.Errorf("%w: kernel %s with a grid of %v blocks of %v threads, %d bytes of shared memory; it runs with blocks of up to %d threads",
			ErrArgument, f.Name, grid, block, shared, f.MaxThreads)
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	if d.closed {
		return ErrClosed
	}
	var slots *C.uint64_t
	if len(args) > 0 {
		slots = (*C.uint64_t)(unsafe.Pointer(&args[0]))
	}
	return checkResult("cuLaunchKernel", C.launch(d.contextC(), f.c(),
		C.uint(grid.X), C.uint(grid.Y), C.uint(grid.Z), C.uint(block.X), C.uint(block.Y), C.uint(block.Z),
		C.uint(shared), s.c(), slots, C.int(len(args))))
}

func (a Dim) atLeastOne() Dim {
	for _, n := range []*int{&a.X, &a.Y, &a.Z} {
		if *n == 0 {
			*n = 1
		}
	}
	return a
}

func (a Dim) within(x, y, z int) bool {
	return a.X >= 1 && a.X <= x && a.Y >= 1 && a.Y <= y && a.Z >= 1 && a.Z <= z
}

func (d *device) BeginCapture(s Stream) error {
	return d.do(func() error {
		// Relaxed: other goroutines go on with what they do, and the end of the capture may
		// come on another thread.
		return checkResult("cuStreamBeginCapture", C.cuStreamBeginCapture(s.c(), C.CU_STREAM_CAPTURE_MODE_RELAXED))
	})
}

func (d *device) EndCapture(s Stream) (g Graph, err error) {
	err = d.do(func() error {
		var recorded C.CUgraph
		if err := checkResult("cuStreamEndCapture", C.cuStreamEndCapture(s.c(), &recorded)); err != nil {
			return err
		}
		var ready C.CUgraphExec
		err := checkResult("cuGraphInstantiateWithFlags", C.cuGraphInstantiateWithFlags(&ready, recorded, 0))
		if late := checkResult("cuGraphDestroy", C.cuGraphDestroy(recorded)); err == nil {
			err = late
		}
		g = *(*Graph)(unsafe.Pointer(&ready))
		return err
	})
	return g, err
}

func (d *device) LaunchGraph(s Stream, g Graph) error {
	d.mu.RLock()
	defer d.mu.RUnlock()
	if d.closed {
		return ErrClosed
	}
	return checkResult("cuGraphLaunch", C.launch_graph(d.contextC(), g.c(), s.c()))
}

func (d *device) FreeGraph(g Graph) error {
	return d.do(func() error { return checkResult("cuGraphExecDestroy", C.cuGraphExecDestroy(g.c())) })
}
