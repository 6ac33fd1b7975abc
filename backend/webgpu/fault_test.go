//go:build js && wasm

package webgpu

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
)

// A fault in any call of the browser's, be it the first or a later one, is an error that names the adapter, or
// one of memory. What is opened after it works, and computes the same bits. With -short one call of each function
// fails.
func TestFaultsInEveryCall(t *testing.T) {
	f := fakeGPU(t)
	f.fail("", 0, "")
	want, err := restored(nil)
	require.NoError(t, err)
	calls := maps.Clone(f.calls)
	require.Greater(t, len(calls), 25, "functions of WebGPU")
	names := slices.Sorted(maps.Keys(calls))
	last := names[len(names)-1]
	for _, name := range names {
		kinds := []string{"fails"}
		switch method := name[strings.Index(name, ".")+1:]; method {
		case "dispatchWorkgroups", "writeBuffer", "copyBufferToBuffer":
			kinds = append(kinds, "nothing")
		case "submit", "mapAsync":
			kinds = append(kinds, "lost")
		case "popErrorScope":
			kinds = append(kinds, "wrong", "lost")
		}
		at := []int{0, calls[name] / 2, calls[name] - 1}
		if testing.Short() {
			at = at[1:2]
		}
		for _, kind := range kinds {
			for _, at := range slices.Compact(at) {
				f.fail(name, at, kind)
				got, err := restored(nil)
				what := fmt.Sprintf("%s, call %d of %d: %s: %v", name, at, calls[name], kind, err)
				assert.Greater(t, f.calls[name], at, what)
				if err == nil {
					assert.Equal(t, want, got, what) // it made no difference
					continue
				}
				var fault *Fault
				switch {
				case errors.As(err, &fault):
					assert.Contains(t, err.Error(), "WebGPU on "+fault.Adapter, what)
					assert.NotEmpty(t, fault.Adapter, what)
				case !errors.Is(err, backend.ErrOutOfMemory):
					assert.ErrorIs(t, err, ErrNoAdapter, what)
				}
				assert.NotContains(t, err.Error(), "\n", what)
			}
		}
		if testing.Short() && name != last {
			continue
		}
		f.fail("", 0, "")
		again, err := restored(nil)
		require.NoError(t, err, name)
		require.Equal(t, want, again, name)
	}
}
