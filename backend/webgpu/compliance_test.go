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

func TestCompliance(t *testing.T) {
	d := open(t) // keeps the browser's device open: to compile kernels takes longer than to run them
	defer shut(t, d)
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
