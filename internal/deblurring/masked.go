package deblurring

import (
	"context"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/outcome"
	"github.com/averaged/imaging/internal/srgb"
	"github.com/averaged/imaging/operator"
)

// masked is what Deblur does about samples of a photograph that are no data, clipped or invisible ones: it replaces K by M·K, M the
// projection onto the other samples. M is set from the image that a run begins with and stays until the run ends: what is
// proven of a run with K is proven with M·K.
//
// Samples clipped at white only say that the light was at least that bright. So where the image says so, too, they are no data,
// nor are the samples around them, into which cameras and programs mix what was clipped, and the image may be brighter than
// white. Where the image, blurred, is darker, they are data like others. Invisible samples are never data: what fills them is
// not a blurred image.
type masked struct {
	dev     backend.Device
	blur    operator.Linear
	clipped [][]int32 // of each channel, where samples are clipped
	count   int       // of clipped samples
	hidden  []int32   // where the photograph is invisible
	// whole is the photograph. An iteration for M·whole has the same steps for whole, for Kᵀ·M·(M·Kx − y) leaves out the same samples
	// of both.
	whole, mask backend.Buffer
	k           *operator.Masked
	kept        float64 // share of the samples that are data
	rest        float64 // sum of the squares of the others
}

// hiddenSamples returns where a photograph is invisible, nil if nowhere or all over.
func hiddenSamples(p *imageplanes.Planes) (at []int32) {
	for i, a := range p.Alpha {
		if a == 0 {
			at = append(at, int32(i))
		}
	}
	if len(at) == p.Width*p.Height {
		return nil
	}
	return at
}

// newMasked returns nil where nothing is clipped or invisible in p, of which whole has the samples.
func newMasked(dev backend.Device, blur, model operator.Linear, p *imageplanes.Planes, whole backend.Buffer) (_ *masked, err error) {
	clipped, count := clippedSamples(p)
	hidden := hiddenSamples(p)
	if count == 0 && hidden == nil {
		return nil, nil
	}
	m := &masked{dev: dev, blur: blur, clipped: clipped, count: count, hidden: hidden, whole: whole}
	defer func() {
		if err != nil {
			m.free()
		}
	}()
	if m.mask, err = dev.Alloc(whole.Shape()); err != nil {
		return nil, err
	}
	m.k, err = operator.Mask(dev, model, m.mask)
	return m, err
}

// leaveOut leaves out the clipped samples where an image, blurred, is at least as bright as white, those around them, and the invisible
// ones. blur sets room to a channel of that image, blurred, in the unit of white.
func (m *masked) leaveOut(white float32, blur func(room backend.Buffer, channel int) error) error {
	s := m.whole.Shape()
	room, err := m.dev.Alloc(backend.Image(1, s.H, s.W))
	if err != nil {
		return err
	}
	defer room.Free()
	of, plane := make([]float32, s.Plane()), make([]float32, s.Plane())
	out := 0
	m.rest = 0
	for i, at := range m.clipped {
		if err := download(m.dev, of, m.whole, i); err != nil {
			return err
		}
		if err := blur(room, i); err != nil {
			return err
		}
		if err := m.dev.Download(plane, room); err != nil {
			return err
		}
		var bright []int32
		for _, j := range at {
			if plane[j] >= white {
				bright = append(bright, j)
			}
		}
		for j := range plane {
			plane[j] = 1
		}
		blank := func(j int) {
			if plane[j] != 0 {
				plane[j] = 0
				m.rest += float64(of[j]) * float64(of[j])
				out++
			}
		}
		for _, j := range bright {
			y, x := int(j)/s.W, int(j)%s.W
			for v := max(y-1, 0); v <= min(y+1, s.H-1); v++ {
				for u := max(x-1, 0); u <= min(x+1, s.W-1); u++ {
					blank(v*s.W + u)
				}
			}
		}
		for _, j := range m.hidden {
			blank(int(j))
		}
		if err := upload(m.dev, m.mask, i, plane); err != nil {
			return err
		}
	}
	m.kept = 1 - float64(out)/float64(s.Len())
	return nil
}

func (m *masked) free() {
	if m.k != nil {
		m.k.Free()
	}
	if m.mask != nil {
		m.mask.Free()
	}
}

// maskOut has the runs leave out the samples of the photograph that are no data.
func (d *Problem) maskOut(report *outcome.Report) (err error) {
	if d.masked, err = newMasked(d.dev, d.blur, d.model(), d.planar, d.y); d.masked != nil {
		report.Noise.Clipped = float64(d.masked.count) / float64(len(d.planar.Pix))
	}
	return err
}

// beginAt sets what a run or a step that begins at x takes from it: the linearisation of the blur of light, and what is left
// out, of the clipped samples those where x, blurred, is at least white.
func (d *Problem) beginAt(ctx context.Context, x backend.Buffer, white float32) error {
	if d.light != nil {
		if err := d.light.linearise(ctx, x, d.peak()); err != nil {
			return err
		}
	}
	switch {
	case d.masked == nil:
		return nil
	case d.light != nil:
		unknown, err := d.dev.Alloc(backend.Image(1, x.Shape().H, x.Shape().W))
		if err != nil {
			return err
		}
		defer unknown.Free()
		return d.masked.leaveOut(float32(srgb.Linear(float64(white))), func(room backend.Buffer, channel int) error {
			samples, err := d.light.samples(x, channel, d.peak())
			if err != nil {
				return err
			}
			_, err = d.light.blur(room, unknown, samples)
			return err
		})
	}
	return d.masked.leaveOut(white, func(room backend.Buffer, channel int) error {
		from, err := d.dev.Channels(x, channel, 1)
		if err != nil {
			return err
		}
		defer from.Free()
		return d.k.Apply(room, from)
	})
}

// model is K, or J where light is blurred.
func (d *Problem) model() operator.Linear {
	if d.light != nil {
		return d.light.j
	}
	return d.k
}

// operator is K or J, or M times it where samples are no data.
func (d *Problem) operator() operator.Linear {
	if d.masked == nil {
		return d.model()
	}
	return d.masked.k
}

// kept is the share of the photograph's samples that are data, and the sum of the squares of the others.
func (d *Problem) kept() (share, rest float64) {
	if d.masked == nil {
		return 1, 0
	}
	return d.masked.kept, d.masked.rest
}
