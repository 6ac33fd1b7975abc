package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/cmd/restore/internal/record"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/networks"
	"github.com/averaged/imaging/raw"
	"github.com/averaged/imaging/restore"
	"github.com/averaged/imaging/weights"
)

// use returns the options that choose the denoiser, and what to call when all is done.
// A network, of --weights or embedded, is loaded on the device, once for all inputs.
func (r *restoration) use(ctx context.Context, a *app, dev backend.Device) (opts []restore.Option, done func(), err error) {
	if !r.isNetwork() {
		return []restore.Option{restore.Method(r.method)}, func() {}, nil
	}
	f, err := r.weightFile(ctx, a)
	if err != nil {
		return nil, nil, err
	}
	source := r.source()
	card, err := f.Card()
	if err != nil {
		return nil, nil, fileError{source, err}
	}
	method, err := networks.MethodOf(card)
	if err != nil {
		return nil, nil, fileError{source, err}
	}
	if r.method != "" && r.method != method {
		return nil, nil, usagef("--%s %s: the network in %s is of method %s; give that, or leave --%s out", r.flag, r.method, message.FileName(source), method, r.flag)
	}
	r.method = method
	options := []denoise.Option{denoise.Tile(r.side), denoise.WorkLimit(r.maxWork)}
	if r.uncertified {
		options = append(options, denoise.Uncertified())
	}
	if r.prove {
		options = append(options, denoise.Prove())
	}
	loaded := func() {}
	if r.prove || !f.IsEmbedded() {
		loaded = a.whileLong(message.FileName(source) + ": its certificate is being proven, which takes long with large filters")
	}
	beside := r.beginOthers(ctx, dev, options)
	r.network, err = denoise.Load(ctx, dev, f, options...)
	loaded()
	othersErr := beside()
	if err != nil {
		r.freeOthers()
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		return nil, nil, fileError{source, err}
	}
	if len(card.Certificate) == 0 && r.network.Certificate().Proven {
		a.Note("note: %s: its certificate was %s", message.FileName(source), r.network.Certificate().Origin)
	}
	if w := r.network.Work(); w.Time() > announced {
		a.Note("note: %s: the network takes about %s for a megapixel on one core of a processor", message.FileName(source), w.InWords())
	}
	if othersErr != nil {
		r.network.Free()
		r.freeOthers()
		return nil, nil, othersErr
	}
	// Of all networks that the noise chooses from.
	for _, n := range []struct {
		source  string
		network *denoise.Network
	}{{source, r.network}, {weights.Camera, r.coarse}, {weights.Raw, r.mosaic}} {
		if n.network == nil {
			continue
		}
		for _, line := range message.Lines(n.network.Certificate().String()) {
			a.Detail("%s: %s", message.FileName(n.source), line)
		}
	}
	opts = []restore.Option{restore.Network(r.network)}
	if r.coarse != nil {
		opts = append(opts, restore.CoarseNetwork(r.coarse))
	}
	return opts, func() { r.network.Free(); r.freeOthers() }, nil
}

// announced is how long a network may take for a megapixel on one core before that is said.
const announced = 30 * time.Second

// beginOthers begins to load the networks that denoise uses by itself where noise is coarse and in mosaics, beside the
// other one, and returns the function that waits for them.
func (r *restoration) beginOthers(ctx context.Context, dev backend.Device, options []denoise.Option) (wait func() error) {
	done := make(chan error, 1)
	load := func(asked bool, name string) (*denoise.Network, error) {
		if !asked || r.flag != selectMethod || !r.unnamed || !slices.Contains(weights.Embedded(), name) {
			return nil, nil
		}
		f, err := weights.Open(name)
		var n *denoise.Network
		if err == nil {
			n, err = denoise.Load(ctx, dev, f, options...)
		}
		if err != nil && ctx.Err() == nil {
			err = fileError{name, err}
		}
		return n, err
	}
	go func() {
		var err error
		if r.coarse, err = load(!r.sigma.given, weights.Camera); err == nil {
			r.mosaic, err = load(r.mosaics, weights.Raw)
		}
		done <- err
	}()
	return func() error { return <-done }
}

func (r *restoration) freeOthers() {
	for _, n := range []*denoise.Network{r.coarse, r.mosaic} {
		if n != nil {
			n.Free()
		}
	}
}

// ofRaw is the option that chooses the denoiser of a raw photograph.
func (r *restoration) ofRaw(img *raw.Image) restore.Option {
	switch {
	case r.network == nil:
		return restore.Method(r.method)
	case r.mosaic != nil && img.Mosaic:
		return restore.Network(r.mosaic)
	}
	return restore.Network(r.network)
}

// isNetwork tells whether the denoiser is a network: the other one has neither weights of
// its own nor any from a file.
func (r *restoration) isNetwork() bool {
	return r.weights != "" || slices.Contains(weights.Embedded(), r.method)
}

// source is what messages call the network: its file, or the name of embedded weights.
func (r *restoration) source() string {
	if r.weights == "" {
		return r.method
	}
	return r.weights
}

// weightFile reads the weights, those of the method where no file is named.
func (r *restoration) weightFile(ctx context.Context, a *app) (*weights.File, error) {
	if r.weights == "" {
		return weights.Open(r.method)
	}
	return a.readWeights(ctx, r.weights)
}

// networkInfo describes the network in use; nil if there is none.
func (r *restoration) networkInfo() *record.Network { return r.networkInfoFor(r.method) }

// networkInfoFor describes the network that a report's method is of.
func (r *restoration) networkInfoFor(method string) *record.Network {
	n := r.network
	switch {
	case method == r.method:
	case method == weights.Raw && r.mosaic != nil:
		n = r.mosaic
	case r.coarse != nil:
		n = r.coarse
	}
	if n == nil {
		return nil
	}
	card, _ := n.Card()
	file := r.weights
	if file == "" {
		file = record.EmbeddedFile
	}
	return record.NetworkOf(file, card)
}

// weightFiles have at most a thousand times the bytes of the paper's network.
var weightFiles = fileKind{"a weight file (safetensors)", 2 << 30, errors.New("has more than 2 GB; a network of this library has a few megabytes")}

func (a *app) readWeights(ctx context.Context, path string) (*weights.File, error) {
	return readInput(ctx, a, path, &weightFiles, weights.Read)
}
