package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/averaged/imaging/cmd/restore/internal/build"
	"github.com/averaged/imaging/cmd/restore/internal/manual"
	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/cmd/restore/internal/reportpage"
)

// app is one run of the program: its streams, and the flags that every command
// has.
type app struct {
	message.Printer
	stdin  io.Reader
	stdout *resultStream
	args   []string

	json     bool
	progress choice

	started bool // the command line was understood, and its command runs

	position string // of the task under way among several, such as "3 of 40: "

	page *reportpage.Page // nil without --report
}

// run is the whole program except for the process around it, and returns the exit
// status. It changes nothing global and can run more than once at a time.
func run(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	a := &app{Printer: message.Printer{Stderr: stderr}, stdin: stdin, stdout: &resultStream{w: stdout}, args: args}
	root := a.rootCommand()
	root.SetArgs(args)
	err := root.ExecuteContext(ctx)
	// Commands need not look after every write of a line of results: the first
	// error is kept, and told here.
	if failed := a.stdout.err; failed != nil {
		if isClosedPipe(failed) {
			return exitFailed // quietly: whoever closed the pipe knows
		}
		if err == nil || errors.Is(err, failed) {
			err = fileError{"standard output", failed}
		}
	}
	if err != nil && !a.started {
		err = usageError{err}
	}
	code := status(ctx, err)
	var said statusError
	switch {
	case err == nil, errors.As(err, &said):
	case code == exitInterrupted:
		a.Fail("interrupted")
	default:
		a.Fail(firstLine(err))
	}
	return code
}

// firstLine is an error on one line; cobra adds paragraphs to some of its own.
func firstLine(err error) string {
	text, _, _ := strings.Cut(err.Error(), "\n")
	return plain(strings.TrimSpace(text))
}

func (a *app) rootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:   "restore",
		Short: "Denoise and deblur photographs, with a certificate",
		Long: `restore removes noise and blur from photographs, fills missing pixels and enlarges
images. It says what is proven about how it does: the built-in denoisers have a
certificate, and an iteration that is printed as convergent converges.

Images are PNG, JPEG, TIFF, BMP, WebP and GIF (read only), PFM, PGM and PPM, grey or
colour, 8 or 16 bits or float. Size, bit depth, transparency, colour profile and
metadata of the input are kept, and of a JPEG its quality. Noise levels (sigma) are
standard deviations, where 1 is white: 0.1 is 25.5 of 255.

With --json there is an object in a line for each input. Its "notes" say what may be
doubtful and what was not kept, and "sigma_reliable" whether an estimated sigma is to
be trusted. In a file name that is not UTF-8, U+FFFD replaces invalid bytes;
"names_base64" then has the bytes, under the name of the field.

Exit status: 0 all done, 1 some input failed (the others are done), 2 wrong
usage, 3 nothing to do, 130 interrupted (no partial file remains).`,
		Example: `  restore denoise photo.jpg                       # writes photo.denoised.jpg
  restore denoise --sigma 0.15 photo.png
  restore deblur --kernel motion.png photo.jpg    # writes photo.deblurred.jpg
  restore denoise --recursive holiday -o cleaned/`,
		SilenceUsage:  true,
		SilenceErrors: true,
		Version:       build.This().Version,
		Args:          cobra.ArbitraryArgs,
		PersistentPreRunE: func(c *cobra.Command, _ []string) error {
			a.started = true
			return checkNames(c)
		},
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				if _, err := os.Stat(args[0]); err == nil {
					return usagef("%s is a file, and a command comes first: restore denoise, deblur, inpaint or upscale", message.OneLine(args[0]))
				}
				return usagef("unknown command %q; %s'restore --help' lists the commands", message.OneLine(args[0]), message.DidYouMean(args[0], commandNames(c)))
			}
			c.SetOut(a.Stderr) // it is not what was asked for
			if err := c.Help(); err != nil {
				return err
			}
			return statusError(exitUsage)
		},
	}
	root.SetIn(a.stdin)
	root.SetOut(a.stdout)
	root.SetErr(a.Stderr)
	root.SetVersionTemplate("restore {{.Version}}\n")
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		text := flagError(err)
		if strings.HasPrefix(text, "unknown ") {
			text += fmt.Sprintf("; %s'%s --help' lists the flags", didYouMeanFlag(text, c), c.CommandPath())
		}
		return usagef("%s", text)
	})
	flags := root.PersistentFlags()
	flags.BoolVar(&a.json, "json", false, "print one JSON object per input on standard output (schema 1)")
	flags.BoolVarP(&a.Quiet, "quiet", "q", false, "print errors only")
	flags.BoolVarP(&a.Verbose, "verbose", "v", false, "print certificates, estimates, and what a format cannot hold")
	a.progress = newChoice("auto", "always", "never")
	flags.Var(&a.progress, "progress", "progress on standard error; auto: if it is a terminal")
	completeChoice(root, "progress", &a.progress)
	root.AddCommand(
		a.denoiseCommand(),
		a.deblurCommand(),
		a.inpaintCommand(),
		a.upscaleCommand(),
		a.checkCommand(),
		a.kernelCommand(),
		a.degradeCommand(),
		a.compareCommand(),
		a.trainCommand(),
		a.evalCommand(),
		a.webCommand(),
		a.infoCommand(),
		a.versionCommand(),
		a.manCommand(),
	)
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, c := range root.Commands() {
		switch c.Name() {
		case "help":
			strictHelp(c)
		case "completion":
			strictCompletion(c)
		}
	}
	manual.Group(root)
	bindNumbers(root)
	return root
}

// strictHelp makes help for a command that does not exist an error.
func strictHelp(c *cobra.Command) {
	c.Example = "  restore help deblur"
	c.Run = nil
	c.RunE = func(c *cobra.Command, args []string) error {
		about, err := findCommand(c, args)
		if err != nil {
			return err
		}
		about.InitDefaultHelpFlag()
		return about.Help()
	}
}

// findCommand returns the command whose name the command c was given.
func findCommand(c *cobra.Command, args []string) (*cobra.Command, error) {
	about, rest, err := c.Root().Find(args)
	if err != nil || len(rest) > 0 {
		return nil, usagef("%s: unknown command %q; %s'restore --help' lists the commands", c.Name(), message.OneLine(strings.Join(args, " ")), message.DidYouMean(args[0], commandNames(c.Root())))
	}
	return about, nil
}

// strictCompletion makes completion for no shell, or an unknown one, an error.
func strictCompletion(c *cobra.Command) {
	c.Example = "  source <(restore completion bash)\n  restore completion zsh --help"
	c.Args = cobra.ArbitraryArgs
	c.RunE = func(*cobra.Command, []string) error {
		return usagef("completion needs a shell: bash, zsh, fish or powershell; 'restore completion bash --help' says what to do with the result")
	}
}

// commandNames are the commands that c has.
func commandNames(c *cobra.Command) []string {
	var names []string
	for _, sub := range c.Commands() {
		if sub.IsAvailableCommand() {
			names = append(names, sub.Name())
		}
	}
	return names
}

// didYouMeanFlag suggests a flag in place of the unknown one that an error is about.
func didYouMeanFlag(text string, c *cobra.Command) string {
	typed, isLong := strings.CutPrefix(text, "unknown flag: --")
	if !isLong {
		return ""
	}
	if c.Name() == "upscale" && slices.Contains([]string{"width", "height", "size", "scale"}, typed) {
		return "the size follows from --factor 2, 3 or 4; "
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return message.DidYouMean("--"+typed, names)
}

// flagError is the text of a flag's error without the quotes and brackets that
// the flag package puts around it.
func flagError(err error) string {
	text := message.OneLine(err.Error())
	if before, after, ok := strings.Cut(text, " flag: "); ok && strings.HasPrefix(before, "invalid argument ") {
		// invalid argument "x" for "--sigma": reason  (pflag: … for "-s, --sigma" flag: reason)
		value, flag, _ := strings.Cut(strings.TrimPrefix(before, "invalid argument "), " for ")
		return fmt.Sprintf("%s %s: %s", strings.Trim(flag, `"`), strings.Trim(value, `"`), syntax(after))
	}
	return text
}

// syntax says what strconv's errors mean.
func syntax(reason string) string {
	switch {
	case strings.Contains(reason, "ParseInt") || strings.Contains(reason, "ParseUint") || strings.Contains(reason, "Atoi"):
		return "want a whole number in range"
	case strings.Contains(reason, "ParseFloat"):
		return "want a number"
	case strings.Contains(reason, "ParseBool"):
		return "want true or false"
	}
	return reason
}

// commandName is what messages call a command, behind the name of the program.
func commandName(c *cobra.Command) string {
	return strings.TrimPrefix(c.CommandPath(), c.Root().Name()+" ")
}

// inputs is the argument rule of the commands that read images.
func inputs(least, most int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < least:
			return usagef("%s needs %s; '%s --help' shows examples", commandName(c), what, c.CommandPath())
		case most >= 0 && len(args) > most:
			return usagef("%s takes %s, not %d; '%s --help' shows examples", commandName(c), what, len(args), c.CommandPath())
		}
		return nil
	}
}
