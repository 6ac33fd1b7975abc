package weights

// DType is the type of a tensor's elements. Its zero value is no type.
type DType uint8

// The types of the format. Their order is that of the reference implementation,
// which puts the tensors of later types first in a file.
const (
	BOOL       DType = iota + 1 // a byte, 0 or 1
	F4                          // E2M1 of OCP MX, two to a byte
	F6E2M3                      // OCP MX, four in three bytes
	F6E3M2                      // OCP MX, four in three bytes
	U8                          // unsigned integer
	I8                          // integer in two's complement
	F8E5M2                      // 8-bit float (Micikevicius et al. 2022)
	F8E4M3                      // 8-bit float (Micikevicius et al. 2022)
	F8E8M0                      // a power of two, the scale of OCP MX
	F8E4M3FNUZ                  // 8-bit float without infinities and −0 (Noune et al. 2022)
	F8E5M2FNUZ                  // 8-bit float without infinities and −0 (Noune et al. 2022)
	I16                         // integer in two's complement
	U16                         // unsigned integer
	F16                         // IEEE 754 binary16
	BF16                        // the upper half of an F32
	I32                         // integer in two's complement
	U32                         // unsigned integer
	F32                         // IEEE 754 binary32
	C64                         // complex number of two F32, the real part first
	F64                         // IEEE 754 binary64
	I64                         // integer in two's complement
	U64                         // unsigned integer
)

// dtypes holds the name in a file and the size in bits of each type.
var dtypes = [...]struct {
	name string
	bits int
}{
	BOOL:       {"BOOL", 8},
	F4:         {"F4", 4},
	F6E2M3:     {"F6_E2M3", 6},
	F6E3M2:     {"F6_E3M2", 6},
	U8:         {"U8", 8},
	I8:         {"I8", 8},
	F8E5M2:     {"F8_E5M2", 8},
	F8E4M3:     {"F8_E4M3", 8},
	F8E8M0:     {"F8_E8M0", 8},
	F8E4M3FNUZ: {"F8_E4M3FNUZ", 8},
	F8E5M2FNUZ: {"F8_E5M2FNUZ", 8},
	I16:        {"I16", 16},
	U16:        {"U16", 16},
	F16:        {"F16", 16},
	BF16:       {"BF16", 16},
	I32:        {"I32", 32},
	U32:        {"U32", 32},
	F32:        {"F32", 32},
	C64:        {"C64", 64},
	F64:        {"F64", 64},
	I64:        {"I64", 64},
	U64:        {"U64", 64},
}

// Valid tells whether d is one of the types above.
func (d DType) Valid() bool { return d >= BOOL && d <= U64 }

// String returns the name of d in a file, such as "F32" or "F8_E4M3", and
// "unknown" if d is not valid.
func (d DType) String() string {
	if !d.Valid() {
		return "unknown"
	}
	return dtypes[d].name
}

// Bits returns the size of one element in bits, 0 if d is not valid.
func (d DType) Bits() int {
	if !d.Valid() {
		return 0
	}
	return dtypes[d].bits
}

// parseDType returns the type that files call name.
func parseDType(name string) (DType, bool) {
	for d := BOOL; d.Valid(); d++ {
		if dtypes[d].name == name {
			return d, true
		}
	}
	return 0, false
}
