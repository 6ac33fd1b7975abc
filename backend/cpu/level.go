package cpu

import (
	"fmt"
	"os"
	"runtime"
	"slices"

	features "golang.org/x/sys/cpu"

	"github.com/averaged/imaging/backend/cpu/internal/convrow"
	"github.com/averaged/imaging/backend/cpu/internal/tvrow"
	"github.com/averaged/imaging/backend/cpu/internal/vectors"
	"github.com/averaged/imaging/backend/cpu/internal/winograd"
)

// Level is an instruction set that the kernels are written for. Of the levels of
// one architecture, a higher one takes all that the lower ones take.
type Level uint8

const (
	// Portable is plain Go, on any processor.
	Portable Level = iota
	// AVX2 takes AVX2 and FMA, which AMD's and Intel's processors have had since
	// about 2014.
	AVX2
	// AVX512 takes besides AVX-512 F, BW, CD, DQ and VL, which servers have had since
	// 2017 and AMD's desktops since 2022.
	AVX512
	// NEON takes Arm's Advanced SIMD, which every arm64 processor has.
	NEON
)

// levelNames are what LevelVariable and Description call the levels.
var levelNames = [...]string{Portable: "portable", AVX2: "avx2", AVX512: "avx512", NEON: "neon"}

func (l Level) String() string {
	if int(l) < len(levelNames) {
		return levelNames[l]
	}
	return fmt.Sprintf("Level(%d)", uint8(l))
}

// available are the levels that this processor and this build have, in order. The
// build tag noasm leaves only the portable one, and GODEBUG can turn features off:
// cpu.avx512f=off, cpu.avx2=off, cpu.fma=off.
var available = func() []Level {
	levels := []Level{Portable}
	if !tvrow.Assembly {
		return levels
	}
	if runtime.GOARCH == "arm64" {
		return append(levels, NEON)
	}
	x := &features.X86
	if !x.HasAVX2 || !x.HasFMA {
		return levels
	}
	levels = append(levels, AVX2)
	if x.HasAVX512F && x.HasAVX512BW && x.HasAVX512CD && x.HasAVX512DQ && x.HasAVX512VL {
		levels = append(levels, AVX512)
	}
	return levels
}()

// tvKernels returns the kernels of total variation for a level, the portable ones
// for a level that this processor and this build do not have.
func tvKernels(l Level) *tvrow.Kernels {
	if slices.Contains(available, l) {
		switch l {
		case AVX2:
			return tvrow.AVX2()
		case AVX512:
			return tvrow.AVX512()
		case NEON:
			return tvrow.NEON()
		}
	}
	return tvrow.Portable()
}

// vectorKernels returns the kernels of operations on whole arrays for a level,
// likewise.
func vectorKernels(l Level) *vectors.Kernels {
	if slices.Contains(available, l) {
		switch l {
		case AVX2:
			return vectors.AVX2()
		case AVX512:
			return vectors.AVX512()
		case NEON:
			return vectors.NEON()
		}
	}
	return vectors.Portable()
}

// convolutionKernels returns the kernels of direct convolution for a level,
// likewise.
func convolutionKernels(l Level) *convrow.Kernels {
	if slices.Contains(available, l) {
		switch l {
		case AVX2:
			return convrow.AVX2()
		case AVX512:
			return convrow.AVX512()
		case NEON:
			return convrow.NEON()
		}
	}
	return convrow.Portable()
}

// winogradKernels is the same for 3×3 convolutions.
func winogradKernels(l Level) *winograd.Kernels {
	if slices.Contains(available, l) {
		switch l {
		case AVX2:
			return winograd.AVX2()
		case AVX512:
			return winograd.AVX512()
		case NEON:
			return winograd.NEON()
		}
	}
	return winograd.Portable()
}

// LevelVariable is the environment variable that names the level to use instead
// of the best one; a name that this processor or build does not have is an error
// of Selected, so that a test that wants a level never runs another in silence.
const LevelVariable = "IMAGING_CPU"

// Levels returns the levels that this processor and this build have, the best
// one last.
func Levels() []Level { return slices.Clone(available) }

// Selected returns the level that New uses: the one that LevelVariable names, or
// the best.
func Selected() (Level, error) {
	name := os.Getenv(LevelVariable)
	if name == "" {
		return available[len(available)-1], nil
	}
	for _, l := range available {
		if l.String() == name {
			return l, nil
		}
	}
	return Portable, fmt.Errorf("%s=%q: this processor and build have %v", LevelVariable, name, available)
}

// best is Selected for New, which falls back to the portable level; the command
// line and the tests ask Selected and report the error.
func best() Level {
	l, err := Selected()
	if err != nil {
		return Portable
	}
	return l
}
