package restore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/backendtest/refdevice"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/deblur"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/denoise/dncnn"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/pnp"
	"github.com/averaged/imaging/restore"
	"github.com/averaged/imaging/weights"
	"github.com/stretchr/testify/require"
)

// The networks of these tests are small and have random weights from a seed: they restore
// nothing, but everything around them is as it is with trained ones.

// sigma0 is the noise level that the networks of the tests are said to be for.
const sigma0 = 0.1

func card(name string) weights.Card {
	return weights.Card{
		Name: name, Sigma: sigma0, Licence: "Apache-2.0",
		Provenance: weights.Provenance{Software: "random weights from a seed", Data: "none"},
	}
}

// seeded returns the weight file of a small network of the given method, with a
// certificate if there is one for it.
func seeded(t testing.TB, method string, a denoise.Architecture) *weights.File {
	key := fmt.Sprintf("%s %+v", method, a)
	encoded, ok := seededFiles.Load(key)
	if !ok {
		var err error
		encoded, err = newlySeeded(t, method, a).Encode()
		require.NoError(t, err)
		seededFiles.Store(key, encoded)
	}
	f, err := weights.Decode(encoded.([]byte))
	require.NoError(t, err)
	return f
}

// seededFiles are the weight files that these tests have made, encoded: to find the norms of
// a network and to prove them takes longer than most of what is done with it.
var seededFiles sync.Map

func newlySeeded(t testing.TB, method string, a denoise.Architecture) *weights.File {
	if method == "dncnn" {
		d, err := dncnn.Random(5, 3, 4, 1)
		require.NoError(t, err)
		f, err := d.File(card("seeded-dncnn"))
		require.NoError(t, err)
		return f
	}
	m := seededModel(t, method, a, 1.7)
	c, err := m.Certify(t.Context(), 0)
	require.NoError(t, err)
	f, err := m.File(card("seeded-"+method), c)
	require.NoError(t, err)
	return f
}

func seededModel(t testing.TB, method string, a denoise.Architecture, norm float64) denoise.Model {
	integrator, err := rungekutta.Named(method)
	require.NoError(t, err)
	a.Width, a.Blocks, a.Integrator = 4, 2, integrator
	m, err := denoise.RandomModel(5, a, norm)
	require.NoError(t, err)
	return m
}

func loaded(t testing.TB, dev backend.Device, f *weights.File, options ...denoise.Option) *denoise.Network {
	n, err := denoise.Load(t.Context(), dev, f, options...)
	require.NoError(t, err)
	t.Cleanup(n.Free)
	return n
}

func newCPU(t testing.TB, options ...cpu.Option) backend.Device {
	dev := cputest.Open(t, options...)
	t.Cleanup(func() { require.NoError(t, dev.Close()) })
	return dev
}

func pixels(img image.Image) []float32 { return img.(*restore.Planar).Pix }

// networks are the names of the methods that weights from files can have.
func networks() []string {
	return []string{"euler", "heun", "rk4", "ssprk3", "kutta3", "backward-euler", "dncnn"}
}

func TestMethods(t *testing.T) {
	var names []string
	for _, m := range restore.Methods() {
		names = append(names, m.Name)
		require.NotContains(t, m.Description, "(", "every integrator has words of its own")
	}
	require.Subset(t, names, networks())
	require.Contains(t, names, restore.DefaultMethod())
	require.Contains(t, names, restore.DefaultPrior())
}

// overAxes is by how much the level of a network of colour is higher for an image of that many
// channels: the noise of three equal ones adds up along one axis.
func overAxes(channels int) float64 {
	if channels == 1 {
		return math.Sqrt(3)
	}
	return 1
}

// Every method denoises by s·Φ(x/s), in colour and in grey, and says so.
func TestDenoiseByNetworks(t *testing.T) {
	dev := newCPU(t)
	for _, method := range networks() {
		f := seeded(t, method, denoise.Architecture{})
		n := loaded(t, dev, f)
		for _, channels := range []int{1, 3} {
			y := noisy(picture(channels, 14, 19), 0.05, 3)
			out, report, err := restore.Denoise(t.Context(), y, restore.Weights(f), restore.Sigma(0.05), restore.Strength(1.5), restore.Adaptation(false))
			require.NoError(t, err, method)
			require.Equal(t, method, report.Method)
			require.InDelta(t, 1.5*0.05/sigma0*overAxes(channels), report.Network.Rescaling, 1e-12)
			require.Zero(t, report.Weight)
			require.Zero(t, report.Iteration.Count)
			require.True(t, report.Iteration.Converged)
			require.Equal(t, method != "dncnn", report.Certified)
			require.Equal(t, report.Certified, report.Network.Certificate.Proven)
			require.Equal(t, report.Averagedness, report.Network.Certificate.Averagedness)
			alpha, _ := n.Averagedness()
			require.Equal(t, alpha, report.Averagedness, "grey and rescaling keep the constant")
			require.Equal(t, method == "backward-euler", report.Iteration.Tolerance > 0, "the others are formulas")
			require.LessOrEqual(t, report.Iteration.Residual, report.Iteration.Tolerance)

			want := through(t, n, y, float32(report.Network.Rescaling))
			require.InDeltaSlice(t, want, pixels(out), 2e-4)
			require.Greater(t, difference(pixels(out), y.Pix), 1e-3, "it does something")
		}
	}
}

// through is s·Φ(x/s) by hand, a grey image copied to three channels.
func through(t testing.TB, n *denoise.Network, y *restore.Planar, s float32) []float32 {
	var x []float32
	for range 3 / y.Channels {
		for _, v := range y.Pix {
			x = append(x, v/s)
		}
	}
	shape := backend.Image(3, y.Height, y.Width)
	dev := n.Device()
	src, err := dev.Alloc(shape)
	require.NoError(t, err)
	defer src.Free()
	dst, err := dev.Alloc(shape)
	require.NoError(t, err)
	defer dst.Free()
	require.NoError(t, dev.Upload(src, x))
	require.NoError(t, n.Apply(t.Context(), dst, src))
	require.NoError(t, dev.Download(x, dst))
	out := make([]float32, len(y.Pix))
	for i, v := range x {
		out[i%len(out)] += s * v / float32(3/y.Channels)
	}
	return out
}

func difference(a, b []float32) float64 {
	sum := 0.0
	for i, v := range a {
		sum += math.Abs(float64(v - b[i]))
	}
	return sum / float64(len(a))
}

// The same bits for every tile, any number of threads, a network loaded before or
// in the call, from a file or from memory, and calls at the same time.
func TestNetworkSameBits(t *testing.T) {
	f := seeded(t, "euler", denoise.Architecture{})
	y := noisy(picture(3, 24, 31), 0.1, 1)
	k, err := deblur.Motion(5, 30)
	require.NoError(t, err)
	run := func(o ...restore.Option) []float32 {
		a, _, err := restore.Denoise(t.Context(), y, o...)
		require.NoError(t, err)
		b, _, err := restore.Deblur(t.Context(), y, k, append(o, restore.Iterations(4))...)
		require.NoError(t, err)
		return slices.Concat(pixels(a), pixels(b))
	}
	want := run(restore.Weights(f))
	shared := restore.Network(loaded(t, newCPU(t), f))
	var wg sync.WaitGroup
	for _, options := range [][]restore.Option{
		{restore.Weights(f), restore.Method("euler")},
		{restore.Weights(f), restore.Tile(8)},
		{restore.Weights(f), restore.Tile(17), restore.Threads(1)},
		{restore.Weights(f), restore.Threads(3)},
		{shared}, {shared}, {shared, restore.Tile(5)},
		{restore.Weights(seeded(t, "heun", denoise.Architecture{})), shared},
	} {
		wg.Go(func() {
			if got := run(options...); !slices.Equal(want, got) {
				t.Error("other bits")
			}
		})
	}
	wg.Wait()
}

func TestNetworkKindsOfImages(t *testing.T) {
	n := restore.Network(loaded(t, newCPU(t), seeded(t, "rk4", denoise.Architecture{})))
	r := image.Rect(3, 5, 3+19, 5+13)
	nrgba := image.NewNRGBA(r)
	for i := range nrgba.Pix {
		nrgba.Pix[i] = uint8(i * 7)
	}
	for _, c := range []struct{ in, kind image.Image }{
		{image.NewGray(r), &image.Gray{}}, {image.NewGray16(r), &image.Gray16{}},
		{nrgba, &image.NRGBA{}}, {image.NewNRGBA64(r), &image.NRGBA64{}},
		{image.NewGray(image.Rect(0, 0, 1, 1)), &image.Gray{}}, {image.NewNRGBA(image.Rect(0, 0, 1, 9)), &image.NRGBA{}},
	} {
		out, report, err := restore.Denoise(t.Context(), c.in, n, restore.Sigma(0.05))
		require.NoError(t, err)
		require.IsType(t, c.kind, out)
		require.Equal(t, c.in.Bounds().Size(), out.Bounds().Size())
		require.True(t, report.Certified)
		if c.in == image.Image(nrgba) {
			require.Equal(t, nrgba.NRGBAAt(7, 9).A, out.(*image.NRGBA).NRGBAAt(4, 4).A, "alpha is carried along")
		}
	}
}

// An image without noise has an estimate of 0, to which no network can be rescaled.
func TestNetworkWithoutNoise(t *testing.T) {
	flat := restore.NewPlanar(3, 40, 40)
	for c, v := range []float32{0.4, 0.5, 0.6} {
		for i := range flat.Plane(c) {
			flat.Plane(c)[i] = v
		}
	}
	out, report, err := restore.Denoise(t.Context(), flat, restore.Weights(seeded(t, "euler", denoise.Architecture{})))
	require.NoError(t, err)
	require.Zero(t, report.Noise.Sigma)
	require.InDelta(t, 0.001/sigma0*report.Network.Adaptation, report.Network.Rescaling, 1e-15)
	require.NoError(t, out.(*restore.Planar).Check())
}

func TestDeblurByNetworks(t *testing.T) {
	k, err := deblur.Shake(5, 4)
	require.NoError(t, err)
	y := noisy(blurred(t, picture(3, 20, 24), k, deblur.Unknown), 0.02, 5)
	for _, method := range networks() {
		_, report, err := restore.Deblur(t.Context(), y, k, restore.Weights(seeded(t, method, denoise.Architecture{})), restore.Sigma(0.02), restore.Iterations(25))
		require.NoError(t, err, method)
		c := report.Iteration.Run.Certificate
		require.Equal(t, method, report.Method)
		require.Equal(t, method != "dncnn", report.Certified)
		require.Equal(t, method != "dncnn", c.Proven)
		require.Equal(t, method != "dncnn", c.Converges(), method)
		require.Equal(t, method != "dncnn", c.FixedPointExists())
		require.Equal(t, report.Certified, report.Network.Certificate.Proven)
		adaptation := report.Network.Adaptation
		if method == "dncnn" {
			require.Zero(t, adaptation)
			adaptation = 1
		}
		require.InDelta(t, restore.DeblurLevel(0.02, k)/sigma0*adaptation, report.Network.Rescaling, 1e-12)
		relaxed := strings.Contains(report.Network.Certificate.String(), "relaxed by 0.9")
		switch method {
		case "heun", "rk4", "ssprk3", "kutta3":
			require.True(t, relaxed, "nonexpansive is not enough")
			require.InDelta(t, 0.9, report.Averagedness, 1e-6)
		default:
			require.False(t, relaxed, method)
		}
		if method == "dncnn" {
			require.Equal(t, math.Inf(1), report.Iteration.Run.Bound(0))
			continue
		}
		least := math.Inf(1)
		for i, r := range report.Iteration.Run.Residuals {
			least = math.Min(least, r)
			require.LessOrEqual(t, least, report.Iteration.Run.Bound(i)+1e-3)
		}
	}
}

func TestNetworkOnAnotherDevice(t *testing.T) {
	f := seeded(t, "euler", denoise.Architecture{})
	y := noisy(picture(3, 16, 21), 0.1, 1)
	a, _, err := restore.Denoise(t.Context(), y, restore.Weights(f))
	require.NoError(t, err)
	dev := refdevice.New(refdevice.Options{})
	defer dev.Close()
	b, _, err := restore.Denoise(t.Context(), y, restore.Weights(f), restore.Device(dev))
	require.NoError(t, err)
	require.Greater(t, psnr(t, a.(*restore.Planar), b.(*restore.Planar)), 80.0)
	small := refdevice.New(refdevice.Options{Memory: 4096})
	defer small.Close()
	_, _, err = restore.Denoise(t.Context(), y, restore.Weights(f), restore.Device(small))
	require.ErrorIs(t, err, backend.ErrOutOfMemory)
}

func TestWeightsThatAreRefused(t *testing.T) {
	img := picture(3, 12, 12)
	k, err := deblur.Box(3)
	require.NoError(t, err)
	refused := func(text string, is error, o ...restore.Option) {
		t.Helper()
		_, _, err := restore.Denoise(t.Context(), img, append(o, restore.Sigma(0.1))...)
		require.ErrorContains(t, err, text)
		require.True(t, strings.HasPrefix(err.Error(), "restore: "), "%v", err)
		require.NotContains(t, err.Error(), "\n")
		if is != nil {
			require.ErrorIs(t, err, is)
		}
		_, _, err = restore.Deblur(t.Context(), img, k, append(o, restore.Sigma(0.1))...)
		require.ErrorContains(t, err, text)
		_, err = restore.Check(t.Context(), nil, deblur.Kernel{}, o...)
		require.ErrorContains(t, err, text)
	}
	for _, m := range restore.Methods() {
		if m.NeedsWeights {
			refused("give some (Weights), or use method \"", restore.ErrNoWeights, restore.Method(m.Name))
		}
	}
	for _, name := range weights.Names() {
		if !slices.Contains(weights.Embedded(), name) {
			refused(name, restore.ErrNoWeights, restore.Method(name))
		}
	}
	euler := seeded(t, "euler", denoise.Architecture{})
	refused(`unknown method "rk4" for the weights "seeded-euler", which are of method "euler"`, restore.ErrMethod, restore.Weights(euler), restore.Method("rk4"))
	refused(`"tv" for the weights`, restore.ErrMethod, restore.Weights(euler), restore.Method("tv"))
	refused("nil", nil, restore.Weights(nil))
	refused("nil", nil, restore.Network(nil))
	refused("Tile -1: want 1 to", nil, restore.Tile(-1), restore.Weights(euler))
	refused("want 1 to", nil, restore.Tile(math.MaxInt), restore.Weights(euler))

	m := seededModel(t, "euler", denoise.Architecture{}, 1)
	for i := range m.Blocks {
		m.Blocks[i].Steps = 2
	}
	n, err := denoise.New(t.Context(), newCPU(t), m, denoise.Certificate{})
	require.NoError(t, err)
	defer n.Free()
	refused("no card", nil, restore.Network(n))

	refused("does not describe a network of this library", weights.ErrNoCard, restore.Weights(&weights.File{}))
	changed := clone(t, euler)
	changed.Tensors[0].Data[0] ^= 1
	refused("checksum", weights.ErrChecksum, restore.Weights(changed))
	// With a checksum made anew the certificate is still that of other weights.
	c, err := euler.Card()
	require.NoError(t, err)
	require.NoError(t, changed.SetCard(c))
	refused("the certificate does not hold", denoise.ErrCertificate, restore.Weights(changed))
	// One step where two are needed, and a certificate that says so.
	forged := clone(t, euler)
	require.NotEqual(t, 1, c.Steps[0])
	c.Steps[0] = 1
	c.Certificate = bytes.Replace(c.Certificate, []byte(`"steps":2`), []byte(`"steps":1`), 1)
	require.NoError(t, forged.SetCard(c))
	refused("must take 2", denoise.ErrCertificate, restore.Weights(forged))

	other := card("a convolution")
	other.Architecture = weights.Architecture{Family: "unet", Channels: 3, Width: 8, Blocks: 2, Kernel: 3, Activation: "relu"}
	strange := clone(t, euler)
	require.NoError(t, strange.SetCard(other))
	refused(`"unet"`, restore.ErrMethod, restore.Weights(strange))
	c, err = euler.Card()
	require.NoError(t, err)
	c.Integrator = "midpoint"
	require.NoError(t, strange.SetCard(c))
	refused(`"midpoint"`, restore.ErrMethod, restore.Weights(strange))
}

// clone is a file whose data can be changed.
func clone(t testing.TB, f *weights.File) *weights.File {
	b, err := f.Encode()
	require.NoError(t, err)
	c, err := weights.Decode(b)
	require.NoError(t, err)
	return c
}

func TestNetworkOfOtherChannels(t *testing.T) {
	grey := restore.Weights(seeded(t, "euler", denoise.Architecture{Channels: 1}))
	_, report, err := restore.Denoise(t.Context(), picture(1, 12, 12), grey, restore.Sigma(0.1), restore.Adaptation(false))
	require.NoError(t, err)
	require.Empty(t, report.Network.Certificate.Wrappers, "neither rescaled nor made grey")
	_, _, err = restore.Denoise(t.Context(), picture(3, 12, 12), grey, restore.Sigma(0.1))
	require.ErrorContains(t, err, `"seeded-euler" are for images of 1 channels, not of 3`)
	checked, err := restore.Check(t.Context(), nil, deblur.Kernel{}, grey)
	require.NoError(t, err)
	require.True(t, checked.Holds)
	require.Equal(t, 1, checked.AttackShape.C)
	four := restore.Weights(seeded(t, "euler", denoise.Architecture{Channels: 4}))
	_, _, err = restore.Denoise(t.Context(), picture(3, 12, 12), four, restore.Sigma(0.1))
	require.ErrorContains(t, err, "of 4 channels, not of 3")
	_, err = restore.Check(t.Context(), nil, deblur.Kernel{}, four)
	require.ErrorContains(t, err, "must be 1 (grey) or 3 (RGB)")
}

func TestNetworkRunsEndWhenTold(t *testing.T) {
	f := restore.Weights(seeded(t, "heun", denoise.Architecture{}))
	y := noisy(picture(3, 16, 20), 0.1, 1)
	k, err := deblur.Box(3)
	require.NoError(t, err)
	for name, run := range map[string]func(context.Context, ...restore.Option) error{
		"denoise": func(ctx context.Context, o ...restore.Option) error {
			_, _, err := restore.Denoise(ctx, y, append(o, f)...)
			return err
		},
		"deblur": func(ctx context.Context, o ...restore.Option) error {
			_, _, err := restore.Deblur(ctx, y, k, append(o, f, restore.Iterations(5))...)
			return err
		},
		"check": func(ctx context.Context, o ...restore.Option) error {
			_, err := restore.Check(ctx, y, k, append(o, f, restore.Iterations(3))...)
			return err
		},
	} {
		endsWhenTold(t, name, 2, run)
	}
}

// A network without a bound can leave the range of float32; no such image is returned.
func TestNetworkResultIsFinite(t *testing.T) {
	n := loaded(t, newCPU(t), expansive(t, 1e7), denoise.Uncertified())
	y := picture(3, 12, 12)
	for i := range y.Pix {
		y.Pix[i] *= 1e17
	}
	_, _, err := restore.Denoise(t.Context(), y, restore.Network(n), restore.Sigma(sigma0))
	require.ErrorContains(t, err, `method "euler" makes`)
	require.ErrorContains(t, err, "use a certified one")
}

// expansive is a network that takes one step where at least some thousand are needed, and has no
// certificate.
func expansive(t testing.TB, norm float64) *weights.File {
	m := seededModel(t, "euler", denoise.Architecture{}, norm)
	for i := range m.Blocks {
		m.Blocks[i].Steps = 1
	}
	f, err := m.File(card("expansive"), denoise.Certificate{})
	require.NoError(t, err)
	return f
}

func TestCheckOfNetworksHolds(t *testing.T) {
	if testing.Short() {
		t.Skip("attacks on four networks; TestCheckOfGuidedNetworks has one")
	}
	y := noisy(picture(3, 16, 20), 0.05, 1)
	for _, method := range []string{"euler", "heun", "backward-euler", "dncnn"} {
		report, err := restore.Check(t.Context(), y, deblur.Kernel{}, restore.Weights(seeded(t, method, denoise.Architecture{})), restore.Iterations(20), restore.Boundary(deblur.Circular))
		require.NoError(t, err)
		require.Equal(t, method != "dncnn", report.Holds, "%s: %v", method, report.Violations)
		require.Empty(t, report.Violations)
		require.Equal(t, report.Holds, report.Network.Proven)
		require.Equal(t, report.Network.String(), report.Denoiser)
		require.Equal(t, backend.Image(3, 32, 32), report.AttackShape)
		require.Len(t, report.Rows, 20)
		if method == "dncnn" {
			require.True(t, report.Attack.Expansive(), "random weights without a constraint")
			continue
		}
		require.False(t, report.Attack.Expansive())
		rows := report.Repeated.Rows
		require.Len(t, rows, 20)
		require.True(t, report.Repeated.Holds())
		require.Less(t, rows[19].Residual, 0.5*rows[0].Residual, "it settles")
	}
}

// Without an image the network is at the noise level that it is for, and nothing is
// repeated.
func TestCheckOfNetworksWithoutImage(t *testing.T) {
	leaveRuns(t)
	f := seeded(t, "euler", denoise.Architecture{})
	report, err := restore.Check(t.Context(), nil, deblur.Kernel{}, restore.Weights(f))
	require.NoError(t, err)
	require.True(t, report.Holds)
	require.Empty(t, report.Network.Wrappers)
	require.NotNil(t, report.Attack)
	require.Nil(t, report.Repeated)
	require.Empty(t, report.Rows)
	report, err = restore.Check(t.Context(), nil, deblur.Kernel{}, restore.Weights(f), restore.Sigma(0.05), restore.Constraint(pnp.Unconstrained))
	require.NoError(t, err)
	require.Len(t, report.Network.Wrappers, 1)
	require.False(t, report.Certificate.FixedPointExists())
}

// What has no proof does not hold, whatever the file promises by its number of steps;
// certified, the same weights take as many steps as they need.
func TestCheckOfExpansiveNetwork(t *testing.T) {
	leaveRuns(t)
	f := expansive(t, 40)
	dev := newCPU(t)
	y := noisy(picture(3, 16, 16), 0.05, 1)
	report, err := restore.Check(t.Context(), y, deblur.Kernel{}, restore.Network(loaded(t, dev, f, denoise.Uncertified())), restore.Iterations(4), restore.Boundary(deblur.Circular))
	require.NoError(t, err)
	require.False(t, report.Holds)
	require.True(t, report.Attack.Expansive())
	require.Greater(t, report.Attack.Ratio, 100.0)
	require.Equal(t, math.Inf(1), report.Repeated.Rows[0].Bound)

	mild := seededModel(t, "euler", denoise.Architecture{}, 4)
	for i := range mild.Blocks {
		mild.Blocks[i].Steps = 1
	}
	f, err = mild.File(card("mild"), denoise.Certificate{})
	require.NoError(t, err)
	report, err = restore.Check(t.Context(), nil, deblur.Kernel{}, restore.Weights(f))
	require.NoError(t, err)
	require.True(t, report.Holds)
	require.Contains(t, report.Denoiser, "the file says 1")
}

// crooked is a device that makes more of Euler's steps than they are: what is proven of
// a network does not hold on it.
type crooked struct{ backend.Device }

func (d crooked) GradientFlow(ctx context.Context, dst, src backend.Buffer, r backend.Region, steps []backend.FlowStep) error {
	if err := d.Device.GradientFlow(ctx, dst, src, r, steps); err != nil {
		return err
	}
	return d.LinearCombination(dst, backend.Term{A: 3, X: dst})
}

// Every part of the check finds a device that computes something else, though the
// certificate is true.
func TestCheckFindsContradictions(t *testing.T) {
	dev := crooked{newCPU(t)}
	n := loaded(t, dev, seeded(t, "euler", denoise.Architecture{}))
	y := noisy(picture(3, 16, 16), 0.05, 1)
	report, err := restore.Check(t.Context(), y, deblur.Kernel{}, restore.Network(n), restore.Iterations(12), restore.Boundary(deblur.Circular),
		restore.Constraint(pnp.Unconstrained))
	require.NoError(t, err)
	require.True(t, report.Network.Proven && report.Certificate.Proven)
	require.False(t, report.Holds)
	all := strings.Join(report.Violations, "\n")
	require.Contains(t, all, "attack: the network is not 0.9")
	require.Contains(t, all, "applied again and again: iteration 1: the residual grew")
	require.Contains(t, all, "the distance of the two runs grew")
}

// A network of the fused kind tells its progress while it works, and an error in the
// middle ends it.
func TestNetworkProgressInTheMiddle(t *testing.T) {
	m, err := denoise.RandomModel(3, denoise.Architecture{Width: 16, Blocks: 2}, 1)
	require.NoError(t, err)
	c, err := m.Certify(t.Context(), 0)
	require.NoError(t, err)
	f, err := m.File(card("wide"), c)
	require.NoError(t, err)
	img := restore.NewPlanar(3, 200, 60)
	var told []float64
	_, _, err = restore.Denoise(t.Context(), img, restore.Weights(f), restore.Sigma(sigma0),
		restore.Progress(func(p backend.Progress) error { told = append(told, p.Fraction); return nil }))
	require.NoError(t, err)
	require.IsNonDecreasing(t, told)
	require.Greater(t, len(told), 3)
	require.Zero(t, told[0])
	require.EqualValues(t, 1, told[len(told)-1])

	enough := errors.New("enough")
	_, _, err = restore.Denoise(t.Context(), img, restore.Weights(f), restore.Sigma(sigma0),
		restore.Progress(func(p backend.Progress) error {
			if p.Fraction > 0 {
				return enough
			}
			return nil
		}))
	require.ErrorIs(t, err, enough)
}
