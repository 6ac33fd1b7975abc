package backendtest

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/averaged/imaging/backend"
)

// Run puts every operation of a device through the suite. open opens the device anew each time, in the same
// way; Run closes what it opens. Checks of an operation for which the device returns ErrUnsupported are
// skipped, unless the operation is one of those in must (see Operations).
func Run(t *testing.T, open func(t testing.TB) backend.Device, must ...string) {
	for _, m := range must {
		if !slices.Contains(Operations(), m) {
			t.Fatalf("backendtest: no operation is called %q; there are %v", m, Operations())
		}
	}
	for _, operation := range Operations() {
		runOperation(t, open, operation, must)
	}
}

// RunOnly puts some operations of a device through the suite, none of which may be unsupported: those of a device
// that has all others in common with one that passes Run.
func RunOnly(t *testing.T, open func(t testing.TB) backend.Device, operations ...string) {
	for _, operation := range operations {
		if len(checksOf(operation)) == 0 {
			t.Fatalf("backendtest: no operation is called %q; there are %v", operation, Operations())
		}
		runOperation(t, open, operation, operations)
	}
}

func runOperation(t *testing.T, open func(t testing.TB) backend.Device, operation string, must []string) {
	t.Run(operation, func(t *testing.T) {
		for _, c := range checksOf(operation) {
			t.Run(c.name, func(t *testing.T) {
				err := c.perform(t, open)
				switch {
				case err == nil:
				case c.excused(err, must):
					t.Skipf("the device cannot do this: %v", err)
				default:
					t.Error(err)
				}
			})
		}
	})
}

// Operations returns the names of all operations of the suite, which are the names of the device's methods.
func Operations() []string {
	var names []string
	for _, c := range allChecks() {
		if !slices.Contains(names, c.operation) {
			names = append(names, c.operation)
		}
	}
	return names
}

// SameBits runs the cases of every operation, without those in except, on two devices that must agree to
// the bit, such as one processor with different numbers of threads.
func SameBits(t *testing.T, a, b func(t testing.TB) backend.Device, except ...string) {
	first, second := a(t), b(t)
	defer closeDevice(t, first)
	defer closeDevice(t, second)
	for _, c := range allCases() {
		if slices.Contains(except, c.operation) {
			continue
		}
		t.Run(c.title(), func(t *testing.T) {
			want, err := c.once(first)
			if errors.Is(err, backend.ErrUnsupported) {
				t.Skipf("the first device cannot do this: %v", err)
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.once(second)
			if err != nil {
				t.Fatal(err)
			}
			if err := c.checkSame(got, want); err != nil {
				t.Error(err)
			}
		})
	}
}

// Benchmark times operations on photographs of a size, usually 321×481. It reports GFLOP/s or, for operations
// bound by memory, GB/s of arrays read and written.
func Benchmark(b *testing.B, p Photograph, open func(t testing.TB) backend.Device) {
	dev := open(b)
	defer closeDevice(b, dev)
	for _, c := range timedCases(p) {
		b.Run(c.operation+"/"+c.name, func(b *testing.B) { c.benchmark(b, dev) })
	}
}

func (c *testCase) benchmark(b *testing.B, dev backend.Device) {
	op, err := c.prepare(dev)
	if errors.Is(err, backend.ErrUnsupported) {
		b.Skipf("the device cannot do this: %v", err)
	}
	if err != nil {
		b.Fatal(err)
	}
	defer op.free()
	p, err := c.place(dev)
	if err != nil {
		b.Fatal(err)
	}
	defer p.free()
	call := func() {
		if _, err := op.call(p.buffers); err != nil {
			if errors.Is(err, backend.ErrUnsupported) {
				b.Skipf("the device cannot do this: %v", err)
			}
			b.Fatal(err)
		}
	}
	sync := func() {
		if err := dev.Sync(); err != nil {
			b.Fatal(err)
		}
	}
	call() // plans are made and memory is touched before the clock starts
	sync()
	b.ResetTimer()
	for range b.N { // not b.Loop, which would leave the last Sync out of the time
		call()
	}
	sync()
	b.StopTimer()
	perSecond := float64(b.N) / b.Elapsed().Seconds() / 1e9
	if c.flops > 0 {
		b.ReportMetric(c.flops*perSecond, "GFLOP/s")
	}
	if c.bytes > 0 {
		b.ReportMetric(c.bytes*perSecond, "GB/s")
	}
}

// once prepares, runs and frees.
func (c *testCase) once(dev backend.Device) (outcome, error) {
	op, err := c.prepare(dev)
	if err != nil {
		return outcome{}, err
	}
	defer op.free()
	return c.run(dev, op)
}

func closeDevice(t testing.TB, dev backend.Device) {
	if err := dev.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// check is one thing that has to hold of a device.
type check struct {
	operation string // the method that it is about
	name      string
	memory    bool // may not be unsupported
	run       func(e *environment) error
}

// excused reports whether an error is that the device lacks an operation that it
// may lack.
func (c check) excused(err error, must []string) bool {
	return errors.Is(err, backend.ErrUnsupported) && !c.memory && !slices.Contains(must, c.operation)
}

// perform runs a check on a device of its own. An error that the device finds
// late belongs to the check that caused it.
func (c check) perform(t testing.TB, open func(t testing.TB) backend.Device) (err error) {
	e := &environment{open: func() backend.Device { return open(t) }}
	defer func() {
		if e.spare != nil {
			err = errors.Join(err, wrap("Close of a second device", e.spare.Close()))
		}
		if e.dev != nil {
			err = errors.Join(err, wrap("Close", e.dev.Close()))
		}
	}()
	if e.dev, err = e.fresh(); err != nil {
		return err
	}
	return guarded(func() error {
		if err := c.run(e); err != nil {
			return err
		}
		return wrap("Sync at the end", e.dev.Sync())
	})
}

func wrap(what string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s: %w", what, err)
}

// environment is what a check works with.
type environment struct {
	dev   backend.Device
	spare backend.Device
	open  func() backend.Device
}

// fresh opens another device, which the check closes.
func (e *environment) fresh() (backend.Device, error) {
	dev := e.open()
	if dev == nil {
		return nil, errors.New("open returned no device")
	}
	return dev, nil
}

// other returns a second device, to whose buffers the first one is a stranger.
func (e *environment) other() (_ backend.Device, err error) {
	if e.spare == nil {
		e.spare, err = e.fresh()
	}
	return e.spare, err
}
