//go:build js && wasm

package webgpu

import (
	"math"
	"slices"
)

const (
	// groupThreads is how many invocations a workgroup of every kernel has.
	groupThreads = 256
	// mostGroups is how many workgroups a dispatch may have along an axis, on every device.
	mostGroups = 65535
)

// launch collects what a kernel gets.
type launch struct {
	gpu      *gpu
	operands []*buffer
}

func (g *gpu) launch() *launch { return &launch{gpu: g} }

// bind gives the kernel memory, and returns where in its operand that begins.
func (l *launch) bind(m memory) uint32 {
	l.operands = append(l.operands, m.buffer)
	return uint32(m.first)
}

// array binds an operand.
func (l *launch) array(a array) uint32 { return l.bind(a.Data) }

// run puts a kernel on the stream that goes through elements of planes, and makes so many operations for
// each.
func (l *launch) run(name string, constants map[string]uint32, elements, planes int, each float64, push ...uint32) error {
	x, y := min(mostGroups, ceil(elements, groupThreads)), min(mostGroups, planes)
	return l.groups(name, constants, x, y, each*float64(elements)*float64(planes), push...)
}

// groups puts a kernel on the stream with x·y workgroups.
func (l *launch) groups(name string, constants map[string]uint32, x, y int, cost float64, push ...uint32) error {
	g := l.gpu
	if g.fault != nil {
		return g.fault
	}
	g.worked = true
	first := make([]int, len(l.operands))
	for i, b := range l.operands {
		first[i] = slices.Index(l.operands, b)
	}
	k, err := g.kernel(name, constants, first)
	if err != nil {
		return g.try(err)
	}
	return g.try(g.stream.dispatch(k, l.operands, first, push, x, y, cost))
}

// ceil is a/b rounded up.
func ceil(a, b int) int { return (a-1)/b + 1 }

// bitsOf are those of a constant.
func bitsOf(v float32) uint32 { return math.Float32bits(v) }

// flag is a constant that is 0 or 1.
func flag(v bool) uint32 {
	if v {
		return 1
	}
	return 0
}
