package main

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/restore"
)

// infoRecord is the JSON object of info.
type infoRecord struct {
	Schema  int      `json:"schema"`
	Command string   `json:"command"`
	Version string   `json:"version"`
	Go      string   `json:"go"`
	OS      string   `json:"os"`
	Arch    string   `json:"arch"`
	CPU     cpuInfo  `json:"cpu"`
	Devices []device `json:"devices"`
	// Weights are the networks that the binary carries.
	Weights []string     `json:"weights"`
	Methods []methodInfo `json:"methods"`
}

type cpuInfo struct {
	Level  string   `json:"level"`
	Levels []string `json:"levels"`
}

type device struct {
	Name    string `json:"name"`
	Model   string `json:"model"`
	Threads int    `json:"threads"`
	Memory  int64  `json:"memory_limit"` // bytes; 0: no limit of its own
}

type methodInfo struct {
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Certified   bool     `json:"certified"`
	Certificate []string `json:"certificate"` // empty for networks, whose weights have one each
	// NeedsWeights: --weights must be given.
	NeedsWeights bool `json:"needs_weights"`
}

func (a *app) infoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "info",
		Short: "Show the version, devices, methods and certificates",
		Long: `Shows the version, the devices that --backend can name, the instruction set in use
and those that there are, the networks whose weights are embedded, and the methods
with their certificates. The certificate of a network belongs to its weights:
'restore check --weights FILE' prints and tests it.

The environment variable ` + cpu.LevelVariable + ` chooses another instruction set, by its name.`,
		Example: `  restore info
  ` + cpu.LevelVariable + `=portable restore info --json`,
		Args: inputs(0, 0, "no input"),
		RunE: func(c *cobra.Command, _ []string) error {
			rec, err := gatherInfo(c.Context())
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(rec)
			}
			a.result("restore   %s, %s, %s/%s", rec.Version, rec.Go, rec.OS, rec.Arch)
			for _, d := range rec.Devices {
				a.result("device    %s: %s, %d threads", d.Name, d.Model, d.Threads)
			}
			a.result("CPU       level %s in use; there is: %s", rec.CPU.Level, strings.Join(rec.CPU.Levels, ", "))
			a.result("weights   none embedded: no trained networks are shipped yet")
			for _, m := range rec.Methods {
				needs := ""
				if m.NeedsWeights {
					needs = "; needs --weights FILE"
				}
				a.result("method    %s: %s%s", m.Name, m.Description, needs)
				for _, l := range m.Certificate {
					a.result("          %s", l)
				}
			}
			return nil
		},
	}
}

func gatherInfo(ctx context.Context) (*infoRecord, error) {
	level, err := cpu.Selected()
	if err != nil {
		return nil, usageError{err}
	}
	dev := cpu.New()
	defer dev.Close() // its only error would be of work that has been waited for
	d := dev.Description()
	rec := &infoRecord{
		Schema: schema, Command: "info", Version: buildVersion(),
		Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		CPU:     cpuInfo{Level: level.String()},
		Devices: []device{{Name: d.Name, Model: d.Model, Threads: d.Threads, Memory: d.Memory}},
		Weights: []string{},
	}
	for _, l := range cpu.Levels() {
		rec.CPU.Levels = append(rec.CPU.Levels, l.String())
	}
	for _, m := range restore.Methods() {
		about := methodInfo{Name: m.Name, Description: m.Description, Certified: m.Certified, Certificate: []string{}, NeedsWeights: m.NeedsWeights}
		if m.NeedsWeights {
			rec.Methods = append(rec.Methods, about)
			continue
		}
		report, err := restore.Check(ctx, nil, deblur.Kernel{}, restore.UseMethod(m.Name), restore.OnDevice(dev))
		if err != nil {
			return nil, err
		}
		about.Certificate = inGeneral(report.Denoiser)
		rec.Methods = append(rec.Methods, about)
	}
	return rec, nil
}

// inGeneral leaves out of a certificate the definition of its map, which has the
// numbers of one problem in it.
func inGeneral(certificate string) []string {
	return slices.DeleteFunc(lines(certificate), func(line string) bool { return strings.HasPrefix(line, "Φ = ") })
}

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  inputs(0, 0, "no input"),
		RunE: func(*cobra.Command, []string) error {
			if a.json {
				return a.printJSON(struct {
					Schema  int    `json:"schema"`
					Command string `json:"command"`
					Version string `json:"version"`
					Go      string `json:"go"`
				}{schema, "version", buildVersion(), runtime.Version()})
			}
			a.result("restore %s (%s, %s/%s)", buildVersion(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return nil
		},
	}
}

// buildVersion is the module's version, or the revision it was built from.
func buildVersion() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	revision, dirty := "", ""
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			revision = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			dirty = "+dirty"
		}
	}
	if revision == "" {
		return "(devel)"
	}
	return fmt.Sprintf("devel-%.12s%s", revision, dirty)
}
