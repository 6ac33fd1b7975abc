package refdevice

import (
	"github.com/averaged/imaging/backend"
)

// Unshuffle implements devicekit.Kernels.
func (d *stream) Unshuffle(dst, src array, factor int) error {
	to, from := own(dst), own(src)
	return d.queue("Unshuffle", func() {
		clear(to.data)
		eachShuffled(from.shape, to.shape, factor, func(fine, coarse int) { to.data[coarse] = from.data[fine] })
	})
}

// Shuffle implements devicekit.Kernels.
func (d *stream) Shuffle(dst, src array, factor int) error {
	to, from := own(dst), own(src)
	return d.queue("Shuffle", func() {
		eachShuffled(to.shape, from.shape, factor, func(fine, coarse int) { to.data[fine] = from.data[coarse] })
	})
}

// eachShuffled calls f for every pixel of the fine array, with its place in both.
func eachShuffled(fine, coarse backend.Shape, q int, f func(fine, coarse int)) {
	for n := range fine.N {
		for c := range fine.C {
			for y := range fine.H {
				for x := range fine.W {
					channel := c*q*q + y%q*q + x%q
					f(((n*fine.C+c)*fine.H+y)*fine.W+x, ((n*coarse.C+channel)*coarse.H+y/q)*coarse.W+x/q)
				}
			}
		}
	}
}
