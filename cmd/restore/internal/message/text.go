// Package message has what the command line prints beside its results: names and texts of others on one line, and notes.
package message

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
)

// StandardStream is how the command line calls standard input and output.
const StandardStream = "-"

// FileName is how a file is called in messages.
func FileName(path string) string {
	if path == StandardStream {
		return "standard input"
	}
	if strings.TrimSpace(path) == "" {
		return strconv.Quote(path)
	}
	return OneLine(path)
}

// OutputName is FileName for a file that is written.
func OutputName(path string) string {
	if path == StandardStream {
		return "standard output"
	}
	return OneLine(path)
}

// OneLine makes control characters, and bytes that are no text, visible, so that no file name or foreign
// error text can break a line or move the terminal's cursor.
func OneLine(s string) string {
	clean := utf8.ValidString(s)
	for _, r := range s {
		clean = clean && strconv.IsPrint(r)
	}
	if clean {
		return s
	}
	var b strings.Builder
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		switch {
		case r == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, s[0])
		case strconv.IsPrint(r):
			b.WriteRune(r)
		default:
			q := strconv.QuoteRune(r)
			b.WriteString(q[1 : len(q)-1])
		}
		s = s[n:]
	}
	return b.String()
}

// Quoted is a word for a POSIX shell, and for most others unless it is an odd one. What cannot be
// printed is as bash, zsh and ksh have it.
func Quoted(word string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=+,./:@%"
	switch {
	case word != "" && strings.Trim(word, plain) == "":
		return word
	case OneLine(word) == word:
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	var b strings.Builder
	for _, c := range []byte(word) {
		switch {
		case c == '\'' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c >= ' ' && c <= '~':
			b.WriteByte(c)
		default:
			b.WriteString(`\x` + strconv.FormatUint(uint64(c)+256, 16)[1:])
		}
	}
	return "$'" + b.String() + "'"
}

// Count writes "1 image", "2 images".
func Count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// Lines are those of a text.
func Lines(text string) []string {
	return strings.Split(strings.TrimSpace(text), "\n")
}

// Thousands writes a number with commas between its Thousands.
func Thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", Thousands(n/1000), n%1000)
}
