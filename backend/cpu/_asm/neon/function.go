package neon

import (
	"bytes"
	"fmt"
	"strings"
)

// V is a vector register.
type V uint32

func (v V) String() string { return fmt.Sprintf("V%d", uint32(v)) }

// R is a general register.
type R uint32

func (r R) String() string { return fmt.Sprintf("R%d", uint32(r)) }

// generalRegisters are those that Go leaves to assembly: R18 is the system's, R27
// the assembler's, and R28 to R30 have meanings for Go.
const generalRegisters = 1<<18 - 1 | 0xff<<19

// Function is a function being written. Its registers are handed out by the
// caller's Vector and General, and taken back by Free: there is no liveness
// analysis, because the kernels are short, and their loops few.
type Function struct {
	name, signature, doc string
	parameters           map[string]parameter
	size                 int // of the parameters, in bytes
	body                 bytes.Buffer
	vectors, generals    uint32 // a bit for every free register
}

// parameter is one of a function, at its place behind the frame pointer.
type parameter struct{ offset, size int }

func newFunction(name, signature, doc string) *Function {
	f := &Function{
		name: name, signature: signature, doc: doc,
		parameters: map[string]parameter{}, vectors: 1<<32 - 1, generals: generalRegisters,
	}
	list := strings.Split(strings.TrimSuffix(strings.TrimPrefix(signature, "func("), ")"), ", ")
	kind := ""
	// From the right, because a type stands behind the last of its names.
	sizes := make([]int, len(list))
	for i := len(list) - 1; i >= 0; i-- {
		if name, own, typed := strings.Cut(list[i], " "); typed {
			list[i], kind = name, own
		}
		switch {
		case kind == "float32":
			sizes[i] = 4
		case kind == "int" || strings.HasPrefix(kind, "*"):
			sizes[i] = 8
		default:
			panic("a parameter of type " + kind)
		}
	}
	for i, size := range sizes {
		f.size = (f.size + size - 1) / size * size
		f.parameters[list[i]] = parameter{f.size, size}
		f.size += size
	}
	return f
}

// line writes an instruction of Go's assembler.
func (f *Function) line(format string, arguments ...any) {
	fmt.Fprintf(&f.body, "\t"+format+"\n", arguments...)
}

// word writes an instruction that Go's assembler has no name for.
func (f *Function) word(word uint32, text string) {
	f.line("WORD $0x%08x // %s", word, text)
}

// Vector returns a free vector register.
func (f *Function) Vector() V { return V(take(&f.vectors, "vector", f.name)) }

// Vectors returns n free vector registers.
func (f *Function) Vectors(n int) []V {
	v := make([]V, n)
	for i := range v {
		v[i] = f.Vector()
	}
	return v
}

// General returns a free general register.
func (f *Function) General() R { return R(take(&f.generals, "general", f.name)) }

func take(free *uint32, kind, function string) int {
	for i := range 32 {
		if *free>>i&1 == 1 {
			*free &^= 1 << i
			return i
		}
	}
	panic(fmt.Sprintf("no %s register is free in %s", kind, function))
}

// Free takes vector registers back.
func (f *Function) Free(registers ...V) {
	for _, v := range registers {
		if f.vectors>>v&1 == 1 {
			panic(fmt.Sprintf("%v is freed twice in %s", v, f.name))
		}
		f.vectors |= 1 << v
	}
}

// FreeGeneral takes general registers back.
func (f *Function) FreeGeneral(registers ...R) {
	for _, r := range registers {
		if f.generals>>r&1 == 1 {
			panic(fmt.Sprintf("%v is freed twice in %s", r, f.name))
		}
		f.generals |= 1 << r
	}
}

// Scope runs part and then takes back all registers that it has not.
func (f *Function) Scope(part func()) {
	vectors, generals := f.vectors, f.generals
	part()
	f.vectors, f.generals = vectors, generals
}

// Parameter loads a pointer or an int into a register.
func (f *Function) Parameter(name string) R {
	r := f.General()
	f.line("MOVD %s, %v", f.place(name, 8), r)
	return r
}

// Number loads a float32 into all lanes of a register.
func (f *Function) Number(name string) V {
	v := f.Vector()
	f.line("FMOVS %s, F%d", f.place(name, 4), v)
	f.DUP(S4, v, v, 0)
	return v
}

func (f *Function) place(name string, size int) string {
	p, there := f.parameters[name]
	if !there || p.size != size {
		panic(fmt.Sprintf("%s has no parameter %s of %d bytes", f.name, name, size))
	}
	return fmt.Sprintf("%s+%d(FP)", name, p.offset)
}

// Label begins a part of the function that branches can go to.
func (f *Function) Label(name string) { fmt.Fprintf(&f.body, "\n%s:\n", name) }
