package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/averaged/imaging/cmd/restore/internal/build"
	"github.com/averaged/imaging/cmd/restore/internal/manual"
	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/internal/atomicfile"
)

func (a *app) manCommand() *cobra.Command {
	var output string
	var force bool
	c := &cobra.Command{
		Use:   "man [COMMAND]... [-o DIR/]",
		Short: "Print the manual page of a command, or write all of them",
		Long: `Prints the manual page of a command, without one that of the program, in the
language of man(1). It says more than --help does. -o DIR/ writes the pages of all
commands into a folder instead; in a folder man1 of those that 'manpath' lists, man
finds them.`,
		Example: `  restore man deblur | man -l -
  restore man -o ~/.local/share/man/man1/`,
		RunE: func(c *cobra.Command, args []string) error {
			about, err := findCommand(c, args)
			if err != nil {
				return err
			}
			if output == "" {
				_, err := io.WriteString(a.stdout, manPage(about))
				return err
			}
			if len(args) > 0 {
				return usagef("man: -o writes the pages of all commands; leave %s out", message.OneLine(strings.Join(args, " ")))
			}
			return a.writeManPages(c.Context(), about, output, force)
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "", "write the pages of all commands into the folder `DIR/`")
	c.Flags().BoolVar(&force, "force", false, "overwrite pages that exist")
	return c
}

// writeManPages writes the pages of a command and those below it into a folder.
func (a *app) writeManPages(ctx context.Context, c *cobra.Command, folder string, force bool) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return fileError{folder, err}
	}
	path := filepath.Join(folder, manual.Name(c)+".1")
	page := manPage(c)
	err := atomicfile.WriteBytes(ctx, path, force, []byte(page))
	if err != nil {
		return fileError{path, err}
	}
	for _, sub := range manual.Commands(c) {
		if err := a.writeManPages(ctx, sub, folder, force); err != nil {
			return err
		}
	}
	return nil
}

// manPage is the page of a command of this program.
func manPage(c *cobra.Command) string {
	b := build.This()
	return manual.Page(c, b.Version, b.CommitDate)
}
