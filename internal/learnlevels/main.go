// Command learnlevels makes the network of noise levels, weights/open/levels.safetensors:
//
//	go run ./internal/learnlevels -crops crops.bin -number 6000 FOLDER...
//	go run ./internal/learnlevels -crops crops.bin -o weights/open/levels.safetensors
//
// The first command draws crops of the photographs in the folders and tries the denoisers on each at
// every level; it goes on with a file that is there. The second learns from them.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/internal/levellearning"
	"github.com/averaged/imaging/internal/noise"
	"github.com/averaged/imaging/train"
	"github.com/averaged/imaging/weights"
	_ "github.com/averaged/imaging/weights/open"
)

// denoisers are those that a level map chooses from, in the order of its outputs.
var denoisers = []string{weights.Guided, weights.Camera}

func main() {
	crops := flag.String("crops", "crops.bin", "`FILE` of crops")
	number := flag.Int("number", 6000, "`NUMBER` of crops to draw")
	first := flag.Uint64("first", 0, "`NUMBER` of the first crop")
	workers := flag.Int("workers", 2, "`NUMBER` of crops to work on at a time")
	only := flag.String("only", "", "`KIND` of crops to draw, and no other")
	output := flag.String("o", "", "weight `FILE` to write")
	iterations := flag.Int("iterations", levellearning.DefaultNetConfig().Iterations, "steps of learning")
	seed := flag.Uint64("seed", 1, "of the learning")
	initial := flag.String("initial", "", "weight `FILE` to begin with")
	rate := flag.Float64("rate", levellearning.DefaultNetConfig().Rate, "of learning at the beginning")
	keep := flag.Float64("keep", 0, "`SHARE` of the weights of -initial in the mean with the learned ones that is written")
	floor := flag.Float64("floor", levellearning.DefaultNetConfig().Floor, "mean squared error below which decibels count less")
	flag.Parse()
	err := func() error {
		if *output == "" {
			return draw(context.Background(), *crops, *first, *number, *workers, *only, flag.Args())
		}
		c := levellearning.DefaultNetConfig()
		c.Iterations, c.Seed = *iterations, *seed
		c.Rate, c.Floor = *rate, *floor
		return learn(*crops, *output, *initial, *keep, c)
	}()
	if err != nil {
		fmt.Fprintln(os.Stderr, "learnlevels:", err)
		os.Exit(1)
	}
}

// photographs reads all pictures of some folders.
func photographs(ctx context.Context, folders []string) (*train.Pictures, error) {
	var list []train.Picture
	for _, folder := range folders {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			m, err := imagefile.Read(ctx, filepath.Join(folder, e.Name()), imagefile.ReadOptions{})
			if err != nil {
				return nil, err
			}
			list = append(list, train.Picture{Channels: m.Channels, Height: m.Height, Width: m.Width, Samples: m.Pix})
		}
	}
	if len(list) == 0 {
		return nil, errors.New("no photographs: name folders of them")
	}
	return train.NewPictures(3, list)
}

// draw appends crops to a file.
func draw(ctx context.Context, path string, first uint64, number, workers int, only string, folders []string) error {
	set, err := photographs(ctx, folders)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return err
	}
	defer f.Close()
	there, err := levellearning.ReadCrops(bufio.NewReader(f))
	if err != nil {
		return err
	}
	size := int64(0)
	for _, c := range there {
		size += c.Size()
	}
	if _, err := f.Seek(size, 0); err != nil {
		return err
	}
	next := make(chan uint64)
	go func() {
		defer close(next)
		for i := len(there); i < number; i++ {
			next <- first + uint64(i)
		}
	}()
	var lock sync.Mutex
	var wait sync.WaitGroup
	errs := make([]error, workers)
	for w := range workers {
		wait.Go(func() {
			errs[w] = func() error {
				dev, err := cpu.Open(cpu.Threads(1))
				if err != nil {
					return err
				}
				defer dev.Close()
				var list []*denoise.Network
				for _, name := range denoisers {
					file, err := weights.Open(name)
					if err != nil {
						return err
					}
					n, err := denoise.Load(ctx, dev, file)
					if err != nil {
						return err
					}
					list = append(list, n)
				}
				trial, err := levellearning.NewTrial(ctx, dev, list...)
				if err != nil {
					return err
				}
				for seed := range next {
					kind, noisy, clean, err := levellearning.CropOf(set, seed, only)
					if err != nil {
						return err
					}
					c, err := trial.Crop(ctx, kind, noisy, clean)
					if err != nil {
						return err
					}
					lock.Lock()
					err = c.Write(f)
					lock.Unlock()
					if err != nil {
						return err
					}
				}
				return nil
			}()
			for range next { // so that the others end
				if errs[w] == nil {
					break
				}
			}
		})
	}
	wait.Wait()
	return errors.Join(errs...)
}

// heldOut is one of how many crops that are not learned from.
const heldOut = 12

// learn learns from the crops of a file, and writes the weights now and then.
func learn(path, output, initial string, keep float64, c levellearning.NetConfig) error {
	if keep != 0 && (initial == "" || !(keep > 0 && keep < 1)) {
		return errors.New("-keep is a share of the weights of -initial, between 0 and 1")
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	all, err := levellearning.ReadCrops(bufio.NewReaderSize(f, 1<<20))
	if err != nil {
		return err
	}
	var learned, held []*levellearning.Crop
	for i, crop := range all {
		if i%heldOut == 0 {
			held = append(held, crop)
			continue
		}
		learned = append(learned, crop)
		if crop.Kind == "clean" || crop.Kind == "texture" {
			learned = append(learned, crop) // twice: they tell noise from what looks like it
		}
	}
	fmt.Fprintf(os.Stderr, "%d crops, and %d held out\n", len(learned), len(held))
	dev, err := cpu.Open()
	if err != nil {
		return err
	}
	defer dev.Close()
	n, err := levellearning.NewNet(dev, c)
	if err != nil {
		return err
	}
	var before *noise.Model
	if initial != "" {
		f, err := weights.ReadFile(initial)
		if err != nil {
			return err
		}
		if before, err = noise.FromFile(f); err != nil {
			return err
		}
		if err := n.Take(before); err != nil {
			return err
		}
	}
	var sum levellearning.Score
	for i := 1; i <= c.Iterations; i++ {
		s, err := n.Step(learned)
		if err != nil {
			return err
		}
		sum.Add(s)
		if i%100 == 0 {
			m := sum.Mean()
			fmt.Fprintf(os.Stderr, "%s %d: loss %.4f, %.2f dB of %.2f from %.2f\n", time.Now().Format("15:04:05"), i, m.Loss, m.Said, m.Best, m.Noisy)
			sum = levellearning.Score{}
		}
		if i%500 == 0 || i == c.Iterations {
			if err := report(n, held); err != nil {
				return err
			}
			m := n.Model()
			if keep > 0 {
				mean(m, before, keep)
			}
			if err := write(m, output, c, i); err != nil {
				return err
			}
		}
	}
	return nil
}

// mean makes the weights of m a mean of those of m and of another model of the same form, which has a share. A training's
// end is near to its beginning, and the mean of both loses less where either is poor.
func mean(m, other *noise.Model, share float64) {
	for i, l := range m.Layers {
		for _, pair := range [][2][]float32{{l.Weight, other.Layers[i].Weight}, {l.Bias, other.Layers[i].Bias}} {
			for k, v := range pair[1] {
				pair[0][k] = float32((1-share)*float64(pair[0][k]) + share*float64(v))
			}
		}
	}
}

func report(n *levellearning.Net, held []*levellearning.Crop) error {
	kinds, err := n.Evaluate(held)
	if err != nil {
		return err
	}
	var all levellearning.Score
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		s := kinds[kind]
		fmt.Fprintf(os.Stderr, "  %-12s %4d: %.2f dB, best %.2f, from %.2f; camera %.2f; loss %.4f\n", kind, s.Count, s.Said, s.Best, s.Noisy, s.Chosen, s.Loss)
		all.Add(s)
	}
	m := all.Mean()
	fmt.Fprintf(os.Stderr, "  all held out: loss %.4f, %.2f dB, best %.2f\n", m.Loss, m.Said, m.Best)
	return nil
}

func write(m *noise.Model, output string, c levellearning.NetConfig, iterations int) error {
	recipe, err := json.Marshal(c)
	if err != nil {
		return err
	}
	f, err := fileOf(m, weights.Card{
		Name: weights.Levels, Sigma: 0.3, Licence: "Apache-2.0",
		Provenance: weights.Provenance{
			Software: "imaging internal/learnlevels",
			Data:     "crops of photographs under CC0 and CC BY (weights/README.md), and drawings made by a program",
			Recipe:   string(recipe), Seed: c.Seed, Iterations: iterations,
		},
	})
	if err != nil {
		return err
	}
	b, err := f.Encode()
	if err != nil {
		return err
	}
	return os.WriteFile(output, b, 0o666)
}
