package train_test

import (
	"context"
	"fmt"
	"log"
	"os"

	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/train"
	"github.com/averaged/imaging/weights"
)

// A small network learns for a few iterations, and is written with its certificate.
func Example() {
	ctx := context.Background()
	dev, err := cpu.Open()
	if err != nil {
		log.Fatal(err)
	}
	defer dev.Close()
	folder, err := os.MkdirTemp("", "run")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(folder)

	slope := train.Picture{Channels: 1, Height: 32, Width: 48, Samples: make([]float32, 32*48)}
	for i := range slope.Samples {
		slope.Samples[i] = float32(i%48) / 48
	}
	pictures, err := train.NewPictures(1, []train.Picture{slope})
	if err != nil {
		log.Fatal(err)
	}

	c := train.DefaultConfig()
	c.Channels, c.Width, c.Group, c.Blocks, c.Crop, c.Iterations = 1, 4, 2, 2, 16, 20
	run, err := train.Create(dev, folder, c, train.Data{Training: pictures})
	if err != nil {
		log.Fatal(err)
	}
	defer run.Close()
	if err := run.Train(ctx, nil); err != nil {
		log.Fatal(err)
	}
	_, certificate, err := run.Finish(ctx, weights.Card{
		Name: "slopes", Licence: "Apache-2.0",
		Provenance: weights.Provenance{Software: "an example", Data: "one slope"},
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(run.Iteration(), "iterations, proven:", certificate.Proven)
	// Output: 20 iterations, proven: true
}
