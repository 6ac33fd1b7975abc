package main

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"time"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/racing"
	"github.com/averaged/imaging/weights"
	_ "github.com/averaged/imaging/weights/open" // "guided"
)

const (
	guidedName = "guided"
	noiseLevel = 0.1
)

// photographSize reads WIDTHxHEIGHT; nothing means 12 megapixels.
func photographSize(text string) (backend.Shape, error) {
	if text == "" {
		text = "4000x3000"
	}
	s := backend.Shape{N: 1, C: 3}
	var more string
	if n, err := fmt.Sscanf(text+" .", "%dx%d%s", &s.W, &s.H, &more); err != nil || n != 3 || more != "." {
		return s, fmt.Errorf("size %q, must be WIDTHxHEIGHT", text)
	}
	return s, s.Check()
}

// noisy is grey with waves and noise, for which the guide has something to say.
func noisy(s backend.Shape) []float32 {
	x := make([]float32, s.Len())
	for i := range x {
		column := i % s.W
		x[i] = 0.5 + 0.2*float32(math.Sin(float64(column)/9)) + noiseLevel*backend.GaussianAt(7, uint64(i))
	}
	return x
}

// laps are what the guided network takes for a photograph that lies in the host's memory.
type laps struct {
	guide, network, all time.Duration
	result              []float32
	architecture        weights.Architecture
	guideCost           float64 // multiplications for a pixel of the photograph
}

// runGuided has the guide look at a photograph, and the network that it makes remove the noise, so many
// times, of which the fastest of each part counts.
func runGuided(ctx context.Context, dev backend.Device, s backend.Shape, x []float32, repetitions int) (l laps, err error) {
	file, err := weights.Open(guidedName)
	if err != nil {
		return l, err
	}
	all, err := denoise.Load(ctx, dev, file, denoise.Uncertified())
	if err != nil {
		return l, err
	}
	defer all.Free()
	n, err := all.For(ctx, noiseLevel)
	if err != nil {
		return l, err
	}
	defer n.Free()
	card, _ := all.Card()
	l.architecture = card.Architecture
	_, l.guideCost = n.GuideCost()
	l.result = make([]float32, len(x))
	for i := range repetitions {
		guide, network, whole, err := l.once(ctx, dev, n, s, x)
		if err != nil {
			return l, err
		}
		if i == 0 || whole < l.all {
			l.guide, l.network, l.all = guide, network, whole
		}
	}
	return l, nil
}

func (l *laps) once(ctx context.Context, dev backend.Device, n *denoise.Network, s backend.Shape, x []float32) (guide, network, whole time.Duration, err error) {
	begun := time.Now()
	src, err := upload(dev, s, x)
	if err != nil {
		return 0, 0, 0, err
	}
	defer src.Free()
	dst, err := dev.Alloc(s)
	if err != nil {
		return 0, 0, 0, err
	}
	defer dst.Free()
	if err := dev.Sync(); err != nil {
		return 0, 0, 0, err
	}
	looks := time.Now()
	radii, err := n.Guide(ctx, src, noiseLevel, 1)
	if err != nil {
		return 0, 0, 0, err
	}
	frozen, err := n.Freeze(radii)
	if err != nil {
		radii.Free()
		return 0, 0, 0, err
	}
	defer frozen.Free()
	applies := time.Now()
	if err := frozen.Apply(ctx, dst, src); err != nil {
		return 0, 0, 0, err
	}
	if err := dev.Sync(); err != nil {
		return 0, 0, 0, err
	}
	applied := time.Now()
	if err := dev.Download(l.result, dst); err != nil {
		return 0, 0, 0, err
	}
	return applies.Sub(looks), applied.Sub(applies), time.Since(begun), nil
}

// timePhotograph times the guided network on a photograph, on the device and on the processor.
func timePhotograph(ctx context.Context, dev backend.Device, s backend.Shape, r result, lines *json.Encoder) error {
	x := noisy(s)
	own, err := runGuided(ctx, dev, s, x, 2)
	if err != nil {
		return err
	}
	r.Pictures, r.Height, r.Width, r.Repetitions = 1, s.H, s.W, 2
	if err := own.encode(r, s, lines); err != nil {
		return err
	}
	host, err := cpu.Open()
	if err != nil {
		return err
	}
	defer host.Close() // its only error would be of work that has been waited for
	others, err := runGuided(ctx, host, s, x, 1)
	if err != nil {
		return err
	}
	p := r
	p.Racer, p.Precision, p.Card, p.Repetitions = "this library, processor", "float32", host.Description().Model, 1
	if err := others.encode(p, s, lines); err != nil {
		return err
	}
	squares := 0.0
	for i, v := range others.result {
		d := float64(own.result[i]) - float64(v)
		squares += d * d
	}
	return lines.Encode(agreement{Pass: guidedName, Decibels: min(999, -10*math.Log10(squares/float64(len(x)))), Difference: racing.Difference(own.result, others.result)})
}

// agreement is how far a device's photograph is from the processor's.
type agreement struct {
	Pass       string  `json:"agreement"`
	Decibels   float64 `json:"psnr_db"`
	Difference float64 `json:"difference"`
}

// encode writes a line for each part.
func (l laps) encode(r result, s backend.Shape, lines *json.Encoder) error {
	pixels := float64(s.N) * float64(s.Plane())
	guide, network := 2*l.guideCost*pixels, racing.Operations(l.architecture, s.Unshuffled(max(1, l.architecture.Shuffle)))
	for _, part := range []struct {
		name string
		time time.Duration
		work float64
	}{{"guided, its guide", l.guide, guide}, {"guided, its network", l.network, network}, {"guided, from and to the host", l.all, guide + network}} {
		r.Pass = part.name
		r.MinimumMS = part.time.Seconds() * 1e3
		r.MedianMS, r.StreamMS = r.MinimumMS, r.MinimumMS
		r.TFLOPS = part.work / r.MinimumMS / 1e9
		if err := lines.Encode(r); err != nil {
			return err
		}
	}
	return nil
}
