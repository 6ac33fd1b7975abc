package main

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/restore"
)

// choice is the value of a flag that takes one of a few words.
type choice struct {
	value string
	words []string
}

// newChoice returns a choice of the given words; the first is the default.
func newChoice(words ...string) choice { return choice{value: words[0], words: words} }

func (c *choice) String() string { return c.value }

// Type is what help calls the value: the words, or, where they are long, that it is one.
func (c *choice) Type() string {
	if words := strings.Join(c.words, "|"); len(words) <= 20 {
		return words
	}
	return "WORD"
}

func (c *choice) Set(s string) error {
	if !slices.Contains(c.words, s) {
		return fmt.Errorf("%swant %s", message.DidYouMean(s, c.words), message.Or(c.words))
	}
	c.value = s
	return nil
}

// checkNames refuses empty names of files, which a shell makes of variables that
// are not set: they must not count as flags that were not given.
func checkNames(c *cobra.Command) error {
	for _, flag := range []string{"output", "kernel", "mask", "reference", "weights", "clean", "write-kernel", "report", "preview", "html"} {
		if f := c.Flags().Lookup(flag); f != nil && f.Changed && f.Value.String() == "" {
			return usagef("--%s is empty; give the name of a file, or leave it out", flag)
		}
	}
	return nil
}

// completeChoice lets the shell complete a flag's words.
func completeChoice(c *cobra.Command, flag string, value *choice) {
	complete := cobra.FixedCompletions(value.words, cobra.ShellCompDirectiveNoFileComp)
	must(c.RegisterFlagCompletionFunc(flag, complete))
}

// must takes the error of a flag that was not defined: a mistake in this program, found by any test.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

// sigmaFlag is a noise level: a number, a fraction such as 25/255, or auto.
type sigmaFlag struct {
	value float64
	given bool // not auto
	zero  bool // 0 is allowed
	auto  bool // auto is allowed
}

var _ pflag.Value = (*sigmaFlag)(nil)

func (s *sigmaFlag) String() string {
	switch {
	case s.given:
		return strconv.FormatFloat(s.value, 'g', -1, 64)
	case s.auto:
		return "auto"
	}
	return ""
}

func (s *sigmaFlag) Type() string {
	if s.auto {
		return "auto|S"
	}
	return "S"
}

func (s *sigmaFlag) Set(text string) error {
	if text == "auto" && s.auto {
		s.given = false
		return nil
	}
	v, err := fraction(text)
	switch {
	case err != nil || math.IsNaN(v) || math.IsInf(v, 0):
		if s.auto {
			return fmt.Errorf("want auto, or a number such as 0.1 or 25/255")
		}
		return fmt.Errorf("want a number such as 0.1 or 25/255")
	case v > 1:
		return fmt.Errorf("1 is white, so for %s of 255 write %s/255", text, text)
	case v == 0 && s.zero:
	default:
		var wrong *restore.OptionError
		if errors.As(restore.Validate(restore.Sigma(v)), &wrong) {
			return fmt.Errorf("want %s", wrong.Want)
		}
	}
	s.value, s.given = v, true
	return nil
}

func fraction(text string) (float64, error) {
	above, below, isFraction := strings.Cut(text, "/")
	v, err := parseNumber(strings.TrimSpace(above))
	if err != nil || !isFraction {
		return v, err
	}
	d, err := parseNumber(strings.TrimSpace(below))
	return v / d, err
}
