package devicekit

import (
	"fmt"
	"sync"

	"github.com/averaged/imaging/backend"
)

// Device is the backend.Device that New makes of kernels. It has all that package backend asks for
// beside them: it owns buffers, filters and blurs, checks the arguments of each call once, and does
// what the kernels lack by those that they have. Safe for concurrent use.
type Device[M, F any] struct {
	kernels    Kernels[M, F]
	concurrent bool
	host       hostWork
	// lock is held for reading by operations of concurrent kernels, for writing by those of others,
	// and by Close, which waits for them.
	lock   sync.RWMutex
	closed bool
	calls  sync.Pool // of *call, that have ended
}

// New makes a device of kernels. Methods of concurrent ones are called at the same time, and Free of
// theirs during and after Close; all others are called one at a time, and none after Close.
func New[M, F any](kernels Kernels[M, F], concurrent bool) *Device[M, F] {
	return &Device[M, F]{kernels: kernels, concurrent: concurrent}
}

// Description implements backend.Device.
func (d *Device[M, F]) Description() backend.Description { return d.kernels.Description() }

// ConvolutionGrid implements backend.Convolutions.
func (d *Device[M, F]) ConvolutionGrid() int { return d.kernels.ConvolutionGrid() }

// Sync implements backend.Device.
func (d *Device[M, F]) Sync() error {
	c := d.begin()
	defer c.end()
	if c.err != nil {
		return c.err
	}
	return d.kernels.Sync()
}

// Close implements backend.Device.
func (d *Device[M, F]) Close() error {
	d.lock.Lock()
	defer d.lock.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	d.host.close()
	return d.kernels.Close()
}

// call is one operation under way, from begin to end. The first thing that is found wrong with its
// arguments stays, and the methods that look at them do nothing from then on.
type call[M, F any] struct {
	device *Device[M, F]
	err    error
	held   []*lifetime
	few    [6]*lifetime // of held, in most calls
}

func (d *Device[M, F]) begin() *call[M, F] {
	if d.concurrent {
		d.lock.RLock()
	} else {
		d.lock.Lock()
	}
	c, ok := d.calls.Get().(*call[M, F])
	if !ok {
		c = &call[M, F]{device: d}
	}
	c.err, c.held = nil, c.few[:0]
	if d.closed {
		c.err = backend.ErrClosed
	}
	return c
}

// end is called once, whatever happened since begin.
func (c *call[M, F]) end() {
	d := c.device
	for _, l := range c.held {
		l.drop()
	}
	clear(c.held)
	d.calls.Put(c)
	if d.concurrent {
		d.lock.RUnlock()
	} else {
		d.lock.Unlock()
	}
}

// check takes what a check says of the arguments.
func (c *call[M, F]) check(err error) {
	if c.err == nil {
		c.err = err
	}
}

// owned is what a buffer, a filter and a blur have in common.
type owned[M, F any] struct {
	device *Device[M, F]
	life   *lifetime
}

// hold keeps what a call is given until its end. It is false where that is another device's, or was
// freed.
func (c *call[M, F]) hold(o *owned[M, F], what string, about any) bool {
	switch {
	case o.device != c.device:
		c.err = fmt.Errorf("%w: %s %v of another device than %s", backend.ErrForeign, what, about, c.name())
	case !o.life.use():
		c.err = fmt.Errorf("%w: %s %v", backend.ErrFreed, what, about)
	default:
		c.held = append(c.held, o.life)
	}
	return c.err == nil
}

// foreign says that a call was given what no device of this kind has made.
func (c *call[M, F]) foreign(what string, given any) {
	c.check(fmt.Errorf("%w: %s of type %T on device %s", backend.ErrForeign, what, given, c.name()))
}

func (c *call[M, F]) name() string { return c.device.kernels.Description().Name }

// free ends the owner's part in what it has made.
func (d *Device[M, F]) free(l *lifetime) {
	if !d.concurrent {
		d.lock.Lock()
		defer d.lock.Unlock()
		if d.closed {
			return
		}
	}
	l.free()
}
