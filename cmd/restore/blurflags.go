package main

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/restore"
)

// blurFlags are the flags about a blur that is removed, alone or along with other things.
type blurFlags struct {
	kernelFile string
	boundary   choice
	blur       deblur.Kernel // once loaded; the zero value is none
}

// removedBlur is the kernel of the blur that is removed, the zero value if there is none.
func (b *blurFlags) removedBlur() deblur.Kernel { return b.blur }

func (b *blurFlags) bindKernel(c *cobra.Command, usage string) {
	c.Flags().StringVarP(&b.kernelFile, "kernel", "k", "", usage)
}

// loadBlur returns the options about a blur that is removed along with other things, if there is
// one.
func (b *blurFlags) loadBlur(ctx context.Context, a *app, r reading) ([]restore.Option, error) {
	opts := []restore.Option{restore.Boundary(boundaryOf(b.boundary))}
	if b.kernelFile == "" {
		return opts, nil
	}
	var err error
	b.blur, err = a.readKernel(ctx, b.kernelFile, r)
	return append(opts, restore.Kernel(b.blur)), err
}
