package networks

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/weights"
	_ "github.com/averaged/imaging/weights/research"
)

// Whatever weights a build has, the default of Denoise is the network for all noise levels or total variation.
func TestDefaultsOfBuilds(t *testing.T) {
	for _, c := range []struct {
		embedded        []string
		standard, prior string
	}{
		{nil, "tv", "tv"},
		{[]string{"euler"}, "tv", "tv"},
		{[]string{"fast", "dncnn"}, "tv", "tv"},
		{[]string{"small"}, "tv", "tv"},
		{[]string{"general", "rk4"}, "general", "general"},
		{[]string{"strict"}, "strict", "strict"},
		{[]string{"deblur"}, "tv", "deblur"},
		{weights.Names(), "guided", "original"},
		{[]string{"original"}, "tv", "original"},
		{[]string{"guided"}, "guided", "guided"},
		{[]string{"guided", "camera"}, "guided", "guided"},
	} {
		require.Equal(t, c.standard, defaultMethod(c.embedded))
		require.Equal(t, c.prior, defaultPrior(c.embedded))
	}
	require.Equal(t, defaultMethod(weights.Embedded()), DefaultMethod())
	require.Equal(t, defaultPrior(weights.Embedded()), DefaultPrior())
}
