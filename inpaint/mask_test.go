package inpaint

import (
	"math"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/backendtest/refdevice"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/internal/devicetest"
	"github.com/averaged/imaging/operator/operatortest"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// drawMask draws a mask of any size from 1×1.
func drawMask(t *rapid.T, dev backend.Device) (*Mask, []bool) {
	h, w := rapid.IntRange(1, 13).Draw(t, "rows"), rapid.IntRange(1, 13).Draw(t, "columns")
	known := rapid.SliceOfN(rapid.Bool(), h*w, h*w).Draw(t, "known")
	m, err := NewMask(dev, known, h, w)
	require.NoError(t, err)
	return m, known
}

// A mask multiplies by one and zero, without rounding, and is its own adjoint.
func TestMask(t *testing.T) {
	for name, dev := range map[string]backend.Device{"cpu": cputest.Open(t, cpu.Threads(2)), "reference": refdevice.New(refdevice.Options{})} {
		t.Run(name, func(t *testing.T) {
			defer dev.Close()
			rapid.Check(t, func(r *rapid.T) {
				m, known := drawMask(r, dev)
				defer m.Free()
				channels := rapid.IntRange(1, 4).Draw(r, "channels")
				h, w := m.Range()
				x, xs := devicetest.Noise(t, dev, channels, h, w, 1)
				y, ys := devicetest.Noise(t, dev, channels, h, w, 2)
				mx, _ := devicetest.Noise(t, dev, channels, h, w, 3)
				my, _ := devicetest.Noise(t, dev, channels, h, w, 4)
				require.NoError(r, m.Apply(mx, x))
				require.NoError(r, m.Adjoint(my, y))
				gotX, gotY := devicetest.Download(t, dev, mx), devicetest.Download(t, dev, my)
				missing := 0
				for i, v := range xs {
					want := float32(0)
					if known[i%len(known)] {
						want = v
					} else if i < len(known) {
						missing++
					}
					require.Equal(r, want, gotX[i])
				}
				require.Equal(r, missing, m.Missing())
				require.InDelta(r, devicetest.Dot(gotX, ys), devicetest.Dot(xs, gotY), 1e-12*(1+devicetest.Dot(xs, xs)+devicetest.Dot(ys, ys)))
				bound, reason := m.Norm()
				require.NotEmpty(r, reason)
				estimate := devicetest.Norm(t, dev, m, 3)
				require.LessOrEqual(r, estimate, bound*(1+1e-6))
				require.InDelta(r, bound, estimate, 1e-6)
				require.NoError(r, operatortest.TestLinear(dev, m))
			})
		})
	}
}

func TestMaskRefuses(t *testing.T) {
	dev := cputest.Open(t, cpu.Threads(1))
	defer dev.Close()
	for _, s := range [][3]int{{0, 4, 0}, {4, -1, 4}, {2, 3, 5}, {math.MaxInt, math.MaxInt, 1}} {
		_, err := NewMask(dev, make([]bool, s[2]), s[0], s[1])
		require.ErrorContains(t, err, "inpaint: mask of ")
	}
	m, err := NewMask(dev, make([]bool, 12), 3, 4)
	require.NoError(t, err)
	bound, reason := m.Norm()
	require.Zero(t, bound, reason)
	require.ErrorContains(t, m.Diffuse(t.Context(), make([]float32, 12), make([]float32, 12)), "no pixel")
	require.ErrorContains(t, m.Diffuse(t.Context(), make([]float32, 12), make([]float32, 13)), "samples")
	x, _ := devicetest.Noise(t, dev, 1, 3, 4, 1)
	y, _ := devicetest.Noise(t, dev, 1, 4, 3, 1)
	z, _ := devicetest.Noise(t, dev, 2, 3, 4, 1)
	require.ErrorIs(t, m.Apply(x, y), backend.ErrShape)
	require.ErrorIs(t, m.Apply(y, x), backend.ErrShape)
	require.ErrorIs(t, m.Apply(x, z), backend.ErrShape)
	m.Free()
	m.Free()
	w, _ := devicetest.Noise(t, dev, 1, 3, 4, 1)
	require.ErrorIs(t, m.Apply(w, x), backend.ErrFreed)
	require.NoError(t, dev.Close())
	_, err = NewMask(dev, make([]bool, 12), 3, 4)
	require.ErrorIs(t, err, backend.ErrClosed)
}

// A diffusion leaves known pixels alone, stays between them (the maximum principle), and
// does not depend on threads or on what missing pixels had.
func TestDiffuse(t *testing.T) {
	dev, single := cputest.Open(t, cpu.Threads(2)), cputest.Open(t, cpu.Threads(1))
	defer dev.Close()
	defer single.Close()
	rapid.Check(t, func(r *rapid.T) {
		m, known := drawMask(r, dev)
		defer m.Free()
		known[rapid.IntRange(0, len(known)-1).Draw(r, "one")] = true
		m, err := NewMask(dev, known, m.h, m.w)
		require.NoError(r, err)
		defer m.Free()
		x, _ := devicetest.Noise(t, dev, 2, m.h, m.w, 7)
		src := devicetest.Download(t, dev, x)
		dst := make([]float32, len(src))
		require.NoError(r, m.Diffuse(t.Context(), dst, src))
		for c := range 2 {
			lo, hi := float32(math.Inf(1)), float32(math.Inf(-1))
			for i, k := range known {
				if v := src[c*len(known)+i]; k {
					require.Equal(r, v, dst[c*len(known)+i])
					lo, hi = min(lo, v), max(hi, v)
				}
			}
			for i := range known {
				v := dst[c*len(known)+i]
				require.True(r, v >= lo-1e-6 && v <= hi+1e-6, "%v is not in [%v, %v]", v, lo, hi)
			}
		}
		for i := range src {
			if !known[i%len(known)] {
				src[i] = float32(math.NaN())
			}
		}
		other, err := NewMask(single, known, m.h, m.w)
		require.NoError(r, err)
		defer other.Free()
		require.NoError(r, other.Diffuse(t.Context(), src, src))
		require.Equal(r, dst, src)
	})
}

// A ramp is harmonic: a hole in it of any size is filled with it, nearly.
func TestDiffuseContinuesARamp(t *testing.T) {
	dev := cputest.Open(t, cpu.Threads(2))
	defer dev.Close()
	const h, w = 75, 90
	for _, side := range []int{3, 12, 31, 50} {
		ramp, known := make([]float32, h*w), make([]bool, h*w)
		for i := range ramp {
			y, x := i/w, i%w
			ramp[i] = float32(x)/w + float32(y)/(2*h)
			known[i] = y < 10 || y >= 10+side || x < 15 || x >= 15+side
		}
		m, err := NewMask(dev, known, h, w)
		require.NoError(t, err)
		filled := make([]float32, len(ramp))
		require.NoError(t, m.Diffuse(t.Context(), filled, ramp))
		worst := 0.0
		for i := range ramp {
			worst = max(worst, math.Abs(float64(filled[i]-ramp[i])))
		}
		require.Less(t, worst, 0.02+0.1*float64(side)/w, "a hole of %d pixels", side)
		m.Free()
	}
}
