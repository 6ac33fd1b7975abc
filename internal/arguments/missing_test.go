package arguments_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/arguments"
)

// device is a device with nothing in it but a limit.
type device struct {
	backend.Device
	memory int64
}

func (d device) Description() backend.Description { return backend.Description{Memory: d.memory} }

func TestWhatIsMissing(t *testing.T) {
	require.NoError(t, arguments.CheckDevice("tv", &device{}))
	require.NoError(t, arguments.CheckDevice("tv", device{}))
	for _, dev := range []backend.Device{nil, (*device)(nil)} {
		require.EqualError(t, arguments.CheckDevice("tv", dev), "tv: the device is nil; Open of backend/cpu makes one")
	}
	for most, want := range map[int64]error{0: nil, 4*3*5*7 - 1: backend.ErrOutOfMemory, 4 * 3 * 5 * 7: nil} {
		require.ErrorIs(t, arguments.CheckRoom(device{memory: most}, image), want)
	}
	require.ErrorIs(t, arguments.CheckRoom(device{}, backend.Image(1, 2, math.MaxInt)), backend.ErrShape)
	require.Equal(t, image, arguments.ShapeOf(shaped(image)))
	require.Equal(t, backend.Shape{}, arguments.ShapeOf(nil))
}
