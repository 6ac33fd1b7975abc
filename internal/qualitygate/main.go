// Command qualitygate measures restore.Denoise, without any option unless the kind says "told", on
// pictures whose truth is known, and holds the table against the limits of a file. Its pictures are
// those of a folder of test data (real photographs with noise, and clean ones that it damages itself) and drawings
// that it makes. It ends with status 1 if a limit is missed.
//
//	go run ./internal/qualitygate -data FOLDER
//
// Nothing depends on time or chance: the same program gives the same table.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"

	"github.com/averaged/imaging/internal/atomicfile"
	"github.com/averaged/imaging/restore"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "qualitygate:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string, out, progress io.Writer) error {
	flags := flag.NewFlagSet("qualitygate", flag.ContinueOnError)
	data := flags.String("data", "../shared/data", "`folder` with real, open, open2 and bsds500")
	quick := flags.Bool("quick", false, "about a sixth of the pictures, of every kind")
	only := flags.String("only", "", "the `kinds` to measure, with commas between them")
	limitsFile := flags.String("limits", "internal/qualitygate/limits.tsv", "`file` of limits")
	csv := flags.String("csv", "", "`file` for the figures of every picture")
	rewrite := flags.Bool("write-limits", false, "write to the file of limits what this run gives, less each row's slack")
	if err := flags.Parse(args); err != nil {
		return err
	}
	kinds, err := chosen(*only)
	if err != nil {
		return err
	}
	content, err := os.ReadFile(*limitsFile)
	if err != nil {
		return err
	}
	limits, err := parseLimits(string(content))
	if err != nil {
		return fmt.Errorf("%s: %w", *limitsFile, err)
	}
	photographs, err := load(ctx, *data)
	if err != nil {
		return err
	}
	restorer, err := restore.New()
	if err != nil {
		return err
	}
	defer restorer.Close()

	m := &measurement{restorer: restorer, results: make(map[string]*restore.Planar)}
	var rows []row
	var pictures []score
	for _, k := range kinds {
		n := k.count(photographs)
		if *quick {
			n = min(n, k.quick)
		}
		var scores []score
		for i := range n {
			fmt.Fprintf(progress, "\r%-14s %3d of %3d", k.name, i+1, n)
			p, err := k.make(photographs, i)
			if err != nil {
				return fmt.Errorf("%s %d: %w", k.name, i, err)
			}
			s, err := m.score(ctx, p)
			if err != nil {
				return fmt.Errorf("%s %s: %w", k.name, p.name, err)
			}
			s.kind = k.name
			scores = append(scores, s)
		}
		pictures = append(pictures, scores...)
		rows = append(rows, rowOf(k.name, scores))
	}
	fmt.Fprint(progress, "\r                            \r")
	rows = append(rows, together(pictures, kinds)...)
	fmt.Fprint(out, table(rows))
	if *csv != "" {
		if err := write(ctx, *csv, list(pictures)); err != nil {
			return err
		}
	}
	size := "full"
	if *quick {
		size = "quick"
	}
	if *rewrite {
		return write(ctx, *limitsFile, rewritten(string(content), size, rows))
	}
	if missed := limits.missed(size, rows); len(missed) > 0 {
		return errors.New("limits are missed\n" + strings.Join(missed, "\n"))
	}
	return nil
}

func write(ctx context.Context, path, content string) error {
	return atomicfile.WriteBytes(ctx, path, true, []byte(content))
}

// chosen returns the kinds with names that have commas between them, all for none.
func chosen(names string) ([]kind, error) {
	if names == "" {
		return kinds, nil
	}
	var list []kind
	for _, name := range strings.Split(names, ",") {
		i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
		if i < 0 {
			var known []string
			for _, k := range kinds {
				known = append(known, k.name)
			}
			return nil, fmt.Errorf("-only %s: there is no such kind; there are %s", name, strings.Join(known, ", "))
		}
		list = append(list, kinds[i])
	}
	return list, nil
}
