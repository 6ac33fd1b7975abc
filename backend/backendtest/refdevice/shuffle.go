package refdevice

import (
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/devicekit"
)

// Unshuffle implements backend.Shuffles.
func (d *Device) Unshuffle(dst, src backend.Buffer, factor int) error {
	c := d.begin("Unshuffle")
	to, from := c.buffer(dst), c.buffer(src)
	c.check(devicekit.CheckShuffle(from.shape, to.shape, factor))
	c.apart(to, from)
	return c.queue(func() {
		clear(to.data)
		eachShuffled(from.shape, to.shape, factor, func(fine, coarse int) { to.data[coarse] = from.data[fine] })
	})
}

// Shuffle implements backend.Shuffles.
func (d *Device) Shuffle(dst, src backend.Buffer, factor int) error {
	c := d.begin("Shuffle")
	to, from := c.buffer(dst), c.buffer(src)
	c.check(devicekit.CheckShuffle(to.shape, from.shape, factor))
	c.apart(to, from)
	return c.queue(func() {
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
