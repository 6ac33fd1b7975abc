package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// set is an instruction set on vectors of float32.
type set interface {
	suffix() string
	lanes() int
	vector() reg.VecVirtual
	// whole lets load and store take whole vectors, as they do in a new kernel.
	whole()
	// part restricts them to the first n lanes; n is at least 1.
	part(n reg.Register)

	load(m Mem) reg.VecVirtual
	store(v reg.VecVirtual, m Mem)
	broadcast(m Mem) reg.VecVirtual
	// multiplied returns v times the number at m.
	multiplied(v reg.VecVirtual, m Mem) reg.VecVirtual
	// scaleWhereAtMost multiplies v by factor in the lanes where x ≤ limit.
	scaleWhereAtMost(x, limit, v, factor reg.VecVirtual)

	wide
	blocks
}

// wide is what sums need of an instruction set: vectors of float64.
type wide interface {
	// wides is how many of them hold the lanes of a sum.
	wides() int
	// rest prepares for loadRest on the n elements, 1 to sumLanes, that are left.
	rest(n reg.Register)
	// loadWide loads vector k of sumLanes floats as float64.
	loadWide(m Mem, k int) reg.VecVirtual
	// loadRest is loadWide with zeros for the elements that are absent.
	loadRest(m Mem, k int) reg.VecVirtual
}

// avx512 masks lanes with mask registers.
type avx512 struct {
	mask   reg.OpmaskVirtual
	halves [2]reg.OpmaskVirtual
}

func (s *avx512) suffix() string         { return "AVX512" }
func (s *avx512) lanes() int             { return 16 }
func (s *avx512) vector() reg.VecVirtual { return ZMM() }
func (s *avx512) whole()                 { s.mask = nil }
func (s *avx512) part(n reg.Register)    { s.mask = firstLanes(n) }

// firstLanes returns a mask of the first n lanes, n at least 1 and at most 16.
func firstLanes(n reg.Register) reg.OpmaskVirtual {
	MOVQ(n, reg.RCX) // where the shift takes its count from
	ones, mask := GP32(), K()
	MOVL(U32(1), ones)
	SHLL(reg.CL, ones)
	DECL(ones)
	KMOVW(ones, mask)
	return mask
}

func (s *avx512) load(m Mem) reg.VecVirtual {
	v := ZMM()
	if s.mask != nil {
		VMOVUPS_Z(m, s.mask, v)
	} else {
		VMOVUPS(m, v)
	}
	return v
}

func (s *avx512) store(v reg.VecVirtual, m Mem) {
	if s.mask != nil {
		VMOVUPS(v, s.mask, m)
	} else {
		VMOVUPS(v, m)
	}
}

func (s *avx512) broadcast(m Mem) reg.VecVirtual {
	v := ZMM()
	VBROADCASTSS(m, v)
	return v
}

func (s *avx512) multiplied(v reg.VecVirtual, m Mem) reg.VecVirtual {
	p := ZMM()
	VMULPS_BCST(m, v, p)
	return p
}

func (s *avx512) scaleWhereAtMost(x, limit, v, factor reg.VecVirtual) {
	where := K()
	VCMPPS(U8(lessOrEqual), limit, x, where)
	VMULPS(factor, v, where, v)
}

func (s *avx512) wides() int { return sumLanes / 8 }

func (s *avx512) rest(n reg.Register) {
	s.halves = [2]reg.OpmaskVirtual{firstLanes(n), K()}
	KSHIFTRW(U8(8), s.halves[0], s.halves[1])
}

func (s *avx512) loadWide(m Mem, k int) reg.VecVirtual {
	v := ZMM()
	VCVTPS2PD(m.Offset(32*k), v)
	return v
}

func (s *avx512) loadRest(m Mem, k int) reg.VecVirtual {
	v := ZMM()
	VCVTPS2PD_Z(m.Offset(32*k), s.halves[k], v)
	return v
}

// lessOrEqual is the predicate of a comparison that is false for NaN and raises no
// exception for a quiet one.
const lessOrEqual = 0x12

// avx2 masks lanes with vectors of ones and zeros from a table.
type avx2 struct {
	table   Mem
	mask    reg.VecVirtual
	address reg.GPVirtual // in the table, of the mask of a rest
	inPart  bool          // loads and stores of blocks take a rest
}

// maskTable is 16 lanes of ones and 16 of zeros, so that the lanes from the right
// place on are any mask that is needed.
func maskTable() Mem {
	table := GLOBL("lanes", RODATA|NOPTR)
	for i := range 2 * sumLanes {
		lane := U32(0)
		if i < sumLanes {
			lane = 0xffffffff
		}
		DATA(4*i, lane)
	}
	return table
}

// maskAddress returns where the table has n lanes of ones and then zeros.
func (s *avx2) maskAddress(n reg.Register) reg.GPVirtual {
	count, address := GP64(), GP64()
	MOVQ(n, count)
	SHLQ(U8(2), count)
	LEAQ(s.table.Offset(4*sumLanes), address)
	SUBQ(count, address)
	return address
}

func (s *avx2) suffix() string         { return "AVX2" }
func (s *avx2) lanes() int             { return 8 }
func (s *avx2) vector() reg.VecVirtual { return YMM() }
func (s *avx2) whole()                 { s.mask = nil }

func (s *avx2) part(n reg.Register) {
	s.mask = YMM()
	VMOVUPS(Mem{Base: s.maskAddress(n)}, s.mask)
}

func (s *avx2) load(m Mem) reg.VecVirtual {
	v := YMM()
	if s.mask != nil {
		VMASKMOVPS(m, s.mask, v)
	} else {
		VMOVUPS(m, v)
	}
	return v
}

func (s *avx2) store(v reg.VecVirtual, m Mem) {
	if s.mask != nil {
		VMASKMOVPS(v, s.mask, m)
	} else {
		VMOVUPS(v, m)
	}
}

func (s *avx2) broadcast(m Mem) reg.VecVirtual {
	v := YMM()
	VBROADCASTSS(m, v)
	return v
}

func (s *avx2) multiplied(v reg.VecVirtual, m Mem) reg.VecVirtual {
	p := s.broadcast(m)
	VMULPS(v, p, p)
	return p
}

func (s *avx2) scaleWhereAtMost(x, limit, v, factor reg.VecVirtual) {
	where, scaled := YMM(), YMM()
	VCMPPS(U8(lessOrEqual), limit, x, where)
	VMULPS(factor, v, scaled)
	VBLENDVPS(where, scaled, v, v)
}

func (s *avx2) wides() int { return sumLanes / 4 }

func (s *avx2) rest(n reg.Register) { s.address = s.maskAddress(n) }

func (s *avx2) loadWide(m Mem, k int) reg.VecVirtual {
	v := YMM()
	VCVTPS2PD(m.Offset(16*k), v)
	return v
}

func (s *avx2) loadRest(m Mem, k int) reg.VecVirtual {
	mask, narrow, v := XMM(), XMM(), YMM()
	VMOVUPS(Mem{Base: s.address, Disp: 16 * k}, mask)
	VMASKMOVPS(m.Offset(16*k), mask, narrow)
	VCVTPS2PD(narrow, v)
	return v
}
