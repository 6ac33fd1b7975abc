package main

import (
	"fmt"

	"github.com/averaged/imaging/backend/cpu/_asm/neon"
)

// octave is how many channels are added as a balanced tree; the sums of octaves are
// added in order.
const octave = 8

// ballVectors is how many vectors of pixels a group's loop takes at a time: more would
// not leave registers for the tree.
const ballVectors = 2

// balls is a kernel on some pixels of a group of channels that are plane bytes apart.
type balls struct {
	part
	plane, size neon.R
}

// alongBalls emits loops over blocks of pixels and over single pixels, and the
// function's end.
func alongBalls(f *neon.Function, n neon.R, body func(b balls), arrays ...neon.R) {
	plane, size := f.Parameter("plane"), f.Parameter("size")
	f.ShiftLeft(plane, plane, 2)
	for _, l := range []struct {
		name    string
		vectors int
	}{{"blocks", ballVectors}, {"elements", 0}} {
		b := balls{part{f, l.name, l.vectors}, plane, size}
		along(f, n, b.elements(), l.name, func() { body(b) }, arrays...)
	}
	f.Return()
}

func (b balls) zeros() []neon.V {
	v := b.registers()
	for _, r := range v {
		b.f.Zero(r)
	}
	return v
}

// copies returns pointers that begin at others.
func (b balls) copies(pointers []neon.R) []neon.R {
	var p []neon.R
	for _, r := range pointers {
		c := b.f.General()
		b.f.Move(c, r)
		p = append(p, c)
	}
	return p
}

func (b balls) next(p []neon.R) {
	for _, r := range p {
		b.f.Add(r, r, b.plane)
	}
}

func (b balls) addTo(sum, v []neon.V) {
	for k := range sum {
		b.f.FADD(neon.S4, sum[k], sum[k], v[k])
	}
	b.f.Free(v...)
}

// sum emits the sum over the group's channels of terms, in octaves.
func (b balls) sum(name string, pointers []neon.R, term func(p []neon.R) []neon.V) []neon.V {
	f := b.f
	sum := b.zeros()
	f.FreeGeneral(b.sumFrom(b.name+name, sum, b.copies(pointers), term)...)
	return sum
}

// sumFrom moves the pointers, and returns them and the counter.
func (b balls) sumFrom(name string, sum []neon.V, p []neon.R, term func(p []neon.R) []neon.V) []neon.R {
	f := b.f
	left, bit := f.General(), f.General()
	f.Move(left, b.size)
	f.BranchLess(left, octave, name+"rest")
	f.Label(name)
	b.addTo(sum, b.tree(p, octave, term))
	f.AddConstant(left, left, -octave)
	f.BranchNotLess(left, octave, name)
	f.Label(name + "rest")
	// What is missing of an octave is zero: four, two and one channels are there, or
	// not.
	var parts [][]neon.V
	for n := octave / 2; n > 0; n /= 2 {
		part, skip := b.zeros(), fmt.Sprintf("%s%d", name, n)
		f.AndConstant(bit, left, n)
		f.BranchZero(bit, skip)
		b.addTo(part, b.tree(p, n, term))
		f.Label(skip)
		parts = append(parts, part)
	}
	b.addTo(parts[1], parts[2])
	b.addTo(parts[0], parts[1])
	b.addTo(sum, parts[0])
	return append(p, left, bit)
}

// tree returns the sum of the terms of n channels, a power of two, as a balanced tree.
// The pointers end behind them.
func (b balls) tree(p []neon.R, n int, term func(p []neon.R) []neon.V) []neon.V {
	if n == 1 {
		v := term(p)
		b.next(p)
		return v
	}
	v := b.tree(p, n/2, term)
	b.addTo(v, b.tree(p, n/2, term))
	return v
}

// squares emits the squared norms of the group at a place.
func (b balls) squares(place neon.R) []neon.V {
	return b.sum("squares", []neon.R{place}, func(p []neon.R) []neon.V {
		v := b.load(p[0])
		for _, r := range v {
			b.f.FMUL(neon.S4, r, r, r)
		}
		return v
	})
}

// channels emits a loop over the group's channels: body for the one that copies of the
// pointers are at.
func (b balls) channels(pointers []neon.R, body func(p []neon.R)) {
	f := b.f
	p, left := b.copies(pointers), f.General()
	f.Move(left, b.size)
	f.Repeat(left, b.name+"channels", func() {
		body(p)
		b.next(p)
	})
}

// smallestNumber and one are the bits of float32 numbers, the first the least above 0.
const smallestNumber, one = 1, 0x3f800000

// both returns bits in the lower and the upper half of 64.
func both(bits uint64) uint64 { return bits<<32 | bits }

// projectBalls emits out = in·radius/max(‖in‖, radius), of one radius or of a map of them.
// The maximum of a number and NaN is NaN.
func projectBalls(p *neon.Program, ofMap bool) {
	var f *neon.Function
	if ofMap {
		f = begin(p, "projectBallsMap", "func(out, in, radius *float32, n, plane, size int)", "projectBallsPortable")
	} else {
		f = begin(p, "projectBalls", "func(out, in *float32, n, plane, size int, radius float32)", "projectBallsPortable")
	}
	out, in, n := f.Parameter("out"), f.Parameter("in"), f.Parameter("n")
	arrays, floor := []neon.R{out, in}, f.Vector()
	f.Broadcast(neon.D2, floor, both(smallestNumber))
	var radius neon.V
	if ofMap {
		arrays = append(arrays, f.Parameter("radius"))
	} else {
		radius = f.Number("radius")
		f.FMAX(neon.S4, floor, floor, radius)
	}
	alongBalls(f, n, func(b balls) {
		scale := b.squares(in)
		var radii []neon.V
		if ofMap {
			radii = b.load(arrays[2])
		}
		for k, v := range scale {
			f.FSQRT(neon.S4, v, v)
			f.FMAX(neon.S4, v, v, floor)
			r := radius
			if ofMap {
				r = radii[k]
				f.FMAX(neon.S4, v, v, r)
			}
			f.FDIV(neon.S4, v, r, v)
		}
		f.Free(radii...)
		b.channels([]neon.R{in, out}, func(p []neon.R) {
			x := b.load(p[0])
			for k, v := range scale {
				f.FMUL(neon.S4, x[k], x[k], v)
			}
			b.store(x, p[1])
		})
	}, arrays...)
}

// projectBallsGradient emits, of n = x/‖x‖, out = radius/‖x‖·(dy − n⟨n, dy⟩), and adds
// ⟨n, dy⟩ to the sums, or sets the map's gradient to it; where ‖x‖ ≤ radius, out = dy, and
// the sums stay, or the map's gradient is 0.
func projectBallsGradient(p *neon.Program, ofMap bool) {
	var f *neon.Function
	if ofMap {
		f = begin(p, "projectBallsMapGradient", "func(out, dradius, x, dy, radius *float32, n, plane, size int)", "projectBallsGradientPortable")
	} else {
		f = begin(p, "projectBallsGradient", "func(out, x, dy *float32, n, plane, size int, radius float32, sums *[16]float64)", "projectBallsGradientPortable")
	}
	out, x, dy, n, ones := f.Parameter("out"), f.Parameter("x"), f.Parameter("dy"), f.Parameter("n"), f.Vector()
	arrays := []neon.R{out, x, dy}
	f.Broadcast(neon.D2, ones, both(one))
	var radius neon.V
	var memory, step neon.R
	if ofMap {
		arrays = append(arrays, f.Parameter("dradius"), f.Parameter("radius"))
	} else {
		radius, memory, step = f.Number("radius"), f.Parameter("sums"), f.General()
		// Blocks are added to half of the lanes and to the other half in turn.
		f.Constant(step, 8*4*ballVectors)
	}
	alongBalls(f, n, func(b balls) {
		norms := b.squares(x)
		along := b.sum("along", []neon.R{x, dy}, func(p []neon.R) []neon.V {
			v, y := b.load(p[0]), b.load(p[1])
			for k := range v {
				f.FMUL(neon.S4, v[k], v[k], y[k])
			}
			f.Free(y...)
			return v
		})
		zero, inverse, inside := f.Vector(), f.Vector(), f.Vector()
		f.Zero(zero)
		var radii, told []neon.V
		if ofMap {
			radii, told = b.load(arrays[4]), b.registers()
		}
		for k, norm := range norms {
			r := radius
			if ofMap {
				r = radii[k]
			}
			f.FSQRT(neon.S4, norm, norm)
			f.FDIV(neon.S4, inverse, ones, norm)
			f.FMUL(neon.S4, along[k], along[k], inverse)
			f.FCMGE(neon.S4, inside, r, norm)
			if ofMap {
				f.MOV(told[k], inside)
				f.BSL(told[k], zero, along[k])
			} else {
				b.addAlong(inside, zero, along[k], memory, k)
			}
			f.FMUL(neon.S4, norm, r, inverse)
			f.FMUL(neon.S4, along[k], along[k], norm)
			f.FMUL(neon.S4, along[k], along[k], inverse)
			scale := f.Vector()
			f.MOV(scale, inside)
			f.BSL(scale, ones, norm)
			f.MOV(norm, scale)
			f.BSL(inside, zero, along[k])
			f.MOV(along[k], inside)
			f.Free(scale)
		}
		f.Free(zero, inverse, inside)
		switch {
		case ofMap:
			b.store(told, arrays[3])
			f.Free(radii...)
		case b.vectors > 0:
			f.Add(memory, memory, step)
			f.Negate(step, step)
		default:
			f.AddConstant(memory, memory, 8)
		}
		b.channels([]neon.R{x, dy, out}, func(p []neon.R) {
			v, y := b.load(p[0]), b.load(p[1])
			for k := range v {
				f.FMUL(neon.S4, y[k], y[k], norms[k])
				f.FMUL(neon.S4, v[k], v[k], along[k])
				f.FSUB(neon.S4, y[k], y[k], v[k])
			}
			b.store(y, p[2])
		})
	}, arrays...)
}

// addAlong adds vector k of numbers, zeros where a mask is, to the lanes of float64 that
// memory is at.
func (b balls) addAlong(inside, zero, v neon.V, memory neon.R, k int) {
	f := b.f
	outside, wide, sum := f.Vector(), f.Vector(), f.Vector()
	f.MOV(outside, inside)
	f.BSL(outside, zero, v)
	bytes := 16
	if b.vectors == 0 {
		bytes = 8
	}
	for half := range 2 {
		if half == 0 {
			f.FCVTL(wide, outside)
		} else if b.vectors == 0 {
			break
		} else {
			f.FCVTL2(wide, outside)
		}
		at := neon.At(memory, 32*k+16*half)
		f.Load(bytes, sum, at)
		f.FADD(neon.D2, sum, sum, wide)
		f.Store(bytes, sum, at)
	}
	f.Free(outside, wide, sum)
}
