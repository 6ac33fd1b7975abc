package neon

import "fmt"

// The words of the instructions on vectors that Go's assembler has no name for.
// Section and figure of each class are those of the Arm Architecture Reference
// Manual for A-profile, chapter C4.1, "Advanced SIMD". In all of them Rd is in
// bits 0 to 4 and Rn in bits 5 to 9, and bit 30, Q, is set for 128 bits.

// Shape is how a vector register is divided into lanes.
type Shape struct {
	name   string // as Arm writes it
	goName string // as Go's assembler writes it
	lanes  int
	size   uint32 // the bit sz of a floating point instruction
	full   uint32 // the bit Q
}

// The shapes of 128 bits.
var (
	S4 = Shape{"4s", "S4", 4, 0, 1} // four of float32
	D2 = Shape{"2d", "D2", 2, 1, 1} // two of float64
)

func (s Shape) of(v V) string { return fmt.Sprintf("v%d.%s", v, s.name) }

// Lanes returns how many numbers a vector of the shape has.
func (s Shape) Lanes() int { return s.lanes }

// threeSame is the class "three registers of the same type", for floating point:
//
//	0 Q U 01110 a z 1 Rm opcode 1 Rn Rd
type threeSame struct {
	name      string
	u, a, opc uint32
}

var (
	fadd   = threeSame{"fadd", 0, 0, 0b11010}
	fsub   = threeSame{"fsub", 0, 1, 0b11010}
	faddp  = threeSame{"faddp", 1, 0, 0b11010}
	fmul   = threeSame{"fmul", 1, 0, 0b11011}
	fdiv   = threeSame{"fdiv", 1, 0, 0b11111}
	fmla   = threeSame{"fmla", 0, 0, 0b11001}
	fmax   = threeSame{"fmax", 0, 0, 0b11110}
	fmaxnm = threeSame{"fmaxnm", 0, 0, 0b11000}
	fcmgt  = threeSame{"fcmgt", 1, 1, 0b11100}
	fcmge  = threeSame{"fcmge", 1, 0, 0b11100}
)

func (c threeSame) word(s Shape, d, n, m V) uint32 {
	return s.full<<30 | c.u<<29 | 0b01110<<24 | c.a<<23 | s.size<<22 | 1<<21 | uint32(m)<<16 | c.opc<<11 | 1<<10 | uint32(n)<<5 | uint32(d)
}

func (c threeSame) text(s Shape, d, n, m V) string {
	return fmt.Sprintf("%s %s, %s, %s", c.name, s.of(d), s.of(n), s.of(m))
}

// byElement is the class "vector by indexed element", for floating point:
//
//	0 Q 0 01111 1 z L Rm opcode H 0 Rn Rd
//
// The element's number is H:L among four, H among two.
type byElement struct {
	name string
	opc  uint32
}

var (
	fmlaByElement = byElement{"fmla", 0b0001}
	fmlsByElement = byElement{"fmls", 0b0101}
	fmulByElement = byElement{"fmul", 0b1001}
)

func (c byElement) word(s Shape, d, n, m V, element int) uint32 {
	h, l := uint32(element>>1), uint32(element&1)
	if s == D2 {
		h, l = uint32(element), 0
	}
	return s.full<<30 | 0b01111<<24 | 1<<23 | s.size<<22 | l<<21 | uint32(m)<<16 | c.opc<<12 | h<<11 | uint32(n)<<5 | uint32(d)
}

func (c byElement) text(s Shape, d, n, m V, element int) string {
	return fmt.Sprintf("%s %s, %s, v%d.%s[%d]", c.name, s.of(d), s.of(n), m, s.name[1:], element)
}

// twoRegisters is the class "two registers, miscellaneous":
//
//	0 Q U 01110 size 10000 opcode 10 Rn Rd
//
// For floating point the higher bit of size belongs to the opcode and the lower
// one is z.
type twoRegisters struct {
	name      string
	u, a, opc uint32
}

var (
	fsqrt = twoRegisters{"fsqrt", 1, 1, 0b11111}
)

func (c twoRegisters) word(s Shape, d, n V) uint32 {
	return s.full<<30 | c.u<<29 | 0b01110<<24 | c.a<<23 | s.size<<22 | 0b10000<<17 | c.opc<<12 | 0b10<<10 | uint32(n)<<5 | uint32(d)
}

func (c twoRegisters) text(s Shape, d, n V) string {
	return fmt.Sprintf("%s %s, %s", c.name, s.of(d), s.of(n))
}

// conversion is a member of the same class whose operands differ in shape; half
// says that it takes or gives the upper half of the narrow one.
type conversion struct {
	name         string
	d, n         string // the operands' shapes
	size, opcode uint32
	half         uint32
}

var (
	fcvtl  = conversion{"fcvtl", "2d", "2s", 0b01, 0b10111, 0}
	fcvtl2 = conversion{"fcvtl2", "2d", "4s", 0b01, 0b10111, 1}
	fcvtn  = conversion{"fcvtn", "2s", "2d", 0b01, 0b10110, 0}
	xtn    = conversion{"xtn", "2s", "2d", 0b10, 0b10010, 0}
)

func (c conversion) word(d, n V) uint32 {
	return c.half<<30 | 0b01110<<24 | c.size<<22 | 0b10000<<17 | c.opcode<<12 | 0b10<<10 | uint32(n)<<5 | uint32(d)
}

func (c conversion) text(d, n V) string {
	return fmt.Sprintf("%s v%d.%s, v%d.%s", c.name, d, c.d, n, c.n)
}

// indexed is the class "load/store register (register offset)" for 128 bits, the
// offset unscaled:
//
//	00 111 1 00 1 opc 1 Rm 011 0 10 Rn Rt
type indexed struct {
	name string
	opc  uint32
}

var (
	ldrIndexed = indexed{"ldr", 1}
	strIndexed = indexed{"str", 0}
)

func (c indexed) word(v V, base, index R) uint32 {
	return 0b00_111_1_00<<24 | 1<<23 | c.opc<<22 | 1<<21 | uint32(index)<<16 | 0b011<<13 | 0b10<<10 | uint32(base)<<5 | uint32(v)
}

func (c indexed) text(v V, base, index R) string {
	return fmt.Sprintf("%s q%d, [x%d,x%d]", c.name, v, base, index)
}
