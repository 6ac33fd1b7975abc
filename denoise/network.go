package denoise

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise/dncnn"
	"github.com/averaged/imaging/internal/arguments"
	"github.com/averaged/imaging/internal/nn/guide"
	"github.com/averaged/imaging/internal/nn/tile"
	"github.com/averaged/imaging/weights"
)

// Network is a network on a device. New, NewDnCNN and Load make one. It is safe for concurrent use until Free: every
// call of Apply has its own scratch memory. A network for several noise levels (Levels) is computed at one of them,
// and makes networks for others (For).
type Network struct {
	dev         backend.Device
	channels    int
	shuffle     int // q, by which the body works on fewer pixels than the image has
	tile        int // 0: automatic
	body        body
	card        weights.Card
	certificate Certificate
	work        Work
	arithmetic  *arithmetic    // nil where nothing is proven
	levels      *family        // of a network with noise levels
	guide       *guide.Network // or nil
	photograph  backend.Shape  // that the radii are for, of a frozen network
	freed       sync.Once
}

var (
	_ InexactDenoiser = (*Network)(nil)
	_ RoundedDenoiser = (*Network)(nil)
)

// body is what a network computes, prepared on the device.
type body interface {
	// plan says how one image is computed, with an error of at most maxError in exact
	// arithmetic, and how to ask for the bound of the error, except for rounding, once it is
	// computed. The blocks see the numbers of src as an array of shape s, perhaps with
	// zeros among them.
	plan(src backend.Buffer, s backend.Shape, maxError float64) (p tile.Plan, errorBound func() float64, err error)
	free()
}

// Option changes how New, NewDnCNN and Load make a network.
type Option func(*options) error

type options struct {
	tile        int
	uncertified bool
	prove       bool
	workLimit   float64
}

func collect(opts []Option) (options, error) {
	o := options{workLimit: DefaultWorkLimit}
	for _, option := range opts {
		if option == nil {
			continue
		}
		if err := option(&o); err != nil {
			return options{}, err
		}
	}
	return o, nil
}

// LargestTile is the largest height and width in pixels that Tile takes.
const LargestTile = tile.MaxSide

// Tile sets the height and width in pixels of the tiles in which Apply computes an image, up to LargestTile. It does
// not change the result. The tile is rounded up to a multiple of the device's ConvolutionGrid times Model.Shuffle. A
// tile for which the device lacks memory is halved.
//
// 0, the default, is automatic. Explicit methods compute the whole image at once, because the device bounds their
// scratch memory (on a processor by the width of the image). Others take the tile that keeps scratch memory below 300
// MB, but no smaller than the halo. Model.Shuffle adds two copies of the tile.
//
// The halo is a pixel for each 3×3 convolution, or a tile of the device's grid. With 64 channels and a grid of 6
// pixels, large images take 280 MB with a DnCNN of 20 convolutions. rungekutta.BackwardEuler has a hundred
// convolutions or more, so its window is usually the whole image.
func Tile(n int) Option {
	return func(o *options) error {
		if n < 0 || n > LargestTile {
			return fmt.Errorf("tiles of %d pixels, must be from 1 to %d, or 0 for automatic", n, LargestTile)
		}
		o.tile = n
		return nil
	}
}

// Uncertified makes Load ignore the certificate and save its time. The network has the numbers of steps of the file,
// and nothing is proven of it.
func Uncertified() Option {
	return func(o *options) error {
		o.uncertified = true
		return nil
	}
}

// Prove makes Load prove the certificate again also for weights that are part of the library
// (weights.File.IsEmbedded).
func Prove() Option {
	return func(o *options) error {
		o.prove = true
		return nil
	}
}

// New puts a model on a device, which the caller closes. The certificate gives the number of steps of each block. New
// verifies it (Model.Verify), and returns an error if it does not hold. With the zero Certificate the blocks take
// Block.Steps steps and nothing is proven. A model with noise levels is computed at the last of Sigmas; For returns
// it at others.
func New(ctx context.Context, dev backend.Device, m Model, c Certificate, opts ...Option) (*Network, error) {
	o, err := collect(opts)
	if err != nil {
		return nil, err
	}
	if err := arguments.CheckDevice("denoise", dev); err != nil {
		return nil, err
	}
	r, err := m.radius()
	if err != nil {
		return nil, err
	}
	if !c.Proven {
		c = unproven("the network was made without a certificate")
	} else if err := o.checkWork(m.work(r, c, nil).verifying(m)); err != nil {
		return nil, err
	} else if err := m.Verify(ctx, c); err != nil {
		return nil, err
	}
	if k := len(m.Sigmas); k > 0 {
		return newFamily(ctx, dev, &family{model: m.clone(), radius: r, certificate: c, options: o}, m.Sigmas[k-1])
	}
	return newNetwork(ctx, dev, m, r, c, o, nil)
}

// newNetwork puts a plain model on a device, with a certificate that has been verified, and what is
// known of the rounding of its filters, or nil.
func newNetwork(ctx context.Context, dev backend.Device, m Model, r float64, c Certificate, o options, filters *filterErrors) (_ *Network, err error) {
	n := &Network{dev: dev, channels: m.Channels, shuffle: m.Shuffle, tile: o.tile, certificate: c, work: m.work(r, c, nil)}
	if err := o.checkWork(n.work); err != nil {
		return nil, err
	}
	if c.Proven {
		if n.arithmetic, err = newArithmetic(dev, m, r, c, filters); err != nil {
			return nil, err
		}
	}
	blocks, err := newDeviceBlocks(dev, m, r, c)
	if err != nil {
		return nil, err
	}
	if m.Guide != nil {
		if n.guide, err = guide.New(dev, m.Guide); err != nil {
			freeDeviceBlocks(blocks)
			return nil, err
		}
	}
	if !m.implicit() {
		n.body = newExplicit(dev, m.Integrator, blocks)
		return n, nil
	}
	steps, err := newProximal(ctx, dev, m, blocks, c)
	if err == nil && !c.Proven {
		n.work = m.work(r, c, steps.norms) // which are only known now
		err = o.checkWork(n.work)
	}
	if err != nil {
		freeDeviceBlocks(blocks)
		return nil, err
	}
	n.body = steps
	return n, nil
}

// Load puts the network of a weight file on a device, which the caller closes. For a file of the family "averaged" it
// returns an error unless the certificate holds (Model.Verify), for instance if a weight was changed after it was
// certified. The library's tests have proven the certificates of files that are part of the library in every byte
// (weights.Open); Load proves them again only with the option Prove, which takes most of a second for the paper's
// network. A file without a certificate, for instance of another program, is certified now: blocks may get more steps
// than the file says, and Certificate.Origin says so. The option Uncertified leaves both out.
//
// A file of the family "dncnn" makes an unconstrained network, of which nothing is proven. A network with noise
// levels is computed at the card's Sigma, as For(Sigma) is, and its certificate holds for every noise level.
func Load(ctx context.Context, dev backend.Device, f *weights.File, opts ...Option) (*Network, error) {
	o, err := collect(opts)
	if err != nil {
		return nil, err
	}
	if err := arguments.CheckDevice("denoise", dev); err != nil {
		return nil, err
	}
	if f == nil {
		return nil, errors.New("denoise: the weight file is nil")
	}
	card, err := f.Card()
	if err != nil {
		return nil, err
	}
	n, err := load(ctx, dev, f, card, o)
	if err != nil {
		return nil, fmt.Errorf("weights %q: %w", card.Name, err)
	}
	n.card = card
	if n.levels != nil {
		n.levels.card = card
	}
	return n, nil
}

func load(ctx context.Context, dev backend.Device, f *weights.File, card weights.Card, o options) (*Network, error) {
	if card.Architecture.Family == weights.FamilyDnCNN {
		d, err := dncnn.FromFile(f)
		if err != nil {
			return nil, err
		}
		return newDnCNN(dev, d, o)
	}
	m, err := FromFile(f)
	if err != nil {
		return nil, err
	}
	r, err := m.radius()
	if err != nil {
		return nil, err
	}
	var c Certificate
	switch {
	case o.uncertified:
		c = unproven("the network was loaded without looking at a certificate")
	case len(card.Certificate) == 0:
		if err := o.checkWork(m.work(r, Certificate{}, nil).certifying(m)); err != nil {
			return nil, err
		}
		if c, err = m.Certify(ctx, 0); err != nil {
			return nil, err
		}
		c.Origin = "made when the weights were loaded: the file has none"
		for i, b := range m.Blocks {
			if b.Steps > 0 && b.Steps < c.Blocks[i].Steps {
				c.Origin += fmt.Sprintf("; block %d takes %d steps, the file says %d", i, c.Blocks[i].Steps, b.Steps)
			}
		}
	default:
		if err := json.Unmarshal(card.Certificate, &c); err != nil {
			return nil, fmt.Errorf("%w: %w", ErrCertificate, err)
		}
		if !c.Proven {
			return nil, fmt.Errorf("%w: it proves nothing", ErrCertificate)
		}
		if !o.prove && f.IsEmbedded() {
			c.Origin = "part of this library, proven by its tests; 'restore check' proves it anew"
			break
		}
		if err := o.checkWork(m.work(r, c, nil).verifying(m)); err != nil {
			return nil, err
		}
		if err := m.Verify(ctx, c); err != nil {
			return nil, err
		}
		c.Origin = "stored with the weights, verified when they were loaded"
	}
	if len(m.Sigmas) > 0 {
		return newFamily(ctx, dev, &family{model: m, radius: r, certificate: c, options: o}, card.Sigma)
	}
	return newNetwork(ctx, dev, m, r, c, o, nil)
}

// Apply implements Denoiser. With rungekutta.BackwardEuler the error is at most DefaultInnerError, root mean square.
func (n *Network) Apply(ctx context.Context, dst, src backend.Buffer) error {
	if src == nil {
		return errNoBuffer
	}
	_, err := n.ApplyWithin(ctx, dst, src, DefaultInnerError*math.Sqrt(float64(src.Shape().Len())))
	return err
}

var errNoDenoiser = fmt.Errorf("%w: the denoiser is nil", backend.ErrArgument)

var errNoBuffer = fmt.Errorf("%w: a denoiser needs a source and a destination", backend.ErrArgument)

// ApplyWithin implements InexactDenoiser. Only rungekutta.BackwardEuler has an error, because each of its steps
// solves a strongly convex problem. The number of inner iterations is large enough for the bound, but stops where
// float32 gains nothing more. The bound covers the result as computed, except for the rounding of one gradient in
// each step, which Rounding bounds. It stays above maxError if that is less than about 1e-6 of the size of the image
// times the condition of a step.
func (n *Network) ApplyWithin(ctx context.Context, dst, src backend.Buffer, maxError float64) (float64, error) {
	if err := n.check(dst, src); err != nil {
		return 0, err
	}
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	s, grid := src.Shape(), n.dev.ConvolutionGrid()
	if n.shuffle > 1 {
		s, grid = s.Unshuffled(n.shuffle), n.shuffle*grid
	}
	p, errorBound, err := n.body.plan(src, s, maxError)
	if err != nil {
		return 0, err
	}
	if n.shuffle > 1 {
		p = tile.Shuffled(p, n.dev, n.shuffle)
	}
	if err := tile.Apply(ctx, n.dev, p, n.tile, grid, dst, src); err != nil {
		return 0, err
	}
	return errorBound(), nil
}

// check returns an error unless src and dst are images of the network's channels, of
// one shape.
func (n *Network) check(dst, src backend.Buffer) error {
	if dst == nil || src == nil {
		return errNoBuffer
	}
	d, s := dst.Shape(), src.Shape()
	if d != s || s.C != n.channels {
		return fmt.Errorf("%w: a denoiser of %d channels from %v to %v", backend.ErrShape, n.channels, s, d)
	}
	if n.photograph.N > 0 && s != n.photograph {
		return fmt.Errorf("%w: a denoiser frozen for a photograph %v is applied to %v", backend.ErrShape, n.photograph, s)
	}
	return nil
}

// Averagedness implements Denoiser.
func (n *Network) Averagedness() (alpha float64, proven bool) { return n.certificate.averagedness() }

// Certificate implements Denoiser.
func (n *Network) Certificate() Certificate { return n.certificate }

// Channels implements Denoiser.
func (n *Network) Channels() int { return n.channels }

// Device implements Denoiser.
func (n *Network) Device() backend.Device { return n.dev }

// Card returns the card of the file that the network was loaded from, and false if New or NewDnCNN made it. Its Sigma
// is the noise level that the network is for. Rescale takes the network to another level, or For if it has Levels.
// The result of For has the same card.
func (n *Network) Card() (weights.Card, bool) { return n.card, n.card.Name != "" }

// Free implements Denoiser. It must not be called while Apply runs.
func (n *Network) Free() {
	n.freed.Do(func() {
		n.body.free()
		if n.guide != nil {
			n.guide.Free()
		}
	})
}
