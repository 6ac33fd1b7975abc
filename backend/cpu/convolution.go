package cpu

import (
	"fmt"
	"sync/atomic"

	"github.com/averaged/imaging/backend"
)

// filter holds a bank of weights twice: as given, for A, and with input and
// output exchanged and both axes reversed, which is Aᵀ written as a convolution
// (exactly, zero padding included: a tap that reaches outside the frame has no
// counterpart on either side).
type filter struct {
	device           *Device
	shape            backend.Shape // Out, In, KH, KW
	forward, adjoint []float32
	freed            atomic.Bool
}

// Shape implements backend.Filter.
func (f *filter) Shape() backend.Shape { return f.shape }

// Free implements backend.Filter.
func (f *filter) Free() {
	if f.freed.Swap(true) {
		return
	}
	f.device.used.Add(-int64(len(f.forward)+len(f.adjoint)) * 4)
	f.forward, f.adjoint = nil, nil
}

func (f *filter) prepare(w []float32) {
	copy(f.forward, w)
	s, taps := f.shape, f.shape.H*f.shape.W
	for o := range s.N {
		for i := range s.C {
			for k := range taps {
				f.adjoint[(i*s.N+o)*taps+taps-1-k] = w[(o*s.C+i)*taps+k]
			}
		}
	}
}

// NewFilter implements backend.Convolutions.
func (d *Device) NewFilter(w backend.Buffer) (backend.Filter, error) {
	var f *filter
	err := d.operate(func(b []*buffer) error {
		s := b[0].shape
		if s.H%2 == 0 || s.W%2 == 0 {
			return fmt.Errorf("%w: filter %v, height and width must be odd", backend.ErrShape, s)
		}
		bytes := int64(s.Len()) * 8
		if used := d.used.Add(bytes); d.limit > 0 && used > d.limit {
			d.used.Add(-bytes)
			return fmt.Errorf("%w: %d bytes for a filter", backend.ErrOutOfMemory, bytes)
		}
		f = &filter{device: d, shape: s, forward: make([]float32, s.Len()), adjoint: make([]float32, s.Len())}
		f.prepare(b[0].data)
		return nil
	}, w)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// UpdateFilter implements backend.Convolutions.
func (d *Device) UpdateFilter(bf backend.Filter, w backend.Buffer) error {
	return d.operate(func(b []*buffer) error {
		f, err := d.ownFilter(bf)
		if err != nil {
			return err
		}
		if b[0].shape != f.shape {
			return fmt.Errorf("%w: weights %v for a filter %v", backend.ErrShape, b[0].shape, f.shape)
		}
		f.prepare(b[0].data)
		return nil
	}, w)
}

func (d *Device) ownFilter(bf backend.Filter) (*filter, error) {
	f, ok := bf.(*filter)
	if !ok || f == nil || f.device != d {
		return nil, fmt.Errorf("%w: filter of type %T", backend.ErrForeign, bf)
	}
	if f.freed.Load() {
		return nil, fmt.Errorf("%w: filter %v", backend.ErrFreed, f.shape)
	}
	return f, nil
}

// Convolve implements backend.Convolutions.
func (d *Device) Convolve(dst, src backend.Buffer, bf backend.Filter, end backend.ConvEnd) error {
	if err := end.Activation.Check(); err != nil {
		return err
	}
	buffers := []backend.Buffer{dst, src}
	if end.Bias != nil {
		buffers = append(buffers, end.Bias)
	}
	return d.operate(func(b []*buffer) error {
		f, err := d.ownFilter(bf)
		if err != nil {
			return err
		}
		if err := fits(b[0].shape, b[1].shape, f.shape.N, f.shape.C); err != nil {
			return err
		}
		if err := apart(b[0], b[1:]...); err != nil {
			return err
		}
		e := ending{scale: 1}
		if end.Bias != nil {
			if b[2].shape.Len() != f.shape.N {
				return fmt.Errorf("%w: bias %v for %d channels", backend.ErrShape, b[2].shape, f.shape.N)
			}
			e.bias = b[2].data
		}
		if end.Activation.Kind == backend.LeakyReLU {
			e.rectify, e.slope = true, end.Activation.Slope
		}
		d.convolve(b[0], b[1], f.forward, f.shape.H, f.shape.W, e)
		return nil
	}, buffers...)
}

// ConvolveAdjoint implements backend.Convolutions.
func (d *Device) ConvolveAdjoint(dst, src backend.Buffer, bf backend.Filter, beta, scale float32) error {
	return d.operate(func(b []*buffer) error {
		f, err := d.ownFilter(bf)
		if err != nil {
			return err
		}
		if err := fits(b[0].shape, b[1].shape, f.shape.C, f.shape.N); err != nil {
			return err
		}
		if err := apart(b[0], b[1]); err != nil {
			return err
		}
		d.convolve(b[0], b[1], f.adjoint, f.shape.H, f.shape.W, ending{scale: scale, beta: beta})
		return nil
	}, dst, src)
}

// fits checks the shapes of a convolution with the given channel counts.
func fits(dst, src backend.Shape, out, in int) error {
	if dst.N != src.N || dst.H != src.H || dst.W != src.W || dst.C != out || src.C != in {
		return fmt.Errorf("%w: a filter of %d to %d channels from %v to %v", backend.ErrShape, in, out, src, dst)
	}
	return nil
}

// ending is what happens to the sums of a convolution before they are stored:
// dst = beta·dst + scale·rectified(sum + bias).
type ending struct {
	bias        []float32
	rectify     bool
	slope       float32
	scale, beta float32
}

// channelBlock is how many output channels share one reading of an input row.
const channelBlock = 4

// convolve sets dst from the zero-padded convolution of src with w of layout
// [dst.C][src.C][kh][kw]. One piece of work is one output row of channelBlock
// channels: their sums stay in the L1 cache while all input rows pass by.
func (d *Device) convolve(dst, src *buffer, w []float32, kh, kw int, e ending) {
	s := dst.shape
	blocks := (s.C + channelBlock - 1) / channelBlock
	d.pool.For(s.N*s.H*blocks, func(piece int) {
		block := piece % blocks
		y := piece / blocks % s.H
		n := piece / blocks / s.H
		from := block * channelBlock
		to := min(from+channelBlock, s.C)
		sums := make([]float32, (to-from)*s.W)
		for i := range src.shape.C {
			plane := src.data[(n*src.shape.C+i)*s.H*s.W:][:s.H*s.W]
			for r := range kh {
				yy := y + r - kh/2
				if yy < 0 || yy >= s.H {
					continue
				}
				row := plane[yy*s.W:][:s.W]
				for o := from; o < to; o++ {
					taps := w[((o*src.shape.C+i)*kh+r)*kw:][:kw]
					addTaps(sums[(o-from)*s.W:][:s.W], row, taps)
				}
			}
		}
		for o := from; o < to; o++ {
			e.store(dst.data[((n*s.C+o)*s.H+y)*s.W:][:s.W], sums[(o-from)*s.W:][:s.W], o)
		}
	})
}

// addTaps adds to sum[x] the terms taps[s]·row[x+s−len(taps)/2] inside the row.
func addTaps(sum, row, taps []float32) {
	n := len(sum)
	row = row[:n]
	if len(taps) == 3 && n >= 2 {
		a, b, c := taps[0], taps[1], taps[2]
		sum[0] += b*row[0] + c*row[1]
		left, mid, right := row[:n-2], row[1:n-1], row[2:]
		inner := sum[1 : n-1]
		left, mid, right = left[:len(inner)], mid[:len(inner)], right[:len(inner)]
		for x := range inner {
			inner[x] += a*left[x] + b*mid[x] + c*right[x]
		}
		sum[n-1] += a*row[n-2] + b*row[n-1]
		return
	}
	for s, t := range taps {
		shift := s - len(taps)/2
		lo, hi := max(0, -shift), min(n, n-shift)
		if lo >= hi {
			continue
		}
		to, from := sum[lo:hi], row[lo+shift:hi+shift]
		from = from[:len(to)]
		for x := range to {
			to[x] += t * from[x]
		}
	}
}

func (e ending) store(dst, sum []float32, channel int) {
	bias := float32(0)
	if e.bias != nil {
		bias = e.bias[channel]
	}
	sum = sum[:len(dst)]
	for x, v := range sum {
		v += bias
		if e.rectify && v < 0 {
			v *= e.slope
		}
		v *= e.scale
		if e.beta != 0 {
			v += float32(e.beta * dst[x])
		}
		dst[x] = v
	}
}
