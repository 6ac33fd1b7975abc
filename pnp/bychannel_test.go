package pnp

import (
	"math"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/operator"
	"github.com/stretchr/testify/require"
)

// masked is the mean of neighbours in each channel, with other samples left out in each, and a preconditioner.
func masked(t *testing.T, dev backend.Device, h, w int) *operator.Masked {
	mask := make([]float32, 3*h*(w-1))
	for i := range mask {
		mask[i] = float32(min(1, i%(5+i/(h*(w-1)))))
	}
	k, err := operator.Mask(dev, everyChannel{conditioned{mean{dev, h, w}, func(int) float32 { return .5 }, dev, new(int)}}, planes(t, dev, h, w-1, mask))
	require.NoError(t, err)
	return k
}

// everyChannel does to each channel what an operator for one does.
type everyChannel struct{ conditioned }

func (k everyChannel) Apply(dst, src backend.Buffer) error {
	return operator.EachChannel(k.dev, dst, src, k.conditioned.Apply)
}

func (k everyChannel) Adjoint(dst, src backend.Buffer) error {
	return operator.EachChannel(k.dev, dst, src, k.conditioned.Adjoint)
}

func planes(t *testing.T, dev backend.Device, h, w int, data []float32) backend.Buffer {
	b, err := dev.Alloc(backend.Image(3, h, w))
	require.NoError(t, err)
	require.NoError(t, dev.Upload(b, data))
	return b
}

// The data step of one channel after the other is that of all, within what both say of their errors.
func TestDataStepByChannel(t *testing.T) {
	const h, w = 7, 9
	for _, step := range dataSteps {
		dev := newDevice(t)
		k := masked(t, dev, h, w)
		y, start := planes(t, dev, h, w-1, random(1, 3*h*(w-1))), planes(t, dev, h, w, random(2, 3*h*w))
		phi := offBy{shrink(dev, 0.9), 1e-6, func(x []float32) []float64 { v := make([]float64, len(x)); v[0] = 1; return v }}
		var both [2]*iteration
		for i := range both {
			it, err := newIteration(dev, y, k, phi, Options{DataStep: step, Start: start, InnerError: 1e-4})
			require.NoError(t, err)
			defer it.free()
			require.NoError(t, it.divide(i == 1))
			require.Len(t, it.parts, []int{1, 3}[i])
			both[i] = it
		}
		for range 4 {
			var moved [2][]float32
			off := 0.0
			for i, it := range both {
				require.NoError(t, dev.Upload(it.x, random(3, 3*h*w)))
				bound, err := it.approach(t.Context())
				require.NoError(t, err)
				off += bound + 1e-5
				moved[i] = make([]float32, 3*h*w)
				require.NoError(t, dev.Download(moved[i], it.moved))
				_, _, err = it.step(t.Context())
				require.NoError(t, err)
				require.NoError(t, it.advance())
			}
			for i, v := range moved[0] {
				moved[1][i] -= v
			}
			require.LessOrEqual(t, norm(moved[1]), off, "%v", step)
		}
		require.Equal(t, both[0].arithmetic.known(), both[1].arithmetic.known())
	}
}

// The data step of one channel after the other takes one channel beside the three images of the iteration.
func TestMemoryByChannel(t *testing.T) {
	const h, w = 8, 8
	for _, step := range dataSteps {
		for _, points := range []int{-1, 0, 1} { // Plain, and Anderson with so many
			// The mask and its room, the measurements, one channel of them, and the images.
			need, a := (3+1+3+1)*h*(w-1)+(3+2*max(0, points))*3*h*w, Plain
			if points >= 0 {
				a = Anderson
			}
			if points == 0 { // the residuals of two steps, when there is no channel of measurements
				need += 2*h*w - h*(w-1)
			}
			for _, short := range []int{0, 1} {
				elements := need - short
				dev := newDevice(t, cpu.MemoryLimit(int64(4*elements)))
				k := masked(t, dev, h, w)
				y := planes(t, dev, h, w-1, random(1, 3*h*(w-1)))
				opt := Options{DataStep: step, Acceleration: a, Memory: 1, Tolerance: -1, MaxIterations: 8}
				it, err := newIteration(dev, y, k, shrink(dev, 0.9), opt)
				require.NoError(t, err)
				require.NoError(t, it.divide(true))
				if points == 0 {
					it.guard.spectral = new(spectral)
				}
				_, _, err = it.run(t.Context(), opt)
				it.free()
				if short > 0 {
					require.ErrorIs(t, err, backend.ErrOutOfMemory, "%v, %d", step, points)
				} else {
					require.NoError(t, err, "%v, %d", step, points)
				}
			}
		}
	}
}

// Large images in colour are divided, grey and small ones are not.
func TestByChannel(t *testing.T) {
	require.False(t, ByChannel(backend.Image(3, 321, 481)))
	require.True(t, ByChannel(backend.Image(3, 4000, 6000)))
	require.False(t, ByChannel(backend.Image(1, math.MaxInt16, math.MaxInt16)))
}
