package inpaint

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/backendtest/refdevice"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/internal/devicetest"
)

// A mosaic keeps one colour of each pixel, to the bit, and is its own adjoint, a projection of norm 1.
func TestMosaic(t *testing.T) {
	for name, dev := range map[string]backend.Device{"cpu": cputest.Open(t, cpu.Threads(2)), "reference": refdevice.New(refdevice.Options{})} {
		t.Run(name, func(t *testing.T) {
			defer dev.Close()
			rapid.Check(t, func(r *rapid.T) {
				h, w := rapid.IntRange(1, 9).Draw(r, "rows"), rapid.IntRange(1, 9).Draw(r, "columns")
				var pattern [2][2]int
				for i := range 4 {
					pattern[i/2][i%2] = rapid.IntRange(0, 2).Draw(r, "colour")
				}
				m, err := NewMosaic(dev, pattern, h, w)
				require.NoError(r, err)
				defer m.Free()
				x, xs := devicetest.Noise(t, dev, 3, h, w, 1)
				y, ys := devicetest.Noise(t, dev, 3, h, w, 2)
				mx, _ := devicetest.Noise(t, dev, 3, h, w, 3)
				my, _ := devicetest.Noise(t, dev, 3, h, w, 4)
				require.NoError(r, m.Apply(mx, x))
				require.NoError(r, m.Adjoint(my, y))
				gotX, gotY := devicetest.Download(t, dev, mx), devicetest.Download(t, dev, my)
				for i, v := range xs {
					if pattern[i%(h*w)/w%2][i%w%2] != i/(h*w) {
						v = 0
					}
					require.Equal(r, v, gotX[i])
				}
				require.InDelta(r, devicetest.Dot(gotX, ys), devicetest.Dot(xs, gotY), 1e-12*(1+devicetest.Dot(xs, xs)+devicetest.Dot(ys, ys)))
				bound, reason := m.Norm()
				require.NotEmpty(r, reason)
				require.LessOrEqual(r, devicetest.Dot(gotX, gotX), bound*bound*devicetest.Dot(xs, xs))
				// The bound is reached: by what has passed once.
				twice, _ := devicetest.Noise(t, dev, 3, h, w, 5)
				require.NoError(r, m.Apply(twice, mx))
				require.Equal(r, gotX, devicetest.Download(t, dev, twice))
			})
		})
	}
}

func TestMosaicRefuses(t *testing.T) {
	dev := cputest.Open(t, cpu.Threads(1))
	defer dev.Close()
	_, err := NewMosaic(dev, [2][2]int{{0, 1}, {1, 2}}, 0, 4)
	require.ErrorContains(t, err, "0×4 pixels")
	_, err = NewMosaic(dev, [2][2]int{{0, 1}, {1, 3}}, 4, 4)
	require.ErrorContains(t, err, "channels")
	m, err := NewMosaic(dev, [2][2]int{{0, 1}, {1, 2}}, 3, 4)
	require.NoError(t, err)
	x, _ := devicetest.Noise(t, dev, 3, 3, 4, 1)
	y, _ := devicetest.Noise(t, dev, 1, 3, 4, 1)
	require.ErrorIs(t, m.Apply(x, y), backend.ErrShape)
	require.ErrorIs(t, m.Apply(y, x), backend.ErrShape)
	m.Free()
	m.Free()
	z, _ := devicetest.Noise(t, dev, 3, 3, 4, 2)
	require.ErrorIs(t, m.Apply(z, x), backend.ErrFreed)
}

// A device that cannot hold the image says so, before Go is asked for as much and ends the process.
func TestMosaicThatNoMemoryHolds(t *testing.T) {
	dev := cputest.Open(t, cpu.Threads(1), cpu.MemoryLimit(1<<20))
	defer dev.Close()
	for side, want := range map[int]error{math.MaxInt32: backend.ErrShape, 1000: backend.ErrOutOfMemory} {
		_, err := NewMosaic(dev, [2][2]int{{0, 1}, {1, 2}}, side, side)
		require.ErrorIs(t, err, want)
	}
}
