package denoise

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise/activation"
	"github.com/averaged/imaging/denoise/dncnn"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/averaged/imaging/weights"
	"github.com/stretchr/testify/require"
)

const torchScript = "../weights/testdata/check_network.py"

// TestDocumentedPyTorch: the lines of the package comment are those of the script, which
// runs them.
func TestDocumentedPyTorch(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	code, err := os.ReadFile(torchScript)
	require.NoError(t, err)
	var lines []string
	functions := 0
	for line := range strings.Lines(string(doc)) {
		text, indented := strings.CutPrefix(line, "//\t")
		if indented && strings.HasPrefix(text, "def ") {
			functions++
			lines = nil
		}
		if indented {
			lines = append(lines, text)
		} else if len(lines) > 0 {
			if strings.HasPrefix(lines[0], "def ") {
				require.LessOrEqual(t, len(lines), 14)
				require.Contains(t, string(code), strings.Join(lines, ""))
			}
			lines = nil
		}
	}
	require.Equal(t, 4, functions)
}

// TestPyTorchAgrees: the networks of weight files give the same image in PyTorch, within
// rounding. The weights are seeded random numbers.
func TestPyTorchAgrees(t *testing.T) {
	// The second one is Debian's, which may have PyTorch where another one comes first.
	python := ""
	for _, p := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(p, "-c", "import torch").Run() == nil {
			python = p
			break
		}
	}
	if python == "" {
		t.Skip("no Python 3 with PyTorch on this machine")
	}
	files := map[string]*weights.File{}
	for _, integrator := range []rungekutta.Tableau{rungekutta.ForwardEuler(), rungekutta.Heun(), rungekutta.RK4()} {
		m := smallModel(t, 21, Architecture{Width: 9, Integrator: integrator}, 1.6)
		m.Blocks[0].Length, m.Blocks[2].Bias = 0.8, nil
		cert, err := m.Certify(t.Context(), 0)
		require.NoError(t, err)
		require.NotEqual(t, []int{1, 1, 1}, stepsOf(cert))
		files[integrator.Name], err = m.File(testCard(), cert)
		require.NoError(t, err)
	}
	levels := Architecture{Width: 13, Shuffle: 2, Sigmas: []float64{0.05, 0.1, 0.3}}
	for name, sigma := range map[string]float64{"between": 0.15, "level": 0.1, "below": 0.01, "above": 0.9} {
		m := smallModel(t, 24, levels, 1.6)
		m.Blocks[0].Bias, m.Blocks[1].Gain = nil, nil
		cert, err := m.Certify(t.Context(), 0)
		require.NoError(t, err)
		card := testCard()
		card.Sigma = sigma
		files[name], err = m.File(card, cert)
		require.NoError(t, err)
	}
	for name, a := range map[string]Architecture{
		"balls": {Width: 9, Group: 3, Integrator: rungekutta.Heun()}, "balls of one channel": {Width: 5, Group: 1}, "one ball": {Width: 6, Group: 6, Integrator: rungekutta.RK4()},
		"balls between": {Width: 16, Shuffle: 2, Sigmas: levels.Sigmas}, "balls below": {Width: 14, Shuffle: 2, Sigmas: levels.Sigmas[1:], Group: 2},
	} {
		a.Activation = activation.Balls()
		m := smallModel(t, 26, a, 1.6)
		m.Blocks[0].Bias, m.Blocks[1].Radius[0] = nil, 0
		cert, err := m.Certify(t.Context(), 0)
		require.NoError(t, err)
		card := testCard()
		card.Sigma = map[string]float64{"balls below": 0.07}[name] + 0.02
		files[name], err = m.File(card, cert)
		require.NoError(t, err)
	}
	one, err := smallModel(t, 25, Architecture{Width: 27, Shuffle: 3, Sigmas: []float64{0.2}}, 1).Rounded16()
	require.NoError(t, err)
	cert, err := one.Certify(t.Context(), 0)
	require.NoError(t, err)
	files["float16"], err = one.File(testCard(), cert, weights.HalfPrecision())
	require.NoError(t, err)
	d, err := dncnn.Random(22, 3, 9, 4)
	require.NoError(t, err)
	files["dncnn"], err = d.File(testCard())
	require.NoError(t, err)

	dev := newCPU(t)
	s := backend.Shape{N: 2, C: 3, H: 13, W: 18}
	x := randomImage(23, s)
	folder := t.TempDir()
	write := func(name string, f *weights.File) string {
		b, err := f.Encode()
		require.NoError(t, err)
		path := filepath.Join(folder, name)
		require.NoError(t, os.WriteFile(path, b, 0o600))
		return path
	}
	image, err := weights.NewTensor("image", weights.F32, []int{s.N, s.C, s.H, s.W}, x)
	require.NoError(t, err)
	arguments := []string{torchScript, write("input", &weights.File{Tensors: []weights.Tensor{image}})}
	for name, f := range files {
		arguments = append(arguments, write(name, f), filepath.Join(folder, name+"-output"))
	}
	said, err := exec.Command(python, arguments...).CombinedOutput()
	require.NoError(t, err, string(said))
	t.Logf("%s", said)
	for name, f := range files {
		n, err := Load(t.Context(), dev, f)
		require.NoError(t, err)
		b, err := os.ReadFile(filepath.Join(folder, name+"-output"))
		require.NoError(t, err)
		read, err := weights.Decode(b)
		require.NoError(t, err)
		result, err := read.Tensor("image")
		require.NoError(t, err)
		values, err := result.Float32s()
		require.NoError(t, err)
		got := denoised(t, n, s, x)
		require.LessOrEqual(t, between(got, values), 3e-6*norm2(values), name)
		require.Greater(t, between(got, x), 0.05*norm2(x), name)
	}
}
