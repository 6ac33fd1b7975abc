package main

import (
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/cmd/restore/internal/message"
)

const (
	maxUsage  = 90 // characters of what help says of a flag
	maxLine   = 110
	maxBefore = 26 // lines of help before the flags: a screen
)

// Everyday flags come first, those for experts have a group of their own behind them, and every
// flag is somewhere.
func TestFlagsAreGrouped(t *testing.T) {
	everyday := []string{"output", "recursive", "force", "skip-existing", "sigma", "strength", "quality", "depth"}
	experts := []string{"backend", "threads", "tile", "tolerance", "iterations", "max-pixels", "weights", "reference"}
	defined := func(flag string) string { return `(?m)^(  -\w, | {6})--` + flag + `( |$)` }
	for command, own := range map[string]struct{ everyday, experts []string }{
		"denoise": {[]string{"method"}, []string{"adapt", "shadows"}},
		"deblur":  {[]string{"kernel", "prior"}, []string{"adapt", "boundary", "contraction"}},
		"inpaint": {[]string{"mask", "prior", "kernel"}, []string{"boundary", "contraction"}},
		"upscale": {[]string{"factor", "prior", "antialias", "kernel"}, []string{"boundary", "contraction"}},
	} {
		help := succeeds(t, command, "--help").stdout
		_, flags, found := strings.Cut(help, "\nFlags:\n")
		require.True(t, found)
		first, rest, found := strings.Cut(flags, "\nExpert Flags:\n")
		require.True(t, found)
		second, global, found := strings.Cut(rest, "\nGlobal Flags:\n")
		require.True(t, found)
		require.Contains(t, global, " --json ")
		for _, f := range slices.Concat(everyday, own.everyday) {
			require.Regexp(t, defined(f), first, command)
			require.NotRegexp(t, defined(f), second, command)
		}
		for _, f := range slices.Concat(experts, own.experts) {
			require.Regexp(t, defined(f), second, command)
			require.NotRegexp(t, defined(f), first, command)
		}
	}
	require.Less(t, strings.Index(succeeds(t, "deblur", "-h").stdout, " --kernel FILE"), strings.Index(succeeds(t, "deblur", "-h").stdout, " --output FILE"))

	var every func(c *cobra.Command)
	every = func(c *cobra.Command) {
		c.InitDefaultHelpFlag()
		help := c.UsageString()
		c.LocalFlags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				require.Regexp(t, defined(f.Name), help, c.CommandPath())
				_, usage := pflag.UnquoteUsage(f)
				require.LessOrEqual(t, len([]rune(usage)), maxUsage, "%s --%s: %s", c.CommandPath(), f.Name, usage)
				require.NotContains(t, usage, "\n", "%s --%s", c.CommandPath(), f.Name)
			}
		})
		before, _, _ := strings.Cut(c.Long+"\n\n"+help, "\nFlags:\n")
		if c.HasParent() { // the program itself has a list of commands
			require.LessOrEqual(t, strings.Count(before, "\n"), maxBefore, c.CommandPath())
		}
		for _, sub := range c.Commands() {
			require.Contains(t, help, "  "+sub.Name()+" ", c.CommandPath())
			every(sub)
		}
		for line := range strings.Lines(help) {
			if strings.HasPrefix(line, "      ") {
				require.LessOrEqual(t, len([]rune(line)), maxLine, line)
			}
		}
	}
	every((&app{Printer: message.Printer{Stderr: io.Discard}, stdin: strings.NewReader(""), stdout: &resultStream{w: io.Discard}}).rootCommand())
}

func TestMistypedWordsAreOneLineWithWhatWasMeant(t *testing.T) {
	inFolder(t)
	save(t, "a.png", picture(1, 12, 14, 8, 0))
	for args, part := range map[string]string{
		"denoise --method genral a.png":                  "--method genral: unknown method; did you mean general? there is: general, ",
		"denoise --method ssprk33 a.png":                 "did you mean ssprk3? ",
		"deblur --kernel a.png --prior deblr a.png":      "--prior deblr: unknown method; did you mean deblur? ",
		"deblur --kernel a.png --boundary refelct a.png": "--boundary refelct: did you mean reflect? want unknown, circular, zero or reflect",
		"denoise --sgima 0.1 a.png":                      "unknown flag: --sgima; did you mean --sigma? 'restore denoise --help' lists the flags",
		"upscale --width 8 a.png":                        "unknown flag: --width; the size follows from --factor 2, 3 or 4; 'restore upscale --help' lists the flags",
		"denois a.png":                                   `unknown command "denois"; did you mean denoise? `,
		"help deblurr":                                   "did you mean deblur? ",
		"kernel motoin -o k.png":                         "did you mean motion? ",
	} {
		fails(t, exitUsage, []string{part}, strings.Fields(args)...)
	}
}
