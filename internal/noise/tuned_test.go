package noise

import (
	"go/ast"
	"go/parser"
	"go/token"
	"testing"

	"github.com/stretchr/testify/require"
)

// The table of tuned constants stays short, and says of each what it is.
func TestTunedConstants(t *testing.T) {
	f, err := parser.ParseFile(token.NewFileSet(), "tuned.go", nil, parser.ParseComments)
	require.NoError(t, err)
	count := 0
	ast.Inspect(f, func(n ast.Node) bool {
		if v, is := n.(*ast.ValueSpec); is {
			count += len(v.Names)
			require.NotEmpty(t, v.Comment.Text(), v.Names)
		}
		return true
	})
	require.Positive(t, count)
	require.LessOrEqual(t, count, 40)
}
