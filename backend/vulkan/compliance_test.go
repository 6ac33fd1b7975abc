package vulkan

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/backendtest"
	"github.com/averaged/imaging/internal/vulkan/vulkantest"
)

// need skips the test where there is no GPU with Vulkan and none is demanded.
func need(t testing.TB) {
	t.Helper()
	all, err := Devices()
	vulkantest.Need(t, err, err == nil && all[0].Kind == Processor)
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
