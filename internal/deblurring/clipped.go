package deblurring

import (
	"context"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/clipping"
	"github.com/averaged/imaging/internal/imageplanes"
	"github.com/averaged/imaging/internal/inverse"
)

// beyondWhite is how bright the blurred image has to be at a clipped sample for this to be no data in annealed steps and
// in the run after them. White paper and sky are about 1 there: as data they are wrong by less than 0.02, and without
// data a network makes them grey. At the start, which hardly shows how bright a lamp is, white itself is the limit.
const beyondWhite = 1.02

// clippedSamples returns where each channel of a photograph is clipped at white, and how many samples are. In one
// with samples above white none is.
func clippedSamples(p *imageplanes.Planes) (at [][]int32, count int) {
	for c := range p.Channels {
		var of []int32
		for i, v := range p.Plane(c) {
			if v > 1 {
				return make([][]int32, p.Channels), 0
			}
			if v >= clipping.White {
				of = append(of, int32(i))
			}
		}
		at, count = append(at, of), count+len(of)
	}
	return at, count
}

// A linear estimate has beads around clipped lamps, several kernels long, and a network takes
// them for detail. So a smoother estimate is made, for unclippedRatio times the noise, and brightenings times
// again, each time for a photograph whose clipped samples are brighter by overshoot times what the one before
// says (expectation and maximisation, over-relaxed). A lamp of several times white: 37.1 dB outside of it,
// 36.0 with an overshoot of 1, 33.6 with the estimate of other photographs.
const (
	unclippedRatio = 100 // of the variances of noise and image
	brightenings   = 6
	overshoot      = 1.9 // below 2
)

// brighten makes the initial estimate x for a clipped photograph from the first one.
func (d *Problem) brighten(ctx context.Context, x backend.Buffer) error {
	y, err := d.dev.Alloc(d.y.Shape())
	if err != nil {
		return err
	}
	defer y.Free()
	for range brightenings {
		if err := d.masked.brighter(y, x); err != nil {
			return err
		}
		if err := d.wiener(ctx, x, y); err != nil {
			return err
		}
	}
	return nil
}

// brighter sets y to the photograph, brighter where it is clipped and x, blurred, is.
func (m *masked) brighter(y, x backend.Buffer) error {
	if err := m.blur.Apply(y, x); err != nil {
		return err
	}
	blurred, photograph := make([]float32, y.Shape().Plane()), make([]float32, y.Shape().Plane())
	for i, at := range m.clipped {
		if err := download(m.dev, blurred, y, i); err != nil {
			return err
		}
		if err := download(m.dev, photograph, m.whole, i); err != nil {
			return err
		}
		for _, p := range at {
			photograph[p] += max(0, float32(overshoot*(blurred[p]-photograph[p])))
		}
		if err := upload(m.dev, y, i, photograph); err != nil {
			return err
		}
	}
	return nil
}

// peak is the upper end of the box.
func (d *Problem) peak() float64 {
	if d.clips() {
		return inverse.MaxBrightness
	}
	return d.brightest
}

// clips tells whether the photograph has clipped samples.
func (d *Problem) clips() bool { return d.masked != nil && d.masked.count > 0 }
