package command

import (
	"flag"
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestFlags(t *testing.T) {
	parse := func(arguments ...string) (*Flags, Numbers, Words, error) {
		f := NewFlags("x", "a folder")
		f.SetOutput(io.Discard)
		n, w := Numbers{1}, Words{"a"}
		f.Var(&n, "n", "")
		f.Var(&w, "w", "")
		return f, n, w, func() error { err := f.Parse(arguments); return err }()
	}
	f := NewFlags("x", "a folder")
	n, w := Numbers{1, 0.5}, Words{"a", "b"}
	require.Equal(t, "1,0.5", n.String())
	require.Equal(t, "a,b", w.String())
	f.Var(&n, "n", "")
	f.Var(&w, "w", "")
	require.NoError(t, f.Parse([]string{"-data", "d", "-o", "o", "-n", "2, 3e-1", "-w", "x,y"}))
	require.Equal(t, Numbers{2, 0.3}, n)
	require.Equal(t, Words{"x", "y"}, w)
	for _, wrong := range [][]string{{}, {"-data", "d"}, {"-o", "o"}, {"-data", "d", "-o", "o", "z"}, {"-n", "x"}, {"-unknown"}} {
		_, _, _, err := parse(wrong...)
		require.ErrorIs(t, err, errUsage, "%v", wrong)
	}
	_, _, _, err := parse("-h")
	require.ErrorIs(t, err, flag.ErrHelp)
	require.NotErrorIs(t, err, errUsage)
}

func TestRepeat(t *testing.T) {
	require.Equal(t, `go run ./experiments/x -o 'a b' 'it'\''s' '' plain`, Repeat("x", []string{"-o", "a b", "it's", "", "plain"}))
}
