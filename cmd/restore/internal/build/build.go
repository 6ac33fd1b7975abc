// Package build tells how the program was built.
package build

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// Info is how a program was built.
type Info struct {
	Version string `json:"version"`
	// Commit and CommitDate (RFC 3339) are of the checkout that it was built in; Modified: there
	// were changes in it that were not committed.
	Commit     string `json:"commit,omitempty"`
	CommitDate string `json:"commit_date,omitempty"`
	Modified   bool   `json:"modified,omitempty"`
	Go         string `json:"go"`
	OS         string `json:"os"`
	Arch       string `json:"arch"`
	// Tags are the build tags, such as cuda and noasm.
	Tags []string `json:"tags"`
}

// This is how this program was built.
func This() Info {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{Main: debug.Module{Version: "unknown"}}
	}
	return of(info)
}

// of reads what the go command has recorded. The version is that of the module, which in a
// checkout is the tag of its commit.
func of(info *debug.BuildInfo) Info {
	b := Info{
		Version: info.Main.Version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH, Tags: []string{},
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.CommitDate = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		case "-tags":
			b.Tags = strings.Split(s.Value, ",")
		}
	}
	if b.Version == "" {
		b.Version = "(devel)"
	}
	if b.Version == "(devel)" && b.Commit != "" {
		b.Version = fmt.Sprintf("devel-%.12s", b.Commit)
		if b.Modified {
			b.Version += "+dirty"
		}
	}
	return b
}
