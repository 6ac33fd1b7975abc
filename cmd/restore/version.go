package main

import (
	"github.com/spf13/cobra"

	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/cmd/restore/internal/build"
	"github.com/averaged/imaging/cmd/restore/internal/inventory"
	"github.com/averaged/imaging/cmd/restore/internal/record"
)

func (a *app) versionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Long: `Prints the version, and of what it was built. --json also has the commit and its
date, the build tags, and the level of the processor's instruction set in use.`,
		Example: "  restore version\n  restore version --json",
		Args:    inputs(0, 0, "no input"),
		RunE: func(*cobra.Command, []string) error {
			b := build.This()
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
				build.Info
				CPU inventory.CPU `json:"cpu"`
			}{record.Schema, "version", b, inventory.CPUOf(level.String())})
		},
	}
}
