package main

import (
	"context"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/internal/cameranoise"
	"github.com/averaged/imaging/internal/synthetic"
	"github.com/averaged/imaging/restore"
)

// clouds are a photograph that needs no data.
func clouds() *photographs {
	const h, w = 280, 400
	pix := cameranoise.Blurred(synthetic.White(slices.Repeat([]float32{0.5}, 3*h*w), 2, 1), h, w, 4)
	p := photograph{"clouds", planar(pix, h, w)}
	pair := [][2]photograph{{p, p}}
	one := []photograph{p}
	return &photographs{open: one, bsds: one, clean: one, noisy: map[string][][2]photograph{"polyu": pair, "sidd": pair, "cc": pair}}
}

// Every kind makes the same picture twice, another one for another number where it draws, and one that can be scored.
func TestPicturesAreTheSameEveryTime(t *testing.T) {
	data := clouds()
	for _, k := range kinds {
		first, err := k.make(data, 0)
		require.NoError(t, err, k.name)
		again, err := k.make(data, 0)
		require.NoError(t, err, k.name)
		require.Equal(t, first.input.Pix, again.input.Pix, k.name)
		require.NoError(t, first.input.Check(), k.name)
		require.Equal(t, len(first.input.Pix), len(first.truth.Pix), k.name)
		require.Positive(t, k.count(data), k.name)
		require.LessOrEqual(t, k.quick, max(k.full, 20), k.name)
		if k.full > 0 {
			other, err := k.make(data, 1)
			require.NoError(t, err, k.name)
			require.NotEqual(t, first.input.Pix, other.input.Pix, k.name)
		}
		if p := first.beside; p != nil {
			require.Equal(t, len(p.input.Pix), len(p.truth.Pix), k.name)
		}
	}
}

// What is told comes out better than what it was, and what is the same as its neighbour is no better and no worse.
func TestScore(t *testing.T) {
	r, err := restore.New()
	require.NoError(t, err)
	defer r.Close()
	m := &measurement{restorer: r, results: make(map[string]*restore.Planar)}
	s := cut(clouds().clean[0], 100, 150, 64, 64)
	noisy := &picture{name: "a", input: like(s, synthetic.White(s.Pix, 0.1, 1)), truth: s.Planar, largest: 255}
	noisy = withSigma(noisy, 0.1)
	noisy.id = "a"
	noisy.beside = noisy
	got, err := m.score(context.Background(), noisy)
	require.NoError(t, err)
	require.InDelta(t, 20, got.before, 0.2)
	require.Greater(t, got.after, got.before+4)
	require.Zero(t, got.beside)
	require.True(t, got.compared)
	require.False(t, got.same)
	require.False(t, got.clean)

	kept := unharmed(s)
	kept.id = "kept"
	m.results["kept"] = s.Planar
	got, err = m.score(context.Background(), kept)
	require.NoError(t, err)
	require.True(t, got.clean && got.same)
	require.Equal(t, float64(highest), got.after)

	// The result of another picture, tinted, against the truth of this one.
	half := func(pix []float32) []float32 { return synthetic.Scaled(pix, 0.5) }
	dimmed := &picture{id: "dimmed", input: s.Planar, truth: like(s, half(s.Pix)), beside: kept, then: half}
	m.results["dimmed"] = like(s, synthetic.Scaled(s.Pix, 0.49))
	got, err = m.score(context.Background(), dimmed)
	require.NoError(t, err)
	require.Equal(t, got.after-highest, got.beside)
}

func TestRow(t *testing.T) {
	r := rowOf("x", []score{
		{before: 30, after: 32, compared: true, beside: -1},
		{before: 30, after: 29.85},
		{before: 30, after: 27, compared: true, beside: 0.5, same: true},
	})
	require.InDelta(t, 30, r.before, 1e-9)
	require.InDelta(t, 29.6167, r.mean, 1e-3)
	require.InDelta(t, -0.3833, r.gain, 1e-3)
	require.Equal(t, [3]int{2, 1, 1}, [3]int{r.worse01, r.worse1, r.same})
	require.Equal(t, [4]float64{27, -3, -0.25, -1}, [4]float64{r.least, r.worst, r.beside, r.worstBeside})
	clean := rowOf("x", []score{{clean: true, before: highest, after: 44}, {clean: true, before: highest, after: 50}})
	require.Equal(t, [3]int{0, 0, 1}, [3]int{clean.worse01, clean.worse1, clean.below45})
	require.Contains(t, table([]row{r, clean}), "29.62")

	all := together([]score{{kind: "polyu", after: 30}, {kind: "sidd", after: 32}, {kind: "cc", after: 37}, {kind: "clean", after: 70}},
		[]kind{{name: "cc"}, {name: "polyu"}, {name: "sidd"}})
	require.Len(t, all, 1, "groups with kinds that were not measured are left out")
	require.Equal(t, "real", all[0].kind)
	require.InDelta(t, 33, all[0].mean, 1e-9)
}

const file = `# a comment
full	polyu	0.1	38.5	0	-	-	-	-	-	-
full	clean	-	52	-	-	40	3	-	-	-
quick	near-grey	0.15	-	-	-	-	-	-	-0.3	-1
`

func TestLimits(t *testing.T) {
	l, err := parseLimits(file)
	require.NoError(t, err)
	require.Len(t, l, 3)
	good := []row{{kind: "polyu", mean: 38.5}, {kind: "clean", mean: 53, least: 41, below45: 3, worse01: 9}, {kind: "near-grey", beside: -3}}
	require.Empty(t, l.missed("full", good))
	require.Equal(t, []string{
		"polyu: mean is 38.49, at least 38.5 is wanted", "polyu: worse 0.1 is 1, at most 0 is allowed", "clean: below 45 is 4, at most 3 is allowed",
	}, l.missed("full", []row{{kind: "polyu", mean: 38.49, worse01: 1}, {kind: "clean", mean: 53, least: 41, below45: 4}}))
	require.Equal(t, []string{"near-grey: beside is -3.00, at least -0.3 is wanted", "near-grey: worst beside is NaN, at least -1 is wanted"},
		l.missed("quick", []row{{kind: "near-grey", beside: -3, worstBeside: math.NaN()}}))

	for bad, why := range map[string]string{
		"full\tpolyu\t0":                                               "3 columns, want 11",
		"half\tpolyu\t0\t-\t-\t-\t-\t-\t-\t-\t-":                       "want full or quick",
		"full\tpolly\t0\t-\t-\t-\t-\t-\t-\t-\t-":                       "there is no kind",
		"full\tpolyu\tmuch\t-\t-\t-\t-\t-\t-\t-\t-":                    "slack",
		"full\tpolyu\t0\tNaN\t-\t-\t-\t-\t-\t-\t-":                     "mean is \"NaN\"",
		"full\tpolyu\t0\t\t-\t-\t-\t-\t-\t-\t-":                        "mean is \"\"",
		strings.Repeat("full\tcc\t0"+strings.Repeat("\t-", 8)+"\n", 2): "again",
	} {
		_, err := parseLimits(bad)
		require.ErrorContains(t, err, why)
	}
}

// What is rewritten are measured limits of the size and the kinds of the run; aims stay.
func TestRewritten(t *testing.T) {
	got := rewritten(file, "full", []row{{kind: "polyu", mean: 38.71, worse01: 2}, {kind: "clean", mean: 58, least: 46}, {kind: "near-grey"}})
	require.Equal(t, `# a comment
full	polyu	0.1	38.61	2	-	-	-	-	-	-
full	clean	-	52	-	-	40	3	-	-	-
quick	near-grey	0.15	-	-	-	-	-	-	-0.3	-1
`, got)
}

// The file of limits can be read, and has every kind in both sizes.
func TestCheckedInLimits(t *testing.T) {
	content, err := os.ReadFile("limits.tsv")
	require.NoError(t, err)
	l, err := parseLimits(string(content))
	require.NoError(t, err)
	for _, size := range []string{"full", "quick"} {
		for _, k := range kinds {
			require.True(t, slices.ContainsFunc(l, func(one limit) bool { return one.size == size && one.kind == k.name }), "%s %s", size, k.name)
		}
	}
}

func TestUnknownKind(t *testing.T) {
	var out strings.Builder
	require.ErrorContains(t, run(context.Background(), []string{"-only", "clean,nothing"}, &out, &out), "there is no such kind; there are polyu, ")
	require.Empty(t, out.String())
}
