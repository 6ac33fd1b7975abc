package networks

import (
	"context"
	"fmt"
	"sync"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/noise"
	"github.com/averaged/imaging/weights"
)

// Kept are the networks that a restorer keeps between calls, and the files that they are of. The zero value is ready.
// It is safe for concurrent use.
type Kept struct {
	File *weights.File // of restore.New, or nil

	mu     sync.Mutex
	files  map[string]*weights.File // embedded ones, which are read only
	loaded map[networkKey]*keptNetwork
	levels map[backend.Device]*noise.Network
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

// Open returns the embedded weights of a name.
func (n *Kept) Open(name string) (*weights.File, error) {
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
func (n *Kept) keeps(f *weights.File) bool {
	if n == nil {
		return false
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if f == n.File {
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
func (n *Kept) load(ctx context.Context, key networkKey, load func() (*denoise.Network, error)) (*denoise.Network, error) {
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

// Free gives the networks back.
func (n *Kept) Free() {
	for _, k := range n.loaded {
		if k.network != nil {
			k.network.Free()
		}
	}
	for _, l := range n.levels {
		l.Free()
	}
}

// Levels returns the network of noise levels on a device, which is kept.
func (n *Kept) Levels(dev backend.Device) (*noise.Network, error) {
	f, err := n.Open(weights.Levels)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if net := n.levels[dev]; net != nil {
		return net, nil
	}
	m, err := noise.FromFile(f)
	if err != nil {
		return nil, fmt.Errorf("restore: %w", err)
	}
	net, err := noise.NewNetwork(dev, m)
	if err != nil {
		return nil, fmt.Errorf("restore: weights %q: %w", weights.Levels, err)
	}
	if n.levels == nil {
		n.levels = map[backend.Device]*noise.Network{}
	}
	n.levels[dev] = net
	return net, nil
}
