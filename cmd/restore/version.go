package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"

	"github.com/averaged/imaging/backend/cpu"
)

// build is how the program was built.
type build struct {
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

// cpuInfo says which instruction sets there are, and which one is in use.
type cpuInfo struct {
	Level  string   `json:"level"`
	Levels []string `json:"levels"`
}

// thisBuild is how this program was built.
func thisBuild() build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{Main: debug.Module{Version: "unknown"}}
	}
	return buildOf(info)
}

// buildOf reads what the go command has recorded. The version is that of the module, which in a
// checkout is the tag of its commit.
func buildOf(info *debug.BuildInfo) build {
	b := build{
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

// cpuLevels lists the instruction sets beside the one in use.
func cpuLevels(inUse string) cpuInfo {
	c := cpuInfo{Level: inUse}
	for _, l := range cpu.InstructionSets() {
		c.Levels = append(c.Levels, l.String())
	}
	return c
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long: `Prints the version, and of what it was built. --json also has the commit and its
date, the build tags, and the level of the processor's instruction set in use.`,
		Example: "  restore version\n  restore version --json",
		Args:    inputs(0, 0, "no input"),
		RunE: func(*cobra.Command, []string) error {
			b := thisBuild()
			if !a.json {
				a.result("restore %s (%s, %s/%s)", b.Version, b.Go, b.OS, b.Arch)
				return nil
			}
			level, err := cpu.Selected()
			if err != nil {
				return usageError{err}
			}
			return a.printJSON(struct {
				Schema  int    `json:"schema"`
				Command string `json:"command"`
				build
				CPU cpuInfo `json:"cpu"`
			}{schema, "version", b, cpuLevels(level.String())})
		},
	}
}
