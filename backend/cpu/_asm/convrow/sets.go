package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// avx512 masks lanes with a mask register.
type avx512 struct{ mask reg.OpmaskVirtual }

func (s *avx512) suffix() string         { return "AVX512" }
func (s *avx512) lanes() int             { return 16 }
func (s *avx512) channels() []int        { return []int{1, 2, 3, 4, 8} }
func (s *avx512) vector() reg.VecVirtual { return ZMM() }

func (s *avx512) last(n reg.Register) {
	MOVQ(n, reg.RCX) // where the shift takes its count from
	ones := GP32()
	MOVL(U32(1), ones)
	SHLL(reg.CL, ones)
	DECL(ones)
	s.mask = K()
	KMOVW(ones, s.mask)
}

func (s *avx512) load(m Mem, masked bool) reg.VecVirtual {
	v := ZMM()
	if masked {
		VMOVUPS_Z(m, s.mask, v)
	} else {
		VMOVUPS(m, v)
	}
	return v
}

func (s *avx512) store(v reg.VecVirtual, m Mem, masked bool) {
	if masked {
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

func (s *avx512) halves(v reg.VecVirtual) reg.VecVirtual {
	high := YMM()
	VEXTRACTF64X4(U8(1), v, high)
	VADDPS(high, v.(reg.Vec).AsY(), high)
	return high
}

func (s *avx512) upper(v reg.VecVirtual) reg.VecVirtual {
	u := XMM()
	VEXTRACTF32X4(U8(1), v, u)
	return u
}

// avx2 masks lanes with a vector of ones and zeros from a table.
type avx2 struct {
	table Mem
	mask  reg.VecVirtual
}

// maskTable is 8 lanes of ones and 8 of zeros, so that the lanes from the right
// place on are any mask that is needed.
func maskTable() Mem {
	table := GLOBL("lanes", RODATA|NOPTR)
	for i := range 16 {
		lane := U32(0)
		if i < 8 {
			lane = 0xffffffff
		}
		DATA(4*i, lane)
	}
	return table
}

func (s *avx2) suffix() string         { return "AVX2" }
func (s *avx2) lanes() int             { return 8 }
func (s *avx2) channels() []int        { return []int{1, 2, 3, 4} }
func (s *avx2) vector() reg.VecVirtual { return YMM() }

func (s *avx2) last(n reg.Register) {
	from, count := GP64(), GP64()
	LEAQ(s.table.Offset(4*8), from)
	MOVQ(n, count)
	SHLQ(U8(2), count)
	SUBQ(count, from)
	s.mask = YMM()
	VMOVUPS(Mem{Base: from}, s.mask)
}

func (s *avx2) load(m Mem, masked bool) reg.VecVirtual {
	v := YMM()
	if masked {
		VMASKMOVPS(m, s.mask, v)
	} else {
		VMOVUPS(m, v)
	}
	return v
}

func (s *avx2) store(v reg.VecVirtual, m Mem, masked bool) {
	if masked {
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

func (s *avx2) halves(v reg.VecVirtual) reg.VecVirtual { return v }

func (s *avx2) upper(v reg.VecVirtual) reg.VecVirtual {
	u := XMM()
	VEXTRACTF128(U8(1), v, u)
	return u
}
