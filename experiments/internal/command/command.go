// Package command is what the programs of the experiments have in common: flags, a device, the
// report that they write, an end by Ctrl-C that loses nothing, and one line about an error.
package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/internal/findings"
)

// Main runs a program. Its context ends with an interrupt. A program that was interrupted has the
// exit status 130, one that failed 1, and one that was called wrongly 2.
func Main(run func(ctx context.Context, arguments []string, out io.Writer) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Stdout)
	stop()
	switch {
	case err == nil || errors.Is(err, flag.ErrHelp):
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(os.Stderr, "interrupted: the same command goes on")
		os.Exit(130)
	case errors.Is(err, errUsage):
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(2)
	default:
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

var errUsage = errors.New("usage")

// usageError is about the arguments.
type usageError struct{ text string }

func (e usageError) Error() string        { return e.text }
func (e usageError) Is(target error) bool { return target == errUsage }

// Flags are those that every experiment has.
type Flags struct {
	*flag.FlagSet
	Data, Out string
}

// NewFlags returns a set with -data and -o.
func NewFlags(name, data string) *Flags {
	f := &Flags{FlagSet: flag.NewFlagSet(name, flag.ContinueOnError)}
	f.StringVar(&f.Data, "data", "", data)
	f.StringVar(&f.Out, "o", "", "`folder` for the report and for what was computed; the same folder goes on with it")
	return f
}

// Parse reads the arguments, and has check, which may be nil, look at what they set.
func (f *Flags) Parse(arguments []string, check func() error) error {
	out := f.Output()
	f.SetOutput(io.Discard) // a wrong flag gets one line, not all flags
	err := f.FlagSet.Parse(arguments)
	f.SetOutput(out)
	switch {
	case errors.Is(err, flag.ErrHelp):
		f.Usage()
		return err
	case err != nil:
		return Usagef("%v; -h lists the flags", err)
	}
	switch {
	case f.NArg() > 0:
		return Usagef("unexpected argument %q", f.Arg(0))
	case f.Data == "":
		return Usagef("-data is missing")
	case f.Out == "":
		return Usagef("-o is missing")
	}
	if check == nil {
		return nil
	}
	return check()
}

// Run is an experiment from its arguments to its report: work makes the page on a device, and the
// page says how it is made again.
func (f *Flags) Run(ctx context.Context, arguments []string, out io.Writer, check func() error, work func(context.Context, backend.Device, io.Writer) (*findings.Page, error)) error {
	if err := f.Parse(arguments, check); err != nil {
		return err
	}
	dev, err := cpu.Open()
	if err != nil {
		return err
	}
	defer dev.Close() // its only error would be of work that has been waited for
	p, err := work(ctx, dev, out)
	if err != nil {
		return err
	}
	p.Command = repeat(f.Name(), arguments)
	if err := p.WriteFolder(ctx, f.Out); err != nil {
		return err
	}
	fmt.Fprintln(out, "report:", filepath.Join(f.Out, "report.html"))
	return nil
}

// Usagef is an error about the arguments.
func Usagef(format string, values ...any) error { return usageError{fmt.Sprintf(format, values...)} }

// repeat returns a command line that repeats a run.
func repeat(name string, arguments []string) string {
	words := []string{"go", "run", "./experiments/" + name}
	for _, a := range arguments {
		if strings.ContainsAny(a, " \t\n'\"\\$`") || a == "" {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		words = append(words, a)
	}
	return strings.Join(words, " ")
}

// Numbers is a flag of numbers, separated by commas.
type Numbers []float64

func (n *Numbers) String() string {
	words := make([]string, len(*n))
	for i, v := range *n {
		words[i] = strconv.FormatFloat(v, 'g', -1, 64)
	}
	return strings.Join(words, ",")
}

// Set replaces the list.
func (n *Numbers) Set(text string) error {
	var list []float64
	for word := range strings.SplitSeq(text, ",") {
		v, err := strconv.ParseFloat(strings.TrimSpace(word), 64)
		if err != nil {
			return fmt.Errorf("%.40q is no number", word)
		}
		list = append(list, v)
	}
	*n = list
	return nil
}

// Words is a flag of words, separated by commas.
type Words []string

func (w *Words) String() string { return strings.Join(*w, ",") }

// Set replaces the list.
func (w *Words) Set(text string) error {
	*w = nil
	for word := range strings.SplitSeq(text, ",") {
		*w = append(*w, strings.TrimSpace(word))
	}
	return nil
}
