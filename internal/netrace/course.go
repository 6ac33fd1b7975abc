package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/racing"
	"github.com/averaged/imaging/weights"
)

// colours are the channels of a picture.
const colours = 3

// course is what is raced over: a network and the pictures that it is applied to,
// made of seeded random numbers.
type course struct {
	Channels, Blocks        int // of the network
	Pictures, Height, Width int
	Seed                    uint64
}

// prepare writes the network, the pictures and the network's output with the best instruction set.
func (c course) prepare(ctx context.Context, folder string) error {
	shape := backend.Shape{N: c.Pictures, C: colours, H: c.Height, W: c.Width}
	if err := shape.Check(); err != nil {
		return err
	}
	file, err := c.network(ctx)
	if err != nil {
		return err
	}
	if err := writeFile(filepath.Join(folder, racing.NetworkFile), file); err != nil {
		return err
	}
	dev, err := cpu.Open()
	if err != nil {
		return err
	}
	defer dev.Close()
	network, err := denoise.Load(ctx, dev, file, denoise.Uncertified())
	if err != nil {
		return err
	}
	defer network.Free()
	input, output := pictures(c.Seed, shape), make([]float32, shape.Len())
	src, err := dev.Wrap(shape, input)
	if err != nil {
		return err
	}
	dst, err := dev.Wrap(shape, output)
	if err != nil {
		return err
	}
	if err := network.Apply(ctx, dst, src); err != nil {
		return err
	}
	pair := &weights.File{}
	for name, values := range map[string][]float32{racing.InputName: input, racing.OutputName: output} {
		t, err := weights.NewTensor(name, weights.F32, []int{shape.N, shape.C, shape.H, shape.W}, values)
		if err != nil {
			return err
		}
		pair.Tensors = append(pair.Tensors, t)
	}
	return writeFile(filepath.Join(folder, racing.PicturesFile), pair)
}

// network returns the weight file of a network whose blocks are one Euler step of size 1
// each, which is what filters of norm 1 need at most: the other racers are written for
// that.
func (c course) network(ctx context.Context) (*weights.File, error) {
	m, err := denoise.RandomModel(c.Seed, denoise.Architecture{Channels: colours, Width: c.Channels, Blocks: c.Blocks}, 1)
	if err != nil {
		return nil, err
	}
	cert, err := m.Certify(ctx, 0)
	if err != nil {
		return nil, err
	}
	for i, b := range cert.Blocks {
		if b.Steps != 1 {
			return nil, fmt.Errorf("block %d of the random network takes %d steps instead of one", i, b.Steps)
		}
	}
	return m.File(weights.Card{
		Name: "race", Sigma: 0.15, Licence: "CC0-1.0",
		Provenance: weights.Provenance{Software: "netrace", Data: "none: random weights", Seed: c.Seed},
	}, cert)
}

// pictures returns noise about grey.
func pictures(seed uint64, s backend.Shape) []float32 {
	x := make([]float32, s.Len())
	for k := 0; k < len(x); k += 2 {
		even, odd := backend.GaussianPair(^seed, uint64(k/2))
		x[k] = 0.5 + 0.25*even
		if k+1 < len(x) {
			x[k+1] = 0.5 + 0.25*odd
		}
	}
	return x
}

func writeFile(path string, f *weights.File) error {
	b, err := f.Encode()
	if err != nil {
		return err
	}
	return os.WriteFile(path, b, 0o600)
}
