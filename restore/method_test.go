package restore

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/weights"
)

// Whatever weights a build has, its methods are listed in the same order, and only networks without weights need some.
func TestMethodsOfBuilds(t *testing.T) {
	others := []string{"tv", "euler", "heun", "rk4", "ssprk3", "kutta3", "backward-euler", "dncnn"}
	for _, c := range []struct {
		embedded []string
		first    []string
	}{
		{nil, nil},
		{[]string{"euler"}, nil},
		{[]string{"fast", "dncnn"}, []string{"fast"}},
		{[]string{"small"}, []string{"small"}},
		{[]string{"general", "rk4"}, []string{"general"}},
		{[]string{"strict"}, []string{"strict"}},
		{[]string{"deblur"}, []string{"deblur"}},
		{weights.Names(), []string{"general", "strict", "guided", "original", "camera", "raw", "deblur", "fast", "small"}},
		{[]string{"original"}, []string{"original"}},
		{[]string{"guided"}, []string{"guided"}},
		{[]string{"guided", "camera"}, []string{"guided", "camera"}},
	} {
		var names, embedded []string
		for _, m := range methodsWith(c.embedded) {
			names = append(names, m.Name)
			if m.Embedded {
				embedded = append(embedded, m.Name)
			}
			require.NotEmpty(t, m.Description, m.Name)
			require.Equal(t, m.Name != "dncnn", m.Certified, m.Name)
			require.Equal(t, m.Name != "tv" && !m.Embedded, m.NeedsWeights, m.Name)
		}
		require.Equal(t, append(c.first, others...), names)
		require.ElementsMatch(t, c.embedded, embedded)
	}
	require.Equal(t, methodsWith(weights.Embedded()), Methods())
}

// Denoise and Deblur take the certificate of embedded weights for granted, Check proves it
// anew.
func TestCheckProvesAnew(t *testing.T) {
	smallest, least := "", math.MaxInt // one is enough
	for _, m := range Methods() {
		if !m.Embedded || !m.Certified {
			continue
		}
		f, err := weights.Open(m.Name)
		require.NoError(t, err)
		if n := f.Parameters(); n < least {
			smallest, least = m.Name, n
		}
	}
	require.NotEmpty(t, smallest, "no embedded network has a certificate")
	r, err := New()
	require.NoError(t, err)
	defer r.close()
	origin := func(of task, options ...Option) string {
		c, err := r.plan(of, options)
		require.NoError(t, err)
		f, err := c.choice.Fit(t.Context(), r.device, 3, 0.1, 1)
		require.NoError(t, err)
		defer f.Free()
		return f.Certificate().Origin
	}
	require.Contains(t, origin(taskDenoise, Method(smallest)), "part of this library")
	require.Contains(t, origin(taskCheck, Method(smallest)), "verified when they were loaded")
}
