package networks

import (
	"math"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/denoise/refute"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/weights"
	"github.com/stretchr/testify/require"
)

// A file can ask for so many steps that the gradient of the attack would not fit into
// memory; the attack then goes without it.
func TestAttackKeepsToItsMemory(t *testing.T) {
	dev := cputest.Open(t)
	defer dev.Close()
	for _, c := range []struct {
		steps     int
		gradients bool
	}{{2, true}, {30000, false}} {
		m, err := denoise.RandomModel(1, denoise.Architecture{Width: 4, Blocks: 2}, 0.1)
		require.NoError(t, err)
		for i := range m.Blocks {
			m.Blocks[i].Steps = c.steps
		}
		f, err := m.File(weights.Card{
			Name: "seeded", Sigma: 0.1, Licence: "Apache-2.0",
			Provenance: weights.Provenance{Software: "random weights from a seed", Data: "none"},
		}, denoise.Certificate{})
		require.NoError(t, err)
		for _, options := range [][]denoise.Option{{denoise.WorkLimit(math.MaxFloat64)}, {denoise.WorkLimit(math.MaxFloat64), denoise.Uncertified()}} {
			n, err := denoise.Load(t.Context(), dev, f, options...)
			require.NoError(t, err)
			defer n.Free()
			target := (&Fitted{Network: n}).Target()
			if c.gradients {
				require.Same(t, n, target)
				continue
			}
			require.NotEqual(t, denoise.Denoiser(n), target)
			require.Implements(t, (*denoise.InexactDenoiser)(nil), target)
		}
	}
	// What target hides is the gradient.
	m, err := denoise.RandomModel(1, denoise.Architecture{Width: 4, Blocks: 1}, 1)
	require.NoError(t, err)
	c, err := m.Certify(t.Context(), 0)
	require.NoError(t, err)
	n, err := denoise.New(t.Context(), dev, m, c)
	require.NoError(t, err)
	defer n.Free()
	for _, d := range []denoise.Denoiser{n, struct{ denoise.InexactDenoiser }{n}} {
		report, err := refute.Attack(t.Context(), d, backend.Image(3, 8, 8), refute.AttackOptions{Restarts: 1, Iterations: 3})
		require.NoError(t, err)
		require.Equal(t, d == denoise.Denoiser(n), report.Gradients)
	}
}
