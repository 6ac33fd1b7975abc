//go:build cuda && cgo && (amd64 || arm64)

package driver

/*
#cgo CFLAGS: -I${SRCDIR}/../cudaheader
#cgo LDFLAGS: -Wl,--as-needed -L${SRCDIR}/link -ldl
#include <cuda.h>
#include <stdlib.h>
#include "stubs_linux.h"
*/
import "C"

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"sync"
	"unsafe"

	"gorgonia.org/cu"
)

// oldestDriver is the first version of CUDA whose driver has all that is called here:
// 11.4, for cuGraphInstantiateWithFlags.
const oldestDriver = 11040

// library is what the driver library is called, and places are where it is where nobody told the
// loader of it: in NVIDIA's containers, and under Windows' Linux.
const library = "libcuda.so.1"

var places = []string{"/usr/local/nvidia/lib64", "/usr/local/nvidia/lib", "/usr/lib/wsl/lib"}

// find opens the driver library by its name, or in one of the places, and returns what cuInit
// said.
func find() (started C.int, err error) {
	open := func(path string) error {
		name := C.CString(path)
		defer C.free(unsafe.Pointer(name))
		if reason := C.driver_load(name, &started); reason != nil {
			return fmt.Errorf("%w: %s", ErrNoDriver, C.GoString(reason))
		}
		return nil
	}
	if err = open(library); err == nil {
		return started, nil
	}
	for _, folder := range places {
		path := filepath.Join(folder, library)
		if _, missing := os.Stat(path); missing != nil {
			continue
		}
		if err = open(path); err == nil { // or there is one that does not work, which is the one to tell of
			return started, nil
		}
	}
	return 0, err
}

// load opens the driver library on the first call, and returns the version of CUDA that
// the driver supports.
var load = sync.OnceValues(func() (int, error) {
	started, err := find()
	if err != nil {
		return 0, err
	}
	if started != C.CUDA_SUCCESS {
		return 0, failure("cuInit", int(started))
	}
	version := cu.Version()
	if version < oldestDriver {
		return 0, fmt.Errorf("%w that is new enough: it is for CUDA %s, want %s or newer", ErrNoDriver, versionText(version), versionText(oldestDriver))
	}
	return version, nil
})

func versionText(v int) string { return fmt.Sprintf("%d.%d", v/1000, v%1000/10) }

// failure is the error of a call that returned a code other than 0.
func failure(call string, code int) *Error {
	e := &Error{Call: call, Code: code, Name: fmt.Sprintf("CUresult %d", code), Text: "unknown error"}
	var text *C.char
	if C.cuGetErrorName(C.CUresult(code), &text) == C.CUDA_SUCCESS && text != nil {
		e.Name = C.GoString(text)
	}
	if C.cuGetErrorString(C.CUresult(code), &text) == C.CUDA_SUCCESS && text != nil {
		e.Text = C.GoString(text)
	}
	return e
}

// check turns an error of package cu, or nil, into an *Error, or nil.
func check(call string, err error) error {
	if err == nil {
		return nil
	}
	// The type of cu's errors is an integer that it does not export.
	if v := reflect.ValueOf(err); v.CanInt() {
		return failure(call, int(v.Int()))
	}
	return fmt.Errorf("%s: %w", call, err)
}

// checkResult does the same for a call without cu.
func checkResult(call string, r C.CUresult) error {
	if r == C.CUDA_SUCCESS {
		return nil
	}
	return failure(call, int(r))
}
