package arguments_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/arguments"
)

// device is a device with nothing in it.
type device struct{ backend.Device }

func TestWhatIsMissing(t *testing.T) {
	require.NoError(t, arguments.CheckDevice("tv", &device{}))
	require.NoError(t, arguments.CheckDevice("tv", device{}))
	for _, dev := range []backend.Device{nil, (*device)(nil)} {
		require.EqualError(t, arguments.CheckDevice("tv", dev), "tv: the device is nil; Open of backend/cpu makes one")
	}
	require.Equal(t, image, arguments.ShapeOf(shaped(image)))
	require.Equal(t, backend.Shape{}, arguments.ShapeOf(nil))
}
