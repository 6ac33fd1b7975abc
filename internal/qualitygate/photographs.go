package main

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/restore"
)

// photograph is one of the test data, in colour.
type photograph struct {
	name string
	*restore.Planar
}

// photographs are those of the test data.
type photographs struct {
	open  []photograph               // clean ones that were made smaller until noise was gone
	bsds  []photograph               // BSDS500
	clean []photograph               // both
	noisy map[string][][2]photograph // of real/NAME: with noise, and without
}

// load reads the clean photographs that are kept for validation, and the pairs of real noise.
func load(ctx context.Context, data string) (*photographs, error) {
	all := &photographs{noisy: make(map[string][][2]photograph)}
	for _, folder := range []struct {
		name string
		to   *[]photograph
	}{{"open/cc0-by/val", &all.open}, {"open2/cc0-by/val", &all.open}, {"bsds500/val", &all.bsds}} {
		list, err := readFolder(ctx, filepath.Join(data, folder.name))
		if err != nil {
			return nil, err
		}
		*folder.to = append(*folder.to, list...)
	}
	all.clean = slices.Concat(all.open, all.bsds)
	// A part of a kind has photographs of all folders.
	r := rand.New(rand.NewPCG(49, 1))
	r.Shuffle(len(all.clean), func(i, j int) { all.clean[i], all.clean[j] = all.clean[j], all.clean[i] })
	for _, name := range []string{"polyu", "sidd", "cc"} {
		noisy, err := readFolder(ctx, filepath.Join(data, "real", name, "noisy"))
		if err != nil {
			return nil, err
		}
		clean, err := readFolder(ctx, filepath.Join(data, "real", name, "clean"))
		if err != nil {
			return nil, err
		}
		if len(noisy) != len(clean) {
			return nil, fmt.Errorf("real/%s: %d noisy photographs and %d clean ones", name, len(noisy), len(clean))
		}
		for i, n := range noisy {
			if n.name != clean[i].name || len(n.Pix) != len(clean[i].Pix) {
				return nil, fmt.Errorf("real/%s: %s and %s are no pair", name, n.name, clean[i].name)
			}
			all.noisy[name] = append(all.noisy[name], [2]photograph{n, clean[i]})
		}
	}
	return all, nil
}

// readFolder reads the photographs in colour of a folder, in the order of their names.
func readFolder(ctx context.Context, folder string) ([]photograph, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var list []photograph
	for _, e := range entries {
		m, err := imagefile.Read(ctx, filepath.Join(folder, e.Name()), imagefile.ReadOptions{})
		if err != nil {
			return nil, err
		}
		if m.Channels == 3 {
			name := strings.TrimSuffix(e.Name(), filepath.Ext(e.Name()))
			list = append(list, photograph{name, &restore.Planar{Width: m.Width, Height: m.Height, Channels: 3, Pix: m.Pix}})
		}
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("%s: no colour photographs", folder)
	}
	return list, nil
}

// The size of the pictures that are made of clean photographs, except for texture. Noise is estimated less
// well in smaller ones.
const cropHeight, cropWidth = 256, 384

// crop returns a part of a photograph, at a place that the seed draws, of at most the given size.
func crop(p photograph, height, width int, seed uint64) photograph {
	height, width = min(height, p.Height), min(width, p.Width)
	r := rand.New(rand.NewPCG(seed, 2))
	return cut(p, r.IntN(p.Height-height+1), r.IntN(p.Width-width+1), height, width)
}

func cut(p photograph, top, left, height, width int) photograph {
	out := restore.NewPlanar(p.Channels, height, width)
	for c := range p.Channels {
		from, to := p.Plane(c), out.Plane(c)
		for y := range height {
			copy(to[y*width:(y+1)*width], from[(top+y)*p.Width+left:])
		}
	}
	return photograph{p.name, out}
}

// texture returns a window of a photograph with much energy in its differences of neighbours: that with the
// most for rank 0, and for 1 that with the most of those that do not overlap it, and so on.
func texture(p photograph, side, rank int) photograph {
	const step = 32
	type window struct {
		top, left int
		energy    float64
	}
	var all []window
	green := p.Plane(1)
	for top := 0; top+side <= p.Height; top += step {
		for left := 0; left+side <= p.Width; left += step {
			w := window{top, left, 0}
			for y := top + 1; y < top+side-1; y++ {
				for x := left + 1; x < left+side-1; x++ {
					i := y*p.Width + x
					d := float64(4*green[i] - green[i-1] - green[i+1] - green[i-p.Width] - green[i+p.Width])
					w.energy += float64(d * d)
				}
			}
			all = append(all, w)
		}
	}
	slices.SortStableFunc(all, func(a, b window) int { return cmp.Compare(b.energy, a.energy) })
	for ; rank > 0; rank-- {
		first := all[0]
		apart := slices.DeleteFunc(slices.Clone(all), func(w window) bool {
			return max(w.top-first.top, first.top-w.top) < side && max(w.left-first.left, first.left-w.left) < side
		})
		if len(apart) == 0 {
			break
		}
		all = apart
	}
	return cut(p, all[0].top, all[0].left, side, side)
}
