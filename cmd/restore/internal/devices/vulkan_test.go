//go:build !novulkan

package devices

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend/vulkan"
	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/internal/vulkan/vulkantest"
)

// The race is held once for a device, and who loses it is not taken.
func TestRacesAreRemembered(t *testing.T) {
	all, err := vulkan.Devices()
	vulkantest.Need(t, err, err == nil && all[0].Kind == vulkan.Processor)
	g := all[0]
	cache := t.TempDir()
	for _, name := range []string{"XDG_CACHE_HOME", "HOME", "LocalAppData"} {
		t.Setenv(name, cache)
	}
	p := &message.Printer{Stderr: os.Stderr, Quiet: true}
	for _, wins := range []bool{true, false} {
		writeRaces(p, map[string]raceResult{raceKey(g): {GPU: 1, CPU: 2, Wins: wins}})
		dev := fasterThanProcessor(p, g, 1)
		require.Equal(t, wins, dev != nil)
		if dev != nil {
			require.NoError(t, dev.Close())
		}
	}
	require.NoError(t, os.WriteFile(racesFile(), []byte("no JSON"), 0o600))
	require.Empty(t, readRaces())
	require.NoError(t, os.RemoveAll(filepath.Dir(racesFile())))
	dev := fasterThanProcessor(p, g, 1)
	result, held := readRaces()[raceKey(g)]
	require.True(t, held)
	require.Equal(t, result.Wins, dev != nil)
	require.Equal(t, result.GPU < result.CPU, result.Wins)
	require.Positive(t, result.GPU)
	if dev != nil {
		require.NoError(t, dev.Close())
	}
}
