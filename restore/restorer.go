package restore

import (
	"context"
	"errors"
	"fmt"
	"image"
	"slices"
	"sync"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/levelmap"
	"github.com/averaged/imaging/weights"
)

// ErrClosed is returned by the methods of a Restorer that has been closed.
var ErrClosed = errors.New("restore: the restorer is closed")

// Restorer does what the functions Denoise, Deblur, Inpaint, Upscale, Solve and Check do, and keeps
// between calls what takes time to make: the device, and the networks, each of which is loaded in
// the first call that needs it. A network that a call itself is given (Weights, WeightsFile) is
// loaded for that call alone. It is safe for concurrent use.
type Restorer struct {
	defaults settings
	device   backend.Device
	owned    bool // the device was made here
	kept     networks

	mu     sync.Mutex
	closed bool
	calls  sync.WaitGroup
}

// New returns a Restorer whose calls have the given options, each where it belongs: a Kernel, say,
// is that of Inpaint and Upscale. Those of a call take the place of them, and must belong to it.
// Close ends it.
func New(options ...Option) (*Restorer, error) {
	c, err := apply(options)
	if err != nil {
		return nil, err
	}
	r := &Restorer{defaults: c, device: c.device}
	switch {
	case c.network != nil && c.device == nil:
		r.device = c.network.Device()
	case r.device == nil:
		if r.device, err = cpu.Open(cpu.Threads(c.threads), cpu.MemoryLimit(c.memory)); err != nil {
			return nil, fmt.Errorf("restore: %w", err)
		}
		r.owned = true
	}
	r.kept.file = c.weights
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

// Close waits for the calls that are under way, and frees what is kept; a device or network that
// was given stays. A second Close does nothing.
func (r *Restorer) Close() error {
	r.mu.Lock()
	already := r.closed
	r.closed = true
	r.mu.Unlock()
	r.calls.Wait()
	if already {
		return nil
	}
	r.kept.free()
	if r.owned {
		return r.device.Close()
	}
	return nil
}

// close is Close on a device of the host, or on none of its own: neither has anything to fail at.
func (r *Restorer) close() { _ = r.Close() }

// begin returns the settings of a call, and what to call at its end.
func (r *Restorer) begin(ctx context.Context, t task, options []Option) (settings, func(), error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.closed {
		return settings{}, nil, ErrClosed
	}
	c, err := r.settings(t, options)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return settings{}, nil, err
	}
	r.calls.Add(1)
	return c, r.calls.Done, nil
}

// choosing are the options that choose a denoiser: if a call has one, those of New are no more.
var choosing = []string{"Method", "Weights", "WeightsFile", "Network", "Prior", "PriorFunc"}

// settings returns those of a call.
func (r *Restorer) settings(t task, options []Option) (settings, error) {
	c := r.defaults
	c.device, c.kept, c.cards = r.device, &r.kept, &knownCards{}
	if slices.ContainsFunc(options, func(o Option) bool { return o != nil && slices.Contains(choosing, o.name()) }) {
		c.method, c.weights, c.network, c.coarse, c.prior = "", nil, nil, nil, nil
	}
	if err := c.apply(options); err != nil {
		return settings{}, err
	}
	if err := t.check(options); err != nil {
		return settings{}, err
	}
	switch {
	case t == taskCheck: // what it says of a network it has proven itself
		c.prove, c.prior = true, nil
	case (t == taskInpaint || t == taskSolve) && !c.sigmaAsked: // exact measurements
		c.sigma, c.sigmaGiven = 0, true
	case t == taskUpscale && !c.beyond:
		c.boundary = deblur.Reflect
	}
	return c, c.settle(t)
}

// networks are those that are kept, and the files that they are of.
type networks struct {
	file *weights.File // of New, or nil

	mu     sync.Mutex
	files  map[string]*weights.File // embedded ones, which are read only
	loaded map[networkKey]*keptNetwork
	levels map[backend.Device]*levelmap.Network
}

type networkKey struct {
	file *weights.File
	tile int
}

// keptNetwork is a network that is loaded, or is yet to be.
type keptNetwork struct {
	turn    chan struct{} // holds one token, for who looks at network
	network *denoise.Network
}

// open returns the embedded weights of a name.
func (n *networks) open(name string) (*weights.File, error) {
	if n == nil {
		return weights.Open(name)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if f := n.files[name]; f != nil {
		return f, nil
	}
	f, err := weights.Open(name)
	if err != nil {
		return nil, err
	}
	if n.files == nil {
		n.files = map[string]*weights.File{}
	}
	n.files[name] = f
	return f, nil
}

// keeps tells whether the network of a file is to be kept: not of one that a single call is given.
func (n *networks) keeps(f *weights.File) bool {
	if n == nil {
		return false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if f == n.file {
		return true
	}
	for _, own := range n.files {
		if own == f {
			return true
		}
	}
	return false
}

// load returns the network of a file that is kept, which load loads where it is not there yet.
func (n *networks) load(ctx context.Context, key networkKey, load func() (*denoise.Network, error)) (*denoise.Network, error) {
	n.mu.Lock()
	k := n.loaded[key]
	if k == nil {
		if n.loaded == nil {
			n.loaded = map[networkKey]*keptNetwork{}
		}
		k = &keptNetwork{turn: make(chan struct{}, 1)}
		k.turn <- struct{}{}
		n.loaded[key] = k
	}
	n.mu.Unlock()
	select {
	case <-k.turn:
		defer func() { k.turn <- struct{}{} }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if k.network != nil {
		return k.network, nil
	}
	var err error
	k.network, err = load()
	return k.network, err
}

func (n *networks) free() {
	for _, k := range n.loaded {
		if k.network != nil {
			k.network.Free()
		}
	}
	for _, l := range n.levels {
		l.Free()
	}
}

// run does what all restorations have in common around solve, which returns the
// restored samples. measure estimates the noise where the options do not say it; if it is nil, solve
// does.
func (r *Restorer) run(ctx context.Context, t task, img image.Image, options []Option, measure func(settings, context.Context, *Planar) (NoiseEstimate, error),
	solve func(context.Context, backend.Device, *picture, settings, *Report) ([]float32, error)) (image.Image, *Report, error) {
	c, done, err := r.begin(ctx, t, options)
	if err != nil {
		return nil, nil, err
	}
	defer done()
	p, err := open(img, c.on().Description().Threads)
	if err != nil {
		return nil, nil, err
	}
	report := &Report{Method: c.method}
	if t == taskDenoise || t == taskDeblur {
		p.fillImpulses(report)
	}
	if measure != nil {
		seen := p.measured()
		if t == taskDenoise { // a map is of all of it
			seen = p.planar
		}
		if err := report.findSigma(ctx, c, seen, measure); err != nil {
			return nil, nil, err
		}
	}
	out, err := solve(ctx, c.on(), &p, c, report)
	if err != nil {
		return nil, nil, err
	}
	return p.close(out), report, nil
}

// loadNetwork returns the network of the settings, and whether it is the caller's to free.
func (c settings) loadNetwork(ctx context.Context, dev backend.Device) (_ *denoise.Network, owned bool, err error) {
	if c.network != nil {
		return c.network, false, nil
	}
	load := func() (*denoise.Network, error) {
		options := []denoise.Option{denoise.Tile(c.tile)}
		if c.workLimit > 0 {
			options = append(options, denoise.WorkLimit(c.workLimit))
		}
		if c.prove {
			options = append(options, denoise.Prove())
		}
		n, err := denoise.Load(ctx, dev, c.weights, options...)
		if err != nil {
			return nil, fmt.Errorf("restore: %w", err)
		}
		return n, nil
	}
	if !c.prove && c.kept.keeps(c.weights) {
		n, err := c.kept.load(ctx, networkKey{c.weights, c.tile}, load)
		return n, false, err
	}
	n, err := load()
	return n, true, err
}
