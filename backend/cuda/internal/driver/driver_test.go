package driver

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParametersOfKernelsInPTX(t *testing.T) {
	ptx := `.version 7.0
.target sm_70
.visible .entry one(
	.param .u64 one_param_0,
	.param .u32 one_param_1
)
.maxntid 256, 1, 1
{ ret; }
.entry none()
{ ret; }
	.visible .entry bare
{ ret; }
.func (.param .b32 r) helper(.param .b32 a) { ret; }
.visible .entry $three_(.param .f64 a, .param .f32 b, .param .u64 .ptr .global .align 4 c) { ret; }
`
	require.Equal(t, map[string]int{"one": 2, "none": 0, "bare": 0, "$three_": 3}, parameters([]byte(ptx)))
	require.Empty(t, parameters(nil))
}

func FuzzParametersOfKernelsInPTX(f *testing.F) {
	f.Add([]byte(".entry a(.param .u64 x)"))
	f.Add([]byte(".entry (.entry a(\x00"))
	f.Fuzz(func(t *testing.T, ptx []byte) {
		for name, n := range parameters(ptx) {
			if name == "" || n < 0 || n > len(ptx)/6 {
				t.Errorf("kernel %q with %d parameters", name, n)
			}
		}
	})
}

func TestErrorsOfTheDriverHaveKinds(t *testing.T) {
	for _, c := range []struct {
		code int
		kind error
	}{
		{2, ErrOutOfMemory}, {100, ErrNoDevice}, {101, ErrNoDevice}, {700, ErrBroken}, {719, ErrBroken}, {214, ErrBroken},
	} {
		err := fmt.Errorf("x: %w", &Error{Call: "cuMemAlloc", Code: c.code, Name: "CUDA_ERROR", Text: "text"})
		for _, kind := range []error{ErrOutOfMemory, ErrNoDevice, ErrBroken, ErrNoDriver, ErrClosed, ErrArgument} {
			require.Equal(t, kind == c.kind, errors.Is(err, kind), "code %d is %v", c.code, kind)
		}
	}
	for _, harmless := range []int{1, 600, 701, 900, 909} {
		require.NotErrorIs(t, &Error{Code: harmless}, ErrBroken)
	}
	require.Equal(t, "cuMemAlloc: out of memory (CUDA_ERROR_OUT_OF_MEMORY)",
		(&Error{Call: "cuMemAlloc", Code: 2, Name: "CUDA_ERROR_OUT_OF_MEMORY", Text: "out of memory"}).Error())
}

// What a driver that does not take the kernels says is in the error, and what is to be done.
func TestErrorsOfTranslationSayWhy(t *testing.T) {
	require.NoError(t, untranslated(nil, "warning"))
	require.Equal(t, ErrClosed, untranslated(ErrClosed, ""))
	for code, want := range map[int]string{
		209: "cuModuleLoadDataEx: text; the kernels are PTX, for compute capability 7.0 or newer, and CUDA_DISABLE_PTX_JIT must not be set (NAME)",
		218: "cuModuleLoadDataEx: text (NAME)",
		221: "cuModuleLoadDataEx: the kernels are PTX, and the part of the driver that translates it is not installed: libnvidia-ptxjitcompiler.so.1 (NAME)",
		222: "cuModuleLoadDataEx: the driver is older than the kernels: they are PTX 7.0, of CUDA 11.0 (NAME)",
		223: "cuModuleLoadDataEx: the kernels are PTX, whose translation is switched off: CUDA_DISABLE_PTX_JIT must not be set (NAME)",
	} {
		require.EqualError(t, untranslated(&Error{"cuModuleLoadDataEx", code, "NAME", "text"}, ""), want)
	}
	require.EqualError(t, untranslated(&Error{"call", 218, "NAME", "text"}, "line 1; fatal\nline 2\r\n\x00"), "call: text: line 1; fatal; line 2 (NAME)")
}

func TestArgumentsAreSlotsOfEightBytes(t *testing.T) {
	require.Equal(t, Arg(0xffffffff), Int(-1))
	require.Equal(t, Arg(math.MaxUint64), Long(-1))
	require.Equal(t, Arg(0x3f800000), Float(1))
	require.Equal(t, Arg(7), Ptr(7))
}
