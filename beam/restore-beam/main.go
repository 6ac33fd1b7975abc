// Command restore-beam restores photographs by a pipeline of Apache Beam: package batch says what
// it does. By itself it runs on this machine, with Beam's runner Prism inside; Beam's own flags name
// another runner.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/io/filesystem/s3" // the one that beamx leaves out
	"github.com/apache/beam/sdks/v2/go/pkg/beam/log"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/options/jobopts"
	"github.com/apache/beam/sdks/v2/go/pkg/beam/x/beamx"

	"github.com/averaged/imaging/beam/batch"
)

// The exit statuses, as of the command restore.
const (
	exitDone    = 0
	exitFailed  = 1 // some photograph failed, or the pipeline
	exitUsage   = 2
	exitNothing = 3 // there was nothing to do
)

func main() {
	foreign := ownNames()
	plan, verbose := bind(flag.CommandLine)
	flag.Usage = func() { usage(flag.CommandLine, foreign) }
	flag.Parse()
	if !*verbose {
		log.LogLevel = "warn" // not what Prism says of itself
	}
	beam.Init() // on another machine's worker this serves its runner, and does not return
	os.Exit(run(context.Background(), *plan, flag.Args(), os.Stdout, os.Stderr))
}

// names is a flag that can be given more than once.
type names []string

func (n *names) String() string     { return strings.Join(*n, " ") }
func (n *names) Set(s string) error { *n = append(*n, s); return nil }

// ownNames are the names of the flags of Beam, which are there before those of bind.
func ownNames() map[string]bool {
	found := map[string]bool{}
	flag.VisitAll(func(f *flag.Flag) { found[f.Name] = true })
	return found
}

// bind makes the flags of this command.
func bind(f *flag.FlagSet) (*batch.Plan, *bool) {
	p := &batch.Plan{}
	f.Var((*names)(&p.Inputs), "input", "restore the photographs of this `PATTERN`, such as 'folder/*.jpg' or gs://bucket/folder/*.png; may be given again")
	f.Var((*names)(&p.Lists), "list", "restore those in a `FILE` that has a name or pattern in each line; may be given again")
	f.StringVar(&p.Output, "output", "", "write results to this `FOLDER`")
	f.StringVar(&p.Base, "base", "", "keep the folders of photographs below this `FOLDER` in the names of their results; default: the one before a pattern's first wildcard")
	f.StringVar(&p.Options.Task, "task", batch.Denoise, "`TASK`: denoise or deblur, without a kernel, as 'restore' does")
	f.StringVar(&p.Options.Method, "method", "", "use the denoiser `NAME`, as of 'restore'; default: that of 'restore'")
	f.Float64Var(&p.Options.Sigma, "sigma", 0, "standard deviation `S` of the noise, where 1 is white; 0: estimated from each photograph")
	f.Float64Var(&p.Options.Strength, "strength", 1, "a `FACTOR` on the strength that follows from the noise")
	f.BoolVar(&p.Overwrite, "force", false, "overwrite results that exist and are not of these photographs and options")
	f.IntVar(&p.Limits.AtOnce, "at-once", 0, "restore `N` photographs at once in each worker; 0: one for each processor")
	f.Int64Var(&p.Limits.Memory, "memory", 0, "`BYTES` that photographs may take in each worker; 0: 2 GiB for each of -at-once")
	return p, f.Bool("v", false, "print what the runner says of itself")
}

// usage prints the flags of this command, and what Beam adds.
func usage(f *flag.FlagSet, foreign map[string]bool) {
	w := f.Output()
	fmt.Fprint(w, `restore-beam restores photographs by a pipeline of Apache Beam.

  restore-beam -input 'folder/*.jpg' -output out/
  restore-beam -list s3://bucket/names.txt -output s3://bucket/out -runner universal -endpoint host:8099

Results stand in the output folder, each with its record NAME.json, and at the end results.jsonl and
failures.jsonl with a line for each photograph. A photograph that has been done is skipped.

`)
	own := flag.NewFlagSet("", flag.ContinueOnError)
	own.SetOutput(w)
	beams := flag.NewFlagSet("", flag.ContinueOnError)
	beams.SetOutput(w)
	f.VisitAll(func(g *flag.Flag) {
		to := own
		if foreign[g.Name] {
			to = beams
		}
		to.Var(g.Value, g.Name, g.Usage)
		to.Lookup(g.Name).DefValue = g.DefValue
	})
	own.PrintDefaults()
	fmt.Fprint(w, "\nFlags of Beam:\n\n")
	beams.PrintDefaults()
}

// run runs the pipeline of a plan, and returns the exit status.
func run(ctx context.Context, plan batch.Plan, rest []string, stdout, stderr io.Writer) int {
	if len(rest) > 0 {
		fmt.Fprintf(stderr, "restore-beam: %q is no flag; photographs are named with -input (a pattern in quotes)\n", rest[0])
		return exitUsage
	}
	p, s := beam.NewPipelineWithRoot()
	if err := batch.Build(s, plan); err != nil {
		fmt.Fprintf(stderr, "restore-beam: %v\n", err)
		return exitUsage
	}
	if err := beamx.Run(ctx, p); err != nil {
		fmt.Fprintf(stderr, "restore-beam: the pipeline failed; what is done is kept, and is skipped when it is run again: %v\n", err)
		return exitFailed
	}
	if *jobopts.Async {
		return exitDone // the runner tells what becomes of the job
	}
	count, err := batch.ReadTally(ctx, plan.Output)
	if err != nil {
		fmt.Fprintf(stderr, "restore-beam: the pipeline has ended; how many it restored cannot be seen from here: %v\n", err)
		return exitFailed
	}
	fmt.Fprintf(stdout, "%d done, %d failed, %d skipped\n", count.Done, count.Failed, count.Skipped)
	switch {
	case count.Failed > 0:
		return exitFailed
	case count.Done == 0:
		return exitNothing
	}
	return exitDone
}
