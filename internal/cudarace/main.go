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
	"runtime/pprof"
	"time"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cuda"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/racing"
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
	Pass        string  `json:"pass"` // "forward", "forward and backward", or "training"
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
	crops := flags.Int("crops", 0, "time iterations of training, of so many crops each, in the place of the passes")
	guided := flags.Bool("guided", false, "train the guided network that ships, in the place of the paper's")
	profile := flags.String("cpuprofile", "", "file for a profile of the processor's work")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	p, ok := map[string]cuda.Precision{"float32": cuda.Float32, "tf32": cuda.TF32, "half": cuda.Half}[*precision]
	if !ok || *repetitions < 1 || *crops < 0 || flags.NArg() > 0 {
		return fmt.Errorf("precision %q, %d repetitions, %d crops, arguments %q: want float32, tf32 or half, at least 1, at least 0, and none",
			*precision, *repetitions, *crops, flags.Args())
	}
	if *profile != "" {
		f, err := os.Create(*profile)
		if err != nil {
			return err
		}
		defer f.Close() // what is wrong with it pprof will say
		if err := pprof.StartCPUProfile(f); err != nil {
			return err
		}
		defer pprof.StopCPUProfile()
	}
	if *crops > 0 {
		return runTraining(ctx, *card, p, *guided, *crops, *repetitions, out)
	}
	file, err := weights.ReadFile(filepath.Join(*folder, racing.NetworkFile))
	if err != nil {
		return err
	}
	pictures, err := weights.ReadFile(filepath.Join(*folder, racing.PicturesFile))
	if err != nil {
		return err
	}
	shape, input, err := racing.Tensor(pictures, racing.InputName)
	if err != nil {
		return err
	}
	_, expected, err := racing.Tensor(pictures, racing.OutputName)
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
	r.Pass = "forward"
	r.TFLOPS = racing.Operations(card.Architecture, shape) / r.MedianMS / 1e9
	got := make([]float32, shape.Len())
	if err := dev.Download(got, dst); err != nil {
		return nil, err
	}
	d := racing.Difference(got, expected)
	r.Difference = &d
	return &r, nil
}

// time fills in the times of a pass.
func (r *result) time(dev backend.Device, pass func() error) error {
	once := func() error { return errors.Join(pass(), dev.Sync()) }
	var err error
	if r.MedianMS, r.MinimumMS, err = racing.Time(max(2, r.Repetitions/3), r.Repetitions, once); err != nil {
		return err
	}
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
