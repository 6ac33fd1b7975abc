//go:build cuda

package cuda

import (
	"fmt"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
)

// A copy that is made late, or never, is one to everybody who looks: any order of operations around
// copies leaves what it leaves on the CPU.
func TestLateCopies(t *testing.T) {
	for _, channels := range []int{4, 16} { // by kernels without tensor cores, and with
		t.Run(fmt.Sprint(channels, " channels"), func(t *testing.T) { testLateCopies(t, channels) })
	}
}

func testLateCopies(t *testing.T, channels int) {
	d, host := open(t), cpu.New()
	defer shut(t, d)
	defer func() { require.NoError(t, host.Close()) }()
	devices := []backend.Device{d, host}
	s := backend.Image(channels, 5, 6)
	var filters []backend.Filter
	for _, dev := range devices {
		w, err := dev.Alloc(backend.Shape{N: channels, C: channels, H: 3, W: 3})
		require.NoError(t, err)
		require.NoError(t, dev.Gaussian(w, 1, 0, 0.1))
		f, err := dev.NewFilter(w)
		require.NoError(t, err)
		w.Free()
		filters = append(filters, f)
	}
	late := 0
	rapid.Check(t, func(t *rapid.T) {
		const count = 4
		buffers := make([][]backend.Buffer, len(devices))
		for i, dev := range devices {
			for k := range count {
				b, err := dev.Alloc(s)
				require.NoError(t, err)
				require.NoError(t, dev.Gaussian(b, uint64(k), 0, 1))
				buffers[i] = append(buffers[i], b)
			}
		}
		defer func() {
			for _, list := range buffers {
				for _, b := range list {
					b.Free()
				}
			}
		}()
		index := rapid.IntRange(0, count-1)
		for range rapid.IntRange(1, 12).Draw(t, "operations") {
			what := rapid.SampledFrom([]string{"copy", "copy", "adjoint", "adjoint", "scale", "draw", "replace", "view"}).Draw(t, "what")
			to, from := index.Draw(t, "to"), index.Draw(t, "from")
			beta := rapid.SampledFrom([]float32{0, 1, -0.5}).Draw(t, "beta")
			for i, dev := range devices {
				b := buffers[i]
				switch what {
				case "copy":
					require.NoError(t, dev.LinearCombination(b[to], backend.Term{A: 1, X: b[from]}))
				case "adjoint":
					if to == from {
						continue
					}
					if i == 0 && d.late.dst == b[to].(*buffer) {
						late++
					}
					require.NoError(t, dev.ConvolveAdjoint(b[to], b[from], filters[i], beta, 0.5))
				case "scale":
					require.NoError(t, dev.LinearCombination(b[to], backend.Term{A: 0.5, X: b[from]}))
				case "draw":
					require.NoError(t, dev.Gaussian(b[to], 9, 0, 1))
				case "replace": // the memory may be the old one
					b[to].Free()
					var err error
					b[to], err = dev.Alloc(s)
					require.NoError(t, err)
				case "view": // a copy into a part, which is then let go
					view, err := dev.Channels(b[to], 1, 2)
					require.NoError(t, err)
					other, err := dev.Channels(b[from], 0, 2)
					require.NoError(t, err)
					if to != from {
						require.NoError(t, dev.LinearCombination(view, backend.Term{A: 1, X: other}))
					}
					view.Free()
					other.Free()
				}
			}
		}
		for k := range count {
			var values [2][]float32
			for i, dev := range devices {
				values[i] = make([]float32, s.Len())
				require.NoError(t, dev.Download(values[i], buffers[i][k]))
			}
			for i, want := range values[1] {
				require.InDelta(t, want, values[0][i], 1e-4*(1+math.Abs(float64(want))))
			}
		}
	})
	require.Positive(t, late, "some copies were not made")
}
