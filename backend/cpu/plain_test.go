package cpu

import (
	"slices"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/backendtest"
	"github.com/averaged/imaging/backend/devicekit"
)

// plain are the kernels that every device must have, and no others.
type plain struct {
	devicekit.Kernels[[]float32, *filter]
}

// What devicekit makes of a device's other kernels passes the suite in float32, one operation at a
// time and several.
func TestPlainCompliance(t *testing.T) {
	open := func(concurrent bool) func(t testing.TB) backend.Device {
		return func(t testing.TB) backend.Device {
			return devicekit.New[[]float32, *filter](plain{open(t, Threads(2)).host}, concurrent)
		}
	}
	if testing.Short() {
		// What internal/fallback computes on the host, in Go and on threads. Its other operations are made of those
		// that TestCompliance runs, and its blurs are those of the processor; go test ./... has all.
		backendtest.RunOnly(t, open(true), "Gaussian", "MixChannels", "TVEvaluate", "Concurrency")
		return
	}
	without := []string{"Wrap", "FilterGradient", "BiasGradient", "ActivationGradient", "ProjectBallsGradient"}
	operations := slices.DeleteFunc(backendtest.Operations(), func(name string) bool { return slices.Contains(without, name) })
	for _, concurrent := range []bool{false, true} {
		backendtest.Run(t, open(concurrent), operations...)
	}
}
