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

// Whole tells whether a set has kernels of all families.
func Whole(s InstructionSet) bool {
	k := instructionSets[s]
	return k.tv != nil && k.vectors != nil && k.convolution != nil && k.winograd != nil && k.fft != nil
}

// operand returns what kernels are given for a buffer.
func operand(t require.TestingT, d *Device, b backend.Buffer) *buffer {
	a, err := devicekit.Operand(d.Device, b)
	require.NoError(t, err)
	return &a
}
