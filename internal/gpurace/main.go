// Command gpurace is what bench/cuda.sh and bench/vulkan.sh time on a GPU.
//
//	gpurace -device cuda|vulkan -folder FOLDER     the Euler network, forward and, where it can train, backward
//	gpurace -device cuda -crops 8                  iterations of training
//	gpurace -device cuda|vulkan -photograph 4000x3000  the network "guided" that ships, for a photograph of this size
//	gpurace -device cuda|vulkan -operations        the operations that "guided" is made of, at its sizes
//
// The folder is one of internal/netrace's command prepare: network.safetensors, and
// pictures.safetensors with the tensors "input" and "output". Lines of JSON come out,
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
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/racing"
	"github.com/averaged/imaging/weights"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("gpurace: ")
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
	flags := flag.NewFlagSet("gpurace", flag.ContinueOnError)
	flags.SetOutput(out)
	g := gpu{}
	flags.StringVar(&g.kind, "device", "cuda", "cuda or vulkan")
	flags.IntVar(&g.number, "card", 0, "number of the device")
	flags.StringVar(&g.precision, "precision", "float32", "of convolutions: float32, half, or with CUDA tf32")
	folder := flags.String("folder", ".", "folder that netrace prepare wrote")
	repetitions := flags.Int("repetitions", 30, "timed passes, after a third as many that are not")
	crops := flags.Int("crops", 0, "time iterations of training, of so many crops each")
	guided := flags.Bool("guided", false, "train the guided network that ships, in place of the paper's")
	photograph := flags.String("photograph", "", "time the guided network that ships on a photograph of WIDTHxHEIGHT pixels")
	operations := flags.Bool("operations", false, "time operations at the sizes of that network on a photograph, by default of 4000x3000 pixels")
	profile := flags.String("cpuprofile", "", "file for a profile of the processor's work")
	if err := flags.Parse(arguments); err != nil {
		return err
	}
	size, err := photographSize(*photograph)
	if err != nil {
		return err
	}
	if *repetitions < 1 || *crops < 0 || flags.NArg() > 0 {
		return fmt.Errorf("%d repetitions, %d crops, arguments %q: want at least 1, at least 0, and none", *repetitions, *crops, flags.Args())
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
	dev, err := g.open()
	if err != nil {
		return err
	}
	defer dev.Close() // its only error would be of work that has been waited for
	r := result{Racer: g.racer(), Precision: g.shownPrecision(), Card: dev.Description().Model, Repetitions: *repetitions}
	lines := json.NewEncoder(out)
	switch {
	case *crops > 0:
		err = runTraining(ctx, dev, *guided, *crops, r, lines)
	case *operations:
		err = timeOperations(ctx, dev, size, r, lines)
	case *photograph != "":
		err = timePhotograph(ctx, dev, size, r, lines)
	default:
		err = timePictures(ctx, dev, *folder, g.trains(), r, lines)
	}
	return err
}

// timePictures times the network of a folder.
func timePictures(ctx context.Context, dev backend.Device, folder string, trains bool, r result, lines *json.Encoder) error {
	file, err := weights.ReadFile(filepath.Join(folder, racing.NetworkFile))
	if err != nil {
		return err
	}
	pictures, err := weights.ReadFile(filepath.Join(folder, racing.PicturesFile))
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
	r.Pictures, r.Height, r.Width = shape.N, shape.H, shape.W
	forward, err := timeForward(ctx, dev, file, shape, input, expected, r)
	if err != nil {
		return err
	}
	if err := lines.Encode(forward); err != nil || !trains {
		return err
	}
	both, err := timeBackward(dev, file, shape, input, r)
	if err != nil {
		return err
	}
	return lines.Encode(both)
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
