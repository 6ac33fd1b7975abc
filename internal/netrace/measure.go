package main

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/racing"
	"github.com/averaged/imaging/weights"
)

// allowed is how far an output may be from the one of the folder, in a picture with
// values from about 0 to 1: some thousand times what float32 rounds, and far below
// what a wrong weight or a wrong padding makes.
const allowed = 1e-4

// measurement says how to time this library.
type measurement struct {
	Set                 string // the instruction set, "" for the best
	Threads             int
	Repetitions, WarmUp int
	Height, Width       int // of one picture instead of those of the folder, or 0
}

// Result is the line that every racer prints.
type Result struct {
	Racer       string  `json:"racer"`
	Threads     int     `json:"threads"`
	Pictures    int     `json:"pictures"`
	Height      int     `json:"height"`
	Width       int     `json:"width"`
	Repetitions int     `json:"repetitions"`
	MedianMS    float64 `json:"median_ms"` // of one pass over all pictures
	MinimumMS   float64 `json:"minimum_ms"`
	GFLOPS      float64 `json:"gflops"` // of the median, by the operations of direct convolution
	// PeakMiB is the largest memory that the process ever had resident, with its
	// runtime and the pictures; 0 where the system does not tell.
	PeakMiB float64 `json:"peak_mib"`
	// Difference is the largest one to the output of the folder; absent where there is
	// none to compare with.
	Difference *float64 `json:"difference,omitempty"`
	Level      string   `json:"level,omitempty"` // the instruction set, of this library
	GOMAXPROCS int      `json:"gomaxprocs,omitempty"`
}

// run times the network of the folder.
func (m measurement) run(ctx context.Context, folder string) (*Result, error) {
	if m.Threads < 1 || m.Repetitions < 1 || m.WarmUp < 0 {
		return nil, fmt.Errorf("%d threads, %d repetitions after %d: must be at least 1, 1 and 0", m.Threads, m.Repetitions, m.WarmUp)
	}
	set, err := setNamed(m.Set)
	if err != nil {
		return nil, err
	}
	// The peers have as many threads and no more, the garbage collector's would be
	// extra.
	runtime.GOMAXPROCS(m.Threads)
	file, err := weights.ReadFile(filepath.Join(folder, racing.NetworkFile))
	if err != nil {
		return nil, err
	}
	shape, input, expected, err := m.pictures(folder)
	if err != nil {
		return nil, err
	}
	dev, err := cpu.Open(cpu.UseInstructionSet(set), cpu.Threads(m.Threads))
	if err != nil {
		return nil, err
	}
	defer dev.Close()
	network, err := denoise.Load(ctx, dev, file, denoise.Uncertified())
	if err != nil {
		return nil, err
	}
	defer network.Free()
	src, err := dev.Wrap(shape, input)
	if err != nil {
		return nil, err
	}
	output := make([]float32, shape.Len())
	dst, err := dev.Wrap(shape, output)
	if err != nil {
		return nil, err
	}
	median, least, err := racing.Time(m.WarmUp, m.Repetitions, func() error { return network.Apply(ctx, dst, src) })
	if err != nil {
		return nil, err
	}
	card, _ := network.Card()
	r := &Result{
		Racer: "this library, " + set.String(), Threads: m.Threads,
		Pictures: shape.N, Height: shape.H, Width: shape.W,
		Repetitions: m.Repetitions, MedianMS: median, MinimumMS: least,
		Level: set.String(), GOMAXPROCS: runtime.GOMAXPROCS(0),
	}
	r.GFLOPS = racing.Operations(card.Architecture, shape) / r.MedianMS / 1e6
	if r.PeakMiB, err = peakResident(); err != nil {
		return nil, err
	}
	if expected != nil {
		d := racing.Difference(output, expected)
		if !(d <= allowed) { // NaN too
			return nil, fmt.Errorf("the output with %v differs from the prepared one by %.2g, at most %.0e is allowed", set, d, allowed)
		}
		r.Difference = &d
	}
	return r, nil
}

// pictures returns what to apply the network to, and what must come out, or nil.
func (m measurement) pictures(folder string) (s backend.Shape, input, expected []float32, err error) {
	if m.Height != 0 || m.Width != 0 {
		s = backend.Image(colours, m.Height, m.Width)
		if err := s.Check(); err != nil {
			return s, nil, nil, err
		}
		return s, pictures(1, s), nil, nil
	}
	file, err := weights.ReadFile(filepath.Join(folder, racing.PicturesFile))
	if err != nil {
		return s, nil, nil, err
	}
	if s, input, err = racing.Tensor(file, racing.InputName); err != nil {
		return s, nil, nil, err
	}
	t, expected, err := racing.Tensor(file, racing.OutputName)
	if err == nil && t != s {
		err = fmt.Errorf("the tensors %q and %q have the shapes %v and %v, must be the same", racing.InputName, racing.OutputName, s, t)
	}
	return s, input, expected, err
}

// setNamed returns the instruction set of that name, the best one for "".
func setNamed(name string) (cpu.InstructionSet, error) {
	if name == "" {
		return cpu.Selected()
	}
	for _, s := range cpu.InstructionSets() {
		if s.String() == name {
			return s, nil
		}
	}
	return 0, fmt.Errorf("no instruction set %q: this processor and build have %v", name, cpu.InstructionSets())
}
