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
	without := []string{"Wrap", "FilterGradient", "BiasGradient", "ActivationGradient", "ProjectBallsGradient"}
	operations := slices.DeleteFunc(backendtest.Operations(), func(name string) bool { return slices.Contains(without, name) })
	for _, concurrent := range []bool{false, true} {
		if testing.Short() && !concurrent {
			continue // the fallbacks are the same; go test ./... has both
		}
		backendtest.Run(t, func(t testing.TB) backend.Device {
			return devicekit.New[[]float32, *filter](plain{open(t, Threads(2)).host}, concurrent)
		}, operations...)
	}
}
