package cpu

import "sync"

// borrowed is memory of one call, with any contents.
type borrowed struct {
	device *host
	floats []float32
	whole  *[]float32
}

// idleMemory keeps the memory of calls that have ended, as long as the garbage collector lets
// it: new memory costs the time of its first touch.
var idleMemory sync.Pool

// borrow returns so many floats, which count as the device's until they are given back.
func (d *host) borrow(floats int) (borrowed, error) {
	bytes := int64(floats) * 4
	if err := d.take(bytes, "scratch memory"); err != nil {
		return borrowed{}, err
	}
	whole, _ := idleMemory.Get().(*[]float32)
	if whole == nil || len(*whole) < floats {
		data, err := allocate(floats)
		if err != nil {
			d.used.Add(-bytes)
			return borrowed{}, err
		}
		whole = &data
	}
	return borrowed{d, (*whole)[:floats], whole}, nil
}

func (b borrowed) giveBack() {
	b.device.used.Add(-4 * int64(len(b.floats)))
	idleMemory.Put(b.whole)
}
