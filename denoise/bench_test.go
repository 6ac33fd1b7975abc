package denoise

import (
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/denoise/dncnn"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/stretchr/testify/require"
)

// BenchmarkApply is the paper's networks on an image of 128×128 pixels; GFLOP/s are by
// the direct formula, two operations for each weight and pixel.
func BenchmarkApply(b *testing.B) {
	dev := newCPU(b, cpu.Threads(0))
	s := backend.Image(3, 128, 128)
	src, dst := upload(b, dev, s, randomImage(1, s)), upload(b, dev, s, randomImage(2, s))
	run := func(name string, n *Network, weights int) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				require.NoError(b, n.Apply(b.Context(), dst, src))
			}
			b.ReportMetric(2*float64(weights)*float64(s.Plane())*float64(b.N)/b.Elapsed().Seconds()/1e9, "GFLOP/s")
		})
	}
	for _, integrator := range []rungekutta.Tableau{rungekutta.ForwardEuler(), rungekutta.Heun(), rungekutta.RK4()} {
		m, err := RandomModel(1, Architecture{Integrator: integrator}, 1)
		require.NoError(b, err)
		run(integrator.Name, certified(b, dev, m), 10*2*integrator.Stages()*64*64*9)
	}
	d, err := dncnn.Random(1, 3, 64, 18)
	require.NoError(b, err)
	n, err := NewDnCNN(dev, d)
	require.NoError(b, err)
	run("dncnn", n, 18*64*64*9+2*3*64*9)
}

// BenchmarkCertify is one filter of 64×64×3×3, to the default tolerance.
func BenchmarkCertify(b *testing.B) {
	m, err := RandomModel(1, Architecture{Blocks: 1}, 1)
	require.NoError(b, err)
	b.Run("certify", func(b *testing.B) {
		for b.Loop() {
			_, err := m.Certify(b.Context(), 0)
			require.NoError(b, err)
		}
	})
	c, err := m.Certify(b.Context(), 0)
	require.NoError(b, err)
	b.Run("verify", func(b *testing.B) {
		for b.Loop() {
			require.NoError(b, m.Verify(b.Context(), c))
		}
	})
}
