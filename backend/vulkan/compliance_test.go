package vulkan

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/backendtest"
)

// wantVulkan is set where a Vulkan device must be there, be it software: then its absence fails, and
// nothing is skipped.
const wantVulkan = "IMAGING_WANT_VULKAN"

// need skips the test where there is no GPU with Vulkan and none is demanded. Software computes as GPUs
// do, and takes long.
func need(t testing.TB) {
	t.Helper()
	all, err := Devices()
	switch {
	case os.Getenv(wantVulkan) != "":
		require.NoError(t, err)
	case err != nil:
		t.Skipf("no Vulkan here (bash .ci/vulkan tests it in software): %v", err)
	case all[0].Kind == Processor:
		t.Skip("Vulkan is software here: bash .ci/vulkan tests it")
	}
}

func open(t testing.TB, options ...Option) *Device {
	t.Helper()
	d, err := Open(0, options...)
	require.NoError(t, err)
	return d
}

func shut(t testing.TB, d *Device) { require.NoError(t, d.Close()) }

// keepAdapter keeps the device of the driver open until the test ends: to compile kernels takes longer
// than to run them.
func keepAdapter(t *testing.T) {
	need(t)
	d := open(t)
	t.Cleanup(func() { shut(t, d) })
}

func TestCompliance(t *testing.T) {
	keepAdapter(t)
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
