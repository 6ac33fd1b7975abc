//go:build js && wasm

package webgpu

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/backendtest"
)

// The tests run in a browser: TestWebGPUComplies of internal/htmlreport/browser brings them there.

func open(t testing.TB, options ...Option) *Device {
	t.Helper()
	d, err := Open(append(options, Software())...)
	require.NoError(t, err)
	return d
}

func shut(t testing.TB, d *Device) { require.NoError(t, d.Close()) }

// kept is open from one test to the next, and with it the browser's device: to compile kernels takes longer than
// to run them. leaveKept closes it.
var kept *Device

func keep(t testing.TB) *Device {
	t.Helper()
	if kept == nil {
		kept = open(t)
	}
	return kept
}

func leaveKept(t testing.TB) {
	t.Helper()
	if kept != nil {
		shut(t, kept)
	}
	kept = nil
}

func TestCompliance(t *testing.T) {
	keep(t)
	backendtest.Run(t, func(t testing.TB) backend.Device { return open(t) }, operations()...)
}

// operations are all but what this device leaves out: it has no gradients for training, and does not
// compute in the host's memory.
func operations() []string {
	var names []string
	for _, name := range backendtest.Operations() {
		switch name {
		case "Wrap", "FilterGradient", "BiasGradient", "ActivationGradient", "ProjectBallsGradient":
		default:
			names = append(names, name)
		}
	}
	return names
}
