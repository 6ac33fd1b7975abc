package dispatch

import "math"

// launch collects the operands of a dispatch.
type launch[B comparable] struct {
	kernels  *Kernels[B]
	operands []Operand[B]
}

func (k *Kernels[B]) launch() *launch[B] {
	return &launch[B]{k, make([]Operand[B], 0, 6)}
}

// bind adds n numbers of memory, and returns where in the operand they begin.
func (l *launch[B]) bind(m Memory[B], n int) uint32 {
	at := m.first
	if a := l.kernels.gpu.Shaders().Alignment; a > 0 {
		at %= a
	}
	l.operands = append(l.operands, Operand[B]{m.block, m.first - at, at + n})
	return uint32(at)
}

// array adds an array.
func (l *launch[B]) array(a Array[B]) uint32 { return l.bind(a.Data, a.Shape.Len()) }

// none adds an operand that the shader has, and does not touch.
func (l *launch[B]) none() { l.operands = append(l.operands, Operand[B]{}) }

// run dispatches a shader that goes through elements of planes, with so many operations for each.
func (l *launch[B]) run(shader string, constants []uint32, elements, planes int, each float64, push ...uint32) error {
	x, y := min(MaxGroups, ceil(elements, GroupThreads)), min(MaxGroups, planes)
	return l.groups(shader, constants, x, y, each*float64(elements)*float64(planes), push...)
}

// groups dispatches a shader with x·y workgroups.
func (l *launch[B]) groups(shader string, constants []uint32, x, y int, operations float64, push ...uint32) error {
	k := l.kernels
	if k.fault != nil {
		return k.fault
	}
	k.worked = true
	return k.try(k.gpu.Dispatch(&Dispatch[B]{shader, constants, l.operands, push, x, y, operations}))
}

// ceil is a/b rounded up.
func ceil(a, b int) int { return (a-1)/b + 1 }

// bits are those of a number for a shader.
func bits(v float32) uint32 { return math.Float32bits(v) }

// flag is a number for a shader that is 0 or 1.
func flag(v bool) uint32 {
	if v {
		return 1
	}
	return 0
}
