// Command netrace is what bench/network.sh races with: the Euler network of this
// library against the same one on other runtimes.
//
//	netrace prepare -folder FOLDER              a network, pictures, and what it makes of them
//	netrace time    -folder FOLDER -level avx2  times the network; one line of JSON
//	netrace levels                              the levels that this processor has
//	netrace table                               a table of the lines of a race on standard input
//	netrace scaling                             a table of lines of pictures of several sizes
//
// The folder holds network.safetensors, a weight file of package denoise, and
// pictures.safetensors with the tensors "input" and "output" of shape (pictures, 3,
// height, width). Every racer prints a Result, with the difference between its output
// and the one of the folder, and fails where that is too large.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/averaged/imaging/backend/cpu"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("netrace: ")
	if err := run(context.Background(), os.Args[1:], os.Stdin, os.Stdout); err != nil && !errors.Is(err, flag.ErrHelp) {
		log.Fatal(err)
	}
}

func run(ctx context.Context, arguments []string, in io.Reader, out io.Writer) error {
	command := ""
	if len(arguments) > 0 {
		command, arguments = arguments[0], arguments[1:]
	}
	flags := flag.NewFlagSet("netrace "+command, flag.ContinueOnError)
	flags.SetOutput(io.Discard) // main prints the error, in one line
	parse := func() error {
		err := flags.Parse(arguments)
		if errors.Is(err, flag.ErrHelp) {
			flags.SetOutput(out)
			flags.PrintDefaults()
		}
		if err != nil {
			return err
		}
		if flags.NArg() > 0 {
			return fmt.Errorf("%s takes no argument %q", command, flags.Arg(0))
		}
		return nil
	}
	folder := "."
	switch command {
	case "prepare":
		c := course{Channels: 64, Blocks: 10} // what the other racers are written for
		flags.StringVar(&folder, "folder", folder, "folder to write to")
		flags.IntVar(&c.Pictures, "pictures", 1, "pictures in one batch")
		flags.IntVar(&c.Height, "height", 321, "height of a picture")
		flags.IntVar(&c.Width, "width", 481, "width of a picture")
		flags.Uint64Var(&c.Seed, "seed", 1, "seed of weights and pictures")
		if err := parse(); err != nil {
			return err
		}
		return c.prepare(ctx, folder)
	case "time":
		var m measurement
		flags.StringVar(&folder, "folder", folder, "folder that prepare wrote")
		flags.StringVar(&m.Set, "level", "", "instruction set, one that the command levels prints (default: the best)")
		flags.IntVar(&m.Threads, "threads", 2, "threads, which is also GOMAXPROCS")
		flags.IntVar(&m.Repetitions, "repetitions", 7, "timed passes")
		flags.IntVar(&m.WarmUp, "warmup", 2, "passes before those")
		flags.IntVar(&m.Height, "height", 0, "with -width: one picture of that size instead of those of the folder, compared with nothing")
		flags.IntVar(&m.Width, "width", 0, "with -height: see there")
		if err := parse(); err != nil {
			return err
		}
		r, err := m.run(ctx, folder)
		if err != nil {
			return err
		}
		return json.NewEncoder(out).Encode(r)
	case "levels":
		if err := parse(); err != nil {
			return err
		}
		for _, s := range cpu.InstructionSets() {
			if _, err := fmt.Fprintln(out, s); err != nil {
				return err
			}
		}
		return nil
	case "table", "scaling":
		if err := parse(); err != nil {
			return err
		}
		results, err := readResults(in)
		if err != nil {
			return err
		}
		table := raceTable
		if command == "scaling" {
			table = scalingTable
		}
		_, err = io.WriteString(out, table(results))
		return err
	}
	return errors.New("the first argument must be prepare, time, levels, table or scaling")
}
