package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// set is an instruction set on vectors of float32. A row's columns come in blocks
// of one vector; in the last block only some lanes are columns, and the row's last
// column has no neighbour to the right.
type set interface {
	suffix() string
	lanes() int
	vector() reg.VecVirtual
	// begin starts a row; leftward says that loadLeft will be used.
	begin(leftward bool)
	// moved ends what is special about the first block.
	moved()
	// last restricts all that follows to the n columns of the last block.
	last(n reg.Register)
	// done ends the function.
	done()

	load(m Mem) reg.VecVirtual
	store(v reg.VecVirtual, m Mem)
	// loadLeft loads what stands one to the left of m, 0 before the row's first
	// column.
	loadLeft(m Mem) reg.VecVirtual
	// loadRight loads what stands one to the right of m. For the row's last column
	// its value is not defined.
	loadRight(m Mem) reg.VecVirtual
	// squareRight returns v² and 0 in the row's last column.
	squareRight(v reg.VecVirtual) reg.VecVirtual
	// storeRight stores all but the row's last column.
	storeRight(v reg.VecVirtual, m Mem)
	// loadAllButLast is load where the row's last column may be absent.
	loadAllButLast(m Mem) reg.VecVirtual
	// keep says that there are registers for this many numbers of a step.
	keep(channels int) bool
}

// avx512 masks lanes with mask registers.
type avx512 struct {
	first, columns, left, right reg.OpmaskVirtual
	inLast                      bool
}

func (s *avx512) suffix() string         { return "AVX512" }
func (s *avx512) lanes() int             { return 16 }
func (s *avx512) vector() reg.VecVirtual { return ZMM() }
func (s *avx512) keep(int) bool          { return true }

func (s *avx512) begin(leftward bool) {
	*s = avx512{}
	if leftward {
		s.first = K()
		lanes := GP32()
		MOVL(U32(0xfffe), lanes)
		KMOVW(lanes, s.first)
	}
}

func (s *avx512) moved() { KXNORW(s.first, s.first, s.first) }

func (s *avx512) last(n reg.Register) {
	// The shift takes its count from CL.
	MOVQ(n, reg.RCX)
	ones := GP32()
	MOVL(U32(1), ones)
	SHLL(reg.CL, ones)
	DECL(ones)
	s.columns, s.right = K(), K()
	KMOVW(ones, s.columns)
	if s.first != nil {
		s.left = K()
		KANDW(s.first, s.columns, s.left)
	}
	SHRL(U8(1), ones)
	KMOVW(ones, s.right)
	s.inLast = true
}

func (s *avx512) done() {
	VZEROUPPER()
	RET()
	s.inLast = false
}

func (s *avx512) load(m Mem) reg.VecVirtual {
	v := ZMM()
	if s.inLast {
		VMOVUPS_Z(m, s.columns, v)
	} else {
		VMOVUPS(m, v)
	}
	return v
}

func (s *avx512) store(v reg.VecVirtual, m Mem) {
	if s.inLast {
		VMOVUPS(v, s.columns, m)
	} else {
		VMOVUPS(v, m)
	}
}

func (s *avx512) loadLeft(m Mem) reg.VecVirtual {
	v, k := ZMM(), s.first
	if s.inLast {
		k = s.left
	}
	VMOVUPS_Z(m.Offset(-4), k, v)
	return v
}

func (s *avx512) loadRight(m Mem) reg.VecVirtual { return s.loadAllButLast(m.Offset(4)) }

func (s *avx512) loadAllButLast(m Mem) reg.VecVirtual {
	v := ZMM()
	if s.inLast {
		VMOVUPS_Z(m, s.right, v)
	} else {
		VMOVUPS(m, v)
	}
	return v
}

func (s *avx512) squareRight(v reg.VecVirtual) reg.VecVirtual {
	w := ZMM()
	if s.inLast {
		VMULPS_Z(v, v, s.right, w)
	} else {
		VMULPS(v, v, w)
	}
	return w
}

func (s *avx512) storeRight(v reg.VecVirtual, m Mem) {
	if s.inLast {
		VMOVUPS(v, s.right, m)
	} else {
		VMOVUPS(v, m)
	}
}

// avx2 masks lanes with vectors of ones and zeros from a table.
type avx2 struct {
	table         Mem
	columns, left reg.VecVirtual
	address       reg.GPVirtual // of columns in the table
	inLast        bool
}

// maskTable is a zero, eight lanes of ones, and eight zeros, so that eight lanes
// from the right place on are any mask that is needed.
func maskTable() Mem {
	table := GLOBL("lanes", RODATA|NOPTR)
	for i := range 17 {
		lane := U32(0)
		if 1 <= i && i <= 8 {
			lane = 0xffffffff
		}
		DATA(4*i, lane)
	}
	return table
}

func (s *avx2) suffix() string         { return "AVX2" }
func (s *avx2) lanes() int             { return 8 }
func (s *avx2) vector() reg.VecVirtual { return YMM() }
func (s *avx2) keep(channels int) bool { return channels == 1 }

func (s *avx2) begin(leftward bool) {
	*s = avx2{table: s.table}
	if leftward {
		s.left = YMM()
		VMOVUPS(s.table, s.left)
	}
}

func (s *avx2) moved() { VPCMPEQD(s.left, s.left, s.left) }

func (s *avx2) last(n reg.Register) {
	from := GP64()
	LEAQ(s.table.Offset(4*9), from)
	count := GP64()
	MOVQ(n, count)
	SHLQ(U8(2), count)
	SUBQ(count, from)
	s.address = from
	s.columns = YMM()
	VMOVUPS(Mem{Base: from}, s.columns)
	if s.left != nil {
		VPAND(s.columns, s.left, s.left)
	}
	s.inLast = true
}

func (s *avx2) done() {
	VZEROUPPER()
	RET()
	s.inLast = false
}

func (s *avx2) load(m Mem) reg.VecVirtual {
	v := YMM()
	if s.inLast {
		VMASKMOVPS(m, s.columns, v)
	} else {
		VMOVUPS(m, v)
	}
	return v
}

func (s *avx2) store(v reg.VecVirtual, m Mem) {
	if s.inLast {
		VMASKMOVPS(v, s.columns, m)
	} else {
		VMOVUPS(v, m)
	}
}

func (s *avx2) loadLeft(m Mem) reg.VecVirtual {
	v := YMM()
	VMASKMOVPS(m.Offset(-4), s.left, v)
	return v
}

// rightLanes are the columns but the last.
func (s *avx2) rightLanes() reg.VecVirtual {
	v := YMM()
	VMOVUPS(Mem{Base: s.address, Disp: 4}, v)
	return v
}

func (s *avx2) loadRight(m Mem) reg.VecVirtual { return s.loadAllButLast(m.Offset(4)) }

func (s *avx2) loadAllButLast(m Mem) reg.VecVirtual {
	v := YMM()
	if s.inLast {
		VMASKMOVPS(m, s.rightLanes(), v)
	} else {
		VMOVUPS(m, v)
	}
	return v
}

func (s *avx2) squareRight(v reg.VecVirtual) reg.VecVirtual {
	w := YMM()
	VMULPS(v, v, w)
	if s.inLast {
		VANDPS(Mem{Base: s.address, Disp: 4}, w, w)
	}
	return w
}

func (s *avx2) storeRight(v reg.VecVirtual, m Mem) {
	if s.inLast {
		VMASKMOVPS(v, s.rightLanes(), m)
	} else {
		VMOVUPS(v, m)
	}
}
