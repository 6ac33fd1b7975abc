// Package manual writes the help and the manual pages of a program whose commands are cobra's.
package manual

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// storyKey is the annotation of a command with what the manual says after its help.
const storyKey = "story"

// Story is that annotation, with its text.
func Story(text string) map[string]string { return map[string]string{storyKey: text} }

// Name is the name of a command's page.
func Name(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// Page is the page of a command in the macros of man(7), for a version of the program whose commit has that date
// (RFC 3339). It has ASCII only, so that no system shows anything else than what is meant.
func Page(c *cobra.Command, version, commitDate string) string {
	c.InitDefaultHelpFlag()
	c.InitDefaultVersionFlag()
	date, _, _ := strings.Cut(commitDate, "T")
	var p strings.Builder
	fmt.Fprintf(&p, ".TH %s 1 \"%s\" \"%s %s\" \"User Commands\"\n", roff(strings.ToUpper(Name(c))), roff(date), roff(c.Root().Name()), roff(version))
	p.WriteString(".nh\n.ad l\n") // words of a shell are not to be divided
	fmt.Fprintf(&p, ".SH NAME\n%s \\- %s\n", roff(Name(c)), roff(c.Short))

	p.WriteString(".SH SYNOPSIS\n")
	if c.Runnable() {
		fmt.Fprintf(&p, "\\fB%s\\fR%s\n", roff(c.CommandPath()), roff(strings.TrimPrefix(c.UseLine(), c.CommandPath())))
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&p, ".br\n\\fB%s\\fR \\fICOMMAND\\fR\n", roff(c.CommandPath()))
	}

	p.WriteString(".SH DESCRIPTION\n")
	if c.Long != "" {
		manText(&p, c.Long+"\n\n"+c.Annotations[storyKey])
	} else {
		manText(&p, c.Short+".")
	}
	if c.HasAvailableSubCommands() {
		p.WriteString(".SH COMMANDS\n")
		for _, sub := range Commands(c) {
			fmt.Fprintf(&p, ".TP\n\\fB%s\\fR\n%s\n", roff(sub.Name()), roffLine(sub.Short))
		}
	}
	for _, group := range groups(c) {
		fmt.Fprintf(&p, ".SH %s\n", strings.ToUpper(group.title))
		group.flags.VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				manFlag(&p, f)
			}
		})
	}
	if c.HasExample() {
		p.WriteString(".SH EXAMPLES\n")
		manVerbatim(&p, strings.Split(c.Example, "\n"))
	}

	var others []string
	if c.HasParent() {
		others = append(others, Name(c.Parent()))
	}
	for _, sub := range Commands(c) {
		others = append(others, Name(sub))
	}
	for i, name := range others {
		others[i] = fmt.Sprintf("\\fB%s\\fR(1)", roff(name))
	}
	fmt.Fprintf(&p, ".SH SEE ALSO\n%s\n", strings.Join(others, ",\n"))
	return p.String()
}

// manFlag writes a flag, in the words of help.
func manFlag(p *strings.Builder, f *pflag.Flag) {
	alone := pflag.NewFlagSet("", pflag.ContinueOnError)
	alone.AddFlag(f)
	// "  -o, --output FILE   what it is"
	names, about, _ := strings.Cut(strings.TrimSpace(alone.FlagUsages()), "   ")
	words := strings.Fields(names)
	for i, word := range words {
		name, comma := strings.CutSuffix(word, ",")
		font := `\fI`
		if strings.HasPrefix(name, "-") {
			font = `\fB`
		}
		words[i] = font + roff(name) + `\fR`
		if comma {
			words[i] += ","
		}
	}
	fmt.Fprintf(p, ".TP\n%s\n%s\n", strings.Join(words, " "), roffLine(strings.Join(strings.Fields(about), " ")))
}

// manText writes paragraphs. Lines that are indented stand as they are, and a line of Markdown's
// form "#### Linux:", as cobra has them, is a heading.
func manText(p *strings.Builder, text string) {
	first, fresh := true, true // the next line is the first below a heading, or of a paragraph
	separate := func() {
		if fresh && !first {
			p.WriteString(".PP\n")
		}
		first, fresh = false, false
	}
	lines := strings.Split(strings.TrimSpace(text), "\n")
	indented := func(i int) bool {
		return i < len(lines) && (strings.HasPrefix(lines[i], "  ") || strings.HasPrefix(lines[i], "\t"))
	}
	for i := 0; i < len(lines); i++ {
		heading, isHeading := strings.CutPrefix(lines[i], "#### ")
		switch {
		case isHeading:
			fmt.Fprintf(p, ".SS %s\n", roff(heading))
			first, fresh = true, true
		case strings.TrimSpace(lines[i]) == "":
			fresh = true
		case indented(i):
			fresh = true
			separate()
			begin := i
			for indented(i + 1) {
				i++
			}
			manVerbatim(p, lines[begin:i+1])
			fresh = true
		default:
			separate()
			fmt.Fprintf(p, "%s\n", roffLine(lines[i]))
		}
	}
}

// manVerbatim writes lines as they are.
func manVerbatim(p *strings.Builder, lines []string) {
	p.WriteString(".EX\n")
	for _, line := range lines {
		fmt.Fprintf(p, "%s\n", roffLine(strings.ReplaceAll(line, "\t", "  ")))
	}
	p.WriteString(".EE\n")
}

// roffLine is a line of text that is no request, whatever it begins with.
func roffLine(s string) string {
	if strings.HasPrefix(s, ".") || strings.HasPrefix(s, "'") {
		return `\&` + roff(s)
	}
	return roff(s)
}

// roff writes text so that man shows exactly its characters: unescaped, some become typographic
// ones, which no shell understands.
func roff(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r == '\\':
			b.WriteString(`\e`)
		case r == '-':
			b.WriteString(`\-`)
		case r == '\'':
			b.WriteString(`\(aq`)
		case r == '"':
			b.WriteString(`\(dq`)
		case r == '`':
			b.WriteString(`\(ga`)
		case r == '^':
			b.WriteString(`\(ha`)
		case r == '~':
			b.WriteString(`\(ti`)
		case r < 0x80:
			b.WriteRune(r)
		default:
			fmt.Fprintf(&b, `\[u%04X]`, r)
		}
	}
	return b.String()
}
