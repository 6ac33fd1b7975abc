package main

import (
	"github.com/spf13/cobra"

	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/cmd/restore/internal/inventory"
)

func (a *app) infoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "info",
		Short: "Show the version, devices, methods and certificates",
		Long: `Shows the version, the devices that --backend can name, the instruction sets, the
networks whose weights are part of this program, how to get the others, and the
methods. For a network it shows how many parameters it has, for what noise it was
trained, the licence of its weights, the terms of the photographs that it learned
from, the checksum, and what is proven of it;
'restore check --prior NAME' prints the certificate, proves it anew and tests it,
and 'restore check --weights FILE' that of any other network.

The environment variable ` + cpu.InstructionSetVariable + ` chooses another instruction set, by its name.`,
		Example: `  restore info
  ` + cpu.InstructionSetVariable + `=portable restore info --json`,
		Args: inputs(0, 0, "no input"),
		RunE: func(c *cobra.Command, _ []string) error {
			all, err := inventory.Take(c.Context())
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(all)
			}
			for _, line := range all.Lines() {
				a.result("%s", line)
			}
			return nil
		},
	}
}
