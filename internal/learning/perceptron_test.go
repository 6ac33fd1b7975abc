package learning

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/internal/perceptron"
)

// drawn are features of examples, and a perceptron with layers of sizes that has learned nothing.
func drawn(n, inputs int, sizes ...int) ([][]float64, *Perceptron, *rand.Rand) {
	r := rand.New(rand.NewPCG(3, 4))
	set := make([][]float64, n)
	for i := range set {
		for range inputs {
			set[i] = append(set[i], 2*r.NormFloat64()+1)
		}
	}
	p := Standardised(n, func(i int) []float64 { return set[i] })
	for _, size := range sizes {
		var rows [][]float64
		for range size {
			rows = append(rows, Row(inputs, r))
		}
		p.Layers = append(p.Layers, rows)
		inputs = size
	}
	return set, p, r
}

// The gradient is that of the loss, here of half the square of the first output and the sine of the second.
func TestGradientAgainstDifferences(t *testing.T) {
	set, p, random := drawn(30, 3, 5, 4, 2)
	loss := func() (sum float64) {
		for _, f := range set {
			out := p.Outputs(f)
			sum += out[0]*out[0]/2 + math.Sin(out[1])
		}
		return sum
	}
	parameters := slices.Concat(p.Layers...)
	gradient := Like(parameters)
	for _, f := range set {
		p.Differentiate(f, gradient, Exactly, func(out []float64) []float64 { return []float64{out[0], math.Cos(out[1])} })
	}
	const step = 1e-5
	for range 60 {
		i := random.IntN(len(parameters))
		j := random.IntN(len(parameters[i]))
		was := parameters[i][j]
		parameters[i][j] = was + step
		above := loss()
		parameters[i][j] = was - step
		below := loss()
		parameters[i][j] = was
		require.InDelta(t, (above-below)/(2*step), gradient[i][j], 1e-5, "parameter %d of row %d", j, i)
	}
}

// A product, which no straight line is, is learned from examples.
func TestLearn(t *testing.T) {
	set, p, random := drawn(600, 2, 12, 1)
	want := func(i int) float64 { return (set[i][0] - 1) * (set[i][1] - 1) / 4 }
	square := func() (sum float64) {
		for i, f := range set[:300] {
			d := p.Outputs(f)[0] - want(i)
			sum += d * d / 300
		}
		return sum
	}
	require.Greater(t, square(), 0.5)
	p.Learn(Lesson{
		Iterations: 600, Batch: 32, Rate: 0.02, Decay: 1e-3,
		Pick:     func() int { return 300 + random.IntN(300) },
		Features: func(i int) []float64 { return set[i] },
		Slopes:   func(i int, out []float64) []float64 { return []float64{out[0] - want(i)} },
	}, random)
	require.Less(t, square(), 0.1)
}

// What is written is Go, and holds the numbers: read again it says the same, up to their four digits.
func TestWrittenIsRead(t *testing.T) {
	set, p, _ := drawn(20, 3, 4, 2)
	var b bytes.Buffer
	p.Write(&b, "rule", "is a rule.")
	file, err := parser.ParseFile(token.NewFileSet(), "", "package p\n"+b.String(), parser.ParseComments)
	require.NoError(t, err)
	require.Equal(t, "rule is a rule.\n", file.Comments[0].Text())
	var n perceptron.Network
	parts := file.Decls[0].(*ast.GenDecl).Specs[0].(*ast.ValueSpec).Values[0].(*ast.CompositeLit).Elts
	row := func(e ast.Expr) (v []float32) {
		for _, x := range e.(*ast.CompositeLit).Elts {
			v = append(v, number(t, x))
		}
		return v
	}
	n.Shift, n.Scale = row(parts[0].(*ast.KeyValueExpr).Value), row(parts[1].(*ast.KeyValueExpr).Value)
	for _, layer := range parts[2].(*ast.KeyValueExpr).Value.(*ast.CompositeLit).Elts {
		var rows [][]float32
		for _, e := range layer.(*ast.CompositeLit).Elts {
			rows = append(rows, row(e))
		}
		n.Rows = append(n.Rows, rows)
	}
	for _, f := range set {
		require.InDeltaSlice(t, p.Outputs(f), n.Outputs(f), 5e-3)
	}
}

// number is the value of a literal, which may have a sign.
func number(t *testing.T, e ast.Expr) float32 {
	sign := 1.0
	if u, ok := e.(*ast.UnaryExpr); ok {
		sign, e = -1, u.X
	}
	v, err := strconv.ParseFloat(e.(*ast.BasicLit).Value, 64)
	require.NoError(t, err)
	return float32(sign * v)
}
