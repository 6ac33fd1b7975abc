package weights

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const script = "testdata/check_torch.py"

// TestDocumentedReader: the lines of the package comment are those of the script,
// which runs them.
func TestDocumentedReader(t *testing.T) {
	doc, err := os.ReadFile("doc.go")
	require.NoError(t, err)
	code, err := os.ReadFile(script)
	require.NoError(t, err)
	var lines []string
	for line := range strings.Lines(string(doc)) {
		if text, ok := strings.CutPrefix(line, "//\t"); ok && (len(lines) > 0 || strings.HasPrefix(text, "def ")) {
			lines = append(lines, text)
		}
	}
	require.Len(t, lines, 10)
	require.Contains(t, string(code), strings.Join(lines, ""))
}

// TestPython has a second implementation read our files, of numbers and of
// checksums. It needs Python, but neither PyTorch nor a safetensors module.
func TestPython(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err == nil {
		err = exec.Command(python, "-c", "import hashlib, json, struct").Run()
	}
	if err != nil {
		t.Skip("no Python 3 that works on this machine: ", err)
	}
	run := func(f *File) (string, error) {
		b, err := f.Encode()
		require.NoError(t, err)
		path := filepath.Join(t.TempDir(), "x.safetensors")
		require.NoError(t, os.WriteFile(path, b, 0o600))
		out, err := exec.Command(python, script, "--no-torch", path).CombinedOutput()
		return string(out), err
	}

	f := &File{}
	for _, dtype := range []DType{F16, BF16, F32, F64} {
		// Sums of numbers that all four hold: subnormal for F16, and a plain one.
		x, err := NewTensor("ü."+dtype.String(), dtype, []int{3, 1}, []float32{0x1p-24, -1.5, 0})
		require.NoError(t, err)
		f.Tensors = append(f.Tensors, x)
	}
	f.Tensors = append(f.Tensors,
		Tensor{Name: "i", DType: I16, Shape: []int{2}, Data: []byte("\xff\xff\x00\x01")},
		Tensor{Name: "f4", DType: F4, Shape: []int{2}, Data: []byte{0x21}})
	require.NoError(t, f.SetCard(card()))
	out, err := run(f)
	require.NoError(t, err, out)
	for _, want := range []string{"F16 [3, 1] sum -1.49999994", "BF16 [3, 1] sum -1.49999994", "F32 [3, 1] sum -1.49999994", "F64 [3, 1] sum -1.49999994",
		"i I16 [2] sum 255", "f4 F4 [2] no sum", f.Checksum() + ", as stated"} {
		require.Contains(t, out, want)
	}

	// The script notices a changed weight, too.
	f.Tensors[0].Data[0] ^= 1
	out, err = run(f)
	require.Error(t, err)
	require.Contains(t, out, "NOT THE STATED ONE")
}
