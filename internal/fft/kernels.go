package fft

import (
	"unsafe"

	"github.com/averaged/imaging/internal/instructionset"
)

//go:generate go -C ../../backend/cpu/_asm run ./fft -pkg fft -out ../../../internal/fft/kernels_amd64.s -stubs ../../../internal/fft/kernels_amd64.go
//go:generate go -C ../../backend/cpu/_asm run ./neon/fft -out ../../../internal/fft

// largestOwn is the largest radix that has butterflies of its own.
const largestOwn = 5

// Kernels are the loops of a transform for one instruction set. All sets give the same bits.
type Kernels struct {
	// forward and inverse make the stages of each radix: blocks times m butterflies on the
	// radix·m·blocks records at x. A butterfly takes records that are m apart, and radix−1
	// twiddles; number p of each block those from p·(radix−1) on.
	forward, inverse [largestOwn + 1]func(x *record, blocks, m int, twiddle *float32)
	// multiply multiplies n records, at least 1, with a filter's, and multiplyConjugate with
	// their complex conjugates.
	multiply, multiplyConjugate func(x, filter *record, n int)
	// interleave turns 16·blocks samples of 16 rows, which are stride apart, into numbers of as many
	// records, and deinterleave turns them back; line is the first of these numbers.
	interleave   func(line, rows *float32, stride, blocks int)
	deinterleave func(rows, line *float32, stride, blocks int)
	// separate makes 16 columns of a block of 32 records, and combine makes the records of a line of
	// them: as separateColumn and combineColumn do, of records at 2·16 places behind line, in bytes.
	separate func(block, line *record, places *int)
	combine  func(line, block *record, places *int)
}

// Portable is plain Go. The others are nil where a build has no such instruction set.
var (
	Portable           = &portable
	AVX2, AVX512, NEON *Kernels
)

// Selected returns the kernels of the instruction set that instructionset.Selected returns, or its
// error.
func Selected() (*Kernels, error) {
	s, err := instructionset.Selected()
	if err != nil {
		return nil, err
	}
	return kernelsOf(s), nil
}

func kernelsOf(s instructionset.Set) *Kernels {
	return [...]*Kernels{
		instructionset.Portable: Portable, instructionset.AVX2: AVX2,
		instructionset.AVX512: AVX512, instructionset.NEON: NEON,
	}[s]
}

var portable = Kernels{
	forward:  [...]func(*record, int, int, *float32){2: forward2Portable, 3: forward3Portable, 4: forward4Portable, 5: forward5Portable},
	inverse:  [...]func(*record, int, int, *float32){2: inverse2Portable, 3: inverse3Portable, 4: inverse4Portable, 5: inverse5Portable},
	multiply: multiplyPortable, multiplyConjugate: multiplyConjugatePortable,
	interleave: interleavePortable, deinterleave: deinterleavePortable,
	separate: separatePortable, combine: combinePortable,
}

// stageOf calls f for each butterfly with its first record, the records of the others behind it,
// and its twiddles.
func stageOf(x *record, blocks, m, radix int, twiddle *float32, f func(at []record, w []float32, one bool)) {
	all := unsafe.Slice(x, blocks*m*radix)
	twiddles := unsafe.Slice(twiddle, 2*m*(radix-1))
	for b := range blocks {
		block := all[b*m*radix : (b+1)*m*radix]
		for p := range m {
			f(block[p:], twiddles[2*p*(radix-1):], p == 0)
		}
	}
}

func forward2Portable(x *record, blocks, m int, twiddle *float32) {
	stageOf(x, blocks, m, 2, twiddle, func(at []record, w []float32, one bool) {
		forward2(&at[0], &at[m], (*[2]float32)(w), one)
	})
}

func inverse2Portable(x *record, blocks, m int, twiddle *float32) {
	stageOf(x, blocks, m, 2, twiddle, func(at []record, w []float32, one bool) {
		inverse2(&at[0], &at[m], (*[2]float32)(w), one)
	})
}

func forward3Portable(x *record, blocks, m int, twiddle *float32) {
	stageOf(x, blocks, m, 3, twiddle, func(at []record, w []float32, _ bool) {
		forward3(&at[0], &at[m], &at[2*m], (*[4]float32)(w))
	})
}

func inverse3Portable(x *record, blocks, m int, twiddle *float32) {
	stageOf(x, blocks, m, 3, twiddle, func(at []record, w []float32, _ bool) {
		inverse3(&at[0], &at[m], &at[2*m], (*[4]float32)(w))
	})
}

func forward4Portable(x *record, blocks, m int, twiddle *float32) {
	stageOf(x, blocks, m, 4, twiddle, func(at []record, w []float32, one bool) {
		forward4(&at[0], &at[m], &at[2*m], &at[3*m], (*[6]float32)(w), one)
	})
}

func inverse4Portable(x *record, blocks, m int, twiddle *float32) {
	stageOf(x, blocks, m, 4, twiddle, func(at []record, w []float32, one bool) {
		inverse4(&at[0], &at[m], &at[2*m], &at[3*m], (*[6]float32)(w), one)
	})
}

func forward5Portable(x *record, blocks, m int, twiddle *float32) {
	stageOf(x, blocks, m, 5, twiddle, func(at []record, w []float32, _ bool) {
		forward5(&at[0], &at[m], &at[2*m], &at[3*m], &at[4*m], (*[8]float32)(w))
	})
}

func inverse5Portable(x *record, blocks, m int, twiddle *float32) {
	stageOf(x, blocks, m, 5, twiddle, func(at []record, w []float32, _ bool) {
		inverse5(&at[0], &at[m], &at[2*m], &at[3*m], &at[4*m], (*[8]float32)(w))
	})
}

func multiplyPortable(x, filter *record, n int) {
	to, by := unsafe.Slice(x, n), unsafe.Slice(filter, n)
	for j := range to {
		a, b := &to[j], &by[j]
		for i := range lanes {
			a[i], a[i+lanes] = float32(a[i]*b[i])-float32(a[i+lanes]*b[i+lanes]), float32(a[i]*b[i+lanes])+float32(a[i+lanes]*b[i])
		}
	}
}

func multiplyConjugatePortable(x, filter *record, n int) {
	to, by := unsafe.Slice(x, n), unsafe.Slice(filter, n)
	for j := range to {
		a, b := &to[j], &by[j]
		for i := range lanes {
			a[i], a[i+lanes] = float32(a[i]*b[i])+float32(a[i+lanes]*b[i+lanes]), float32(a[i+lanes]*b[i])-float32(a[i]*b[i+lanes])
		}
	}
}
