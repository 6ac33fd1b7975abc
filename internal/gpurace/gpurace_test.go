package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/weights"
)

// network is a small one of the kind that the race is over.
func network(t *testing.T) *weights.File {
	m, err := denoise.RandomModel(3, denoise.Architecture{Channels: 3, Width: 8, Blocks: 3}, 1)
	require.NoError(t, err)
	cert, err := m.Certify(t.Context(), 0)
	require.NoError(t, err)
	f, err := m.File(weights.Card{Name: "race", Sigma: 0.15, Licence: "CC0-1.0", Provenance: weights.Provenance{Software: "test", Data: "none"}}, cert)
	require.NoError(t, err)
	return f
}

func noise(s backend.Shape) []float32 {
	x := make([]float32, s.Len())
	for i := range x {
		x[i] = 0.5 + 0.2*backend.GaussianAt(1, uint64(i))
	}
	return x
}

// The pass that is timed computes the network, and the gradient of half its squared norm.
func TestStackIsTheNetworkAndItsGradient(t *testing.T) {
	f := network(t)
	dev := cputest.Open(t)
	defer func() { require.NoError(t, dev.Close()) }()
	shape := backend.Shape{N: 2, C: 3, H: 9, W: 11}
	x := noise(shape)
	image, err := upload(dev, shape, x)
	require.NoError(t, err)

	s, err := newStack(dev, f, shape)
	require.NoError(t, err)
	defer s.free()
	w := make([]float32, s.dw[1].Shape().Len())
	require.NoError(t, dev.Download(w, s.dw[1])) // before the pass it holds the weights
	require.NoError(t, s.pass(image))

	n, err := denoise.Load(context.Background(), dev, f, denoise.Uncertified())
	require.NoError(t, err)
	defer n.Free()
	out, err := dev.Alloc(shape)
	require.NoError(t, err)
	require.NoError(t, n.Apply(t.Context(), out, image))
	want, got := make([]float32, shape.Len()), make([]float32, shape.Len())
	require.NoError(t, dev.Download(want, out))
	require.NoError(t, dev.Download(got, s.output))
	require.InDeltaSlice(t, want, got, 1e-5)

	// A difference quotient along a direction, weights of block 1.
	dw := make([]float32, len(w))
	require.NoError(t, dev.Download(dw, s.dw[1]))
	value := func(step float64) float64 {
		moved := make([]float32, len(w))
		for i := range w {
			moved[i] = w[i] + float32(step*math.Cos(float64(i)))
		}
		b, err := upload(dev, s.dw[1].Shape(), moved)
		require.NoError(t, err)
		defer b.Free()
		require.NoError(t, dev.UpdateFilter(s.filter[1], b))
		require.NoError(t, s.pass(image))
		var sum [1]float64
		require.NoError(t, dev.Reduce(sum[:], backend.Reduction{Kind: backend.SumSquares, X: s.output}))
		return sum[0] / 2
	}
	along := 0.0
	for i, v := range dw {
		along += float64(v) * math.Cos(float64(i))
	}
	const step = 1e-2
	require.InEpsilon(t, (value(step)-value(-step))/(2*step), along, 2e-3)
}

func TestWrongArgumentsAreErrors(t *testing.T) {
	for _, args := range []string{"-precision double", "-repetitions 0", "-folder . more", "-folder nothing", "-card x", "-device metal", "-device vulkan -precision tf32", "-photograph 12", "-photograph 12x12x12", "-photograph 0x3"} {
		require.Error(t, run(t.Context(), strings.Fields(args), &strings.Builder{}), args)
	}
}

func TestCropTakesTheUpperLeftOfEveryChannel(t *testing.T) {
	x := []float32{1, 2, 3, 4, 5, 6, 7, 8}
	require.Equal(t, []float32{1, 5}, crop(x, backend.Shape{N: 1, C: 2, H: 2, W: 2}, backend.Image(2, 1, 1)))
}

// Iterations of training are timed one by one, on any device.
func TestTrainingIsTimed(t *testing.T) {
	dev := cputest.Open(t)
	defer func() { require.NoError(t, dev.Close()) }()
	r := result{Repetitions: 3}
	require.NoError(t, r.timeTraining(t.Context(), dev, paperConfig(), 1))
	require.Positive(t, r.MinimumMS)
	require.GreaterOrEqual(t, r.MedianMS, r.MinimumMS)
	require.GreaterOrEqual(t, r.StreamMS, r.MinimumMS)
	require.Positive(t, r.TFLOPS)
	require.Equal(t, []int{64, 64}, []int{r.Height, r.Width})
}

// lines reads the JSON that came out.
func lines(t *testing.T, text string) (all []map[string]any) {
	d := json.NewDecoder(strings.NewReader(text))
	for {
		o := map[string]any{}
		if err := d.Decode(&o); errors.Is(err, io.EOF) {
			return all
		} else {
			require.NoError(t, err)
		}
		all = append(all, o)
	}
}

// A device that is the processor agrees with it, and every part has taken time and made operations.
func TestPhotographIsTimed(t *testing.T) {
	dev := cputest.Open(t)
	defer func() { require.NoError(t, dev.Close()) }()
	var out strings.Builder
	s, err := photographSize("48x32")
	require.NoError(t, err)
	require.NoError(t, timePhotograph(t.Context(), dev, s, result{}, json.NewEncoder(&out)))
	all := lines(t, out.String())
	require.Len(t, all, 7)
	for _, o := range all[:6] {
		require.Positive(t, o["minimum_ms"], o)
		require.Positive(t, o["tflops"], o)
	}
	require.Equal(t, 999.0, all[6]["psnr_db"])
}

func TestOperationsAreTimed(t *testing.T) {
	dev := cputest.Open(t)
	defer func() { require.NoError(t, dev.Close()) }()
	var out strings.Builder
	s, err := photographSize("40x32")
	require.NoError(t, err)
	require.NoError(t, timeOperations(t.Context(), dev, s, result{Repetitions: 1}, json.NewEncoder(&out)))
	all := lines(t, out.String())
	times := 0.0
	for _, o := range all {
		require.Contains(t, o, "gflops")
		require.Contains(t, o, "gb_per_s")
		times += o["stream_ms"].(float64)
	}
	require.Positive(t, times)
}
