package neon

import (
	"fmt"
	"math"
)

// Mem is a place in memory: a base register and either an index register, in
// bytes, or an offset in bytes.
type Mem struct {
	base, index R
	hasIndex    bool
	offset      int
}

// At is the place that many bytes after base.
func At(base R, offset int) Mem { return Mem{base: base, offset: offset} }

// Indexed is the place index bytes after base.
func Indexed(base, index R) Mem { return Mem{base: base, index: index, hasIndex: true} }

func (m Mem) String() string {
	switch {
	case m.hasIndex:
		return fmt.Sprintf("(%v)(%v)", m.base, m.index)
	case m.offset != 0:
		return fmt.Sprintf("%d(%v)", m.offset, m.base)
	}
	return fmt.Sprintf("(%v)", m.base)
}

// moves are the names of loads and stores by their number of bytes.
var moves = map[int]string{4: "FMOVS", 8: "FMOVD", 16: "FMOVQ"}

// Load loads 4, 8 or 16 bytes into v and sets the rest of it to zero.
func (f *Function) Load(bytes int, v V, m Mem) {
	if m.hasIndex && bytes == 16 {
		f.word(ldrIndexed.word(v, m.base, m.index), ldrIndexed.text(v, m.base, m.index))
		return
	}
	f.line("%s %v, F%d", moves[bytes], m, v)
}

// Store stores the first 4, 8 or 16 bytes of v.
func (f *Function) Store(bytes int, v V, m Mem) {
	if m.hasIndex && bytes == 16 {
		f.word(strIndexed.word(v, m.base, m.index), strIndexed.text(v, m.base, m.index))
		return
	}
	f.line("%s F%d, %v", moves[bytes], v, m)
}

// LoadPair loads 32 bytes into v and w.
func (f *Function) LoadPair(v, w V, m Mem) { f.line("FLDPQ %v, (F%d, F%d)", m, v, w) }

// StorePair stores 32 bytes from v and w.
func (f *Function) StorePair(v, w V, m Mem) { f.line("FSTPQ (F%d, F%d), %v", v, w, m) }

// LoadGeneral loads eight bytes into a general register.
func (f *Function) LoadGeneral(r R, m Mem) { f.line("MOVD %v, %v", m, r) }

// LoadWord loads four bytes into a general register and clears the rest of it.
func (f *Function) LoadWord(r R, m Mem) { f.line("MOVWU %v, %v", m, r) }

// LD1R loads the number that base points to into all lanes.
func (f *Function) LD1R(s Shape, v V, base R) { f.line("VLD1R (%v), [%v.%s]", base, v, s.goName) }

// Arithmetic on vectors: d = n ∘ m, lane by lane.

func (f *Function) threeSame(c threeSame, s Shape, d, n, m V) {
	f.word(c.word(s, d, n, m), c.text(s, d, n, m))
}

// FADD writes d = n + m.
func (f *Function) FADD(s Shape, d, n, m V) { f.threeSame(fadd, s, d, n, m) }

// FADDP writes the sums of neighbouring lanes, those of n first.
func (f *Function) FADDP(s Shape, d, n, m V) { f.threeSame(faddp, s, d, n, m) }

// FSUB writes d = n − m.
func (f *Function) FSUB(s Shape, d, n, m V) { f.threeSame(fsub, s, d, n, m) }

// FMUL writes d = n·m.
func (f *Function) FMUL(s Shape, d, n, m V) { f.threeSame(fmul, s, d, n, m) }

// FDIV writes d = n/m.
func (f *Function) FDIV(s Shape, d, n, m V) { f.threeSame(fdiv, s, d, n, m) }

// FMLA writes d = d + n·m, rounded once.
func (f *Function) FMLA(s Shape, d, n, m V) { f.threeSame(fmla, s, d, n, m) }

// FMAX writes the larger of n and m, or NaN if one is.
func (f *Function) FMAX(s Shape, d, n, m V) { f.threeSame(fmax, s, d, n, m) }

// FMAXNM writes the larger of n and m, or the other one if one of them is NaN.
func (f *Function) FMAXNM(s Shape, d, n, m V) { f.threeSame(fmaxnm, s, d, n, m) }

// FCMGE writes ones where n ≥ m, and zeros elsewhere.
func (f *Function) FCMGE(s Shape, d, n, m V) { f.threeSame(fcmge, s, d, n, m) }

// FCMGT writes ones where n > m, and zeros elsewhere.
func (f *Function) FCMGT(s Shape, d, n, m V) { f.threeSame(fcmgt, s, d, n, m) }

func (f *Function) byElement(c byElement, s Shape, d, n, m V, element int) {
	if element < 0 || element >= s.lanes {
		panic(fmt.Sprintf("element %d of %s", element, s.name))
	}
	f.word(c.word(s, d, n, m, element), c.text(s, d, n, m, element))
}

// FMLAElement writes d = d + n·m[element], rounded once.
func (f *Function) FMLAElement(s Shape, d, n, m V, element int) {
	f.byElement(fmlaByElement, s, d, n, m, element)
}

// FMLSElement writes d = d − n·m[element], rounded once.
func (f *Function) FMLSElement(s Shape, d, n, m V, element int) {
	f.byElement(fmlsByElement, s, d, n, m, element)
}

// FMULElement writes d = n·m[element].
func (f *Function) FMULElement(s Shape, d, n, m V, element int) {
	f.byElement(fmulByElement, s, d, n, m, element)
}

func (f *Function) twoRegisters(c twoRegisters, s Shape, d, n V) {
	f.word(c.word(s, d, n), c.text(s, d, n))
}

// FSQRT writes d = √n.
func (f *Function) FSQRT(s Shape, d, n V) { f.twoRegisters(fsqrt, s, d, n) }

func (f *Function) convert(c conversion, d, n V) { f.word(c.word(d, n), c.text(d, n)) }

// FCVTL widens the first two float32 of n.
func (f *Function) FCVTL(d, n V) { f.convert(fcvtl, d, n) }

// FCVTL2 widens the last two float32 of n.
func (f *Function) FCVTL2(d, n V) { f.convert(fcvtl2, d, n) }

// FCVTN rounds the two float64 of n, and clears the second half of d.
func (f *Function) FCVTN(d, n V) { f.convert(fcvtn, d, n) }

// XTN keeps the lower half of each of the two lanes of n, and clears the second
// half of d.
func (f *Function) XTN(d, n V) { f.convert(xtn, d, n) }

// Bits and lanes.

// UMAX writes the larger of n and m as unsigned integers of 32 bits.
func (f *Function) UMAX(d, n, m V) { f.line("VUMAX %v.S4, %v.S4, %v.S4", m, n, d) }

// BSL writes n where d is ones, and m where d is zeros.
func (f *Function) BSL(d, n, m V) { f.line("VBSL %v.B16, %v.B16, %v.B16", m, n, d) }

// MOV copies n.
func (f *Function) MOV(d, n V) { f.line("VMOV %v.B16, %v.B16", n, d) }

// Zero clears d.
func (f *Function) Zero(d V) { f.line("VEOR %v.B16, %v.B16, %v.B16", d, d, d) }

// DUP writes one lane of n to all lanes of d.
func (f *Function) DUP(s Shape, d, n V, lane int) {
	f.line("VDUP %v.%s[%d], %v.%s", n, s.goName[:1], lane, d, s.goName)
}

// EXT writes the 16 bytes of n and m, put together in this order, that begin at
// byte from.
func (f *Function) EXT(d, n, m V, from int) {
	f.line("VEXT $%d, %v.B16, %v.B16, %v.B16", from, m, n, d)
}

// permute is the form of the instructions that mix the lanes of two vectors.
func (f *Function) permute(name string, s Shape, d, n, m V) {
	f.line("%s %v.%[3]s, %[4]v.%[3]s, %[5]v.%[3]s", name, m, s.goName, n, d)
}

// TRN1 takes the even lanes of n and m in turn.
func (f *Function) TRN1(s Shape, d, n, m V) { f.permute("VTRN1", s, d, n, m) }

// TRN2 takes the odd lanes of n and m in turn.
func (f *Function) TRN2(s Shape, d, n, m V) { f.permute("VTRN2", s, d, n, m) }

// Transposed transposes four vectors of four numbers in place and returns them.
func (f *Function) Transposed(a []V) []V {
	t := f.Vectors(len(a))
	f.TRN1(S4, t[0], a[0], a[1])
	f.TRN2(S4, t[1], a[0], a[1])
	f.TRN1(S4, t[2], a[2], a[3])
	f.TRN2(S4, t[3], a[2], a[3])
	f.TRN1(D2, a[0], t[0], t[2])
	f.TRN1(D2, a[1], t[1], t[3])
	f.TRN2(D2, a[2], t[0], t[2])
	f.TRN2(D2, a[3], t[1], t[3])
	f.Free(t...)
	return a
}

// Broadcast writes bits to all lanes of d.
func (f *Function) Broadcast(s Shape, d V, bits uint64) {
	r := f.General()
	f.line("MOVD $%#x, %v", bits, r)
	f.line("VDUP %v, %v.%s", r, d, s.goName)
	f.FreeGeneral(r)
}

// Numbers writes four numbers into the lanes of d.
func (f *Function) Numbers(d V, numbers [4]float32) {
	r := f.General()
	for half := range 2 {
		low, high := math.Float32bits(numbers[2*half]), math.Float32bits(numbers[2*half+1])
		f.line("MOVD $%#x, %v", uint64(high)<<32|uint64(low), r)
		f.line("VMOV %v, %v.D[%d]", r, d, half)
	}
	f.FreeGeneral(r)
}

// Doubles writes two numbers into the lanes of d.
func (f *Function) Doubles(d V, numbers [2]float64) {
	r := f.General()
	for half, v := range numbers {
		f.line("MOVD $%#x, %v", math.Float64bits(v), r)
		f.line("VMOV %v, %v.D[%d]", r, d, half)
	}
	f.FreeGeneral(r)
}

// Integers and branches.

// LowBits copies the first eight bytes of v.
func (f *Function) LowBits(d R, v V) { f.line("FMOVD F%d, %v", v, d) }

// Add writes d = n + m.
func (f *Function) Add(d, n, m R) { f.line("ADD %v, %v, %v", m, n, d) }

// AddConstant writes d = n + c, for c of either sign.
func (f *Function) AddConstant(d, n R, c int) {
	if c < 0 {
		f.line("SUB $%d, %v, %v", -c, n, d)
		return
	}
	f.line("ADD $%d, %v, %v", c, n, d)
}

// AndConstant writes d = n AND c.
func (f *Function) AndConstant(d, n R, c int) { f.line("AND $%d, %v, %v", c, n, d) }

// ShiftLeft writes d = n·2ᶜ.
func (f *Function) ShiftLeft(d, n R, c int) { f.line("LSL $%d, %v, %v", c, n, d) }

// Negate writes d = −n.
func (f *Function) Negate(d, n R) { f.line("NEG %v, %v", n, d) }

// Move copies n.
func (f *Function) Move(d, n R) { f.line("MOVD %v, %v", n, d) }

// Constant writes d = c.
func (f *Function) Constant(d R, c int) { f.line("MOVD $%d, %v", c, d) }

// BranchLess goes to a label if n < c, as signed integers.
func (f *Function) BranchLess(n R, c int, label string) {
	f.line("CMP $%d, %v", c, n)
	f.line("BLT %s", label)
}

// BranchNotLess goes to a label if n ≥ c, as signed integers.
func (f *Function) BranchNotLess(n R, c int, label string) {
	f.line("CMP $%d, %v", c, n)
	f.line("BGE %s", label)
}

// BranchZero goes to a label if n = 0.
func (f *Function) BranchZero(n R, label string) { f.line("CBZ %v, %s", n, label) }

// BranchNotZero goes to a label if n ≠ 0.
func (f *Function) BranchNotZero(n R, label string) { f.line("CBNZ %v, %s", n, label) }

// Branch goes to a label.
func (f *Function) Branch(label string) { f.line("B %s", label) }

// Repeat emits a loop that runs body count times, at least once; count is 0 then.
// The registers that body takes are free again behind it.
func (f *Function) Repeat(count R, label string, body func()) {
	f.Label(label)
	f.Scope(body)
	f.AddConstant(count, count, -1)
	f.BranchNotZero(count, label)
}

// Return ends the function.
func (f *Function) Return() { f.line("RET") }
