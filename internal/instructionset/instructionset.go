// Package instructionset says what kernels can be written for, and which of it this processor and this
// build have.
package instructionset

import (
	"fmt"
	"os"

	features "golang.org/x/sys/cpu"
)

// Set is what the kernels are written for. A higher set
// of one architecture includes the lower ones.
type Set uint8

const (
	// Portable is plain Go, on any processor.
	Portable Set = iota
	// AVX2 takes AVX2 and FMA, which AMD's and Intel's processors have had since
	// about 2014.
	AVX2
	// AVX512 takes besides AVX-512 F, BW, CD, DQ and VL, which servers have had since
	// 2017 and AMD's desktops since 2022.
	AVX512
	// NEON takes Arm's Advanced SIMD, which every arm64 processor has.
	NEON
)

var x86 = &features.X86

// sets says which sets there are. The build tag noasm leaves the portable one alone. GODEBUG can turn
// features off: cpu.avx512f=off, cpu.avx2=off, cpu.fma=off.
var sets = [...]struct {
	name       string // for people, and for Variable
	build, has bool   // this build has kernels, and the processor takes them
}{
	Portable: {"portable", true, true},
	AVX2:     {"avx2", amd64, x86.HasAVX2 && x86.HasFMA},
	AVX512: {"avx512", amd64, x86.HasAVX2 && x86.HasFMA && x86.HasAVX512F && x86.HasAVX512BW &&
		x86.HasAVX512CD && x86.HasAVX512DQ && x86.HasAVX512VL},
	NEON: {"neon", arm64, true},
}

func (s Set) String() string {
	if int(s) < len(sets) {
		return sets[s].name
	}
	return fmt.Sprintf("InstructionSet(%d)", uint8(s))
}

// Available tells whether this processor and this build have the set.
func (s Set) Available() bool { return int(s) < len(sets) && sets[s].build && sets[s].has }

// All returns those that this processor and this build have, the best one last.
func All() []Set {
	var all []Set
	for s := range Set(len(sets)) {
		if s.Available() {
			all = append(all, s)
		}
	}
	return all
}

// Variable is the environment variable that names the set to use instead of the best one.
const Variable = "IMAGING_CPU"

// Selected returns the set that Variable names, or the best. A name that this processor or build does
// not have is an error, which names those that there are.
func Selected() (Set, error) {
	all := All()
	name := os.Getenv(Variable)
	if name == "" {
		return all[len(all)-1], nil
	}
	for _, s := range all {
		if s.String() == name {
			return s, nil
		}
	}
	return Portable, fmt.Errorf("%s=%q: this processor and build have %v", Variable, name, all)
}
