package train

import (
	"errors"
	"math/rand/v2"

	"github.com/averaged/imaging/internal/symmetry"
)

// Scene returns a square of a random picture in three channels, turned, or nil if there is none, or one is smaller.
func (p *Pictures) Scene(r *rand.Rand, side int) []float32 {
	if p.Len() == 0 || side < 1 || side > p.smallest() {
		return nil
	}
	of := &p.list[r.IntN(len(p.list))]
	y, x := r.IntN(of.h-side+1), r.IntN(of.w-side+1)
	turn := symmetry.Symmetry(r.IntN(symmetry.Number))
	scene, cut := make([]float32, 3*side*side), make([]float32, side*side)
	for k := range 3 {
		for i := range side {
			of.row(cut[i*side:][:side], k, y+i, x)
		}
		symmetry.Apply(turn, scene[k*side*side:][:side*side], cut, side)
	}
	return scene
}

// Photograph returns a crop of a random picture as a random camera of the configuration takes it, with noise
// and without, in three channels. With grey it has no colour.
func (c Config) Photograph(set *Pictures, grey bool, r *rand.Rand) (noisy, clean []float32, err error) {
	switch {
	case r == nil:
		return nil, nil, errors.New("train: a photograph needs a source of random numbers")
	case c.Camera == nil:
		return nil, nil, errors.New("train: the configuration has no camera, as that of CameraConfig has")
	}
	if err := c.checkPictures(set); err != nil {
		return nil, nil, err
	}
	s := c.shot(newGenerator(r.Uint64()))
	s.grey = s.grey || grey
	p := &set.list[r.IntN(len(set.list))]
	camera, side := s.fitting(c.SmallestPicture(), min(p.h, p.w))
	scene := (&Pictures{channels: 3, list: []picture{*p}}).Scene(r, side)
	if s.grey {
		scene = scene[side*side:][:side*side]
	}
	noisy, clean, side, err = s.take(camera, scene, side, r.Uint64())
	if err != nil {
		return nil, nil, err
	}
	y, x := r.IntN(side-c.Crop+1), r.IntN(side-c.Crop+1)
	cut := func(pix []float32) []float32 {
		out := make([]float32, 0, 3*c.Crop*c.Crop)
		for k := range 3 {
			if s.grey {
				k = 0
			}
			for i := range c.Crop {
				out = append(out, pix[k*side*side+(y+i)*side+x:][:c.Crop]...)
			}
		}
		return out
	}
	return cut(noisy), cut(clean), nil
}
