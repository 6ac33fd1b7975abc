package restore

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestOptionsDocumentation: the table in the documentation of Option says of every option what the
// code does.
func TestOptionsDocumentation(t *testing.T) {
	source, err := os.ReadFile("options.go")
	require.NoError(t, err)
	table, _, found := strings.Cut(string(source), "\ntype Option interface {")
	require.True(t, found)
	tasks := []task{taskDenoise, taskDeblur, taskInpaint, taskUpscale, taskSolve, taskCheck, taskDenoiseRaw}
	documented := map[string][]task{}
	var names []string
	for _, line := range regexp.MustCompile(`(?m)^//\t.*$`).FindAllString(table, -1) {
		left, right := strings.TrimPrefix(line, "//\t"), ""
		if i := strings.Index(left, "   "); i >= 0 {
			left, right = left[:i], strings.TrimSpace(left[i:])
		}
		names = append(names, strings.FieldsFunc(left, func(r rune) bool { return r == ',' || r == ' ' })...)
		if right == "" { // the names go on
			continue
		}
		var of []task
		rest, all := strings.CutPrefix(right, "all")
		but := strings.TrimPrefix(rest, " but ")
		for _, one := range tasks {
			if named := regexp.MustCompile(`\b` + string(one) + `\b`).MatchString(but); named != all {
				of = append(of, one)
			}
		}
		if strings.HasPrefix(right, "New") {
			of = []task{taskNew}
		}
		if right == string(taskEstimateKernel) {
			of = []task{taskEstimateKernel}
		}
		for _, name := range names {
			documented[name] = of
		}
		names = nil
	}
	require.Empty(t, names)
	require.Greater(t, len(documented), 20)
	for name, of := range documented {
		want, some := belongs[name]
		if !some {
			want = tasks
		}
		require.Equal(t, slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(of)), name)
	}
	for name := range belongs {
		require.Contains(t, documented, name)
	}
}
