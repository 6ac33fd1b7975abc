package denoise

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/averaged/imaging/averaged"
	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise/activation"
	"github.com/averaged/imaging/denoise/normbound"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/averaged/imaging/weights"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func testCard() weights.Card {
	return weights.Card{
		Name: "test", Sigma: 0.15, Licence: "CC0-1.0",
		Provenance: weights.Provenance{Software: "none", Data: "seeded random numbers"},
	}
}

func TestCertifyChoosesTheSteps(t *testing.T) {
	for _, c := range []struct {
		a    Architecture
		norm float64
	}{
		{Architecture{}, 1}, {Architecture{}, 2.2}, {Architecture{Integrator: rungekutta.Heun()}, 1.9},
		{Architecture{Integrator: rungekutta.Kutta3()}, 1.9}, {Architecture{Integrator: rungekutta.BackwardEuler()}, 5},
	} {
		m := smallModel(t, 3, c.a, c.norm)
		m.Blocks[1].Length = 0.3
		m.Blocks[2].Steps = 7
		cert, err := m.Certify(t.Context(), 0)
		require.NoError(t, err)
		require.True(t, cert.Proven)
		r, err := m.Integrator.Radius()
		require.NoError(t, err)
		var alphas []float64
		for i, b := range cert.Blocks {
			h := []float64{min(r, 1e300), 0.3, min(r, 1e300)}[i]
			if math.IsInf(r, 1) && i != 1 {
				h = 1
			}
			require.Equal(t, h, b.Length)
			needed, err := rungekutta.Steps(h, b.Norm.Upper, 1, r)
			require.NoError(t, err)
			if i == 2 {
				needed = max(needed, 7)
			}
			require.Equal(t, needed, b.Steps)
			want := 1.0
			switch m.Integrator.Name {
			case "euler":
				want = averaged.EulerStep(float64(rungekutta.StepSize(h, needed)), b.Norm.Upper, 1)
			case "backward-euler":
				want = 0.5
			}
			require.Equal(t, want, b.Averagedness)
			for range needed {
				alphas = append(alphas, want)
			}
		}
		require.Equal(t, averaged.Composition(alphas...), cert.Composition)
		require.Equal(t, averaged.UniformComposition(alphas...), cert.Uniform)
		require.Equal(t, min(cert.Composition, cert.Uniform), cert.Averagedness)
		require.NoError(t, m.Verify(t.Context(), cert))
	}
}

// Equal steps at the constant ½ compose to m/(m+1).
func TestCertificateOfEqualSteps(t *testing.T) {
	m := smallModel(t, 3, Architecture{Blocks: 4, Integrator: rungekutta.BackwardEuler()}, 1)
	cert, err := m.Certify(t.Context(), 0)
	require.NoError(t, err)
	require.InDelta(t, 4./5, cert.Averagedness, 1e-14)
}

// The network of nothing is the identity, averaged with any constant above 0.
func TestCertificateOfTheIdentity(t *testing.T) {
	m := smallModel(t, 3, Architecture{Blocks: 1}, 1)
	clear(m.Blocks[0].Filter)
	dev := newCPU(t)
	n := certified(t, dev, m)
	alpha, proven := n.Averagedness()
	require.True(t, proven)
	require.Greater(t, alpha, 0.0)
	require.Less(t, alpha, 1e-12)
	s := backend.Image(3, 5, 6)
	x := randomImage(1, s)
	require.Equal(t, x, denoised(t, n, s, x))
}

// Everything that stands in a certificate is checked against the weights.
func TestVerifyRefuses(t *testing.T) {
	m := smallModel(t, 4, Architecture{}, 1.3)
	good, err := m.Certify(t.Context(), 0)
	require.NoError(t, err)
	require.NoError(t, m.Verify(t.Context(), good))
	for name, spoil := range map[string]func(c *Certificate){
		"weights":     func(c *Certificate) { c.Weights = c.Weights[:70] + "0" },
		"bound":       func(c *Certificate) { c.Blocks[1].Norm.Upper *= 0.99 },
		"infinite":    func(c *Certificate) { c.Blocks[1].Norm.Upper = math.Inf(1) },
		"NaN":         func(c *Certificate) { c.Blocks[1].Norm.Upper = math.NaN() },
		"lower":       func(c *Certificate) { c.Blocks[0].Norm.Lower = 2 * c.Blocks[0].Norm.Upper },
		"cells":       func(c *Certificate) { c.Blocks[0].Norm.Cells = -1 },
		"steps":       func(c *Certificate) { c.Blocks[0].Steps = 0 },
		"many steps":  func(c *Certificate) { c.Blocks[0].Steps = math.MaxInt },
		"length":      func(c *Certificate) { c.Blocks[0].Length = 0.5 },
		"step":        func(c *Certificate) { c.Blocks[0].Averagedness = 0.1 },
		"blocks":      func(c *Certificate) { c.Blocks = c.Blocks[:2] },
		"radius":      func(c *Certificate) { c.Radius = 2 },
		"integrator":  func(c *Certificate) { c.Integrator = "heun" },
		"activation":  func(c *Certificate) { c.Activation = activation.ReLU() },
		"slope":       func(c *Certificate) { c.Activation = activation.LeakyReLU(0.02) },
		"Lipschitz":   func(c *Certificate) { c.Lipschitz = 0.5 },
		"uniform":     func(c *Certificate) { c.Uniform = 0.5 },
		"composition": func(c *Certificate) { c.Composition = 0.5 },
		"shuffle":     func(c *Certificate) { c.Shuffle = 2 },
		"sigmas":      func(c *Certificate) { c.Sigmas = []float64{0.1} },
		"whole":       func(c *Certificate) { c.Averagedness = 0.5 },
		"reason":      func(c *Certificate) { c.Reason = "because" },
		"unproven":    func(c *Certificate) { c.Proven = false },
		"wrapped":     func(c *Certificate) { *c = c.wrapped("relaxed by 0.5", "", 0.1) },
	} {
		bad := good
		bad.Blocks = append([]BlockCertificate{}, good.Blocks...)
		spoil(&bad)
		require.ErrorIs(t, m.Verify(t.Context(), bad), ErrCertificate, name)
		if bad.Proven {
			_, err := New(t.Context(), newCPU(t), m, bad)
			require.ErrorIs(t, err, ErrCertificate, name)
		}
	}
	// A greater bound is a bound, too, with all that follows from it.
	larger := good
	larger.Blocks = append([]BlockCertificate{}, good.Blocks...)
	larger.Blocks[0].Norm.Upper *= 1.001
	require.ErrorIs(t, m.Verify(t.Context(), larger), ErrCertificate)

	for name, spoil := range map[string]func(m *Model){
		"weight": func(m *Model) { m.Blocks[2].Filter[5] += 1e-6 },
		"bias":   func(m *Model) { m.Blocks[0].Bias[1] += 1e-6 },
		"length": func(m *Model) { m.Blocks[0].Length = 2 },
		"steps":  func(m *Model) { m.Blocks[0].Steps = 40 },
		"method": func(m *Model) { m.Integrator = rungekutta.Heun() },
		"slope":  func(m *Model) { m.Activation = activation.LeakyReLU(0.5) },
	} {
		other := smallModel(t, 4, Architecture{}, 1.3)
		spoil(&other)
		require.ErrorIs(t, other.Verify(t.Context(), good), ErrCertificate, name)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, m.Verify(ended, good), context.Canceled)
	_, err = m.Certify(ended, 0)
	require.ErrorIs(t, err, context.Canceled)
	_, err = m.Certify(t.Context(), 2)
	require.ErrorContains(t, err, "tolerance")
}

func TestLoad(t *testing.T) {
	dev := newCPU(t)
	s := backend.Image(3, 12, 10)
	x := randomImage(5, s)
	m := smallModel(t, 4, Architecture{}, 1.7)
	cert, err := m.Certify(t.Context(), 0)
	require.NoError(t, err)
	n, err := New(t.Context(), dev, m, cert)
	require.NoError(t, err)
	want := denoised(t, n, s, x)
	file := func(m Model, c Certificate) *weights.File {
		f, err := m.File(testCard(), c)
		require.NoError(t, err)
		var disk bytes.Buffer
		require.NoError(t, f.Write(&disk))
		read, err := weights.Read(&disk)
		require.NoError(t, err)
		return read
	}

	loaded, err := Load(t.Context(), dev, file(m, cert), Tile(5))
	require.NoError(t, err)
	require.Equal(t, want, denoised(t, loaded, s, x))
	got := loaded.Certificate()
	require.Contains(t, got.Origin, "stored with the weights")
	got.Origin = ""
	require.Equal(t, cert, got)
	card, ok := loaded.Card()
	require.True(t, ok)
	require.Equal(t, 0.15, card.Sigma)

	// A weight that was changed after certification is refused, whoever else vouches
	// for it: by the card's checksum, and by the certificate's.
	f := file(m, cert)
	f.Tensors[0].Data[0] ^= 1
	_, err = Load(t.Context(), dev, f)
	require.ErrorIs(t, err, weights.ErrChecksum)
	card, err = file(m, cert).Card()
	require.NoError(t, err)
	require.NoError(t, f.SetCard(card))
	_, err = Load(t.Context(), dev, f)
	require.ErrorIs(t, err, ErrCertificate)
	require.ErrorContains(t, err, "certified anew")
	require.ErrorContains(t, err, `weights "test"`)

	// Without a certificate it is made at load, and raises steps that are too few.
	for i := range m.Blocks {
		m.Blocks[i].Steps = 1
	}
	loaded, err = Load(t.Context(), dev, file(m, Certificate{}))
	require.NoError(t, err)
	require.Equal(t, want, denoised(t, loaded, s, x))
	require.Contains(t, loaded.Certificate().Origin, "the file says 1")
	_, proven := loaded.Averagedness()
	require.True(t, proven)

	// Uncertified, it is what the file says.
	loaded, err = Load(t.Context(), dev, file(m, Certificate{}), Uncertified())
	require.NoError(t, err)
	_, proven = loaded.Averagedness()
	require.False(t, proven)
	ones := newReference(t, m, []int{1, 1, 1}, s.H, s.W).apply(x)
	require.LessOrEqual(t, between(denoised(t, loaded, s, x), ones), 3e-6*norm2(ones))

	// JSON that is no certificate, or an empty one.
	for _, text := range []string{`{}`, `{"schema":2}`, strings.Replace(string(certificateText(t, unproven("x"))), "null", "1", 1)} {
		card.Certificate = json.RawMessage(text)
		f = file(m, Certificate{})
		require.NoError(t, f.SetCard(card))
		_, err = Load(t.Context(), dev, f)
		require.ErrorIs(t, err, ErrCertificate, text)
	}
	_, err = Load(t.Context(), dev, nil)
	require.ErrorContains(t, err, "the weight file is nil")
	_, err = Load(t.Context(), nil, file(m, Certificate{}))
	require.ErrorContains(t, err, "the device is nil")
	_, err = Load(t.Context(), dev, &weights.File{})
	require.ErrorIs(t, err, weights.ErrNoCard)
}

func certificateText(t require.TestingT, c Certificate) []byte {
	text, err := json.Marshal(c)
	require.NoError(t, err)
	return text
}

func TestCertificateJSON(t *testing.T) {
	m := smallModel(t, 3, Architecture{}, 1)
	c, err := m.Certify(t.Context(), 0)
	require.NoError(t, err)
	implicit := smallModel(t, 3, Architecture{Integrator: rungekutta.BackwardEuler()}, 1)
	d, err := implicit.Certify(t.Context(), 0)
	require.NoError(t, err)
	for _, c := range []Certificate{c, d, unproven("nothing <known>"), c.wrapped("relaxed by 0.5", "a theorem", 0.25)} {
		text := certificateText(t, c)
		var read Certificate
		require.NoError(t, json.Unmarshal(text, &read))
		require.Equal(t, c, read)
		var spaced bytes.Buffer
		require.NoError(t, json.Indent(&spaced, text, "", "  "))
		require.NoError(t, json.Unmarshal(spaced.Bytes(), &read))
		require.Equal(t, c, read)
	}
	text := string(certificateText(t, c))
	for name, bad := range map[string]string{
		"unknown key":  strings.Replace(text, `"schema":1`, `"schema":1,"new":2`, 1),
		"key twice":    strings.Replace(text, `"schema":1`, `"schema":1,"schema":1`, 1),
		"missing":      strings.Replace(text, `"proven":true,`, ``, 1),
		"order":        strings.Replace(text, `"schema":1,`, ``, 1),
		"other schema": strings.Replace(text, `"schema":1`, `"schema":3`, 1),
		"long number":  strings.Replace(text, `"radius":1`, `"radius":1.0`, 1),
		"wrong type":   strings.Replace(text, `"proven":true`, `"proven":1`, 1),
		"key in upper": strings.Replace(text, `"proven"`, `"Proven"`, 1),
		"null":         "null",
		"no object":    "[]",
	} {
		var read Certificate
		require.Error(t, json.Unmarshal([]byte(bad), &read), name)
		require.Equal(t, Certificate{}, read, name)
	}
	c.Averagedness = math.NaN()
	_, err = json.Marshal(c)
	require.Error(t, err)
}

func TestCertificateJSONRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.Float64Range(-1e300, 1e300)
		c := Certificate{
			Weights: rapid.String().Draw(t, "weights"), Integrator: rapid.String().Draw(t, "integrator"),
			Radius: number.Draw(t, "radius"), Lipschitz: number.Draw(t, "L"),
			Activation: activation.Function{Name: rapid.String().Draw(t, "activation"), Slope: number.Draw(t, "slope")},
			Uniform:    number.Draw(t, "uniform"), Composition: number.Draw(t, "composition"),
			Proven: rapid.Bool().Draw(t, "proven"), Averagedness: number.Draw(t, "α"), Reason: rapid.String().Draw(t, "reason"),
		}
		for range rapid.IntRange(0, 3).Draw(t, "blocks") {
			c.Blocks = append(c.Blocks, BlockCertificate{
				Norm:   normbound.Bound{Upper: number.Draw(t, "upper"), Lower: number.Draw(t, "lower"), Cells: rapid.Int().Draw(t, "cells")},
				Length: number.Draw(t, "h"), Steps: rapid.Int().Draw(t, "N"), Averagedness: number.Draw(t, "step"),
			})
		}
		c.Shuffle = rapid.Int().Draw(t, "shuffle")
		if n := rapid.IntRange(0, 3).Draw(t, "levels"); n > 0 {
			c.Sigmas = rapid.SliceOfN(number, n, n).Draw(t, "sigmas")
		}
		var read Certificate
		require.NoError(t, json.Unmarshal(certificateText(t, c), &read))
		require.Equal(t, c, read)
	})
}

func FuzzCertificate(f *testing.F) {
	for _, c := range []Certificate{
		unproven("nothing"), {Radius: math.Inf(1), Proven: true, Blocks: []BlockCertificate{{Steps: 2}}},
		unproven("x").wrapped("relaxed", "theorem", 0.5),
		{Proven: true, Shuffle: 2, Sigmas: []float64{0.01, 15. / 255}, Blocks: []BlockCertificate{{Steps: 1}}},
	} {
		text, err := json.Marshal(c)
		require.NoError(f, err)
		f.Add(text)
		f.Add(bytes.Replace(text, []byte(":1"), []byte(": 1.0"), 1))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var c Certificate
		if json.Unmarshal(data, &c) != nil {
			return
		}
		var compact bytes.Buffer
		require.NoError(t, json.Compact(&compact, data))
		require.Equal(t, compact.String(), string(certificateText(t, c)))
		require.NotEmpty(t, c.String())
	})
}

func TestCertificatePrintsItself(t *testing.T) {
	print := func(a Architecture, norm float64) string {
		c, err := smallModel(t, 3, a, norm).Certify(t.Context(), 0)
		require.NoError(t, err)
		return c.String()
	}
	text := print(Architecture{}, 1.9)
	for _, want := range []string{
		"integrator euler", "radius of circle contractivity r: 1", "leakyrelu (slope 0.01)", "theorem 2.8", "Combettes and Yamada",
		"theorem 2.9", "Φ is 0.", "zero padding", "sha256:", "block", "S ≤",
	} {
		require.Contains(t, text, want)
	}
	require.Contains(t, print(Architecture{Integrator: rungekutta.Heun()}, 1), "theorem 2.3")
	require.Contains(t, print(Architecture{Integrator: rungekutta.Heun()}, 1), "Φ is nonexpansive")
	require.Contains(t, print(Architecture{Integrator: rungekutta.BackwardEuler()}, 1), "½-averaged for every h")
	require.Equal(t, "whole  nothing is proven\n", Certificate{}.String())
	require.Contains(t, unproven("why not").String(), "nothing is proven: why not")
	require.Contains(t, unproven("why not").wrapped("relaxed by 2", "", 2).String(), "relaxed by 2")
	text += print(Architecture{Width: 12, Shuffle: 2, Sigmas: []float64{15. / 255, 0.1}}, 1)
	require.Contains(t, text, "UᵀΦU")
	require.Contains(t, text, "2 noise levels from 0.0588235 to 0.1")
	for line := range strings.Lines(text) {
		require.Less(t, len([]rune(line)), 140, line)
	}
}
