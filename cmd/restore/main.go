// Command restore denoises and deblurs photographs, and says what is proven
// about how it does.
//
// restore --help lists its commands.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/averaged/imaging/cmd/restore/internal/memory"
)

func main() {
	os.Exit(run(processContext(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// processContext sets what belongs to the process as a whole, and returns a
// context that ends with the first interrupt. From then on the signals have
// their usual effect: a second one kills.
func processContext() context.Context {
	memory.Collect(memory.Eagerly)
	// Without this a closed pipe kills the process; with it the write fails, and
	// run ends in an orderly way.
	signal.Ignore(syscall.SIGPIPE)
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	go func() {
		<-ctx.Done()
		stop()
	}()
	return ctx
}
