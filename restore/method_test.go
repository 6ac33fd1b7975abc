package restore

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/weights"
)

// Whatever weights a build has, its methods are listed in the same order, the default of
// Denoise is the network for all noise levels or total variation, and only networks without
// weights need some.
func TestMethodsOfBuilds(t *testing.T) {
	others := []string{"tv", "euler", "heun", "rk4", "ssprk3", "kutta3", "backward-euler", "dncnn"}
	for _, c := range []struct {
		embedded []string
		first    []string
		standard string
		prior    string
	}{
		{nil, nil, "tv", "tv"},
		{[]string{"euler"}, nil, "tv", "tv"},
		{[]string{"fast", "dncnn"}, []string{"fast"}, "tv", "tv"},
		{[]string{"small"}, []string{"small"}, "tv", "tv"},
		{[]string{"general", "rk4"}, []string{"general"}, "general", "general"},
		{[]string{"strict"}, []string{"strict"}, "strict", "strict"},
		{[]string{"deblur"}, []string{"deblur"}, "tv", "deblur"},
		{weights.Names(), []string{"general", "strict", "guided", "original", "camera", "deblur", "fast", "small"}, "guided", "original"},
		{[]string{"original"}, []string{"original"}, "tv", "original"},
		{[]string{"guided"}, []string{"guided"}, "guided", "guided"},
		{[]string{"guided", "camera"}, []string{"guided", "camera"}, "guided", "guided"},
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
		require.Equal(t, c.standard, defaultMethodWith(c.embedded))
		require.Equal(t, c.prior, defaultPriorWith(c.embedded))
	}
	require.Equal(t, methodsWith(weights.Embedded()), Methods())
	require.Equal(t, defaultMethodWith(weights.Embedded()), DefaultMethod())
	require.Equal(t, defaultPriorWith(weights.Embedded()), DefaultPrior())
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
		c, err := r.settings(of, options)
		require.NoError(t, err)
		f, err := c.fit(t.Context(), r.device, 3, 0.1)
		require.NoError(t, err)
		defer f.free()
		return f.Certificate().Origin
	}
	require.Contains(t, origin(taskDenoise, Method(smallest)), "part of this library")
	require.Contains(t, origin(taskCheck, Method(smallest)), "verified when they were loaded")
}
