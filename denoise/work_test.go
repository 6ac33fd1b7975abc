package denoise

import (
	"errors"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/denoise/activation"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/averaged/imaging/weights"
)

// endless are small models that ask for much: of time to be applied, of time to be proven, and of memory.
func endless(t *testing.T) map[string]Model {
	t.Helper()
	one := func(width, kernel, steps int, integrator rungekutta.Tableau) Model {
		filter := make([]float32, width*kernel*kernel)
		for i := range filter {
			filter[i] = 1e-3 * float32(1+i%5)
		}
		return Model{
			Channels: 1, Width: width, Kernel: kernel, Activation: activation.LeakyReLU(0.01), Integrator: integrator,
			Blocks: []Block{{Filter: filter, Steps: steps}},
		}
	}
	proof := one(1, 51, 1, rungekutta.ForwardEuler())
	for range 80 {
		proof.Blocks = append(proof.Blocks, proof.Blocks[0])
	}
	many := one(4, 3, 9000, rungekutta.ForwardEuler())
	for range 5 {
		many.Blocks = append(many.Blocks, many.Blocks[0])
	}
	rk4, err := rungekutta.Named("rk4")
	require.NoError(t, err)
	hard := one(1, 1, 400, rungekutta.BackwardEuler())
	hard.Blocks[0].Filter[0], hard.Blocks[0].Length = 200, 400
	return map[string]Model{
		"steps":          one(1, 3, 1<<16, rungekutta.ForwardEuler()),
		"stages":         one(2, 3, 1<<14, rk4),
		"steps in parts": many,
		"proof":          proof,
		"inner steps":    hard,
		"memory":         one(600, 1, 1, rungekutta.BackwardEuler()),
	}
}

func workCard() weights.Card {
	return weights.Card{Name: "endless", Sigma: 0.1, Licence: "Apache-2.0", Provenance: weights.Provenance{Software: "a test", Data: "none"}}
}

// What asks for too much is refused before it is begun, whether its file has a certificate, none, or is to be
// believed without one.
func TestEndlessWorkIsRefused(t *testing.T) {
	dev := newCPU(t)
	for name, m := range endless(t) {
		var refused *WorkError
		f, err := m.File(workCard(), Certificate{})
		require.NoError(t, err)
		_, err = Load(t.Context(), dev, f)
		require.ErrorIs(t, err, ErrWork, name)
		require.True(t, errors.As(err, &refused), name)
		require.EqualValues(t, DefaultWorkLimit, refused.Limit)
		require.True(t, refused.Work.Total() > refused.Limit || refused.Work.Memory > maxMemory, "%s: %+v", name, refused)
		if name == "proof" { // without the proof there is no work
			require.Greater(t, 10*refused.Work.Proof, refused.Limit)
			continue
		}
		_, err = Load(t.Context(), dev, f, Uncertified())
		require.ErrorIs(t, err, ErrWork, name)
		_, err = New(t.Context(), dev, m, Certificate{})
		require.ErrorIs(t, err, ErrWork, name)
		c, err := m.Certify(t.Context(), 0)
		require.NoError(t, err, name)
		f, err = m.File(workCard(), c)
		require.NoError(t, err)
		_, err = Load(t.Context(), dev, f)
		require.ErrorIs(t, err, ErrWork, name)
		w, err := m.Work(c)
		require.NoError(t, err)
		require.GreaterOrEqual(t, w.Total(), refused.Work.Total(), name)
		n, err := Load(t.Context(), dev, f, WorkLimit(math.Inf(1)))
		require.NoError(t, err, name)
		require.Equal(t, w.Pixel, n.Work().Pixel)
		n.Free()
	}
}

// The networks of the library are far below the limit, and the limit must be a number above 0.
func TestWorkOfOwnNetworks(t *testing.T) {
	dev := newCPU(t)
	m, err := RandomModel(1, Architecture{}, 1)
	require.NoError(t, err)
	for _, integrator := range rungekutta.Integrators() {
		m.Integrator = integrator
		for i := range m.Blocks {
			m.Blocks[i].Steps = 1
		}
		w, err := m.Work(Certificate{})
		require.NoError(t, err)
		require.Less(t, 5*w.Total(), float64(DefaultWorkLimit), "the paper's network of %s", integrator.Name)
		require.Less(t, 4*w.Memory, float64(maxMemory))
	}
	for _, limit := range []float64{0, -1, math.NaN()} {
		_, err := New(t.Context(), dev, m, Certificate{}, WorkLimit(limit))
		require.ErrorContains(t, err, "must be above 0")
	}
	require.Equal(t, "70 seconds", Work{Pixel: 7e6}.InWords())
	require.Equal(t, "7 minutes", Work{Pixel: 4e7}.InWords())
	require.Regexp(t, "^[0-9]+ days$", Work{Pixel: math.Inf(1)}.InWords())
}
