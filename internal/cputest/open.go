// Package cputest opens the processor for tests.
package cputest

import (
	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend/cpu"
)

// Open returns a device that computes on the host; the test fails if there is none.
func Open(t require.TestingT, options ...cpu.Option) *cpu.Device {
	d, err := cpu.Open(options...)
	require.NoError(t, err)
	return d
}
