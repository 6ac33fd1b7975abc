package main

import (
	"fmt"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// correlatedTaps is how many taps of an input are correlated at a time with the
// outputs' gradients; the sums of 8 (4 for AVX2) outputs then fill the registers.
const correlatedTaps = 3

// correlate emits the sums over a tile of products of some outputs' gradients with
// the input at three taps. Each sum has a lane for every lane of a vector.
func correlate(s set, outputs int) {
	name := fmt.Sprintf("correlate%d%s", outputs, s.suffix())
	TEXT(name, NOSPLIT, "func(sums *[3][8]float32, dy *float32, plane int, x *float32, offsets *[3]int, rows, vectors, pitchY, pitchX int)")
	Pragma("noescape")
	Doc(fmt.Sprintf("%s is correlatePortable for %d outputs,", name, outputs), "with other lanes. The pitches are from the end of a row to the next.")
	dy, plane, x := pointer("dy"), newStrides("plane", outputs), pointer("x")
	offsets := pointer("offsets")
	rows := Load(Param("rows"), GP64())
	pitchY, pitchX := Load(Param("pitchY"), GP64()), Load(Param("pitchX"), GP64())
	SHLQ(U8(2), pitchY)
	SHLQ(U8(2), pitchX)
	taps := [correlatedTaps]reg.Register{}
	for t := range taps {
		p := GP64()
		MOVQ(Mem{Base: offsets, Disp: 8 * t}, p)
		ADDQ(x, p)
		taps[t] = p
	}
	sums := make([][]reg.VecVirtual, correlatedTaps) // by taps, then by outputs
	for t := range sums {
		for range outputs {
			v := s.vector()
			VXORPS(v, v, v)
			sums[t] = append(sums[t], v)
		}
	}

	Label("row")
	left := GP64()
	Load(Param("vectors"), left)
	Label("vector")
	samples := make([]reg.VecVirtual, len(taps))
	for t, p := range taps {
		samples[t] = s.load(Mem{Base: p}, false)
	}
	for k := range outputs {
		d := s.load(plane.at(dy, k), false)
		for t, v := range samples {
			VFMADD231PS(v, d, sums[t][k])
		}
	}
	bytes := U8(4 * s.lanes())
	ADDQ(bytes, dy)
	for _, p := range taps {
		ADDQ(bytes, p)
	}
	DECQ(left)
	JNZ(LabelRef("vector"))
	ADDQ(pitchY, dy)
	for _, p := range taps {
		ADDQ(pitchX, p)
	}
	DECQ(rows)
	JNZ(LabelRef("row"))

	to := pointer("sums")
	for t := range sums {
		for k := 0; k < outputs; k += 4 {
			four := [4]reg.VecVirtual{}
			for j := range four {
				four[j] = s.halves(sums[t][min(k+j, outputs-1)])
			}
			VMOVUPS(total(s, four), Mem{Base: to, Disp: 4 * (8*t + k)})
		}
	}
	VZEROUPPER()
	RET()
}

// total returns the sums over the lanes of four vectors of eight: of what is two and
// then one apart in each half of the vectors, and of the halves. (A horizontal
// addition would do less in one instruction, and not on all registers.)
func total(s set, v [4]reg.VecVirtual) reg.VecVirtual {
	first, second := fold(VUNPCKLPS, VUNPCKHPS, v[0], v[1]), fold(VUNPCKLPS, VUNPCKHPS, v[2], v[3])
	sums := fold(VUNPCKLPD, VUNPCKHPD, first, second)
	upper := s.upper(sums)
	VADDPS(upper, sums.(reg.Vec).AsX(), upper)
	return upper
}

// fold interleaves the low and the high parts of two vectors and adds them up.
func fold(unpackLow, unpackHigh func(...Op), v, w reg.VecVirtual) reg.VecVirtual {
	low, high := YMM(), YMM()
	unpackLow(w, v, low)
	unpackHigh(w, v, high)
	VADDPS(high, low, low)
	return low
}
