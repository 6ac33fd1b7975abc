package vulkan

import (
	"math"

	"github.com/averaged/imaging/backend/vulkan/internal/driver"
)

const (
	// groupThreads is how many invocations a workgroup of every kernel has, and sharedBytes how much
	// shared memory the largest needs.
	groupThreads = 256
	sharedBytes  = 24 << 10

	// mostGroups is how many workgroups a dispatch may have along an axis, on every device.
	mostGroups = 65535
)

// launch collects what a kernel gets.
type launch struct {
	gpu      *gpu
	bindings []driver.Binding
}

func (g *gpu) launch() *launch {
	return &launch{g, make([]driver.Binding, 0, driver.MaxBindings)}
}

// bind gives the kernel n numbers of memory, and returns where in the binding they begin.
func (l *launch) bind(m memory, n int) uint32 {
	at := m.block.offset + 4*int64(m.first)
	before := at % granule
	l.bindings = append(l.bindings, driver.Binding{Memory: m.block.owner.memory, Offset: at - before, Size: before + 4*int64(n)})
	return uint32(before / 4)
}

// array binds an operand.
func (l *launch) array(a array) uint32 { return l.bind(a.Data, a.Shape.Len()) }

// run puts a kernel on the stream that goes through elements of planes, and makes so many operations for
// each.
func (l *launch) run(name string, constants []uint32, elements, planes int, each float64, push ...uint32) error {
	x, y := min(mostGroups, ceil(elements, groupThreads)), min(mostGroups, planes)
	return l.groups(name, constants, x, y, each*float64(elements)*float64(planes), push...)
}

// groups puts a kernel on the stream with x·y workgroups.
func (l *launch) groups(name string, constants []uint32, x, y int, cost float64, push ...uint32) error {
	if l.gpu.fault != nil {
		return l.gpu.fault
	}
	l.gpu.worked = true
	k, err := l.gpu.kernel(name, constants)
	if err != nil {
		return l.gpu.try(err)
	}
	return l.gpu.try(l.gpu.stream.dispatch(k, l.bindings, push, x, y, cost))
}

// ceil is a/b rounded up.
func ceil(a, b int) int { return (a-1)/b + 1 }

// bits are those of a constant.
func bits(v float32) uint32 { return math.Float32bits(v) }

// flag is a constant that is 0 or 1.
func flag(v bool) uint32 {
	if v {
		return 1
	}
	return 0
}
