package command

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"html"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/internal/findings"
)

func TestFlags(t *testing.T) {
	parse := func(arguments ...string) (*Flags, Numbers, Words, error) {
		f := NewFlags("x", "a folder")
		f.SetOutput(io.Discard)
		n, w := Numbers{1}, Words{"a"}
		f.Var(&n, "n", "")
		f.Var(&w, "w", "")
		return f, n, w, func() error { err := f.Parse(arguments, nil); return err }()
	}
	f := NewFlags("x", "a folder")
	n, w := Numbers{1, 0.5}, Words{"a", "b"}
	require.Equal(t, "1,0.5", n.String())
	require.Equal(t, "a,b", w.String())
	f.Var(&n, "n", "")
	f.Var(&w, "w", "")
	require.NoError(t, f.Parse([]string{"-data", "d", "-o", "o", "-n", "2, 3e-1", "-w", "x,y"}, nil))
	require.Equal(t, Numbers{2, 0.3}, n)
	require.Equal(t, Words{"x", "y"}, w)
	for _, wrong := range [][]string{{}, {"-data", "d"}, {"-o", "o"}, {"-data", "d", "-o", "o", "z"}, {"-n", "x"}, {"-unknown"}} {
		_, _, _, err := parse(wrong...)
		require.ErrorIs(t, err, errUsage, "%v", wrong)
	}
	_, _, _, err := parse("-h")
	require.ErrorIs(t, err, flag.ErrHelp)
	require.NotErrorIs(t, err, errUsage)

	// All flags are listed for -h alone.
	var said strings.Builder
	f.SetOutput(&said)
	require.EqualError(t, f.Parse([]string{"-unknown"}, nil), "flag provided but not defined: -unknown; -h lists the flags")
	require.Empty(t, said.String())
	require.ErrorIs(t, f.Parse([]string{"-h"}, nil), flag.ErrHelp)
	require.Equal(t, 1, strings.Count(said.String(), "Usage of x:"))
}

// TestRun: work is done with arguments that are right, and what it returns becomes the report.
func TestRun(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "out")
	run := func(check, work error, arguments ...string) (string, error) {
		f := NewFlags("x", "a folder")
		f.SetOutput(io.Discard)
		var out strings.Builder
		err := f.Run(t.Context(), arguments, &out, func() error { return check }, func(ctx context.Context, dev backend.Device, out io.Writer) (*findings.Page, error) {
			fmt.Fprintln(out, "working in", f.Out, "on", f.Data, dev.Description().Name)
			return &findings.Page{Title: "A title"}, work
		})
		return out.String(), err
	}
	wrong := errors.New("wrong")
	for _, c := range []struct {
		check, work error
		arguments   []string
		want        error
	}{{nil, nil, nil, errUsage}, {wrong, nil, []string{"-data", "d", "-o", folder}, wrong}, {nil, wrong, []string{"-data", "d", "-o", folder}, wrong}} {
		_, err := run(c.check, c.work, c.arguments...)
		require.ErrorIs(t, err, c.want)
		require.NoDirExists(t, folder)
	}
	out, err := run(nil, nil, "-data", "d e", "-o", folder)
	require.NoError(t, err)
	require.True(t, strings.HasPrefix(out, "working in "+folder+" on d e cpu\n"), out)
	require.Contains(t, out, "report: "+filepath.Join(folder, "report.html")+"\n")
	page, err := os.ReadFile(filepath.Join(folder, "report.html"))
	require.NoError(t, err)
	require.Contains(t, html.UnescapeString(string(page)), repeat("x", []string{"-data", "d e", "-o", folder}))
}

func TestRepeat(t *testing.T) {
	require.Equal(t, `go run ./experiments/x -o 'a b' 'it'\''s' '' plain`, repeat("x", []string{"-o", "a b", "it's", "", "plain"}))
}
