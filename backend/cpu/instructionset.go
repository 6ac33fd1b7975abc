package cpu

import (
	"fmt"
	"os"

	features "golang.org/x/sys/cpu"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu/internal/convrow"
	"github.com/averaged/imaging/backend/cpu/internal/tvrow"
	"github.com/averaged/imaging/backend/cpu/internal/vectors"
	"github.com/averaged/imaging/backend/cpu/internal/winograd"
	"github.com/averaged/imaging/internal/fft"
)

// InstructionSet is what the kernels are written for. Of those of one architecture, a
// higher one takes all that the lower ones take.
type InstructionSet uint8

const (
	// Portable is plain Go, on any processor.
	Portable InstructionSet = iota
	// AVX2 takes AVX2 and FMA, which AMD's and Intel's processors have had since
	// about 2014.
	AVX2
	// AVX512 takes besides AVX-512 F, BW, CD, DQ and VL, which servers have had since
	// 2017 and AMD's desktops since 2022.
	AVX512
	// NEON takes Arm's Advanced SIMD, which every arm64 processor has.
	NEON
)

// kernels are the kernels of one instruction set, family by family.
type kernels struct {
	tv          *tvrow.Kernels
	vectors     *vectors.Kernels
	convolution *convrow.Kernels
	winograd    *winograd.Kernels
	fft         *fft.Kernels
}

var x86 = &features.X86

// instructionSets decides which kernels compute. A set is there where the processor has it
// and this build has its kernels, which are nil on another architecture; the build tag
// noasm leaves the portable ones alone. GODEBUG can turn features off: cpu.avx512f=off,
// cpu.avx2=off, cpu.fma=off.
var instructionSets = [...]struct {
	name    string // for people, and for InstructionSetVariable
	has     bool   // the processor
	kernels kernels
}{
	Portable: {"portable", true,
		kernels{tvrow.Portable, vectors.Portable, convrow.Portable, winograd.Portable, fft.Portable}},
	AVX2: {"avx2", x86.HasAVX2 && x86.HasFMA,
		kernels{tvrow.AVX2, vectors.AVX2, convrow.AVX2, winograd.AVX2, fft.AVX2}},
	AVX512: {"avx512", x86.HasAVX2 && x86.HasFMA && x86.HasAVX512F && x86.HasAVX512BW &&
		x86.HasAVX512CD && x86.HasAVX512DQ && x86.HasAVX512VL,
		kernels{tvrow.AVX512, vectors.AVX512, convrow.AVX512, winograd.AVX512, fft.AVX512}},
	NEON: {"neon", true,
		kernels{tvrow.NEON, vectors.NEON, convrow.NEON, winograd.NEON, fft.NEON}},
}

func (s InstructionSet) String() string {
	if int(s) < len(instructionSets) {
		return instructionSets[s].name
	}
	return fmt.Sprintf("InstructionSet(%d)", uint8(s))
}

// available tells whether this processor and this build have the set.
func (s InstructionSet) available() bool {
	return int(s) < len(instructionSets) && instructionSets[s].has && instructionSets[s].kernels.tv != nil
}

// InstructionSets returns those that this processor and this build have, the best one last.
func InstructionSets() []InstructionSet {
	var sets []InstructionSet
	for s := range InstructionSet(len(instructionSets)) {
		if s.available() {
			sets = append(sets, s)
		}
	}
	return sets
}

// InstructionSetVariable is the environment variable that names the instruction set to use
// instead of the best one. A name that this processor or build does not have is an error,
// so that who wants one never runs another in silence.
const InstructionSetVariable = "IMAGING_CPU"

// Selected returns the instruction set that a device takes where UseInstructionSet does
// not name one: that of InstructionSetVariable, or the best. Its error names those that
// there are.
func Selected() (InstructionSet, error) {
	sets := InstructionSets()
	name := os.Getenv(InstructionSetVariable)
	if name == "" {
		return sets[len(sets)-1], nil
	}
	for _, s := range sets {
		if s.String() == name {
			return s, nil
		}
	}
	return Portable, fmt.Errorf("%s=%q: this processor and build have %v", InstructionSetVariable, name, sets)
}

// Transforms on the host take the same instruction set. Where InstructionSetVariable is wrong they
// take plain Go, and opening a device fails.
func init() {
	s, _ := Selected()
	fft.Default = instructionSets[s].kernels.fft
}

// kernelsOf returns the kernels of a set, or an error that names the sets that there are.
func kernelsOf(s InstructionSet) (*kernels, error) {
	if !s.available() {
		return nil, fmt.Errorf("%w: instruction set %v: this processor and build have %v", backend.ErrArgument, s, InstructionSets())
	}
	return &instructionSets[s].kernels, nil
}
