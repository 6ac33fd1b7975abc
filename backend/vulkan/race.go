package vulkan

import (
	"context"
	"time"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/selftest"
)

// Race returns the times of the device and of another one for a gradient flow of a tile, the main work of
// denoising an image. Each runs once before the clock starts.
func (d *Device) Race(other backend.Device) (own, others time.Duration, err error) {
	if own, err = lap(d); err != nil {
		return 0, 0, err
	}
	others, err = lap(other)
	return own, others, err
}

// The tile of the race: as many channels as the networks have, and enough pixels for a GPU to be busy.
const (
	raceSide, raceChannels = 128, 64
	raceSteps              = 2
)

func lap(dev backend.Device) (time.Duration, error) {
	p := &selftest.Arrays{Device: dev}
	defer p.Free()
	s := backend.Image(3, raceSide, raceSide)
	src, dst := p.Numbers(s), p.Alloc(s)
	w := p.Numbers(backend.Shape{N: raceChannels, C: raceChannels, H: 3, W: 3})
	radius := p.Clipped(p.Numbers(backend.Vector(raceChannels / 4)))
	if p.Err != nil {
		return 0, p.Err
	}
	f, err := dev.NewFilter(w)
	if err != nil {
		return 0, err
	}
	p.Own(f)
	steps := make([]backend.FlowStep, raceSteps)
	for k := range steps {
		steps[k] = backend.FlowStep{Filter: f, Radius: radius, Size: 0.01}
	}
	var begun time.Time
	for range 2 {
		begun = time.Now()
		if err := dev.GradientFlow(context.Background(), dst, src, s.Whole(), steps); err != nil {
			return 0, err
		}
		if err := dev.Sync(); err != nil {
			return 0, err
		}
	}
	return time.Since(begun), nil
}
