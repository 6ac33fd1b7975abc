package dncnn

import (
	"context"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/arguments"
	"github.com/averaged/imaging/internal/nn/ondevice"
	"github.com/averaged/imaging/internal/nn/tile"
)

// Network is a DnCNN on a device, computed tile by tile (tile.Plan).
type Network struct {
	dev             backend.Device
	channels, width int
	activation      backend.Activation
	filters         []backend.Filter
	biases          []backend.Buffer // some may be nil
	reach           tile.Reach
}

// New puts a DnCNN on a device, which stays the caller's.
func New(dev backend.Device, d Model) (_ *Network, err error) {
	if err := arguments.CheckDevice("denoise/dncnn", dev); err != nil {
		return nil, err
	}
	if err := d.Check(); err != nil {
		return nil, err
	}
	r := &Network{dev: dev, width: d.Width, channels: d.Channels}
	defer func() {
		if err != nil {
			r.Free()
		}
	}()
	r.activation = d.Activation.Device()
	add := func(c Convolution, shape backend.Shape) error {
		filter, err := ondevice.Filter(dev, shape, c.Filter)
		if err != nil {
			return err
		}
		r.filters = append(r.filters, filter)
		r.reach = append(r.reach, d.Kernel/2)
		bias, err := ondevice.Vector(dev, c.Bias)
		r.biases = append(r.biases, bias)
		return err
	}
	if err := add(d.Lift, d.shape(d.Width, d.Channels)); err != nil {
		return nil, err
	}
	for _, l := range d.Layers {
		if err := add(l.folded(), d.shape(d.Width, d.Width)); err != nil {
			return nil, err
		}
	}
	if err := add(d.Project, d.shape(d.Channels, d.Width)); err != nil {
		return nil, err
	}
	return r, nil
}

// Free gives the memory on the device back.
func (r *Network) Free() {
	for _, f := range r.filters {
		f.Free()
	}
	for _, b := range r.biases {
		if b != nil {
			b.Free()
		}
	}
}

var _ tile.Plan = (*Network)(nil)

// Layers implements tile.Plan.
func (r *Network) Layers() tile.Reach { return r.reach }

// Side implements tile.Plan.
func (r *Network) Side(s backend.Shape, grid int) int {
	return r.reach.Side(r.floats(), s, grid)
}

// floats counts two arrays of Width channels, x and the noise.
func (r *Network) floats() int { return 2 * (r.width + r.channels) }

// Apply implements tile.Plan.
func (r *Network) Apply(ctx context.Context, dst, src backend.Buffer, region backend.Region) error {
	return tile.Window(r.dev, dst, src, region, r.reach, r.channels, r.floats(), func(s *tile.Scratch, x backend.Buffer) (backend.Buffer, error) {
		wide := x.Shape()
		wide.C = r.width
		u, err := s.Alloc(wide)
		if err != nil {
			return nil, err
		}
		v, err := s.Alloc(wide)
		if err != nil {
			return nil, err
		}
		noise, err := s.Alloc(x.Shape())
		if err != nil {
			return nil, err
		}
		from := x
		for k := range r.filters {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			to := u
			if k == len(r.filters)-1 {
				to = noise
			}
			if err := r.dev.Convolve(to, from, r.filters[k], r.end(k)); err != nil {
				return nil, err
			}
			from = to
			u, v = v, u
		}
		return noise, r.dev.LinearCombination(noise, backend.Term{A: 1, X: x}, backend.Term{A: -1, X: noise})
	})
}

// end is what follows convolution k.
func (r *Network) end(k int) backend.ConvEnd {
	end := backend.ConvEnd{Bias: r.biases[k]}
	if k < len(r.filters)-1 {
		end.Activation = r.activation
	}
	return end
}

// PullBack sets dst = v − Jᵀv at x, where J is the derivative of the network that estimates the
// noise. It holds the whole image with all of its layers, in scratch memory that is the
// caller's to free.
func (r *Network) PullBack(ctx context.Context, s *tile.Scratch, dst, x, v backend.Buffer) error {
	dev := r.dev
	var kept []backend.Buffer
	from := x
	for k := range len(r.filters) - 1 {
		if err := ctx.Err(); err != nil {
			return err
		}
		shape := x.Shape()
		shape.C = r.width
		u, err := s.Alloc(shape)
		if err != nil {
			return err
		}
		kept = append(kept, u)
		if err := dev.Convolve(u, from, r.filters[k], r.end(k)); err != nil {
			return err
		}
		from = u
	}
	gradient := v
	for k := len(r.filters) - 1; k > 0; k-- {
		if err := ctx.Err(); err != nil {
			return err
		}
		u := kept[k-1]
		next, err := s.Alloc(u.Shape())
		if err != nil {
			return err
		}
		if err := dev.ConvolveAdjoint(next, gradient, r.filters[k], 0, 1); err != nil {
			return err
		}
		if err := dev.ActivationGradient(next, u, next, r.activation); err != nil {
			return err
		}
		u.Free()
		if gradient != v {
			gradient.Free()
		}
		gradient = next
	}
	return dev.AddAdjoint(dst, v, gradient, r.filters[0], -1)
}
