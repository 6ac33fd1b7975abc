package cpu

import (
	"fmt"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu/internal/convrow"
	"github.com/averaged/imaging/backend/cpu/internal/tvrow"
	"github.com/averaged/imaging/backend/cpu/internal/vectors"
	"github.com/averaged/imaging/backend/cpu/internal/winograd"
	"github.com/averaged/imaging/internal/fft"
	"github.com/averaged/imaging/internal/instructionset"
)

// InstructionSet is the instruction set of the kernels. On one architecture, a higher one includes the lower
// ones.
type InstructionSet = instructionset.Set

const (
	// Portable is plain Go, on any processor.
	Portable = instructionset.Portable
	// AVX2 needs AVX2 and FMA, which AMD's and Intel's processors have had since about 2014.
	AVX2 = instructionset.AVX2
	// AVX512 needs in addition AVX-512 F, BW, CD, DQ and VL, which servers have had since 2017 and AMD's
	// desktops since 2022.
	AVX512 = instructionset.AVX512
	// NEON needs Arm's Advanced SIMD, which every arm64 processor has.
	NEON = instructionset.NEON
)

// kernels are the kernels of one instruction set, family by family.
type kernels struct {
	tv          *tvrow.Kernels
	vectors     *vectors.Kernels
	convolution *convrow.Kernels
	winograd    *winograd.Kernels
	fft         *fft.Kernels
}

// instructionSets decides which kernels compute. Those of a set that this build does not have are nil.
var instructionSets = [...]kernels{
	Portable: {tvrow.Portable, vectors.Portable, convrow.Portable, winograd.Portable, fft.Portable},
	AVX2:     {tvrow.AVX2, vectors.AVX2, convrow.AVX2, winograd.AVX2, fft.AVX2},
	AVX512:   {tvrow.AVX512, vectors.AVX512, convrow.AVX512, winograd.AVX512, fft.AVX512},
	NEON:     {tvrow.NEON, vectors.NEON, convrow.NEON, winograd.NEON, fft.NEON},
}

// InstructionSets returns those that this processor and this build have, the best one last.
func InstructionSets() []InstructionSet { return instructionset.All() }

// InstructionSetVariable is the environment variable that names the instruction set to use instead of the
// best one. A name that this processor or build does not have is an error, so that nobody gets another one
// unnoticed.
const InstructionSetVariable = instructionset.Variable

// Selected returns the instruction set that a device uses without UseInstructionSet: that of
// InstructionSetVariable, or the best. Its error lists the available ones.
func Selected() (InstructionSet, error) { return instructionset.Selected() }

// kernelsOf returns the kernels of a set, or an error that names the sets that there are.
func kernelsOf(s InstructionSet) (*kernels, error) {
	if !s.Available() {
		return nil, fmt.Errorf("%w: instruction set %v: this processor and build have %v", backend.ErrArgument, s, InstructionSets())
	}
	return &instructionSets[s], nil
}
