package denoise

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/averaged/imaging/denoise/activation"
	"github.com/averaged/imaging/denoise/dncnn"
	"github.com/averaged/imaging/denoise/normbound"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/averaged/imaging/internal/devicetest"
	"github.com/averaged/imaging/weights"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestModelFileRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := Architecture{
			Channels: rapid.IntRange(1, 3).Draw(t, "channels"), Width: rapid.IntRange(3, 5).Draw(t, "width"),
			Kernel: 2*rapid.IntRange(0, 2).Draw(t, "radius") + 1, Blocks: rapid.IntRange(1, 3).Draw(t, "blocks"),
			Activation: rapid.SampledFrom([]activation.Function{activation.LeakyReLU(0.01), activation.LeakyReLU(1), activation.ReLU(), activation.HardTanh(), activation.Linear(), activation.Balls()}).Draw(t, "activation"),
			Integrator: rapid.SampledFrom(rungekutta.Integrators()).Draw(t, "integrator"),
		}
		if rapid.Bool().Draw(t, "shuffled") {
			a.Shuffle = rapid.IntRange(2, 3).Draw(t, "factor")
			a.Width += a.Shuffle * a.Shuffle * a.Channels
		}
		if a.Activation.Homogeneous() {
			levels := rapid.SliceOfNDistinct(rapid.Float64Range(1e-9, 1), 0, 4, rapid.ID[float64]).Draw(t, "sigmas")
			a.Sigmas = slices.Sorted(slices.Values(levels))
		}
		m, err := RandomModel(rapid.Uint64().Draw(t, "seed"), a, rapid.Float64Range(0.1, 3).Draw(t, "norm"))
		require.NoError(t, err)
		for i := range m.Blocks {
			m.Blocks[i].Length = rapid.Float64Range(1e-3, 10).Draw(t, "h")
			m.Blocks[i].Steps = rapid.IntRange(1, 9).Draw(t, "N")
			if rapid.Bool().Draw(t, "without bias") {
				m.Blocks[i].Bias = nil
			}
			if rapid.Bool().Draw(t, "without gains") {
				m.Blocks[i].Gain = nil
			}
		}
		f, err := m.File(testCard(), Certificate{})
		require.NoError(t, err)
		var disk bytes.Buffer
		require.NoError(t, f.Write(&disk))
		read, err := weights.Read(&disk)
		require.NoError(t, err)
		again, err := FromFile(read)
		require.NoError(t, err)
		require.Equal(t, m, again)
		card, err := read.Card()
		require.NoError(t, err)
		require.Equal(t, "averaged", card.Architecture.Family)
		require.Equal(t, a.Integrator.Name, card.Integrator)
	})
}

// Half precision is read exactly, and the checksum of the certificate is that of the
// numbers.
func TestModelFromHalfPrecision(t *testing.T) {
	m := smallModel(t, 2, Architecture{}, 1)
	f, err := m.File(testCard(), Certificate{})
	require.NoError(t, err)
	card, err := f.Card()
	require.NoError(t, err)
	for i, tensor := range f.Tensors {
		values, err := tensor.Float32s()
		require.NoError(t, err)
		f.Tensors[i], err = weights.NewTensor(tensor.Name, weights.BF16, tensor.Shape, values)
		require.NoError(t, err)
	}
	require.NoError(t, f.SetCard(card))
	half, err := FromFile(f)
	require.NoError(t, err)
	require.NotEqual(t, m, half)
	cert, err := half.Certify(t.Context(), 0)
	require.NoError(t, err)
	card.Certificate = certificateText(t, cert)
	require.NoError(t, f.SetCard(card))
	_, err = Load(t.Context(), newCPU(t), f)
	require.NoError(t, err)
}

func TestFromFileRefuses(t *testing.T) {
	m := smallModel(t, 2, Architecture{}, 1)
	for name, c := range map[string]struct {
		spoil func(f *weights.File, c *weights.Card)
		want  string
	}{
		"family":      {func(_ *weights.File, c *weights.Card) { c.Architecture.Family = "unet" }, `"unet"`},
		"integrator":  {func(_ *weights.File, c *weights.Card) { c.Integrator = "midpoint" }, "midpoint"},
		"none":        {func(_ *weights.File, c *weights.Card) { c.Integrator, c.StepSizes = "", nil }, "not known"},
		"activation":  {func(_ *weights.File, c *weights.Card) { c.Architecture.Activation = "gelu" }, "gelu"},
		"slope":       {func(_ *weights.File, c *weights.Card) { c.Architecture.Slope = 2 }, "slope 2"},
		"width":       {func(_ *weights.File, c *weights.Card) { c.Architecture.Width = 8 }, "shape"},
		"large width": {func(_ *weights.File, c *weights.Card) { c.Architecture.Width = math.MaxInt }, "at most"},
		"channels":    {func(_ *weights.File, c *weights.Card) { c.Architecture.Channels = 9 }, "9"},
		"kernel":      {func(_ *weights.File, c *weights.Card) { c.Architecture.Kernel = 5 }, "shape"},
		"blocks":      {func(_ *weights.File, c *weights.Card) { c.Architecture.Blocks, c.StepSizes = 4, nil }, "no tensor"},
		"fewer":       {func(_ *weights.File, c *weights.Card) { c.Architecture.Blocks, c.StepSizes = 2, nil }, "not the network's"},
		"many":        {func(_ *weights.File, c *weights.Card) { c.Architecture.Blocks, c.StepSizes = math.MaxInt, nil }, "at most"},
		"huge step":   {func(_ *weights.File, c *weights.Card) { c.StepSizes[1] = 1e60 }, "float32"},
		"many steps":  {func(_ *weights.File, c *weights.Card) { c.Steps = []int{1, 1, math.MaxInt} }, "steps"},
		"NaN":         {func(f *weights.File, _ *weights.Card) { copy(f.Tensors[0].Data, []byte{0xff, 0xff, 0xff, 0xff}) }, "finite"},
		"shape":       {func(f *weights.File, _ *weights.Card) { f.Tensors[1].Shape = []int{7, 1} }, "shape"},
		"bias": {func(f *weights.File, _ *weights.Card) {
			f.Tensors[1].Shape, f.Tensors[1].Data = []int{6}, f.Tensors[1].Data[:24]
		}, "shape [6]"},
		"integers": {func(f *weights.File, _ *weights.Card) { f.Tensors[0].DType = weights.I32 }, "not converted"},
		"more": {func(f *weights.File, _ *weights.Card) {
			f.Tensors = append(f.Tensors, weights.Tensor{Name: "extra", DType: weights.F32, Shape: []int{0}})
		}, `"extra"`},
	} {
		f, err := m.File(testCard(), Certificate{})
		require.NoError(t, err)
		card, err := f.Card()
		require.NoError(t, err)
		c.spoil(f, &card)
		require.NoError(t, f.SetCard(card), name)
		_, err = FromFile(f)
		require.ErrorContains(t, err, c.want, name)
		_, err = Load(t.Context(), newCPU(t), f)
		require.Error(t, err, name)
	}
	_, err := FromFile(nil)
	require.Error(t, err)
}

func TestFileRefuses(t *testing.T) {
	m := smallModel(t, 2, Architecture{Integrator: ralston}, 1)
	_, err := m.File(testCard(), Certificate{})
	require.ErrorContains(t, err, "ralston")
	m.Integrator = rungekutta.Tableau{Name: "euler", A: ralston.A, B: ralston.B}
	_, err = m.File(testCard(), Certificate{})
	require.ErrorContains(t, err, "no place for its tableau")
	m.Integrator = rungekutta.ForwardEuler()
	other, err := smallModel(t, 3, Architecture{}, 1).Certify(t.Context(), 0)
	require.NoError(t, err)
	_, err = m.File(testCard(), other)
	require.ErrorIs(t, err, ErrCertificate)
	_, err = m.File(weights.Card{}, Certificate{})
	require.ErrorContains(t, err, "no name")
	m.Blocks = nil
	_, err = m.File(testCard(), Certificate{})
	require.ErrorContains(t, err, "0 blocks")
}

func TestRandomModelIsSeededAndScaled(t *testing.T) {
	devicetest.SkipSearch(t)
	a := smallModel(t, 1, Architecture{Width: 16}, 1.5)
	require.Equal(t, a, smallModel(t, 1, Architecture{Width: 16}, 1.5))
	require.NotEqual(t, a, smallModel(t, 2, Architecture{Width: 16}, 1.5))
	for _, b := range a.Blocks {
		n, err := normbound.Prove(t.Context(), b.Filter, a.filterShape(b), 0)
		require.NoError(t, err)
		require.InEpsilon(t, 1.5, n.Upper, 0.1)
	}
	paper, err := RandomModel(1, Architecture{Blocks: 1}, 1)
	require.NoError(t, err)
	require.Equal(t, 64*64*9+64, paper.Parameters())
	require.Equal(t, 10, Architecture{}.withDefaults().Blocks)
	for _, bad := range []Architecture{{Blocks: -1}, {Width: -1}, {Kernel: 2}, {Channels: 70}, {Kernel: 1 << 20}} {
		_, err := RandomModel(1, bad, 1)
		require.Error(t, err, "%+v", bad)
	}
	for _, norm := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		_, err := RandomModel(1, Architecture{}, norm)
		require.Error(t, err)
	}
}

// Whatever the file, reading it ends without a panic, and what is read can be written
// and read again.
func FuzzFromFile(f *testing.F) {
	add := func(file *weights.File, err error) {
		require.NoError(f, err)
		b, err := file.Encode()
		require.NoError(f, err)
		f.Add(b)
	}
	for _, integrator := range []rungekutta.Tableau{rungekutta.ForwardEuler(), rungekutta.BackwardEuler()} {
		m, err := RandomModel(1, Architecture{Channels: 1, Width: 2, Blocks: 1, Kernel: 1, Integrator: integrator}, 1)
		require.NoError(f, err)
		add(m.File(testCard(), Certificate{}))
		cert, err := m.Certify(f.Context(), 0)
		require.NoError(f, err)
		add(m.File(testCard(), cert))
	}
	m, err := RandomModel(1, Architecture{Channels: 1, Width: 4, Blocks: 1, Kernel: 1, Shuffle: 2, Sigmas: []float64{0.1, 0.3}}, 1)
	require.NoError(f, err)
	add(m.File(testCard(), Certificate{}))
	for _, a := range []Architecture{{Width: 4, Group: 2, Integrator: rungekutta.Heun()}, {Width: 4, Shuffle: 2, Sigmas: []float64{0.1, 0.3}}} {
		a.Channels, a.Blocks, a.Kernel, a.Activation = 1, 1, 1, activation.Balls()
		projecting, err := RandomModel(1, a, 1)
		require.NoError(f, err)
		cert, err := projecting.Certify(f.Context(), 0)
		require.NoError(f, err)
		add(projecting.File(testCard(), cert))
	}
	m, err = m.Rounded16()
	require.NoError(f, err)
	cert, err := m.Certify(f.Context(), 0)
	require.NoError(f, err)
	add(m.File(testCard(), cert, weights.HalfPrecision()))
	d, err := dncnn.Random(1, 1, 2, 1)
	require.NoError(f, err)
	add(d.File(testCard()))
	dev := newCPU(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		file, err := weights.Decode(data)
		if err != nil {
			return
		}
		// The checksum stands between the fuzzer and what is behind it.
		if v := file.Metadata["averaged.checksum"]; v != "" {
			file.Metadata["averaged.checksum"] = file.Checksum()
		}
		if m, err := FromFile(file); err == nil {
			card, err := file.Card()
			require.NoError(t, err)
			again, err := m.File(card, Certificate{})
			require.NoError(t, err)
			same, err := FromFile(again)
			require.NoError(t, err)
			// Length 0 is written as the number that it stands for.
			for i := range same.Blocks {
				require.Equal(t, m.Blocks[i].Filter, same.Blocks[i].Filter)
				require.Equal(t, m.Blocks[i].Radius, same.Blocks[i].Radius)
			}
		}
		if d, err := dncnn.FromFile(file); err == nil {
			card, err := file.Card()
			require.NoError(t, err)
			_, err = d.File(card)
			require.NoError(t, err)
		}
		if n, err := Load(t.Context(), dev, file, Uncertified()); err == nil {
			n.Free()
		}
	})
}
