package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/cmd/restore/internal/record"
	"github.com/averaged/imaging/web"
)

func (a *app) webCommand() *cobra.Command {
	var port int
	var folder string
	var open bool
	c := &cobra.Command{
		Use:   "web",
		Short: "Serve a page that restores pictures in a browser on this computer",
		Long: `Serves a page on the loopback interface, where no other computer sees it, until it
is interrupted, and prints its address. A browser on this computer then removes
noise and blur from pictures that are dragged into the page. It computes them
itself, by this library compiled to WebAssembly: no picture is sent anywhere, not
even to this command. It takes longer there than on the command line, which has
the processor's vector instructions.

The page is part of the programs of a release and of 'make web'. --dir serves one
that was built by 'go run ./web/build -o DIR' in a clone.`,
		Example: "  restore web\n  restore web --port 8000 --open\n  restore web --dir web/dist",
		Args:    inputs(0, 0, "no input"),
		RunE: func(c *cobra.Command, _ []string) error {
			if port < 0 || port > 65535 {
				return usagef("--port %d: want 0 to 65535", port)
			}
			files, err := pageFiles(folder)
			if err != nil {
				return err
			}
			l, address, err := web.Listen(port)
			if err != nil {
				return fmt.Errorf("web: %w", err)
			}
			if a.json {
				err = a.printJSON(struct {
					Schema  int    `json:"schema"`
					Command string `json:"command"`
					Address string `json:"address"`
				}{record.Schema, "web", address})
			} else {
				a.result("%s (end with Ctrl+C)", address)
			}
			if err != nil {
				l.Close()
				return err
			}
			if open {
				if err := browse(c.Context(), address); err != nil {
					a.Remark(address, "no browser could be opened: %v", err)
				}
			}
			return web.Serve(c.Context(), l, files)
		},
	}
	c.Flags().IntVar(&port, "port", 0, "listen at `PORT`; 0: at any that is free")
	c.Flags().StringVar(&folder, "dir", "", "serve the page in the folder `DIR`, which web/build has made")
	c.Flags().BoolVar(&open, "open", false, "open the page in the browser")
	return c
}

// pageFiles returns the files of a page in a folder, or those in this program.
func pageFiles(folder string) (fs.FS, error) {
	if folder == "" {
		if files := web.Files(); files != nil {
			return files, nil
		}
		return nil, usageError{errors.New("this program was built without the page: take one of a release, or in a clone 'make web', or 'go run ./web/build -o DIR' and --dir DIR")}
	}
	files := os.DirFS(folder)
	if err := web.Check(files); err != nil {
		return nil, usagef("--dir %s: not a page of 'go run ./web/build': %v", message.OneLine(folder), err)
	}
	return files, nil
}

// browse opens an address in the user's browser, and does not wait for it.
func browse(ctx context.Context, address string) error {
	name, args := "xdg-open", []string{address}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	}
	c := exec.CommandContext(context.WithoutCancel(ctx), name, args...)
	if err := c.Start(); err != nil {
		return err
	}
	go func() { _ = c.Wait() }() // whatever becomes of it, the address was printed
	return nil
}
