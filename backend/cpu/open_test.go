package cpu

import (
	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/devicekit"
)

func open(t require.TestingT, options ...Option) *Device {
	d, err := Open(options...)
	require.NoError(t, err)
	return d
}

// operand returns what kernels are given for a buffer.
func operand(t require.TestingT, d *Device, b backend.Buffer) *buffer {
	a, err := devicekit.Operand(d.Device, b)
	require.NoError(t, err)
	return &a
}
