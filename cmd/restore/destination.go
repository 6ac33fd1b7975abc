package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/cmd/restore/internal/plan"
)

// destination holds the flags about where results go.
type destination struct{ plan.Destination }

func (d *destination) bind(c *cobra.Command) {
	f := c.Flags()
	f.StringVarP(&d.Output, "output", "o", "",
		fmt.Sprintf("write to `FILE`, DIR/ or - (standard output); default: NAME%s.EXT beside the input", d.Suffix))
	f.BoolVar(&d.Recursive, "recursive", false, "take all images in folders and in the folders below")
	f.BoolVar(&d.Force, "force", false, "overwrite results that exist")
	f.BoolVar(&d.SkipExisting, "skip-existing", false, "skip inputs whose result exists, to resume a batch")
}

// plan lists the tasks for the inputs on the command line. Its error is a usageError, or that of the context.
func (d *destination) plan(ctx context.Context, args []string) ([]plan.Task, error) {
	tasks, err := d.Tasks(ctx, args)
	if err != nil && ctx.Err() == nil {
		err = usageError{err}
	}
	return tasks, err
}

// protect refuses a result that would take the place of another file that the
// command reads.
func (d *destination) protect(tasks []plan.Task, files ...string) error {
	for _, f := range files {
		for _, t := range tasks {
			if f == message.StandardStream && t.Input == message.StandardStream {
				return usagef("- (standard input) can be read once; name a file for the other")
			}
			if f != "" && t.Output != message.StandardStream && plan.Same(f, t.Output) {
				return usagef("%s: the result would take the place of this file, which is read too; write -o to another file", message.OneLine(f))
			}
		}
	}
	return nil
}
