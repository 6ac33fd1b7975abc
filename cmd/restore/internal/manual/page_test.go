package manual

import (
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/stretchr/testify/require"
)

// A line that begins like a request is none, and nothing is taken for an escape.
func TestRoffIsText(t *testing.T) {
	require.Equal(t, `\&.TH \e "`, strings.ReplaceAll(roffLine(`.TH \ "`), `\(dq`, `"`))
	require.Equal(t, `\&\(aqa\(aq \-\-b \(tic \(had \(gae \[u03C3] \[u1F600]`, roffLine("'a' --b ~c ^d `e σ 😀"))
	c := &cobra.Command{Use: "odd", Short: ".short", Long: "first\n.second\n\n  kept   as\n\tit is\n\n#### Head:\n'third", Run: func(*cobra.Command, []string) {}}
	page := Page(c, "v1.2.3", "2026-01-02T03:04:05Z")
	require.Contains(t, page, ".TH ODD 1 \"2026\\-01\\-02\" \"odd v1.2.3\" \"User Commands\"\n")
	require.Contains(t, page, ".SH DESCRIPTION\nfirst\n\\&.second\n.PP\n.EX\n  kept   as\n  it is\n.EE\n.SS Head:\n\\&\\(aqthird\n")
}
