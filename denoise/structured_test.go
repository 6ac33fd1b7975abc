package denoise

import (
	"context"
	"errors"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/averaged/imaging/backend"
	"github.com/averaged/imaging/denoise/activation"
	"github.com/averaged/imaging/denoise/refute"
	"github.com/averaged/imaging/denoise/rungekutta"
	"github.com/averaged/imaging/weights"
)

// choices takes decisions from bytes, 0 once they have run out.
type choices struct{ left []byte }

func (c *choices) byte() byte {
	if len(c.left) == 0 {
		return 0
	}
	b := c.left[0]
	c.left = c.left[1:]
	return b
}

// below returns a number from 0 to n−1.
func (c *choices) below(n int) int { return int(c.byte()) % n }

// scale returns a power of two within the octaves on either side of 1, or 1 for a byte of 0.
func (c *choices) scale(octaves int) float64 {
	return math.Ldexp(1, int(int8(c.byte()))*octaves/128)
}

// numbers returns n numbers whose moduli are scale or less. Some are all equal, some cancel in
// pairs, some are a multiple of the identity, some are anything.
func (c *choices) numbers(n int, scale float64) []float32 {
	x := make([]float32, n)
	kind := c.below(4)
	for i := range x {
		v := scale
		switch kind {
		case 1:
			v *= float64(1 - 2*(i%2))
		case 2:
			if i%max(1, c.below(8)+1) != 0 {
				v = 0
			}
		case 3:
			v *= float64(int8(c.byte())) / 128
		}
		x[i] = float32(v)
	}
	return x
}

// model returns a network of few numbers, of any scales over 60 octaves and more.
func (c *choices) model() Model {
	integrators := rungekutta.Integrators()
	activations := []activation.Function{activation.LeakyReLU(0.01), activation.ReLU(), activation.HardTanh(), activation.Linear(), activation.Balls()}
	m := Model{
		Channels: 1 + 2*c.below(2), Kernel: 1 + 2*c.below(2), Shuffle: 2 * c.below(2),
		Activation: activations[c.below(len(activations))], Integrator: integrators[c.below(len(integrators))],
	}
	m.Width = m.lifted() + c.below(5)
	if c.below(4) == 0 {
		m.Width = 16 // a kernel of 3×3 is computed in tiles
	}
	if c.below(3) == 0 {
		m.Sigmas = []float64{0.05 * c.scale(6), 0.9}
	}
	for range 1 + c.below(3) {
		hidden := 1 + c.below(8)
		scale := c.scale(64)
		b := Block{Filter: c.numbers(hidden*m.Width*m.Kernel*m.Kernel, scale)}
		if c.below(2) == 1 {
			b.Bias = c.numbers(hidden*m.rows(), c.scale(64))
		}
		if m.Activation.Name == activation.Balls().Name {
			groups := 1
			if hidden%2 == 0 {
				groups = 1 + c.below(2)
			}
			b.Radius = c.numbers(groups*m.rows(), c.scale(64)*scale)
			for i, r := range b.Radius {
				b.Radius[i] = float32(math.Abs(float64(r)))
			}
		} else if len(m.Sigmas) > 0 && c.below(2) == 1 {
			b.Gain = c.numbers(hidden*m.rows(), 1)
			for i, g := range b.Gain {
				b.Gain[i] = float32(math.Abs(float64(g)))
			}
		}
		// Lengths about as long as one step allows, or of any scale.
		if c.below(4) > 0 {
			b.Length = c.scale(8) / (scale * scale)
		} else {
			b.Length = c.scale(120)
		}
		b.Steps = []int{0, 0, 1, 7, 70000}[c.below(5)]
		m.Blocks = append(m.Blocks, b)
	}
	return m
}

// certificate returns none, the model's own, or one that says something else.
func (c *choices) certificate(ctx context.Context, m Model) (Certificate, error) {
	kind := c.below(4)
	if kind == 0 {
		return Certificate{}, nil
	}
	cert, err := m.Certify(ctx, 0)
	if err != nil || kind == 1 {
		return cert, err
	}
	i := c.below(len(cert.Blocks))
	b := &cert.Blocks[i]
	switch c.below(4) {
	case 0:
		b.Steps = []int{0, -1, 1, 60000, math.MaxInt, math.MinInt}[c.below(6)]
	case 1:
		b.Norm.Upper *= c.scale(16)
	case 2:
		b.Averagedness *= c.scale(2)
	case 3:
		cert.Averagedness *= c.scale(2)
	}
	return cert, nil
}

// What a file says is refused, or holds: what float32 makes of an image is as far from float64
// as the bound says at most, and an attack at distances down to 1e-5 stays within the claim.
// Nothing takes long or much memory, and the end of a context ends it.
func FuzzStructuredFiles(f *testing.F) {
	f.Add([]byte{})
	f.Add([]byte{1, 0, 0, 0, 0, 0, 1, 1, 0, 5, 0, 1, 1, 36, 0, 1, 0, 0, 0})           // biases that cancel
	f.Add([]byte{1, 0, 0, 4, 0, 0, 1, 1, 0, 2, 130, 2, 0, 0, 0, 0, 120, 0, 0, 0, 0})  // balls of large numbers
	f.Add([]byte{1, 0, 0, 0, 5, 0, 1, 1, 0, 2, 40, 2, 0, 0, 0, 0, 0, 0, 0})           // an implicit step of a large condition
	f.Add([]byte{1, 1, 1, 4, 0, 0, 0, 0, 60, 2, 7, 3, 3, 1, 4, 1, 5, 9, 2, 6, 5, 3})  // levels, tiles, shuffled
	f.Add([]byte{0, 0, 0, 0, 0, 0, 1, 1, 0, 2, 0, 0, 0, 1, 0, 4, 3, 0, 0, 4})         // a certificate of MaxInt steps
	f.Add([]byte{1, 1, 0, 1, 2, 0, 0, 1, 2, 6, 250, 3, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}) // rk4
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<10 {
			t.Skip("longer than what the choices take")
		}
		c := &choices{data}
		m := c.model()
		begun := time.Now()
		file, err := structuredFile(t.Context(), c, m)
		if err != nil {
			return // no file can be made of it
		}
		dev := newCPU(t)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		n, err := Load(t.Context(), dev, file)
		runtime.ReadMemStats(&after)
		require.Less(t, time.Since(begun), time.Minute)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(256<<20))
		if err != nil {
			return
		}
		defer n.Free()
		holdStructured(t, n)
	})
}

// structuredFile returns the model with a certificate as a file that has been written and read.
func structuredFile(ctx context.Context, c *choices, m Model) (*weights.File, error) {
	cert, err := c.certificate(ctx, m)
	if err != nil {
		return nil, err
	}
	file, err := m.File(testCard(), cert)
	if err != nil {
		return nil, err
	}
	written, err := file.Encode()
	if err != nil {
		return nil, err
	}
	return weights.Decode(written)
}

func holdStructured(t *testing.T, n *Network) {
	_, proven := n.Averagedness()
	require.True(t, proven)
	s := backend.Image(n.Channels(), 5, 7)
	dev := n.Device()
	ended, cancel := context.WithTimeout(t.Context(), time.Millisecond)
	defer cancel()
	src, dst := upload(t, dev, s, randomImage(3, s)), upload(t, dev, s, randomImage(3, s))
	begun := time.Now()
	if err := n.Apply(ended, dst, src); err != nil {
		require.ErrorIs(t, err, context.DeadlineExceeded)
	}
	require.Less(t, time.Since(begun), 20*time.Second, "the context ends it")
	// Thousands of steps, or of inner iterations, say no more than those of a second do.
	ctx, stop := context.WithTimeout(t.Context(), time.Second)
	defer stop()
	for _, x := range testImages(s) {
		src := upload(t, dev, s, x)
		off, err := n.MeasuredRounding(ctx, src)
		if err != nil {
			require.True(t, errors.Is(err, ErrNotMeasured) || errors.Is(err, context.DeadlineExceeded), err)
			break
		}
		bound, err := n.Rounding(t.Context(), norm2(x)*(1+1e-9), s)
		require.NoError(t, err)
		// The reference is float64: what it is off by is 2⁻²⁸ of the bound.
		require.LessOrEqual(t, off, bound*(1+1e-6), "an image of %v", x[:3])
	}
	r, err := refute.Attack(ctx, n, s, refute.AttackOptions{Restarts: 2, Iterations: 3})
	require.Less(t, time.Since(begun), 30*time.Second, "the context ends it")
	if errors.Is(err, context.DeadlineExceeded) {
		return
	}
	require.NoError(t, err)
	require.True(t, r.RoundingProven)
	require.False(t, r.Expansive(), "%+v", r)
}
