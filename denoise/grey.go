package denoise

import (
	"context"
	"fmt"
	"math"

	"github.com/averaged/imaging/backend"
)

// Grey returns a denoiser of images of one channel. It copies the channel to all C channels of d, and averages the C
// channels of the result. With the isometry E (copy and divide by √C) that is EᵀΨE, where Ψ(x) = Φ(√C·x)/√C is Φ
// rescaled (Rescale): both keep the constant of Φ. If d has one channel, Grey returns d. If d has more than 16, it returns an error.
//
// The result is as safe for concurrent use as d. Each call allocates two buffers of C channels. Freeing it frees d.
func Grey(d Denoiser) (Denoiser, error) {
	if d == nil {
		return nil, errNoDenoiser
	}
	channels := d.Channels()
	if channels == 1 {
		return d, nil
	}
	if channels > maxGreyChannels {
		return nil, fmt.Errorf("grey images through a denoiser of %d channels, at most %d are possible", channels, maxGreyChannels)
	}
	c := d.Certificate()
	g := grey{d, make([]float32, channels), make([]float32, channels), c.wrapped(fmt.Sprintf("grey through %d channels", channels),
		"EᵀΦE with an isometry E, Φ rescaled by 1/√C, keeps the constant, by definition", c.Averagedness)}
	for i := range channels {
		g.copies[i], g.mean[i] = 1, 1/float32(channels)
	}
	return g, nil
}

// maxGreyChannels is how many channels devices mix.
const maxGreyChannels = 16

type grey struct {
	Denoiser
	copies, mean []float32 // matrices of MixChannels
	certificate  Certificate
}

func (g grey) Channels() int                              { return 1 }
func (g grey) Averagedness() (alpha float64, proven bool) { return g.certificate.averagedness() }
func (g grey) Certificate() Certificate                   { return g.certificate }

func (g grey) Apply(ctx context.Context, dst, src backend.Buffer) error {
	return g.around(dst, src, func(to, from backend.Buffer) error { return g.Denoiser.Apply(ctx, to, from) })
}

func (g grey) ApplyWithin(ctx context.Context, dst, src backend.Buffer, maxError float64) (e float64, err error) {
	shrink := math.Sqrt(float64(len(g.copies)))
	err = g.around(dst, src, func(to, from backend.Buffer) error {
		e, err = applyWithin(ctx, g.Denoiser, to, from, maxError*shrink)
		return err
	})
	return e / shrink, err
}

// around sets dst to the mean of what apply makes of copies of src.
func (g grey) around(dst, src backend.Buffer, apply func(to, from backend.Buffer) error) error {
	if dst == nil || src == nil {
		return errNoBuffer
	}
	s := src.Shape()
	if s != dst.Shape() || s.C != 1 {
		return fmt.Errorf("%w: a denoiser of 1 channel from %v to %v", backend.ErrShape, s, dst.Shape())
	}
	dev := g.Device()
	s.C = len(g.copies)
	from, err := dev.Alloc(s)
	if err != nil {
		return err
	}
	defer from.Free()
	to, err := dev.Alloc(s)
	if err != nil {
		return err
	}
	defer to.Free()
	if err := dev.MixChannels(from, src, g.copies); err != nil {
		return err
	}
	if err := apply(to, from); err != nil {
		return err
	}
	return dev.MixChannels(dst, to, g.mean)
}
