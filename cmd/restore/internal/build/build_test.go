package build

import (
	"runtime/debug"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestBuild(t *testing.T) {
	setting := func(key, value string) debug.BuildSetting { return debug.BuildSetting{Key: key, Value: value} }
	checkout := []debug.BuildSetting{
		setting("-tags", "cuda,noasm"), setting("vcs.revision", "0123456789abcdef"),
		setting("vcs.time", "2026-01-02T03:04:05Z"), setting("vcs.modified", "true"),
	}
	for _, c := range []struct {
		info debug.BuildInfo
		want Info
	}{
		{debug.BuildInfo{}, Info{Version: "(devel)", Tags: []string{}}},
		{debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}, Info{Version: "v1.2.3", Tags: []string{}}},
		{debug.BuildInfo{Main: debug.Module{Version: "(devel)"}, Settings: checkout}, Info{
			Version: "devel-0123456789ab+dirty", Commit: "0123456789abcdef", CommitDate: "2026-01-02T03:04:05Z",
			Modified: true, Tags: []string{"cuda", "noasm"},
		}},
	} {
		got := of(&c.info)
		require.NotEmpty(t, got.Go)
		require.NotEmpty(t, got.OS)
		require.NotEmpty(t, got.Arch)
		got.Go, got.OS, got.Arch = "", "", ""
		require.Equal(t, c.want, got)
	}
}
