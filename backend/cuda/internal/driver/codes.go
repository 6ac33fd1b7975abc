package driver

import (
	"errors"
	"slices"
	"strings"
)

// The codes of the driver API that this package tells apart (CUresult).
const (
	codeOutOfMemory   = 2
	codeNoDevice      = 100
	codeInvalidDevice = 101
	codeNoBinary      = 209
	codeNoTranslator  = 221
	codePTXTooNew     = 222
	codeNoTranslation = 223
)

// broken reports whether a code means that the context can do no more work. These are the
// errors of which the driver's reference says that the process must be ended, which
// closing the primary context comes close to.
func broken(code int) bool {
	return slices.Contains([]int{
		46,  // device unavailable
		214, // memory error that could not be corrected
		220, // error on NVLink
		700, // illegal address
		702, // launch timed out
		709, // context is destroyed
		710, // assertion in a kernel
		714, // hardware stack error
		715, // illegal instruction
		716, // misaligned address
		717, // address space of an instruction
		718, // program counter
		719, // launch failed
		721, // external device
	}, code)
}

// untranslated is the error of a driver that does not take PTX, nil included, with what it has to
// say about the text, and where something else is the reason with that: nothing but PTX ships.
func untranslated(err error, log string) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	switch e.Code {
	case codeNoTranslator:
		e.Text = "the kernels are PTX, and the part of the driver that translates it is not installed: libnvidia-ptxjitcompiler.so.1"
	case codeNoTranslation:
		e.Text = "the kernels are PTX, whose translation is switched off: CUDA_DISABLE_PTX_JIT must not be set"
	case codeNoBinary:
		e.Text += "; the kernels are PTX, for compute capability 7.0 or newer, and CUDA_DISABLE_PTX_JIT must not be set"
	case codePTXTooNew:
		e.Text = "the driver is older than the kernels: they are PTX 7.0, of CUDA 11.0"
	}
	if log = strings.Join(strings.FieldsFunc(log, func(r rune) bool { return r == '\n' || r == '\r' || r == 0 }), "; "); log != "" {
		e.Text += ": " + log
	}
	return e
}
