package arrows

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// ARCHITECTURE.md names every internal package, and none that is not there.
func TestArchitectureNamesInternalPackages(t *testing.T) {
	packages, err := readModule("../..")
	require.NoError(t, err)
	var folders []string
	for folder := range packages {
		folders = append(folders, folder)
	}
	text, err := os.ReadFile("../../ARCHITECTURE.md")
	require.NoError(t, err)
	unnamed, gone := compareNamed(string(text), folders)
	require.Empty(t, unnamed, "internal packages that ARCHITECTURE.md does not name: add each to its table, with what it is for")
	require.Empty(t, gone, "packages that ARCHITECTURE.md names and that are not there")
}

// compareNamed returns the internal folders that a text does not name between backticks, and the names
// of internal packages in it that are no folder.
func compareNamed(text string, folders []string) (unnamed, gone []string) {
	var named []string
	for i, quoted := range strings.Split(text, "`") {
		// A name with a dot is that of a file.
		if i%2 == 1 && isInternal(quoted) && !strings.ContainsAny(quoted, ". ") {
			named = append(named, quoted)
		}
	}
	for _, folder := range folders {
		if isInternal(folder) && !slices.Contains(named, folder) {
			unnamed = append(unnamed, folder)
		}
	}
	for _, name := range named {
		if !slices.Contains(folders, name) {
			gone = append(gone, name)
		}
	}
	slices.Sort(unnamed)
	slices.Sort(gone)
	return unnamed, slices.Compact(gone)
}

// isInternal tells whether a folder is that of an internal package.
func isInternal(folder string) bool {
	return slices.Contains(strings.Split(folder, "/"), "internal")
}

// The comparison itself finds what it must.
func TestCompareNamedFindsWhatIsMissing(t *testing.T) {
	unnamed, gone := compareNamed("`internal/a` and `b/internal/old`, `internal/a/x.go`, internal/c", []string{"internal/a", "internal/c", "public"})
	require.Equal(t, []string{"internal/c"}, unnamed)
	require.Equal(t, []string{"b/internal/old"}, gone)
}
