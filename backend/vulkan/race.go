package vulkan

import (
	"context"
	"time"

	"github.com/averaged/imaging/backend"
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
	p := &probing{dev: dev}
	defer func() {
		for _, b := range p.owned {
			b.Free()
		}
	}()
	s := backend.Image(3, raceSide, raceSide)
	src, dst := p.numbers(s), p.alloc(s)
	w := p.numbers(backend.Shape{N: raceChannels, C: raceChannels, H: 3, W: 3})
	radius := p.clipped(p.numbers(backend.Vector(raceChannels / 4)))
	if p.err != nil {
		return 0, p.err
	}
	f, err := dev.NewFilter(w)
	if err != nil {
		return 0, err
	}
	p.owned = append(p.owned, f)
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
