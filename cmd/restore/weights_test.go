package main

import (
	"bytes"
	"encoding/binary"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/cmd/restore/internal/message"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/denoise/dncnn"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/averaged/imaging/internal/imagefile"
	"github.com/averaged/imaging/weights"
)

// The networks of these tests are small and have random weights from a seed: they restore
// nothing, but the commands treat them as they treat trained ones.

// seededModel is an averaged network whose filters have about the given norm.
func seededModel(t *testing.T, method string, norm float64) denoise.Model {
	t.Helper()
	integrator, err := rungekutta.Named(method)
	require.NoError(t, err)
	m, err := denoise.RandomModel(9, denoise.Architecture{Width: 4, Blocks: 2, Integrator: integrator}, norm)
	require.NoError(t, err)
	return m
}

func seededCard(method string) weights.Card {
	return weights.Card{
		Name: "seeded-" + method, Sigma: 0.1, Licence: "Apache-2.0",
		Provenance: weights.Provenance{Software: "random weights from a seed", Data: "none"},
	}
}

// seeded writes the weight file METHOD.safetensors of a small network, with a
// certificate if there is one for it, and returns the file's name.
func seeded(t *testing.T, method string) string {
	t.Helper()
	b, ok := seededFiles.Load(method)
	if !ok {
		var err error
		b, err = newlySeeded(t, method).Encode()
		require.NoError(t, err)
		seededFiles.Store(method, b)
	}
	path := method + ".safetensors"
	require.NoError(t, os.WriteFile(path, b.([]byte), 0o666))
	return path
}

// seededFiles are the contents of the weight files that these tests have made: to find the
// norms of a network and to prove them takes longer than most of what is done with it.
var seededFiles sync.Map

func newlySeeded(t *testing.T, method string) *weights.File {
	t.Helper()
	if method == "dncnn" {
		d, err := dncnn.Random(9, 3, 4, 1)
		require.NoError(t, err)
		f, err := d.File(seededCard(method))
		require.NoError(t, err)
		return f
	}
	m := seededModel(t, method, 1.7)
	c, err := m.Certify(t.Context(), 0)
	require.NoError(t, err)
	f, err := m.File(seededCard(method), c)
	require.NoError(t, err)
	return f
}

// tooFewSteps writes a network that takes one step a block where many are needed, and
// has no certificate.
func tooFewSteps(t *testing.T, path string) string {
	t.Helper()
	m := seededModel(t, "euler", 3.5)
	for i := range m.Blocks {
		m.Blocks[i].Steps = 1
	}
	f, err := m.File(seededCard("euler"), denoise.Certificate{})
	require.NoError(t, err)
	return saveWeights(t, path, f)
}

func saveWeights(t *testing.T, path string, f *weights.File) string {
	t.Helper()
	b, err := f.Encode()
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(path, b, 0o666))
	return path
}

func TestDenoiseByNetwork(t *testing.T) {
	inFolder(t)
	save(t, "a.png", picture(3, 20, 24, 8, 0.05))
	m := picture(1, 20, 24, 16, 0.05)
	m.Alpha = make([]uint16, 20*24)
	for i := range m.Alpha {
		m.Alpha[i] = uint16(i * 131)
	}
	save(t, "b.tif", m)
	for _, method := range []string{"euler", "heun", "rk4", "ssprk3", "kutta3", "backward-euler", "dncnn"} {
		file := seeded(t, method)
		r := succeeds(t, "denoise", "--method", method, "--weights", file, "--sigma", "0.05", "a.png", "b.tif", "-o", method+"/")
		require.Contains(t, r.stdout, ": noise of sigma 0.05 removed by "+method+", ")
		require.NotContains(t, r.stdout, "iterations")
		if method == "dncnn" {
			require.Contains(t, r.stderr, "has learned white noise of 0.1", "it is for other noise")
			require.Contains(t, r.stderr, "restore: 2 done, 0 failed, 0 skipped\n")
		} else {
			require.Equal(t, "restore: 2 done, 0 failed, 0 skipped\n", r.stderr)
		}
		out := load(t, method+"/b.tif")
		require.Equal(t, 16, out.Depth)
		require.Equal(t, load(t, "b.tif").Alpha, out.Alpha)
		require.Equal(t, 1, out.Channels)
		// The file says the method, and tiles and threads change nothing.
		succeeds(t, "denoise", "--weights", file, "--sigma", "0.05", "--tile", "8", "--threads", "1", "a.png", "-o", "again.png", "--force")
		require.Equal(t, load(t, method+"/a.png").Pix, load(t, "again.png").Pix)
		require.NotEqual(t, load(t, "a.png").Pix, load(t, "again.png").Pix)
	}
	for file, claim := range map[string]string{
		"euler.safetensors": "-averaged\n", "rk4.safetensors": "; nonexpansive\n", "dncnn.safetensors": "; nothing proven\n",
	} {
		require.Contains(t, succeeds(t, "denoise", "--weights", file, "a.png", "--force").stdout, claim)
	}
	r := restoringFrom(t, bytes.NewReader(content(t, "euler.safetensors")), "denoise", "--weights", "-", "--sigma", "0.05", "a.png", "-o", "again.png", "--force")
	require.Equal(t, exitDone, r.code, r.stderr)
	require.Equal(t, load(t, "euler/a.png").Pix, load(t, "again.png").Pix)
}

func content(t *testing.T, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	return b
}

func TestDenoiseByNetworkInWords(t *testing.T) {
	inFolder(t)
	save(t, "a.png", picture(3, 20, 24, 8, 0.05))
	file := seeded(t, "euler")
	o := objects(t, succeeds(t, "denoise", "--weights", file, "--sigma", "0.05", "--strength", "3", "--json", "a.png").stdout)[0]
	require.Equal(t, "{adaptation:number certificate:{averagedness:number map:string proven:bool} channels:number command:string height:number input:string method:string "+
		"network:{checksum:string file:string licence:string name:string sigma:number} output:string rescaling:number schema:number seconds:number "+
		"sigma:number sigma_estimated:bool sigma_given:number width:number}", shape(o))
	require.Equal(t, "euler", o["method"])
	require.InDelta(t, 1.5*o["adaptation"].(float64), o["rescaling"], 1e-12)
	o = objects(t, succeeds(t, "denoise", "--weights", seeded(t, "backward-euler"), "--sigma", "0.05", "--tolerance", "1e-3", "--json", "--force", "a.png").stdout)[0]
	require.Equal(t, true, o["converged"])
	require.LessOrEqual(t, o["residual"], 1e-3)

	r := succeeds(t, "denoise", "--weights", file, "--sigma", "0.05", "--adapt=false", "-v", "--force", "a.png")
	require.Contains(t, r.stderr, "restore: euler.safetensors: integrator euler, radius")
	require.Contains(t, r.stderr, "verified when they were loaded")
	require.Contains(t, r.stderr, "restore: a.png: rescaled by 0.5\n")

	r = succeeds(t, "denoise", "--weights", file, "--sigma", "0.05", "--iterations", "5", "--tolerance", "0.1", "--force", "a.png")
	require.Equal(t, "restore: note: --iterations has no effect: euler is applied once\n"+
		"restore: note: --tolerance has no effect: euler is computed by a formula\n", r.stderr)

	r = succeeds(t, "denoise", "--weights", file, "--progress", "always", "--force", "a.png")
	require.Contains(t, r.stderr, "restore: a.png:   0%\n")
	require.Contains(t, r.stderr, "restore: a.png: 100%")
}

// A file without a certificate is certified when it is loaded, which is said, and
// blocks take as many steps as they need.
func TestWeightsWithoutCertificate(t *testing.T) {
	inFolder(t)
	save(t, "a.png", picture(3, 20, 24, 8, 0.05))
	file := tooFewSteps(t, "few.safetensors")
	r := succeeds(t, "denoise", "--weights", file, "--sigma", "0.05", "a.png")
	requireOneLine(t, r.stderr, "note: few.safetensors: its certificate was made when the weights were loaded: the file has none; block 0 takes ", "the file says 1")
	require.Contains(t, r.stdout, "-averaged")
	require.Empty(t, succeeds(t, "denoise", "--weights", file, "-q", "--force", "a.png").stderr)
}

func TestDeblurByNetwork(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	save(t, "a.png", picture(3, 20, 24, 8, 0.02))
	save(t, "k.png", picture(1, 3, 5, 8, 0))
	deblurring := func(file string, args ...string) []string {
		return append([]string{"deblur", "--kernel", "k.png", "--sigma", "0.02", "--iterations", "6", "--weights", file, "--force", "a.png"}, args...)
	}
	for _, method := range []string{"euler", "heun", "backward-euler"} {
		file := seeded(t, method)
		r := succeeds(t, deblurring(file, "--prior", method)...)
		require.Contains(t, r.stdout, "a.png -> a.deblurred.png: blur and noise of sigma 0.02 removed by "+method+", not converged after 6 iterations, ")
		require.Contains(t, r.stdout, "; with more iterations it converges in exact arithmetic (proven)\n")
		o := objects(t, succeeds(t, deblurring(file, "--json")...).stdout)[0]
		certificate := o["certificate"].(map[string]any)
		require.Equal(t, "iteration", certificate["map"])
		require.Equal(t, true, certificate["converges"])
		require.InDelta(t, 0.64, o["rescaling"].(float64)/o["adaptation"].(float64), 0.02, "3.2·sigma over what the network is for, hardly less under so wide a kernel")
		require.Equal(t, file, o["network"].(map[string]any)["file"])
		r = succeeds(t, deblurring(file, "-v")...)
		require.Contains(t, r.stderr, "restore: "+file+": integrator "+method)
		require.Contains(t, r.stderr, "restore: a.png: iteration      T is ")
		require.Equal(t, method == "heun", strings.Contains(r.stderr, "restore: a.png: relaxed by 0.9\n"))
	}
	// With a contraction the distance to the fixed point is known.
	r := succeeds(t, deblurring("euler.safetensors", "--contraction", "0.9")...)
	require.Regexp(t, `within \d\.\de-0\d of the fixed point`, r.stdout)
	o := objects(t, succeeds(t, deblurring("euler.safetensors", "--contraction", "0.9", "--json")...).stdout)[0]
	require.Greater(t, o["error_bar"], 0.0)
	require.InDelta(t, 0.9, o["certificate"].(map[string]any)["contraction"], 1e-12)
	o = objects(t, succeeds(t, deblurring("euler.safetensors", "--json")...).stdout)[0]
	require.NotContains(t, o, "error_bar")

	r = succeeds(t, deblurring(seeded(t, "dncnn"))...)
	require.Contains(t, r.stdout, "removed by dncnn, not converged after 6 iterations, ")
	require.Contains(t, r.stdout, "; nothing proven\n")
	require.Contains(t, r.stderr, "note: dncnn.safetensors: convergence is not guaranteed")
	o = objects(t, succeeds(t, deblurring("dncnn.safetensors", "--json")...).stdout)[0]
	certificate := o["certificate"].(map[string]any)
	require.Equal(t, false, certificate["proven"])
	require.Nil(t, certificate["averagedness"])
	require.Equal(t, false, certificate["converges"])
}

func TestCheckOfNetwork(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	save(t, "a.png", picture(3, 16, 20, 8, 0.05))
	save(t, "grey.png", picture(1, 16, 20, 8, 0.05))
	file := seeded(t, "euler")
	r := succeeds(t, "check", "--prior", "euler", "--weights", file)
	for _, part := range []string{
		"prior euler, weights \"seeded-euler\" for noise of sigma 0.1\n", "composition ", "theorem 2.8", "Combettes and Yamada", "assumed ",
		"attack by gradient ascent", "3 channels, 32×32 pixels", "would be rounding\n", "iteration T(x) = ",
	} {
		require.Contains(t, r.stdout, part)
	}
	require.NotContains(t, r.stdout, "again and again")
	require.NotContains(t, r.stdout, "wrapper", "as it is, at the noise level that it is for")
	require.True(t, strings.HasSuffix(r.stdout, "holds: yes\n"))

	r = succeeds(t, "check", "--weights", file, "a.png", "--sigma", "0.05", "--iterations", "12")
	require.Contains(t, r.stdout, "rescaled by 1.601", "3.2·sigma over what the network is for")
	require.Contains(t, r.stdout, "applied again and again, x ← Φ(x), without clipping\n")
	require.Contains(t, r.stdout, "last residual over the first: ")
	require.Contains(t, r.stdout, "residual a")
	require.NotContains(t, r.stdout, "Inf")
	require.True(t, strings.HasSuffix(r.stdout, "holds: yes\n"))
	require.Empty(t, succeeds(t, "check", "--weights", file, "-q").stdout)
	require.Contains(t, succeeds(t, "check", "--weights", file, "grey.png", "--iterations", "3").stdout, "grey through 3 channels")

	o := objects(t, succeeds(t, "check", "--weights", file, "a.png", "--iterations", "7", "--json").stdout)[0]
	network := o["network"].(map[string]any)
	require.Equal(t, "{channels:number constant:number evaluations:number gradients:bool height:number ratio:number rounding:number separation:number width:number}", shape(network["attack"]))
	require.LessOrEqual(t, network["attack"].(map[string]any)["ratio"], 1.001)
	require.Equal(t, "seeded-euler", network["name"])
	require.Contains(t, r.stdout, "checksum of the file, as in 'restore info': "+network["checksum"].(string)+"\n")
	require.Equal(t, 2, strings.Count(r.stdout, "sha256:"), "the file's and the map's")
	require.Len(t, network["certificate"].(map[string]any)["blocks"], 2)
	rows := network["repeated"].(map[string]any)["rows"].([]any)
	require.Len(t, rows, 7)
	require.Equal(t, "{bound:null iteration:number residual:number}", shape(rows[0]), "nothing is known before the first residual")
	require.Equal(t, "{bound:number iteration:number residual:number}", shape(rows[6]))
	require.Equal(t, true, o["holds"])
}

// What is not proven does not hold, and the exit status says so.
func TestCheckOfExpansiveNetwork(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	save(t, "a.png", picture(3, 16, 20, 8, 0.05))
	few := tooFewSteps(t, "few.safetensors")
	dncnn := seeded(t, "dncnn")
	for _, args := range [][]string{
		{"check", "--weights", few, "--uncertified"},
		{"check", "--weights", few, "--uncertified", "a.png", "--iterations", "100"}, // long enough to leave float32
		{"check", "--weights", dncnn},
		{"check", "--weights", dncnn, "a.png", "--iterations", "12"},
	} {
		r := restoring(t, args...)
		require.Equal(t, exitFailed, r.code, "%v", args)
		requireOneLine(t, r.stderr, "check: ", " has no certificate, and the attack found two images that it moves apart by a factor of ")
		require.Contains(t, r.stdout, "nothing is proven")
		require.Contains(t, r.stdout, "it moves images apart\n")
		require.Contains(t, r.stdout, "nothing is promised\n")
		require.NotContains(t, r.stdout, "Inf")
		require.True(t, strings.HasSuffix(r.stdout, "holds: no\n"))
		require.Equal(t, slices.Contains(args, "100"), strings.Contains(r.stdout, "the image is not finite: it diverges\n"), "%v", args)
	}
	o := objects(t, restoring(t, "check", "--weights", few, "--uncertified", "--json").stdout)[0]
	require.Equal(t, false, o["holds"])
	require.Equal(t, []any{}, o["violations"], "nothing was claimed")
	require.Greater(t, o["network"].(map[string]any)["attack"].(map[string]any)["ratio"], 1.1)
	// The same weights with as many steps as they need.
	r := succeeds(t, "check", "--weights", few)
	require.Contains(t, r.stderr, "its certificate was made when the weights were loaded")
	require.True(t, strings.HasSuffix(r.stdout, "holds: yes\n"))
}

// A certificate for other weights, or with numbers that prove too much, is refused by
// every command.
func TestForgedCertificates(t *testing.T) {
	leaveRuns(t)
	inFolder(t)
	save(t, "a.png", picture(3, 16, 20, 8, 0.05))
	save(t, "k.png", picture(1, 3, 3, 8, 0))
	m := seededModel(t, "euler", 1.7)
	c, err := m.Certify(t.Context(), 0)
	require.NoError(t, err)
	honest, err := m.File(seededCard("euler"), c)
	require.NoError(t, err)
	forge := func(change func(f *weights.File, card *weights.Card)) *weights.File {
		b, err := honest.Encode()
		require.NoError(t, err)
		f, err := weights.Decode(b)
		require.NoError(t, err)
		card, err := f.Card()
		require.NoError(t, err)
		change(f, &card)
		require.NoError(t, f.SetCard(card))
		return f
	}
	louder := func(f *weights.File, _ *weights.Card) {
		for i := range f.Tensors {
			if strings.HasSuffix(f.Tensors[i].Name, "weight") { // 8 times as large: 3 more in the exponent
				for at := 0; at < len(f.Tensors[i].Data); at += 4 {
					v := binary.LittleEndian.Uint32(f.Tensors[i].Data[at:])
					binary.LittleEndian.PutUint32(f.Tensors[i].Data[at:], v+3<<23)
				}
			}
		}
	}
	for what, f := range map[string]*weights.File{
		"other weights": forge(louder),
		"too few steps": forge(func(_ *weights.File, card *weights.Card) {
			card.Steps = []int{1, 1}
			card.Certificate = bytes.ReplaceAll(card.Certificate, []byte(`"steps":2`), []byte(`"steps":1`))
		}),
		"its weights": forge(func(f *weights.File, card *weights.Card) {
			before := card.Checksum
			louder(f, card)
			card.Certificate = bytes.Replace(card.Certificate, []byte(before), []byte(f.Checksum()), 1)
		}),
		"no certificate": forge(func(_ *weights.File, card *weights.Card) { card.Certificate = []byte(`{"proven":true}`) }),
	} {
		saveWeights(t, "forged.safetensors", f)
		for _, args := range [][]string{
			{"denoise", "a.png", "-o", "out.png"},
			{"deblur", "--kernel", "k.png", "a.png", "-o", "out.png"},
			{"check"},
			{"check", "a.png"},
		} {
			r := restoring(t, append(args, "--weights", "forged.safetensors")...)
			require.Equal(t, exitFailed, r.code, "%s: %v: %s", what, args, r.stdout)
			requireOneLine(t, r.stderr, "forged.safetensors: ", "the certificate does not hold")
			require.NoFileExists(t, "out.png")
		}
	}
	// Taken as it is, the louder network is what it is.
	saveWeights(t, "forged.safetensors", forge(louder))
	fails(t, exitFailed, []string{"euler has no certificate, and the attack found"}, "check", "--weights", "forged.safetensors", "--uncertified", "-q")
}

// A stream that promises too much is given up before it fills the memory.
func TestWeightsHaveALimit(t *testing.T) {
	r := &limitedReader{endless{}, 10, weightFiles.tooLong}
	b, err := io.ReadAll(r)
	require.ErrorIs(t, err, weightFiles.tooLong)
	require.Len(t, b, 10)
}

// TestHostileWeights gives every command that reads weights what is none: one line,
// status 1, nothing written.
func TestHostileWeights(t *testing.T) {
	inFolder(t)
	save(t, "a.png", picture(3, 16, 20, 8, 0.05))
	save(t, "k.png", picture(1, 3, 3, 8, 0))
	whole := content(t, seeded(t, "euler"))
	header := func(text string) []byte {
		return append(binary.LittleEndian.AppendUint64(nil, uint64(len(text))), text...)
	}
	flipped := bytes.Clone(whole)
	flipped[len(flipped)-3] ^= 0x40
	var tiff bytes.Buffer
	require.NoError(t, imagefile.Encode(t.Context(), &tiff, picture(3, 9, 9, 8, 0), imagefile.WriteOptions{Format: imagefile.TIFF}))
	hostile := map[string]struct {
		content []byte
		part    string
	}{
		"empty.safetensors":     {nil, "it has 0 bytes"},
		"short.safetensors":     {whole[:5], "it has 5 bytes"},
		"half.safetensors":      {whole[:len(whole)/2], "not a valid safetensors file"},
		"onemore.safetensors":   {append(bytes.Clone(whole), 0), "not a valid safetensors file"},
		"changed.safetensors":   {flipped, "the file was changed or damaged"},
		"huge.safetensors":      {append(binary.LittleEndian.AppendUint64(nil, 1<<62), whole[8:]...), "more than the limit"},
		"promise.safetensors":   {header(`{"w":{"dtype":"F32","shape":[1152921504606846976],"data_offsets":[0,4611686018427387904]}}`), "not a valid safetensors file"},
		"other.safetensors":     {append(header(`{"w":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}`), 0, 0, 0, 0), "does not describe a network of this library"},
		"nothing.safetensors":   {header(`{}`), "does not describe a network of this library"},
		"text.safetensors":      {[]byte("this is a text, renamed\n"), "more than the limit"},
		"picture.tif":           {tiff.Bytes(), "more than the limit"},
		"\x1b[31m.safetensors":  {nil, "it has 0 bytes"},
		"new\nline.safetensors": {nil, "it has 0 bytes"},
	}
	for name, h := range hostile {
		if strings.ContainsAny(name, "\n\x1b") && os.PathSeparator == '\\' {
			continue // no such names there
		}
		require.NoError(t, os.WriteFile(name, h.content, 0o666))
		for _, args := range [][]string{
			{"denoise", "--weights", name, "a.png", "-o", "out.png"},
			{"denoise", "--method", "rk4", "--weights", name, "a.png", "-o", "out.png"},
			{"deblur", "--kernel", "k.png", "--weights", name, "a.png", "-o", "out.png"},
			{"check", "--weights", name},
			{"check", "--weights", name, "a.png"},
		} {
			fails(t, exitFailed, []string{message.OneLine(name) + ": ", h.part}, args...)
			require.NoFileExists(t, "out.png", "%v", args)
		}
		r := restoringFrom(t, bytes.NewReader(h.content), "denoise", "--weights", "-", "a.png", "-o", "out.png")
		require.Equal(t, exitFailed, r.code, name)
		requireOneLine(t, r.stderr, "standard input: ", h.part)
		require.NoError(t, os.Remove(name))
	}
	require.NoError(t, os.Mkdir("folder.safetensors", 0o777))
	fails(t, exitFailed, []string{"folder.safetensors: is a folder; give a weight file"}, "denoise", "--weights", "folder.safetensors", "a.png")
	fails(t, exitFailed, []string{"missing.safetensors: no such file"}, "denoise", "--weights", "missing.safetensors", "a.png")
	fails(t, exitUsage, []string{"--weights is empty"}, "denoise", "--weights", "", "a.png")
	fails(t, exitUsage, []string{"--method rk4: the network in euler.safetensors is of method euler; give that, or leave --method out"},
		"denoise", "--method", "rk4", "--weights", "euler.safetensors", "a.png")
	fails(t, exitUsage, []string{"--prior dncnn: the network in euler.safetensors is of method euler"}, "check", "--prior", "dncnn", "--weights", "euler.safetensors")
	r := restoringFrom(t, endless{}, "denoise", "--weights", "-", "a.png")
	require.Equal(t, exitFailed, r.code)
	requireOneLine(t, r.stderr, "standard input: ")
	require.Equal(t, []string{"a.png", "euler.safetensors", "k.png"}, files(t))
}
