package cpu

import (
	"fmt"
	"sync"

	"github.com/averaged/imaging/backend"
)

// borrowed is memory of one call, with any contents.
type borrowed struct {
	device *Device
	floats []float32
}

// idleMemory keeps the little memory of calls that have ended, as long as the garbage collector
// lets it; much is among the idle arrays of the device.
var idleMemory sync.Pool

// borrow returns so many floats, which count as the device's until they are given back.
func (d *Device) borrow(floats int) (borrowed, error) {
	bytes := int64(floats) * 4
	if used := d.used.Add(bytes); d.limit > 0 && used > d.limit {
		d.used.Add(-bytes)
		return borrowed{}, fmt.Errorf("%w: %d bytes of scratch memory", backend.ErrOutOfMemory, bytes)
	}
	if floats < leastIdle {
		if whole, _ := idleMemory.Get().(*[]float32); whole != nil && len(*whole) >= floats {
			return borrowed{d, (*whole)[:floats]}, nil
		}
	}
	data, _, err := d.take(floats)
	if err != nil {
		d.used.Add(-bytes)
		return borrowed{}, err
	}
	return borrowed{d, data}, nil
}

func (b borrowed) giveBack() {
	b.device.used.Add(-4 * int64(len(b.floats)))
	if whole := b.floats[:cap(b.floats)]; len(whole) < leastIdle {
		idleMemory.Put(&whole)
		return
	}
	b.device.keep(b.floats)
}
