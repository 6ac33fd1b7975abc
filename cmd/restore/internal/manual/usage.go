package manual

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// expertFlag is the annotation of flags that most people never need: help has them behind the
// others, in a group of their own.
const expertFlag = "expert"

// Expert marks flags that most people never need.
func Expert(c *cobra.Command, flags ...string) {
	for _, name := range flags {
		if err := c.Flags().SetAnnotation(name, expertFlag, []string{"true"}); err != nil {
			panic(err) // the flag was not defined: a mistake in this program, found by any test
		}
	}
}

// Group has the help of a command and of those below it list flags in the order in which
// they were defined, the expert ones in a group behind the others.
func Group(c *cobra.Command) {
	c.Flags().SortFlags = false
	c.PersistentFlags().SortFlags = false
	for _, sub := range c.Commands() {
		Group(sub)
	}
	c.SetUsageFunc(func(c *cobra.Command) error { return printUsage(c.OutOrStderr(), c) })
}

// usageWidth is where lines about flags are broken.
const usageWidth = 100

// printUsage prints what stands below the description of a command in its help.
func printUsage(w io.Writer, c *cobra.Command) error {
	var b strings.Builder
	b.WriteString("Usage:\n")
	if c.Runnable() {
		fmt.Fprintf(&b, "  %s\n", c.UseLine())
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "  %s [command]\n", c.CommandPath())
	}
	if c.HasExample() {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", c.Example)
	}
	if c.HasAvailableSubCommands() {
		b.WriteString("\nAvailable Commands:\n")
		for _, sub := range Commands(c) {
			fmt.Fprintf(&b, "  %-*s %s\n", sub.NamePadding(), sub.Name(), sub.Short)
		}
	}
	for _, group := range groups(c) {
		fmt.Fprintf(&b, "\n%s:\n%s", group.title, group.flags.FlagUsagesWrapped(usageWidth))
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&b, "\nUse \"%s [command] --help\" for more information about a command.\n", c.CommandPath())
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Commands returns the commands below c that help and the manual tell of.
func Commands(c *cobra.Command) []*cobra.Command {
	return slices.DeleteFunc(slices.Clone(c.Commands()), func(sub *cobra.Command) bool {
		return !sub.IsAvailableCommand() && sub.Name() != "help"
	})
}

// flagGroup is a part of the flags of a command.
type flagGroup struct {
	title string
	flags *pflag.FlagSet
}

// groups returns the flags of a command in the order in which help has them: the everyday ones,
// those for experts, those of every command. No group is empty.
func groups(c *cobra.Command) []flagGroup {
	everyday, experts := pflag.NewFlagSet("", pflag.ContinueOnError), pflag.NewFlagSet("", pflag.ContinueOnError)
	everyday.SortFlags, experts.SortFlags = false, false
	c.LocalFlags().VisitAll(func(f *pflag.Flag) {
		if len(f.Annotations[expertFlag]) > 0 {
			experts.AddFlag(f)
		} else {
			everyday.AddFlag(f)
		}
	})
	all := []flagGroup{{"Flags", everyday}, {"Expert Flags", experts}, {"Global Flags", c.InheritedFlags()}}
	return slices.DeleteFunc(all, func(g flagGroup) bool { return !g.flags.HasAvailableFlags() })
}
