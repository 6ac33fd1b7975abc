package restore_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/restore"
	"github.com/averaged/imaging/weights"
)

func open(t testing.TB, name string) *weights.File {
	t.Helper()
	f, err := weights.Open(name)
	require.NoError(t, err)
	return f
}

// The certificate of all embedded weights is a proof. Because this test has found that, it
// is not proven again by everyone who loads them.
func TestEmbeddedCertificatesHold(t *testing.T) {
	if testing.Short() {
		t.Skip("proofs in full, which a run with -short leaves to the others")
	}
	for _, name := range weights.Embedded() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := open(t, name)
			n := loaded(t, newCPU(t), f)
			alpha, proven := n.Averagedness()
			if name == weights.DnCNN {
				require.False(t, proven)
				return
			}
			require.True(t, proven)
			require.LessOrEqual(t, alpha, 1.0)
			m, err := denoise.FromFile(f)
			require.NoError(t, err)
			c := n.Certificate()
			require.NoError(t, m.Verify(t.Context(), c))
			require.Equal(t, "part of this library, proven by its tests; 'restore check' proves it anew", c.Origin)
			require.Equal(t, m.Parameters(), f.Parameters())
		})
	}
}

// smallestEmbedded returns the name of the certified embedded network with the fewest
// parameters, or nothing.
func smallestEmbedded(t testing.TB) string {
	smallest, least := "", math.MaxInt
	for _, name := range weights.Embedded() {
		if n := open(t, name).Parameters(); n < least && name != weights.DnCNN {
			smallest, least = name, n
		}
	}
	return smallest
}

// A file in which anything is changed is treated like any other. (TestCheckProvesAnew is about
// the option Prove.)
func TestChangedEmbeddedWeights(t *testing.T) {
	name := smallestEmbedded(t)
	require.NotEmpty(t, name)
	const verified = "stored with the weights, verified when they were loaded"
	dev := newCPU(t)
	f := open(t, name)
	f.Metadata["note"] = "read by somebody"
	require.Equal(t, verified, loaded(t, dev, f).Certificate().Origin)

	f = open(t, name)
	card, err := f.Card()
	require.NoError(t, err)
	f.Tensors[0].Data[0] ^= 1
	_, err = denoise.Load(t.Context(), dev, f)
	require.ErrorIs(t, err, weights.ErrChecksum)
	require.NoError(t, f.SetCard(card))
	_, err = denoise.Load(t.Context(), dev, f)
	require.ErrorIs(t, err, denoise.ErrCertificate)
	require.Equal(t, "the network was loaded without looking at a certificate",
		loaded(t, dev, open(t, name), denoise.Uncertified()).Certificate().Reason)
}

// Embedded networks are methods like any other: by name, by their file, or loaded before,
// with the same result.
func TestEmbeddedMethods(t *testing.T) {
	if testing.Short() {
		t.Skip("all methods and tasks, each of which other tests run on smaller networks")
	}
	dev := newCPU(t)
	y := noisy(picture(3, 20, 23), 0.1, 3)
	k, err := deblur.Box(3)
	require.NoError(t, err)
	for _, name := range weights.Embedded() {
		f := open(t, name)
		card, err := f.Card()
		require.NoError(t, err)
		method, err := restore.MethodOf(card)
		require.NoError(t, err)
		require.Equal(t, name, method)
		var want []float32
		for _, options := range [][]restore.Option{
			{restore.Method(name)},
			{restore.Weights(f)},
			{restore.Weights(f), restore.Method(name)},
			{restore.Network(loaded(t, dev, f))},
			{restore.Method(name), restore.Device(dev), restore.Tile(12)},
		} {
			out, report, err := restore.Denoise(t.Context(), y, append(options, restore.Sigma(0.1))...)
			require.NoError(t, err, name)
			require.Equal(t, name, report.Method)
			require.Equal(t, name != weights.DnCNN, report.Certified)
			if want == nil {
				want = pixels(out)
			}
			require.Equal(t, want, pixels(out), name)
		}
		out, report, err := restore.Deblur(t.Context(), y, k, restore.Method(name), restore.Sigma(0.1), restore.Iterations(2))
		require.NoError(t, err, name)
		require.Equal(t, name, report.Method)
		require.Equal(t, name != weights.DnCNN, report.Iteration.Run.Certificate.Converges())
		require.Len(t, pixels(out), len(y.Pix))

		// Other weights can have the name, and are of the method of their integrator.
		f.Tensors[0].Data[0] ^= 1
		require.NoError(t, f.SetCard(card))
		changed, err := f.Card()
		require.NoError(t, err)
		method, err = restore.MethodOf(changed)
		require.NoError(t, err)
		require.Contains(t, []string{card.Integrator, card.Architecture.Family}, method)
	}
}

// Where no method is named it is the default one, and weights that are given come first.
func TestDefaults(t *testing.T) {
	if testing.Short() {
		t.Skip("all tasks with their default networks, which other tests run on smaller ones")
	}
	y := noisy(picture(3, 20, 23), 0.1, 3)
	k, err := deblur.Box(3)
	require.NoError(t, err)
	out, report, err := restore.Denoise(t.Context(), y, restore.Sigma(0.1))
	require.NoError(t, err)
	require.Equal(t, restore.DefaultMethod(), report.Method)
	named, _, err := restore.Denoise(t.Context(), y, restore.Sigma(0.1), restore.Method(restore.DefaultMethod()))
	require.NoError(t, err)
	require.Equal(t, pixels(named), pixels(out))
	_, report, err = restore.Deblur(t.Context(), y, k, restore.Iterations(2))
	require.NoError(t, err)
	require.Equal(t, restore.DefaultPrior(), report.Method)
	if !testing.Short() { // the attack on the whole of a network takes minutes in portable Go
		checked, err := restore.Check(t.Context(), nil, k)
		require.NoError(t, err)
		require.Equal(t, restore.DefaultPrior(), checked.Method)
	}
	_, report, err = restore.Denoise(t.Context(), y, restore.Weights(seeded(t, "heun", denoise.Architecture{})))
	require.NoError(t, err)
	require.Equal(t, "heun", report.Method)
}

// The general network takes out noise of every level.
func TestGeneralRemovesNoise(t *testing.T) {
	require.Equal(t, weights.Guided, restore.DefaultMethod(), "what anybody may use")
	clean := picture(3, 48, 56)
	n := restore.Network(loaded(t, newCPU(t), open(t, weights.General)))
	// The least gain in dB; a drawn picture of so few pixels is no photograph.
	for sigma, gain := range map[float64]float64{0.02: 0.1, 0.1: 2, 0.3: 5} {
		y := noisy(clean, sigma, 3)
		out, report, err := restore.Denoise(t.Context(), y, n, restore.Sigma(sigma))
		require.NoError(t, err)
		require.InDelta(t, sigma*report.Network.Adaptation, report.Network.Level, 1e-15)
		require.Greater(t, psnr(t, clean, out.(*restore.Planar)), psnr(t, clean, y)+gain, "noise of %v", sigma)
	}
}

// BenchmarkLoadEmbedded is what every call of Denoise with an embedded method spends before
// it begins: reading, comparing and checksums, and the filters' transforms on the device.
func BenchmarkLoadEmbedded(b *testing.B) {
	dev := cputest.Open(b, cpu.Threads(1))
	defer dev.Close()
	for _, name := range weights.Embedded() {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				n, err := denoise.Load(b.Context(), dev, open(b, name))
				if err != nil {
					b.Fatal(err)
				}
				n.Free()
			}
		})
	}
}

// BenchmarkEmbedded is each network on a photograph's worth of pixels, 481×321, with what its
// guide does.
func BenchmarkEmbedded(b *testing.B) {
	dev := cputest.Open(b)
	defer dev.Close()
	shape := backend.Image(3, 321, 481)
	src, err := dev.Alloc(shape)
	require.NoError(b, err)
	require.NoError(b, dev.Gaussian(src, 1, 0.5, 0.15))
	dst, err := dev.Alloc(shape)
	require.NoError(b, err)
	for _, name := range weights.Embedded() {
		n := loaded(b, dev, open(b, name))
		if len(n.Levels()) > 0 {
			n, err = n.For(b.Context(), 0.15)
			require.NoError(b, err)
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if !n.Guided() {
					require.NoError(b, n.Apply(b.Context(), dst, src))
					continue
				}
				radii, err := n.Guide(b.Context(), src, 0.15, 1)
				require.NoError(b, err)
				frozen, err := n.Freeze(radii)
				require.NoError(b, err)
				require.NoError(b, frozen.Apply(b.Context(), dst, src))
				frozen.Free()
			}
		})
	}
}
