package train

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/backend/cpu"
	"github.com/averaged/imaging/internal/cputest"
	"github.com/averaged/imaging/internal/devicequeue"
	"github.com/averaged/imaging/weights"
)

// smallParts are a part of each kind from 5 to as many channels as it says.
func smallParts(t *testing.T, dev backend.Device) map[string]Part {
	c := PaperConfig("euler")
	c.Channels, c.Width, c.Blocks, c.PowerSize, c.Schedule = 5, 5, 3, 7, Schedule{Name: Constant, Maximum: 1}
	stage, err := NewStage(dev, "stage", c)
	require.NoError(t, err)
	layer, err := NewLayer(dev, "layer", 4, 5, 3, backend.Activation{Kind: backend.LeakyReLU, Slope: 0.01})
	require.NoError(t, err)
	linear, err := NewLayer(dev, "linear", 3, 5, 1, backend.Activation{})
	require.NoError(t, err)
	parts := map[string]Part{"stage": stage, "layer": layer, "linear": linear}
	for _, p := range parts {
		require.NoError(t, p.Initialise(3))
		t.Cleanup(p.Release)
	}
	// Longer filters, so that a stage splits its steps.
	for _, p := range stage.Parameters() {
		for i := range p.Values() {
			p.Values()[i] *= 1.7
		}
	}
	require.NoError(t, stage.Update())
	require.Greater(t, stage.Blocks()[0].Steps, 1)
	return parts
}

// TestPartGradients compares the gradients with respect to the source and to the parameters with
// central differences along random directions, in float64.
func TestPartGradients(t *testing.T) {
	dev := reference(t)
	for name, p := range smallParts(t, dev) {
		t.Run(name, func(t *testing.T) {
			q := &devicequeue.Queue{Dev: dev}
			shape := backend.Shape{N: 2, C: 5, H: 4, W: 6}
			out := shape
			switch name {
			case "layer":
				out.C = 4
			case "linear":
				out.C = 3
			}
			memory := devicequeue.NewPool(dev)
			defer memory.Free()
			x, r, v := gaussianBuffer(t, dev, shape, 1), gaussianBuffer(t, dev, out, 2), gaussianBuffer(t, dev, shape, 3)
			dst, moved, source, gradient := memory.Take(q, out), memory.Take(q, shape), memory.Take(q, shape), memory.Take(q, out)
			at := func(src backend.Buffer) float64 {
				require.NoError(t, p.Forward(t.Context(), dst, src))
				var sum [1]float64
				q.Reduce(sum[:], backend.Reduction{Kind: backend.Dot, X: dst, Y: r})
				require.NoError(t, q.Err)
				return sum[0]
			}
			const step = 0x1p-16
			along := func(by float32) float64 {
				q.Combine(moved, backend.Term{A: 1, X: x}, backend.Term{A: by, X: v})
				return at(moved)
			}
			want := (along(step) - along(-step)) / (2 * step)
			at(x)
			require.NoError(t, p.Clear())
			for _, learn := range []bool{false, true} {
				q.Combine(gradient, backend.Term{A: 1, X: r})
				q.Fill(source, 7) // is replaced
				require.NoError(t, p.Backward(t.Context(), source, gradient, learn))
				var got [1]float64
				q.Reduce(got[:], backend.Reduction{Kind: backend.Dot, X: source, Y: v})
				require.NoError(t, q.Err)
				require.InEpsilon(t, want, got[0], 1e-5, "source, learn %v", learn)
				require.NoError(t, p.Gradients())
				require.Equal(t, learn, gradientNorm(p.Parameters()) > 0)
				at(x)
			}
			for _, parameter := range p.Parameters() {
				values, gradient := parameter.Values(), parameter.Gradient()
				before := append([]float32(nil), values...)
				want, expected := 0.0, 0.0
				for _, sign := range []float64{1, -1} {
					for i, old := range before {
						values[i] = old + float32(sign*0x1p-12*math.Cos(float64(i)))
					}
					// Not Update, which would change the norm and with it perhaps the steps.
					switch p := p.(type) {
					case *Layer:
						require.NoError(t, p.Update())
					case *Stage:
						for _, b := range p.averaged.flow.blocks {
							b.prepare(q)
							q.Upload(b.bias, b.biases.values)
						}
					}
					want += sign * at(x) / (2 * 0x1p-12)
				}
				copy(values, before)
				require.NoError(t, p.Update())
				for i, g := range gradient {
					expected += float64(g) * math.Cos(float64(i))
				}
				require.InEpsilon(t, want, expected, 2e-3, parameter.Name())
			}
		})
	}
}

// TestPartsAreTakenUp: what Save wrote and Load read goes on to the same bits.
func TestPartsAreTakenUp(t *testing.T) {
	dev := processor(t)
	parts, others := smallParts(t, dev), smallParts(t, dev)
	o := Optimiser{Name: SGD, Momentum: 0.9, WeightDecay: 1e-3}
	for name, p := range parts {
		descent, err := NewDescent(dev, o, p.Parameters())
		require.NoError(t, err)
		defer descent.Release()
		step := func(p Part, d *Descent, i int) {
			for _, parameter := range p.Parameters() {
				for k := range parameter.Gradient() {
					parameter.Gradient()[k] = float32(math.Sin(float64(i + k)))
				}
			}
			_, err := d.Step(i, 0.01)
			require.NoError(t, err)
			require.NoError(t, p.Update())
		}
		step(p, descent, 0)
		var f weights.File
		require.NoError(t, p.Save(&f, "p."))
		require.NoError(t, descent.Save(&f, "d."))
		encoded, err := f.Encode()
		require.NoError(t, err)
		step(p, descent, 1)

		read, err := weights.Decode(encoded)
		require.NoError(t, err)
		other := others[name]
		again, err := NewDescent(dev, o, other.Parameters())
		require.NoError(t, err)
		defer again.Release()
		require.NoError(t, other.Load(read, "p."))
		require.NoError(t, again.Load(read, "d."))
		step(other, again, 1)
		var one, two weights.File
		require.NoError(t, p.Save(&one, ""))
		require.NoError(t, other.Save(&two, ""))
		require.Equal(t, one, two, name)
		require.Error(t, other.Load(&weights.File{}, "p."))
	}
}

// TestStagesTakeTheStepsThatAreProven.
func TestStagesTakeTheStepsThatAreProven(t *testing.T) {
	s := smallParts(t, processor(t))["stage"].(*Stage)
	c, err := s.Certify(t.Context())
	require.NoError(t, err)
	require.True(t, c.Proven)
	for i, b := range s.Blocks() {
		require.Equal(t, c.Blocks[i].Steps, b.Steps)
		require.GreaterOrEqual(t, c.Blocks[i].Norm.Upper*(1+1e-6), b.Norm)
	}
	// Denoiser is the same map.
	dev := s.averaged.dev
	shape := backend.Shape{N: 1, C: 5, H: 7, W: 8}
	x := gaussianBuffer(t, dev, shape, 1)
	one, two := gaussianBuffer(t, dev, shape, 2), gaussianBuffer(t, dev, shape, 3)
	n, err := s.Denoiser(t.Context())
	require.NoError(t, err)
	defer n.Free()
	require.NoError(t, s.Forward(t.Context(), one, x))
	require.NoError(t, n.Apply(t.Context(), two, x))
	require.InDeltaSlice(t, downloaded(t, dev, one), downloaded(t, dev, two), 1e-5)
}

func TestPartsRefuse(t *testing.T) {
	dev := processor(t)
	_, err := NewStage(dev, "s", DefaultConfig())
	require.ErrorContains(t, err, "a stage is")
	_, err = NewLayer(dev, "l", 1, 1, 1, backend.Activation{Kind: backend.LeakyReLU})
	require.ErrorIs(t, err, backend.ErrArgument)
	_, err = NewLayer(dev, "l", 1, 1, 2, backend.Activation{})
	require.Error(t, err)
	_, err = NewDescent(dev, Optimiser{Name: "x"}, nil)
	require.Error(t, err)
	_, err = NewLayer(dev, "l", math.MaxInt, 1, 1, backend.Activation{})
	require.ErrorIs(t, err, backend.ErrShape)
	small := cputest.Open(t, cpu.MemoryLimit(1<<20))
	defer small.Close()
	_, err = NewLayer(small, "l", 1000, 1000, 1, backend.Activation{})
	require.ErrorIs(t, err, backend.ErrOutOfMemory)
	_, err = NewDescent(dev, MuonDefaults(), []*Parameter{nil})
	require.ErrorContains(t, err, "nil")
	for name, make := range map[string]func() error{
		"stage":   func() error { _, err := NewStage(nil, "s", DefaultConfig()); return err },
		"layer":   func() error { _, err := NewLayer(nil, "l", 1, 1, 1, backend.Activation{}); return err },
		"descent": func() error { _, err := NewDescent(nil, MuonDefaults(), nil); return err },
		"range": func() error {
			_, err := RangeTest(t.Context(), nil, DefaultConfig(), testPictures(t, 3), 1e-3, 1, 5)
			return err
		},
		"run": func() error {
			_, err := Create(nil, t.TempDir(), DefaultConfig(), Data{Training: testPictures(t, 3)})
			return err
		},
	} {
		require.ErrorContains(t, make(), "the device is nil", name)
	}
	p := newParameter("p", true, 1)
	p.gradient[0] = float32(math.NaN())
	d, err := NewDescent(dev, Optimiser{Name: SGD}, []*Parameter{p})
	require.NoError(t, err)
	defer d.Release()
	_, err = d.Step(0, 1)
	require.ErrorIs(t, err, ErrDiverged)
}
