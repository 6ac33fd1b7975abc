package cuda

import "errors"

// lateCopy is a copy that LinearCombination was asked for and that is not made yet. Where the next
// operation is a ConvolveAdjoint onto dst, its kernel reads src in the place of the copy: so a step
// z⁺ = z − hAᵀu of a network whose z is still wanted writes z⁺ once. Before anything else the copy is
// made.
type lateCopy struct{ dst, src *buffer }

// settle makes the copy that is late, if there is one. The mutex is locked.
func (d *Device) settle() error {
	c := d.late
	d.late = lateCopy{}
	if c.dst == nil {
		return nil
	}
	return translate(d.gpu.CopyOnDevice(d.stream, c.dst.pointer, c.src.pointer, c.dst.bytes()))
}

// settleBefore makes the copy that is late before a buffer's memory goes to somebody else, or leaves it
// if nobody can see it any more. An error is that of the next operation. The mutex is locked.
func (d *Device) settleBefore(freed *buffer) {
	if d.closed || d.late.dst == freed && freed.parent == nil {
		d.late = lateCopy{}
		return
	}
	d.lateError = errors.Join(d.lateError, d.settle())
}
