package restore

import (
	"context"
	"errors"
	"fmt"
	"image"
	"sync"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/internal/networks"
	"github.com/averaged/imaging/internal/outcome"
)

// ErrClosed is returned by the methods of a closed Restorer.
var ErrClosed = errors.New("restore: the restorer is closed")

var errNoContext = errors.New("restore: the context is nil")

// Restorer does what the functions with the names of its methods do. It keeps the device and the networks between
// calls, and loads each network in the first call that needs it. A network that is an option of one call (Weights) is
// loaded for that call alone. A Restorer is safe for concurrent use. The zero value and
// nil are closed ones.
type Restorer struct {
	defaults request
	device   backend.Device
	owned    bool // the device was made here
	kept     networks.Kept

	mu    sync.Mutex
	open  bool
	calls sync.WaitGroup
}

// New returns a Restorer whose calls have the given options. A call ignores those that its task does not take.
// Options of a call replace those of New, and must belong to its task. The caller closes the Restorer.
func New(options ...Option) (*Restorer, error) {
	c, err := apply(options)
	if err != nil {
		return nil, err
	}
	r := &Restorer{defaults: c, device: c.device, open: true}
	switch {
	case c.network != nil && c.device == nil:
		r.device = c.network.Device()
	case r.device == nil:
		if r.device, err = cpu.Open(cpu.Threads(c.threads), cpu.MemoryLimit(c.memory)); err != nil {
			return nil, fmt.Errorf("restore: %w", err)
		}
		r.owned = true
	}
	r.kept.File = c.weights
	return r, nil
}

// forOne is New for a single call, which all options must belong to.
func forOne(t task, options []Option) (*Restorer, error) {
	r, err := New(options...)
	if err != nil {
		return nil, err
	}
	if err := t.check(options, taskNew); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

// Close waits for running calls and frees what the Restorer made. A device or a network that was given stays open. A
// second Close does nothing.
func (r *Restorer) Close() error {
	if r == nil {
		return nil
	}
	r.mu.Lock()
	open := r.open
	r.open = false
	r.mu.Unlock()
	r.calls.Wait()
	if !open {
		return nil
	}
	r.kept.Free()
	if r.owned {
		return r.device.Close()
	}
	return nil
}

// close is Close on a device of the host, or on none of its own: neither has anything to fail at.
func (r *Restorer) close() { _ = r.Close() }

// begin returns the plan of a call, and what to call at its end.
func (r *Restorer) begin(ctx context.Context, t task, options []Option) (plan, func(), error) {
	switch {
	case r == nil:
		return plan{}, nil, ErrClosed
	case ctx == nil:
		return plan{}, nil, errNoContext
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.open {
		return plan{}, nil, ErrClosed
	}
	p, err := r.plan(t, options)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return plan{}, nil, err
	}
	r.calls.Add(1)
	return p, r.calls.Done, nil
}

// solving returns the restored samples of an image.
type solving func(context.Context, plan, *opened, *outcome.Report) ([]float32, error)

// run makes a plan and runs it.
func (r *Restorer) run(ctx context.Context, t task, img image.Image, options []Option, measure measuring, solve solving) (image.Image, *Report, error) {
	c, done, err := r.begin(ctx, t, options)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	return c.run(ctx, img, measure, solve)
}

// run does what all restorations of an image have in common around solve. measure estimates the noise where the options do not
// say it; if it is nil, solve does.
func (c plan) run(ctx context.Context, img image.Image, measure measuring, solve solving) (image.Image, *Report, error) {
	p, err := open(ctx, img, c.device.Description().Threads)
	if err != nil {
		return nil, nil, err
	}
	if c.task == taskDenoise && c.choice.Prior == nil {
		p, c.asked.noise = p.reduced(c.asked.noise)
	}
	report := &outcome.Report{Method: c.choice.Method}
	if c.task == taskDenoise || c.task == taskDeblur {
		if p, report.Noise.Impulses, err = p.prepared(ctx, c.task == taskDenoise && c.choice.Prior == nil); err != nil {
			return nil, nil, err
		}
	}
	if measure != nil {
		seen := p.measured()
		if c.task == taskDenoise { // a map is of all of it
			seen = p.planes
		}
		if err := c.findNoise(ctx, report, seen, measure); err != nil {
			return nil, nil, err
		}
	}
	out, err := solve(ctx, c, &p, report)
	if err != nil {
		return nil, nil, err
	}
	told := reportOf(report)
	told.Noise.Estimate = told.Noise.Estimate.resized(1, p.repetition)
	return p.close(out), told, nil
}
