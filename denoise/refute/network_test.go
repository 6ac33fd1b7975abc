package refute_test

import (
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/internal/devicetest"
	"github.com/stretchr/testify/require"
)

// uncertified puts a model on a device with the given number of steps for each block.
func uncertified(t testing.TB, dev backend.Device, m denoise.Model, steps int) *denoise.Network {
	m.Blocks = append([]denoise.Block{}, m.Blocks...)
	for i := range m.Blocks {
		m.Blocks[i].Steps = steps
	}
	n, err := denoise.New(t.Context(), dev, m, denoise.Certificate{})
	require.NoError(t, err)
	t.Cleanup(n.Free)
	return n
}

var randomImage, upload, download = devicetest.Uniform, devicetest.Upload, devicetest.Download

// newCPU returns a device of one thread, which is enough for small images.
func newCPU(t testing.TB) *cpu.Device {
	d := cputest.Open(t, cpu.Threads(1))
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

// smallModel returns a random network of little work.
func smallModel(t testing.TB, seed uint64, a denoise.Architecture, norm float64) denoise.Model {
	for _, f := range []struct {
		of    *int
		value int
	}{{&a.Width, 7}, {&a.Blocks, 3}} {
		if *f.of == 0 {
			*f.of = f.value
		}
	}
	m, err := denoise.RandomModel(seed, a, norm)
	require.NoError(t, err)
	return m
}

// certified puts a model on a device with a certificate.
func certified(t testing.TB, dev backend.Device, m denoise.Model) *denoise.Network {
	c, err := m.Certify(t.Context(), 0)
	require.NoError(t, err)
	n, err := denoise.New(t.Context(), dev, m, c)
	require.NoError(t, err)
	t.Cleanup(n.Free)
	return n
}

func stepsOf(c denoise.Certificate) (steps []int) {
	for _, b := range c.Blocks {
		steps = append(steps, b.Steps)
	}
	return steps
}
