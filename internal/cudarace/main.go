// Command cudarace is what bench/cuda.sh times: the Euler network of this library on a
// CUDA card, forward, and forward plus backward, in the precisions of backend/cuda.
//
//	cudarace -folder FOLDER -precision float32|tf32|half -repetitions 30
//
// The folder is one of internal/netrace's command prepare: network.safetensors, and
// pictures.safetensors with the tensors "input" and "output". Two lines of JSON come out,
// one for each pass, with milliseconds by the host's clock from the first call to the end
// of Sync, pictures already on the card, and with how far the results are from those of
// the processor.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cuda"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/weights"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("cudarace: ")
	if err := run(context.Background(), os.Args[1:], os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		log.Fatal(err)
	}
}

// result is one line of the race.
type result struct {
	Racer       string  `json:"racer"`
	Pass        string  `json:"pass"` // "forward" or "forward and backward"
	Precision   string  `json:"precision"`
	Card        string  `json:"card"`
	Pictures    int     `json:"pictures"`
	Height      int     `json:"height"`
	Width       int     `json:"width"`
	Repetitions int     `json:"repetitions"`
	MedianMS    float64 `json:"median_ms"` // of one pass over all pictures, each waited for
	MinimumMS   float64 `json:"minimum_ms"`
	StreamMS    float64 `json:"stream_ms"` // of one pass, where only the last is waited for
	TFLOPS      float64 `json:"tflops"`    // of the median, by the operations of direct convolution
	// Difference is the largest one to the processor's output, or, backward, the relative
	// one of the gradient in the Euclidean norm; absent where that was not computed.
	Difference *float64 `json:"difference,omitempty"`
}

func run(ctx context.Context, arguments []string, out io.Writer) error {
	flags := flag.NewFlagSet("cudarace", flag.ContinueOnError)
	flags.SetOutput(out)
	folder := flags.String("folder", ".", "folder that netrace prepare wrote")
	precision := flags.String("precision", cuda.Float32.String(), "of the convolutions: float32, tf32 or half")
	repetitions := flags.Int("repetitions", 30, "timed passes, after a third as many that are not")
	card := flags.Int("card", 0, "number of the card")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	p, ok := map[string]cuda.Precision{"float32": cuda.Float32, "tf32": cuda.TF32, "half": cuda.Half}[*precision]
	if !ok || *repetitions < 1 || flags.NArg() > 0 {
		return fmt.Errorf("precision %q, %d repetitions, arguments %q: want float32, tf32 or half, at least 1, and none", *precision, *repetitions, flags.Args())
	}
	file, err := weights.ReadFile(filepath.Join(*folder, "network.safetensors"))
	if err != nil {
		return err
	}
	pictures, err := weights.ReadFile(filepath.Join(*folder, "pictures.safetensors"))
	if err != nil {
		return err
	}
	shape, input, err := tensor(pictures, "input")
	if err != nil {
		return err
	}
	_, expected, err := tensor(pictures, "output")
	if err != nil {
		return err
	}
	dev, err := cuda.Open(*card, cuda.UsePrecision(p))
	if err != nil {
		return err
	}
	defer dev.Close() // its only error would be of work that has been waited for
	r := result{
		Racer: "this library", Precision: p.String(), Card: dev.Description().Model,
		Pictures: shape.N, Height: shape.H, Width: shape.W, Repetitions: *repetitions,
	}
	forward, err := timeForward(ctx, dev, file, shape, input, expected, r)
	if err != nil {
		return err
	}
	both, err := timeBackward(dev, file, shape, input, r)
	if err != nil {
		return err
	}
	lines := json.NewEncoder(out)
	return errors.Join(lines.Encode(forward), lines.Encode(both))
}

func timeForward(ctx context.Context, dev backend.Device, file *weights.File, shape backend.Shape, input, expected []float32, r result) (*result, error) {
	network, err := denoise.Load(ctx, dev, file, denoise.Uncertified())
	if err != nil {
		return nil, err
	}
	defer network.Free()
	src, err := upload(dev, shape, input)
	if err != nil {
		return nil, err
	}
	defer src.Free()
	dst, err := dev.Alloc(shape)
	if err != nil {
		return nil, err
	}
	defer dst.Free()
	if err := r.time(dev, func() error { return network.Apply(ctx, dst, src) }); err != nil {
		return nil, err
	}
	card, _ := network.Card()
	a := card.Architecture
	r.Pass = "forward"
	r.TFLOPS = operations(a.Width, a.Blocks, a.Kernel, shape) / r.MedianMS / 1e9
	got := make([]float32, shape.Len())
	if err := dev.Download(got, dst); err != nil {
		return nil, err
	}
	d := 0.0
	for i, v := range got {
		d = max(d, float64(max(v-expected[i], expected[i]-v))) // NaN stays
	}
	r.Difference = &d
	return &r, nil
}

// time fills in the times of a pass.
func (r *result) time(dev backend.Device, pass func() error) error {
	once := func() error { return errors.Join(pass(), dev.Sync()) }
	for range max(2, r.Repetitions/3) {
		if err := once(); err != nil {
			return err
		}
	}
	var milliseconds []float64
	for range r.Repetitions {
		begin := time.Now()
		if err := once(); err != nil {
			return err
		}
		milliseconds = append(milliseconds, time.Since(begin).Seconds()*1e3)
	}
	slices.Sort(milliseconds)
	r.MinimumMS = milliseconds[0]
	r.MedianMS = (milliseconds[(len(milliseconds)-1)/2] + milliseconds[len(milliseconds)/2]) / 2
	begin := time.Now()
	for range r.Repetitions {
		if err := pass(); err != nil {
			return err
		}
	}
	if err := dev.Sync(); err != nil {
		return err
	}
	r.StreamMS = time.Since(begin).Seconds() * 1e3 / float64(r.Repetitions)
	return nil
}

// operations returns the multiplications and additions of direct convolution: A and Aᵀ in
// every block.
func operations(width, blocks, kernel int, s backend.Shape) float64 {
	return float64(2*2*blocks*kernel*kernel*width*width) * float64(s.N) * float64(s.Plane())
}

func upload(dev backend.Device, s backend.Shape, x []float32) (backend.Buffer, error) {
	b, err := dev.Alloc(s)
	if err != nil {
		return nil, err
	}
	if err := dev.Upload(b, x); err != nil {
		b.Free()
		return nil, err
	}
	return b, nil
}

// tensor returns a tensor of four extents.
func tensor(f *weights.File, name string) (backend.Shape, []float32, error) {
	t, err := f.Tensor(name)
	if err != nil {
		return backend.Shape{}, nil, err
	}
	if len(t.Shape) != 4 {
		return backend.Shape{}, nil, fmt.Errorf("tensor %q has the shape %v, must be of four extents", name, t.Shape)
	}
	x, err := t.Float32s()
	return backend.Shape{N: t.Shape[0], C: t.Shape[1], H: t.Shape[2], W: t.Shape[3]}, x, err
}
