package main

import (
	"context"
	"fmt"
	"math"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/weights"
)

// allowed is how far an output may be from the one of the folder, in a picture with
// values from about 0 to 1: some thousand times what float32 rounds, and far below
// what a wrong weight or a wrong padding makes.
const allowed = 1e-4

// measurement says how to time this library.
type measurement struct {
	Level               string // "" for the best
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
	Level      string   `json:"level,omitempty"` // of this library
	GOMAXPROCS int      `json:"gomaxprocs,omitempty"`
}

// run times the network of the folder.
func (m measurement) run(ctx context.Context, folder string) (*Result, error) {
	if m.Threads < 1 || m.Repetitions < 1 || m.WarmUp < 0 {
		return nil, fmt.Errorf("%d threads, %d repetitions after %d: must be at least 1, 1 and 0", m.Threads, m.Repetitions, m.WarmUp)
	}
	level, err := levelNamed(m.Level)
	if err != nil {
		return nil, err
	}
	// The peers have as many threads and no more, the garbage collector's would be
	// extra.
	runtime.GOMAXPROCS(m.Threads)
	file, err := weights.ReadFile(filepath.Join(folder, networkFile))
	if err != nil {
		return nil, err
	}
	shape, input, expected, err := m.pictures(folder)
	if err != nil {
		return nil, err
	}
	dev := cpu.New(cpu.UseLevel(level), cpu.Threads(m.Threads))
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
	milliseconds := make([]float64, 0, m.Repetitions)
	for i := range m.WarmUp + m.Repetitions {
		begin := time.Now()
		if err := network.Apply(ctx, dst, src); err != nil {
			return nil, err
		}
		if elapsed := time.Since(begin); i >= m.WarmUp {
			milliseconds = append(milliseconds, elapsed.Seconds()*1e3)
		}
	}
	slices.Sort(milliseconds)
	card, _ := network.Card()
	r := &Result{
		Racer: "this library, " + level.String(), Threads: m.Threads,
		Pictures: shape.N, Height: shape.H, Width: shape.W,
		Repetitions: m.Repetitions, MedianMS: median(milliseconds), MinimumMS: milliseconds[0],
		Level: level.String(), GOMAXPROCS: runtime.GOMAXPROCS(0),
	}
	r.GFLOPS = operations(card.Architecture, shape) / r.MedianMS / 1e6
	if r.PeakMiB, err = peakResident(); err != nil {
		return nil, err
	}
	if expected != nil {
		d := difference(output, expected)
		if !(d <= allowed) { // NaN too
			return nil, fmt.Errorf("the output at level %v differs from the prepared one by %.2g, at most %.0e is allowed", level, d, allowed)
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
	file, err := weights.ReadFile(filepath.Join(folder, picturesFile))
	if err != nil {
		return s, nil, nil, err
	}
	if s, input, err = readPictures(file, inputName); err != nil {
		return s, nil, nil, err
	}
	t, expected, err := readPictures(file, outputName)
	if err == nil && t != s {
		err = fmt.Errorf("the tensors %q and %q have the shapes %v and %v, must be the same", inputName, outputName, s, t)
	}
	return s, input, expected, err
}

// levelNamed returns the level of that name, the best one for "".
func levelNamed(name string) (cpu.Level, error) {
	if name == "" {
		return cpu.Selected()
	}
	for _, l := range cpu.Levels() {
		if l.String() == name {
			return l, nil
		}
	}
	return 0, fmt.Errorf("no level %q: this processor and build have %v", name, cpu.Levels())
}

// operations returns the multiplications and additions of direct convolution: A and Aᵀ
// in every block.
func operations(a weights.Architecture, s backend.Shape) float64 {
	perPixel := 2 * 2 * a.Blocks * a.Kernel * a.Kernel * a.Width * a.Width
	return float64(perPixel) * float64(s.N) * float64(s.Plane())
}

// difference returns the largest |x−y|, and NaN where one of them is NaN.
func difference(x, y []float32) float64 {
	d := 0.0
	for i := range x {
		d = max(d, math.Abs(float64(x[i])-float64(y[i])))
	}
	return d
}

// median of sorted numbers.
func median(x []float64) float64 {
	n := len(x)
	return (x[(n-1)/2] + x[n/2]) / 2
}
