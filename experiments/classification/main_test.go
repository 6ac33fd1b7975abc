package main

import (
	"encoding/json"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/experiments/internal/cifar"
	"github.com/averaged/imaging/experiments/internal/classifier"
	"github.com/averaged/imaging/experiments/internal/tinyset"
)

// writeData makes the binary files of a set of n pictures a file, in which each class has a
// brightness and a colour of its own.
func writeData(t *testing.T, n int) string {
	folder := t.TempDir()
	for i, name := range []string{"data_batch_1.bin", "data_batch_2.bin", "data_batch_3.bin", "data_batch_4.bin", "data_batch_5.bin", "test_batch.bin"} {
		var data []byte
		for k := range n {
			y := (k + i) % 10
			data = append(data, byte(y))
			for p := range cifar.Samples {
				c := p / (cifar.Side * cifar.Side)
				data = append(data, byte(20*y+((y>>c)&1)*40+(p*(k+7)+i)%23))
			}
		}
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), data, 0o666))
	}
	return folder
}

// TestTheExperimentOnATinySet runs all of it: trains the three networks, attacks, proves, reports,
// and a second time finds everything there.
func TestTheExperimentOnATinySet(t *testing.T) {
	data, folder := writeData(t, 10), filepath.Join(t.TempDir(), "out")
	arguments := []string{
		"-data", data, "-iterations", "6", "-batch", "10", "-held-out", "10", "-widths", "3,4", "-blocks", "1", "-limit", "1.5",
		"-attacked", "6", "-attack-batch", "4", "-attack-iterations", "3", "-training-attack-iterations", "1", "-epsilons", "0,0.5,4", "-decays", "1e-4,1e-3",
	}
	_, again := tinyset.Twice(t, run, folder, arguments, "robustness.csv", "curves.csv", "lipschitz.csv", "trainings.csv", "robustness.svg", "loss.svg", "held-out.svg", "steps.svg")
	require.NotContains(t, again, "iteration", "nothing is trained again")
	var r robustness
	b, err := os.ReadFile(filepath.Join(folder, nonExpNet+"-robustness.json"))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, &r))
	require.Zero(t, r.Contradictions)
	require.LessOrEqual(t, r.Lipschitz, math.Pow(1.5, 3)*1.02/32, "three layers at their limit, and means over 32×32 pixels")
	share := r.robust()
	for i, v := range r.certifiedCurve() {
		require.GreaterOrEqual(t, v, 0.0)
		require.LessOrEqual(t, v, r.clean())
		if i > 0 {
			require.LessOrEqual(t, share[i], share[i-1])
		}
	}
	// Other options do not go into the same folder.
	require.ErrorContains(t, run(t.Context(), append(arguments, "-o", folder, "-limit", "2"), io.Discard), "another configuration")
}

func TestArguments(t *testing.T) {
	for _, wrong := range [][]string{
		{"-models", "x"}, {"-epsilons", "0"}, {"-epsilons", "1,2"}, {"-epsilons", "0,2,1"}, {"-rates", "1"}, {"-attacked", "0"}, {"-decays", "-1"}, {"-widths", "3.5,4"},
	} {
		o := newOptions()
		require.Error(t, o.Parse(append([]string{"-data", "d", "-o", "o"}, wrong...), o.check), "%v", wrong)
	}
	o := newOptions()
	require.NoError(t, o.Parse([]string{"-data", "d", "-o", "o", "-optimiser", "x"}, o.check))
	_, err := o.config(resNet, -1)
	require.ErrorContains(t, err, "sgd or muon")
	o.optimiser = "sgd"
	c, err := o.config(resNetAT, -1)
	require.NoError(t, err)
	require.Equal(t, [2]float64{0.5, 1e-5}, [2]float64{c.Epsilon, c.Optimiser.WeightDecay})
	require.Equal(t, 7, c.Attack.Iterations)
	c, err = o.config(nonExpNet, -1)
	require.NoError(t, err)
	want := classifier.PaperConfig(classifier.NonExpNet, 40_000)
	require.Equal(t, want, c, "the paper's, unless told otherwise")
}

func TestArea(t *testing.T) {
	require.InDelta(t, 0.5, area([]float64{0, 1, 2}, []float64{1, 0.5, 0}), 1e-12)
	require.InDelta(t, (0.5*0.625+1.5*0.25)/2, area([]float64{0, 0.5, 2}, []float64{1, 0.25, 0.25}), 1e-12)
}

// TestCertified: what is certified follows from the radii alone, however coarse the attacks' sizes are.
func TestCertified(t *testing.T) {
	// L is 1/√2, so that radii are margins, rounded down.
	r := &robustness{Epsilons: []float64{0, 0.5, 2}, Lipschitz: 1 / math.Sqrt2, Margins: []float64{-1, 0.01, 0.02, 0.03, 4}}
	require.Equal(t, 0.8, r.clean())
	require.Equal(t, []float64{0.8, 0.2, 0.2}, r.certifiedCurve())
	require.InDelta(t, (0.01+0.02+0.03+2)/2/5, r.certifiedArea(), 1e-12)
	require.InDelta(t, 0.02, r.beyond(0.5), 1e-12)
	require.InDelta(t, 0.03, r.beyond(0.1), 1e-12)
	r.Margins[4] = 0.04
	x, y := r.certifiedLine()
	require.Equal(t, 0.0, x[0])
	require.Equal(t, 2.0, x[len(x)-1])
	require.True(t, slices.IsSorted(x))
	for i, e := range x {
		require.Equal(t, r.certified(e), y[i], "at %v", e)
	}
	require.Equal(t, 0.2, y[100], "the largest radius itself")
	require.Zero(t, y[101])
}
